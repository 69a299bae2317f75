//! Bytes worked out by hand from the paper. Binary literals are grouped as codes are.
#![allow(clippy::unusual_byte_groupings)]

use crate::rows::{bits, encode, field};
use quire_codec::field::{FieldLayout, FieldSpan, FieldType, FieldValue, order_of_fewest_bytes};

const INT: FieldType = FieldType::Int32;

/// Relation R of §3.3.2.
fn relation() -> FieldLayout {
    FieldLayout::new(&[
        field(INT, true),
        field(INT, true),
        field(FieldType::Double, false),
        field(INT, true),
        field(INT, true),
        field(INT, false),
    ])
}

/// The tuple of §3.3.3: 2, 0, 8, 3, 0 and 4 bytes.
const CODES: [u8; 2] = [0b0_010_000_1, 0b011_000_11];

#[test]
fn the_tuple_of_the_paper_has_the_bytes_of_the_paper() {
    let layout = relation();
    let row = [
        FieldValue::Integer(0x1234),
        FieldValue::Null,
        FieldValue::Double(0.1),
        FieldValue::Integer(-65_536),
        FieldValue::Null,
        FieldValue::Integer(0x7654_3210),
    ];
    let (codes, values) = encode(&layout, &row);
    assert_eq!(codes, CODES);
    let expected: [&[u8]; 4] = [
        &[0x34, 0x12],
        // 0.1 is 0x3FB999999999999A.
        &[0x9A, 0x99, 0x99, 0x99, 0x99, 0x99, 0xB9, 0x3F],
        // -65,536 is 0xFFFF0000: with two bytes, 0x0000, it would lose its sign.
        &[0x00, 0x00, 0xFF],
        &[0x10, 0x32, 0x54, 0x76],
    ];
    assert_eq!(values, expected.concat());
}

#[test]
fn the_offsets_of_the_paper_are_found() {
    let layout = relation();
    // "Attributes a, b and c combined consume 10 bytes"; e is "another 3 bytes" further, and is NULL.
    let expected = [(0, 2), (2, 0), (2, 8), (10, 3), (13, 0), (13, 4)];
    for (field, (offset, length)) in expected.into_iter().enumerate() {
        let place = FieldSpan { offset, length };
        assert_eq!(layout.place(&CODES, field), Ok(place));
    }
    assert_eq!(layout.value_bytes(&CODES), Ok(17));
}

#[test]
fn integers_take_the_bytes_that_matter() {
    let cases: [(i64, &[u8]); 12] = [
        (0, &[0x00]),
        (3, &[0x03]),
        (-3, &[0xFD]),
        (127, &[0x7F]),
        (128, &[0x80, 0x00]),
        (-128, &[0x80]),
        (-129, &[0x7F, 0xFF]),
        (32_768, &[0x00, 0x80, 0x00]),
        (8_388_607, &[0xFF, 0xFF, 0x7F]),
        (8_388_608, &[0x00, 0x00, 0x80, 0x00]),
        (2_147_483_647, &[0xFF, 0xFF, 0xFF, 0x7F]),
        (-2_147_483_648, &[0x00, 0x00, 0x00, 0x80]),
    ];
    for (value, expected) in cases {
        let length = expected.len() as u8;
        for (field_type, nullable, code) in [
            (INT, false, length - 1),
            (INT, true, length),
            (FieldType::Int64, false, length - 1),
            (FieldType::Int64, true, length),
        ] {
            let layout = FieldLayout::new(&[field(field_type, nullable)]);
            let (codes, values) = encode(&layout, &[FieldValue::Integer(value)]);
            assert_eq!((codes, values), (vec![code], expected.to_vec()), "{value}");
        }
    }
    let layout = FieldLayout::new(&[field(FieldType::Int64, true)]);
    for (value, length) in [(1i64 << 31, 5), (-(1 << 47), 6), (1 << 54, 7), (1 << 55, 8)] {
        let (codes, values) = encode(&layout, &[FieldValue::Integer(value)]);
        assert_eq!(codes, [length]);
        assert_eq!(values, value.to_le_bytes()[..usize::from(length)]);
    }
}

