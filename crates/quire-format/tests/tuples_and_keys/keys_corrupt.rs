//! Bytes are the key of some values, and then of no others, or an error.

use proptest::prelude::*;
use quire_format::key::{KeyColumn, KeyLayout};
use quire_format::tuple::{TupleType, TupleValue, ValueError};

use crate::keys::{ALL_TYPES, columns_of, encode, keyed_rows};

/// Whether `key` is one. If so, its values have no other key.
fn is_key(layout: &KeyLayout, key: &[u8]) -> bool {
    let mut scratch = Vec::new();
    let mut values = vec![TupleValue::Null; layout.columns().len()];
    if layout.decode(key, &mut scratch, &mut values).is_err() {
        return false;
    }
    let mut again = Vec::new();
    layout.encode(&values, &mut again).unwrap();
    assert_eq!(again, key, "{values:?}");
    for column in 0..values.len() {
        let mut scratch = Vec::new();
        assert!(layout.field(key, column, &mut scratch).is_ok());
    }
    true
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn damaged_keys_are_errors_or_other_keys((columns, rows) in keyed_rows(), noise in prop::collection::vec(any::<u8>(), 0..40)) {
        let layout = KeyLayout::new(&columns);
        let mut key = encode(&layout, &rows[0]);
        prop_assert!(is_key(&layout, &key));
        for length in 0..key.len() {
            is_key(&layout, &key[..length]);
        }
        for bit in 0..8 * key.len() {
            key[bit / 8] ^= 1 << (bit % 8);
            is_key(&layout, &key);
            key[bit / 8] ^= 1 << (bit % 8);
        }
        is_key(&layout, &noise);
        let mut scratch = Vec::new();
        prop_assert!(layout.field(&key, columns.len(), &mut scratch).is_err());
        let mut few = vec![TupleValue::Null; columns.len() - 1];
        prop_assert!(layout.decode(&key, &mut scratch, &mut few).is_err());
    }
}

/// All keys of up to two bytes, and those of three that start like a long one.
#[test]
fn all_short_keys_of_every_column_are_errors_or_keys_of_their_values() {
    for column in ALL_TYPES.into_iter().flat_map(columns_of) {
        let layout = KeyLayout::new(&[column]);
        let mut found = u32::from(is_key(&layout, &[]));
        for first in 0..=255 {
            found += u32::from(is_key(&layout, &[first]));
            for second in 0..=255 {
                found += u32::from(is_key(&layout, &[first, second]));
            }
        }
        let is_float = !column.is_exact();
        assert!(found > 0 || (is_float && !column.nullable), "{column:?}");
    }
}

#[test]
fn what_no_key_holds_is_named() {
    let refused = |column_type, descending, key: &[u8]| {
        let column = KeyColumn {
            column_type,
            nullable: false,
            descending,
            nulls_first: true,
        };
        let mut scratch = Vec::new();
        let mut values = [TupleValue::Null];
        let layout = KeyLayout::new(&[column]);
        let error = layout.decode(key, &mut scratch, &mut values);
        error.unwrap_err().to_string()
    };
    let text = TupleType::Text;
    let cases = [
        (TupleType::Int32, false, &[][..], "cut short"),
        (TupleType::Int32, false, &[0xF0, 1], "cut short"),
        (TupleType::Int32, false, &[0xFF], "none"),
        (TupleType::Int32, false, &[0xEF, 7], "another form"),
        (TupleType::Int32, false, &[0xF0, 0, 200], "another form"),
        (
            TupleType::Int16,
            false,
            &[0xF1, 1, 0, 0],
            "out of the range",
        ),
        (
            TupleType::Int128 { digits: 2 },
            false,
            &[0x31 + 100],
            "out of the range",
        ),
        (TupleType::Int32, false, &[0x31, 0], "bytes follow"),
        (TupleType::Bool, false, &[3], "boolean"),
        (
            TupleType::Float32,
            false,
            &[0x7F, 0xFF, 0xFF, 0xFF],
            "float",
        ),
        (TupleType::Float32, false, &[0xFF, 0xC0, 0, 1], "float"),
        (text, false, &[b'a', 0x02, 4], "escape"),
        (text, false, &[b'a', 0x02], "cut short"),
        (text, false, &[b'a', 0x01], "no string has"),
        (text, true, &[!b'a'], "cut short"),
    ];
    for (column_type, descending, key, what) in cases {
        let message = refused(column_type, descending, key);
        assert!(message.contains(what), "{key:?}: {message}");
    }
}

#[test]
fn values_that_a_column_does_not_hold_have_no_key() {
    let column = KeyColumn {
        column_type: TupleType::Int32,
        nullable: false,
        descending: false,
        nulls_first: false,
    };
    let layout = KeyLayout::new(&[column; 2]);
    let refused = |values: &[TupleValue<'_>]| {
        let mut key = vec![9];
        let error = layout.encode(values, &mut key).unwrap_err();
        assert_eq!(key, [9]);
        error
    };
    let one = TupleValue::Integer(1);
    assert_eq!(
        refused(&[one, TupleValue::Null]),
        ValueError::NotNull { column: 1 }
    );
    assert!(matches!(
        refused(&[one, TupleValue::Bool(true)]),
        ValueError::WrongType { column: 1, .. }
    ));
    assert!(matches!(
        refused(&[TupleValue::Integer(1 << 31), one]),
        ValueError::OutOfRange { column: 0, .. }
    ));
    let count = |given| ValueError::ColumnCount { given, expected: 2 };
    assert_eq!(refused(&[one]), count(1));
    assert_eq!(refused(&[one; 3]), count(3));
    let mut key = Vec::new();
    assert_eq!(layout.encode_prefix(&[one; 3], &mut key), Err(count(3)));
    assert_eq!(layout.encode_prefix(&[one], &mut key), Ok(()));
    assert_eq!(key, [0x32]);
}
