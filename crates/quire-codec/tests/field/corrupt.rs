//! Wrong bytes are an error where the tables of the paper have no meaning for them, and never a panic.

use crate::naive;
use crate::rows::{bits, encode, field, fields, rows};
use proptest::prelude::*;
use quire_codec::field::{FieldLayout, FieldType, FieldValue, TupleField};

/// The lengths that a byte means, read bit by bit.
fn lengths(fields: &[TupleField], byte: u8) -> Option<Vec<usize>> {
    let bits: usize = fields.iter().map(|field| field.code_bits() as usize).sum();
    let text = format!("{byte:08b}");
    let (unused, mut rest) = text.split_at(8 - bits);
    if unused.contains('1') {
        return None;
    }
    let mut lengths = Vec::new();
    for field in fields {
        let (code, next) = rest.split_at(field.code_bits() as usize);
        let entry = naive::table(*field)
            .into_iter()
            .find(|(_, known)| *known == code);
        lengths.push(entry?.0);
        rest = next;
    }
    Some(lengths)
}

#[test]
fn every_byte_of_codes_means_what_the_tables_say_or_is_corrupt() {
    let date = FieldType::Date { base_days: 0 };
    for field_type in [
        FieldType::Int16,
        FieldType::Int32,
        FieldType::UInt32,
        date,
        FieldType::Int64,
        FieldType::Int128,
        FieldType::Double,
    ] {
        for nullable in [false, true] {
            for count in 1..=8 / field(field_type, nullable).code_bits() as usize {
                let fields = vec![field(field_type, nullable); count];
                let layout = FieldLayout::new(&fields);
                for byte in 0..=u8::MAX {
                    let expected = lengths(&fields, byte).map(|lengths| lengths.iter().sum());
                    assert_eq!(layout.value_bytes(&[byte]).ok(), expected);
                    let values = [0; 64];
                    let mut row = vec![FieldValue::Null; count];
                    assert_eq!(layout.decode(&[byte], &values, &mut row).ok(), expected);
                    assert_eq!(layout.place(&[byte], 0).is_ok(), expected.is_some());
                }
            }
        }
    }
}

#[test]
fn the_error_says_which_byte() {
    let layout = FieldLayout::new(&[field(FieldType::Int32, true); 6]);
    let codes = [0b00_001_001, 0b00_101_001, 0b01_001_001];
    assert_eq!(layout.value_bytes(&codes).unwrap_err().offset, 1);
    assert_eq!(layout.place(&codes, 5).unwrap_err().offset, 1);
    // Bytes behind a field's own are not read.
    assert!(layout.place(&codes, 1).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn values_that_are_cut_short_are_corrupt((fields, row) in rows(12)) {
        let layout = FieldLayout::new(&fields);
        let (codes, values) = encode(&layout, &row);
        for length in 0..values.len() {
            let mut decoded = row.clone();
            prop_assert!(layout.decode(&codes, &values[..length], &mut decoded).is_err());
            prop_assert_eq!(bits(&decoded), bits(&row));
            for index in 0..row.len() {
                let place = layout.place(&codes, index).unwrap();
                let whole = place.offset + usize::from(place.length) <= length;
                prop_assert_eq!(layout.value(&codes, &values[..length], index).is_ok(), whole);
            }
        }
        let mut short = vec![FieldValue::Null; row.len() + 1];
        prop_assert!(layout.decode(&codes, &values, &mut short).is_err());
    }

    #[test]
    fn codes_of_another_length_are_corrupt(fields in prop::collection::vec(fields(), 0..12), extra in 1usize..3) {
        let layout = FieldLayout::new(&fields);
        for count in [layout.code_bytes() + extra, layout.code_bytes().wrapping_sub(extra)] {
            if count > 100 {
                continue;
            }
            let codes = vec![0; count];
            prop_assert!(layout.value_bytes(&codes).is_err());
            prop_assert!(layout.place(&codes, 0).is_err());
        }
    }

    #[test]
    fn any_bytes_decode_alike_one_by_one_and_together(
        fields in prop::collection::vec(fields(), 1..8),
        noise in prop::collection::vec(any::<u8>(), 80),
    ) {
        let layout = FieldLayout::new(&fields);
        let (codes, values) = noise.split_at(layout.code_bytes());
        let mut row = vec![FieldValue::Null; fields.len()];
        let decoded = layout.decode(codes, values, &mut row);
        if decoded.is_ok() {
            let each: Vec<_> = (0..fields.len()).map(|index| layout.value(codes, values, index).unwrap()).collect();
            prop_assert_eq!(bits(&each), bits(&row));
        }
    }
}