#[test]
fn lengths_of_strings_need_no_sign() {
    let layout = FieldLayout::new(&[field(FieldType::UInt32, true); 2]);
    let row = [FieldValue::Integer(255), FieldValue::Integer(65_536)];
    let expected = (vec![0b00_001_011], vec![0xFF, 0x00, 0x00, 0x01]);
    assert_eq!(encode(&layout, &row), expected);
    // An empty string has length 0 in one byte; a string that is NULL has length NULL (§3.2.4).
    let row = [FieldValue::Integer(0), FieldValue::Null];
    assert_eq!(encode(&layout, &row), (vec![0b00_001_000], vec![0x00]));
}

#[test]
fn dates_are_days_from_the_base() {
    // §3.2.1: the base is 1997-11-03, which is day 10,168. 1997-11-05 is 2, 1997-10-23 is -11.
    let base = FieldType::Date { base_days: 10_168 };
    let layout = FieldLayout::new(&[field(base, false); 2]);
    let row = [FieldValue::Integer(10_170), FieldValue::Integer(10_157)];
    assert_eq!(encode(&layout, &row), (vec![0], vec![0x02, 0xF5]));
}

#[test]
fn doubles_take_four_bytes_where_nothing_is_lost() {
    let cases: [(u64, bool); 14] = [
        (0, true),
        (0x8000_0000_0000_0000, true),  // -0.0
        (0x3FF8_0000_0000_0000, true),  // 1.5
        (0x3FB9_9999_9999_999A, false), // 0.1
        (0x3FF0_0000_1000_0000, false), // 1 + 2^-24
        (0x3FF0_0000_2000_0000, true),  // 1 + 2^-23
        (0x47EF_FFFF_E000_0000, true),  // the greatest narrow number
        (0x47F0_0000_0000_0000, false), // 2^128
        (0x36A0_0000_0000_0000, true),  // 2^-149, the least narrow number
        (0x3690_0000_0000_0000, false), // 2^-150
        (0x7FF0_0000_0000_0000, true),  // infinity
        (0x7FF8_0000_0000_0000, true),  // a NaN
        (0x7FF0_0000_2000_0000, true),  // a signalling one
        (0xFFF8_0000_0000_0001, false), // a NaN whose lowest bit is set
    ];
    for (double, is_narrow) in cases {
        for nullable in [false, true] {
            let layout = FieldLayout::new(&[field(FieldType::Double, nullable)]);
            let row = [FieldValue::Double(f64::from_bits(double))];
            let (codes, values) = encode(&layout, &row);
            let (length, code) = if is_narrow { (4, 0) } else { (8, 1) };
            assert_eq!(codes, [code + u8::from(nullable)], "{double:x}");
            assert_eq!(values.len(), length, "{double:x}");
            let back = layout.value(&codes, &values, 0).unwrap();
            assert_eq!(bits(&[back]), [(2, u128::from(double))]);
        }
    }
    let layout = FieldLayout::new(&[field(FieldType::Double, false)]);
    let (_, values) = encode(&layout, &[FieldValue::Double(1.5)]);
    assert_eq!(values, 0x3FC0_0000u32.to_le_bytes());
}

#[test]
fn no_code_crosses_a_byte() {
    // Twelve codes of three bits: two in each byte, where a third would cross.
    let layout = FieldLayout::new(&[field(INT, true); 12]);
    assert_eq!(layout.code_bytes(), 6);
    let row = vec![FieldValue::Integer(1_000_000); 12];
    let (codes, values) = encode(&layout, &row);
    assert_eq!(codes, [0b00_011_011; 6]);
    assert_eq!(values.len(), 36);
    assert_eq!(
        FieldLayout::new(&[field(FieldType::Double, false); 9]).code_bytes(),
        2
    );
}

#[test]
fn an_order_by_length_of_codes_saves_bytes() {
    // 3, 3, 3, 3, 2 and 2 bits: in this order 3 bytes, as 3 + 3 + 2 twice 2 bytes.
    let (nullable, not_null) = (field(INT, true), field(INT, false));
    let fields = [nullable, nullable, nullable, nullable, not_null, not_null];
    assert_eq!(FieldLayout::new(&fields).code_bytes(), 3);
    let order = order_of_fewest_bytes(&fields);
    assert_eq!(order, [0, 1, 4, 2, 3, 5]);
    let reordered: Vec<_> = order.into_iter().map(|index| fields[index]).collect();
    assert_eq!(FieldLayout::new(&reordered).code_bytes(), 2);
}
