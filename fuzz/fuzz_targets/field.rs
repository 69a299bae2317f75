//! Arbitrary fields, length codes and values: every way to read them must agree, and what is read must encode.
//!
//! `cargo +nightly fuzz run field`
#![no_main]
#![forbid(unsafe_code)]

use libfuzzer_sys::fuzz_target;
use quire_codec::field::{FieldLayout, FieldType, FieldValue, TupleField};
use quire_lab::UniversalTable;

fn field(byte: u8) -> TupleField {
    let field_type = match byte & 7 {
        0 => FieldType::Int16,
        1 => FieldType::Int32,
        2 => FieldType::UInt32,
        3 => FieldType::Int64,
        4 => FieldType::Int128,
        5 => FieldType::Date {
            base_days: (i32::from(byte) - 128) << 24,
        },
        _ => FieldType::Double,
    };
    TupleField {
        field_type,
        nullable: byte & 8 != 0,
    }
}

/// Equal, or both the same NaN.
fn same(a: FieldValue, b: FieldValue) -> bool {
    match (a, b) {
        (FieldValue::Double(a), FieldValue::Double(b)) => a.to_bits() == b.to_bits(),
        _ => a == b,
    }
}

fn encode_again(layout: &FieldLayout, row: &[FieldValue]) {
    let bytes = layout
        .encoded_bytes(row)
        .expect("a value that was read fits");
    let (mut codes, mut values) = (vec![0; layout.code_bytes()], vec![0; bytes]);
    layout
        .encode(row, &mut codes, &mut values)
        .expect("a row that was read fits");
    let mut again = vec![FieldValue::Null; row.len()];
    assert_eq!(layout.decode(&codes, &values, &mut again), Ok(bytes));
    assert!(row.iter().zip(&again).all(|(a, b)| same(*a, *b)));
}

fuzz_target!(|bytes: &[u8]| {
    let Some((&count, rest)) = bytes.split_first() else {
        return;
    };
    let Some((kinds, rest)) = rest.split_at_checked(usize::from(count % 24)) else {
        return;
    };
    let fields: Vec<TupleField> = kinds.iter().copied().map(field).collect();
    let layout = FieldLayout::new(&fields);
    let Some((codes, values)) = rest.split_at_checked(layout.code_bytes()) else {
        return;
    };
    let mut row = vec![FieldValue::Null; fields.len()];
    let decoded = layout.decode(codes, values, &mut row);
    for (index, all) in row.iter().enumerate() {
        let one = layout.value(codes, values, index);
        if decoded.is_ok() {
            assert!(same(one.expect("one of a row that was read"), *all));
        }
    }
    if count >= 240
        && let Some(table) = UniversalTable::new(&layout)
    {
        let mut other = vec![FieldValue::Null; fields.len()];
        assert_eq!(
            table.decode(codes, values, &mut other).ok(),
            decoded.clone().ok()
        );
        assert!(row.iter().zip(&other).all(|(a, b)| same(*a, *b)));
    }
    if decoded.is_ok() {
        encode_again(&layout, &row);
    }
});
