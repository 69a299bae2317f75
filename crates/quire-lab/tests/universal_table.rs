//! The universal table finds and decodes what the layout does, and takes the room that the paper says.
#![allow(clippy::unwrap_used)] // A test may panic: that is how it fails.

#[path = "../../quire-codec/tests/field/rows.rs"]
mod rows;

use proptest::prelude::*;
use quire_codec::field::{FieldLayout, FieldSpan, FieldType, FieldValue, TupleField};
use quire_lab::UniversalTable;
use rows::{bits, encode, field, fields, rows};

/// One value, and all of them, by both ways.
fn decode_alike(
    fields: &[TupleField],
    table: &UniversalTable,
    codes: &[u8],
    values: &[u8],
) -> Result<(), TestCaseError> {
    let layout = FieldLayout::new(fields);
    let mut row = vec![FieldValue::Null; fields.len()];
    let mut other = row.clone();
    let decoded = layout.decode(codes, values, &mut row);
    let found = table.decode(codes, values, &mut other);
    prop_assert_eq!(found.ok(), decoded.as_ref().ok().copied());
    prop_assert_eq!(bits(&other), bits(&row));
    for index in (0..fields.len()).filter(|_| layout.value_bytes(codes).is_ok()) {
        prop_assert_eq!(table.place(codes, index), layout.place(codes, index));
        let (found, expected) = (
            table.value(codes, values, index).ok(),
            layout.value(codes, values, index).ok(),
        );
        prop_assert_eq!(found.map(|it| bits(&[it])), expected.map(|it| bits(&[it])));
    }
    Ok(())
}

/// Relation R of §3.3.2, and the tuple of §3.3.3: 2, 0, 8, 3, 0 and 4 bytes.
#[test]
#[allow(clippy::unusual_byte_groupings)] // As codes are.
fn the_offsets_of_the_paper_are_found() {
    let int = FieldType::Int32;
    let table = UniversalTable::new(&[
        field(int, true),
        field(int, true),
        field(FieldType::Double, false),
        field(int, true),
        field(int, true),
        field(int, false),
    ]);
    let table = table.unwrap();
    let codes = [0b0_010_000_1, 0b011_000_11];
    // "Attributes a, b and c combined consume 10 bytes"; e is "another 3 bytes" further, and is NULL.
    let expected = [(0, 2), (2, 0), (2, 8), (10, 3), (13, 0), (13, 4)];
    for (field, (offset, length)) in expected.into_iter().enumerate() {
        assert_eq!(table.place(&codes, field), Ok(FieldSpan { offset, length }));
    }
    assert!(table.place(&codes, 6).is_err());
    // 2^15 combinations of codes, as the paper says, each with 0 and the six ends.
    assert_eq!(table.table_bytes(), (1 << 15) * 7);
}

#[test]
fn every_byte_of_codes_means_what_it_means_to_the_layout() {
    let types = [
        FieldType::Int16,
        FieldType::Int32,
        FieldType::UInt32,
        FieldType::Date { base_days: 0 },
        FieldType::Int64,
        FieldType::Int128,
        FieldType::Double,
    ];
    for (field_type, nullable) in types.into_iter().flat_map(|it| [(it, false), (it, true)]) {
        for count in 1..=8 / field(field_type, nullable).code_bits() as usize {
            let fields = vec![field(field_type, nullable); count];
            let (layout, table) = (FieldLayout::new(&fields), UniversalTable::new(&fields));
            let table = table.unwrap();
            for byte in 0..=u8::MAX {
                let is_code = layout.value_bytes(&[byte]).is_ok();
                assert_eq!(table.place(&[byte], 0).is_ok(), is_code);
                decode_alike(&fields, &table, &[byte], &[0; 128]).unwrap();
            }
        }
    }
}

proptest! {
    // Tables of sixteen bits take long to make without optimization.
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn rows_come_back((fields, row) in rows(8)) {
        let table = UniversalTable::new(&fields);
        let code_bits: u32 = fields.iter().map(|field| field.code_bits()).sum();
        // A code that does not fit a byte leaves bits of it unused, which do not count.
        prop_assert_eq!(table.is_some(), code_bits <= 16);
        if let Some(table) = table {
            let (codes, values) = encode(&FieldLayout::new(&fields), &row);
            let mut decoded = vec![FieldValue::Null; row.len()];
            prop_assert_eq!(table.decode(&codes, &values, &mut decoded), Ok(values.len()));
            prop_assert_eq!(bits(&decoded), bits(&row));
            for length in 0..=values.len() {
                decode_alike(&fields, &table, &codes, &values[..length])?;
            }
            prop_assert!(table.place(&[&codes[..], &[0]].concat(), 0).is_err());
            prop_assert!(table.decode(&codes, &values, &mut [FieldValue::Null; 9][..]).is_err());
        }
    }

    #[test]
    fn any_bytes_decode_alike(
        fields in prop::collection::vec(fields(), 1..8),
        noise in prop::collection::vec(any::<u8>(), 80),
    ) {
        let (codes, values) = noise.split_at(FieldLayout::new(&fields).code_bytes());
        if let Some(table) = UniversalTable::new(&fields) {
            decode_alike(&fields, &table, codes, values)?;
        }
    }
}
