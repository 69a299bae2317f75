//! For any fields and values: what comes out is what went in, one field is the same as all of them, the size
//! announced is the size written, and the bytes are those of the naive writer.

use crate::naive;
use crate::rows::{bits, encode, field, fields, rows};
use proptest::prelude::*;
use quire_codec::field::{FieldError, FieldLayout, FieldType, FieldValue, order_of_fewest_bytes};
use std::collections::HashMap;

/// Decodes with what a tuple has after its values: nothing, a few bytes, many.
fn decodes(layout: &FieldLayout, codes: &[u8], values: &[u8], row: &[FieldValue]) {
    for extra in [0, 3, 8, 100] {
        let tuple = [values, &vec![0x5A; extra]].concat();
        let mut all = vec![FieldValue::Null; row.len()];
        assert_eq!(layout.decode(codes, &tuple, &mut all), Ok(values.len()));
        assert_eq!(bits(&all), bits(row));
        let one = |index| layout.value(codes, &tuple, index).unwrap();
        let each: Vec<FieldValue> = (0..row.len()).map(one).collect();
        assert_eq!(bits(&each), bits(row));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn rows_come_back((fields, row) in rows(40)) {
        let layout = FieldLayout::new(&fields);
        let (codes, values) = encode(&layout, &row);
        prop_assert_eq!((&codes, &values), (&naive::encode(&fields, &row).0, &naive::encode(&fields, &row).1));
        prop_assert_eq!(layout.value_bytes(&codes), Ok(values.len()));
        let mut tuple = vec![0x77; 3];
        tuple.resize(3 + codes.len(), 0);
        for (index, value) in row.iter().enumerate() {
            let before = tuple.len();
            layout.append(index, *value, 3, &mut tuple).unwrap();
            prop_assert_eq!(layout.length(index, *value), Ok(tuple.len() - before));
        }
        prop_assert_eq!(tuple, [&[0x77; 3][..], &codes, &values].concat());
        decodes(&layout, &codes, &values, &row);
    }

    #[test]
    fn reordering_never_needs_more_bytes(fields in prop::collection::vec(fields(), 0..60)) {
        let order = order_of_fewest_bytes(&fields);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        prop_assert!(sorted.into_iter().eq(0..fields.len()));
        let reordered: Vec<_> = order.into_iter().map(|index| fields[index]).collect();
        let (before, after) = (FieldLayout::new(&fields), FieldLayout::new(&reordered));
        prop_assert!(after.code_bytes() <= before.code_bytes());
        let bits: u32 = fields.iter().map(|field| field.code_bits()).sum();
        prop_assert!(after.code_bytes() as u32 >= bits.div_ceil(8));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn places_are_sums_of_lengths((fields, row) in rows(8)) {
        let layout = FieldLayout::new(&fields);
        let (codes, _) = encode(&layout, &row);
        let mut offset = 0;
        for (index, (field, value)) in fields.iter().zip(&row).enumerate() {
            let length = naive::bytes(*field, *value).len();
            let place = layout.place(&codes, index).unwrap();
            prop_assert_eq!((place.offset, usize::from(place.length)), (offset, length));
            offset += length;
        }
        prop_assert!(layout.place(&codes, fields.len()).is_err());
    }
}

/// The fewest bytes that hold `counts[b]` codes of `b + 1` bits, by trying every content of the first byte.
fn fewest_bytes(counts: [usize; 5], known: &mut HashMap<[usize; 5], usize>) -> usize {
    if counts == [0; 5] {
        return 0;
    }
    if let Some(&bytes) = known.get(&counts) {
        return bytes;
    }
    let mut best = usize::MAX;
    for choice in 0..9 * 5 * 3 * 3 * 2usize {
        let first = [
            choice % 9,
            choice / 9 % 5,
            choice / 45 % 3,
            choice / 135 % 3,
            choice / 405 % 2,
        ];
        let bits: usize = (1..).zip(first).map(|(bits, count)| bits * count).sum();
        let fits = bits <= 8 && bits > 0 && first.iter().zip(&counts).all(|(a, b)| a <= b);
        if fits {
            let rest = std::array::from_fn(|index| counts[index] - first[index]);
            best = best.min(1 + fewest_bytes(rest, known));
        }
    }
    known.insert(counts, best);
    best
}

#[test]
fn the_order_of_fewest_bytes_has_the_fewest() {
    let kinds = [
        field(FieldType::Double, false),
        field(FieldType::Int32, false),
        field(FieldType::Int32, true),
        field(FieldType::Int64, true),
        field(FieldType::Int128, true),
    ];
    let mut known = HashMap::new();
    for case in 0..4usize.pow(5) {
        let counts = [
            case % 4,
            case / 4 % 4,
            case / 16 % 4,
            case / 64 % 4,
            case / 256,
        ];
        let fields: Vec<_> = kinds
            .iter()
            .zip(counts)
            .flat_map(|(kind, count)| vec![*kind; count])
            .collect();
        let order = order_of_fewest_bytes(&fields);
        let ordered: Vec<_> = order.into_iter().map(|index| fields[index]).collect();
        let bytes = FieldLayout::new(&ordered).code_bytes();
        assert_eq!(bytes, fewest_bytes(counts, &mut known), "{counts:?}");
    }
}

#[test]
fn every_length_of_every_type_comes_back() {
    let days = FieldType::Date { base_days: -7 };
    let four = [FieldType::Int32, FieldType::UInt32, days];
    for nullable in [false, true] {
        for (field_type, most_bytes) in four
            .map(|kind| (kind, 4))
            .into_iter()
            .chain([(FieldType::Int16, 2), (FieldType::Int64, 8)])
        {
            let layout = FieldLayout::new(&[field(field_type, nullable); 3]);
            for bytes in 1..=most_bytes {
                let signed = if field_type == FieldType::UInt32 {
                    0
                } else {
                    1
                };
                let edge = (1i128 << (8 * bytes - signed)) - 1;
                let shift = if field_type == days { -7 } else { 0 };
                let value = (edge + shift).min(if most_bytes == 4 && signed == 1 {
                    i128::from(i32::MAX)
                } else {
                    edge
                });
                let row = [FieldValue::Integer(value as i64); 3];
                let (codes, values) = encode(&layout, &row);
                assert_eq!(values.len(), 3 * bytes, "{field_type:?} {value}");
                decodes(&layout, &codes, &values, &row);
            }
        }
    }
}

#[test]
fn every_length_of_integers_of_sixteen_bytes_comes_back() {
    for nullable in [false, true] {
        let layout = FieldLayout::new(&[field(FieldType::Int128, nullable); 3]);
        for bytes in 1..=16 {
            let most = (i128::MAX as u128 >> (128 - 8 * bytes)) as i128;
            let row = [most, -most - 1, most / 300 + 1].map(FieldValue::Wide);
            let (codes, values) = encode(&layout, &row);
            let shorter = usize::from(bytes > 1);
            assert_eq!(values.len(), 3 * bytes - shorter, "{most}");
            decodes(&layout, &codes, &values, &row);
        }
    }
}

#[test]
fn a_tuple_without_compressed_fields_has_no_bytes() {
    let layout = FieldLayout::new(&[]);
    assert_eq!((layout.code_bytes(), layout.encoded_bytes(&[])), (0, Ok(0)));
    assert_eq!(layout.encode(&[], &mut [], &mut []), Ok(()));
    decodes(&layout, &[], &[], &[]);
}

#[test]
fn values_that_a_field_cannot_hold_are_refused() {
    let refused = |field_type, nullable, value| {
        let layout = FieldLayout::new(&[field(field_type, nullable)]);
        let error = layout.encoded_bytes(&[value]).unwrap_err();
        let encoded = layout.encode(&[value], &mut [0], &mut [0; 8]);
        assert_eq!(encoded, Err(error.clone()));
        error
    };
    let integer = FieldValue::Integer;
    for (field_type, value) in [
        (FieldType::Int16, i64::from(i16::MAX) + 1),
        (FieldType::Int16, i64::from(i16::MIN) - 1),
        (FieldType::Int32, i64::from(i32::MAX) + 1),
        (FieldType::Int32, i64::from(i32::MIN) - 1),
        (FieldType::Date { base_days: 5 }, i64::from(i32::MAX) + 1),
        (FieldType::UInt32, -1),
        (FieldType::UInt32, 1 << 32),
    ] {
        let error = refused(field_type, true, integer(value));
        assert!(matches!(error, FieldError::OutOfRange { field: 0, .. }));
    }
    let error = refused(FieldType::Int64, false, FieldValue::Null);
    assert_eq!(error, FieldError::NotNull { field: 0 });
    for (field_type, value) in [
        (FieldType::Double, integer(1)),
        (FieldType::Int64, FieldValue::Double(1.0)),
        (FieldType::Int64, FieldValue::Wide(1)),
        (FieldType::Int128, integer(1)),
    ] {
        let error = refused(field_type, true, value);
        assert!(matches!(error, FieldError::WrongType { field: 0, .. }));
    }
    let layout = FieldLayout::new(&[field(FieldType::Int32, false)]);
    let counted = FieldError::FieldCount {
        given: 2,
        expected: 1,
    };
    assert_eq!(
        layout.encoded_bytes(&[integer(1), integer(2)]),
        Err(counted)
    );
    let mut tuple = vec![9];
    let missing = FieldError::NoField {
        field: 1,
        field_count: 1,
    };
    assert_eq!(layout.append(1, integer(1), 0, &mut tuple), Err(missing));
    let no_room = layout.append(0, integer(1), 1, &mut tuple);
    assert!(matches!(no_room, Err(FieldError::WrongRoom { .. })));
    let null = layout.append(0, FieldValue::Null, 0, &mut tuple);
    assert_eq!(null, Err(FieldError::NotNull { field: 0 }));
    assert_eq!(tuple, [9]);
}

#[test]
fn slices_of_other_lengths_are_refused() {
    let layout = FieldLayout::new(&[field(FieldType::Int32, false); 5]);
    let row = [FieldValue::Integer(300); 5];
    for (codes, values) in [(2, 9), (2, 11), (2, 18), (1, 10), (3, 10), (2, 0)] {
        let error = layout.encode(&row, &mut vec![0; codes], &mut vec![0; values]);
        let expected = FieldError::WrongRoom {
            codes_given: codes,
            codes_expected: 2,
            values_given: values,
            values_expected: 10,
        };
        assert_eq!(error, Err(expected));
    }
}
