//! Owned values, and the form in which declared lengths store text.

use std::cmp::Ordering;
use std::hash::{BuildHasher, RandomState};

use quire_tables::SqlType;
use quire_tables::row_table::{Decimal, TupleValue, Value, array_of_values, fit};

use crate::fixture::{Random, TYPES, is_same, value};

#[test]
fn values_survive_every_form() {
    let mut random = Random::new(5);
    for sql_type in TYPES {
        let mut values: Vec<Value> = (0..200).map(|_| value(&mut random, sql_type)).collect();
        values.push(Value::Null);
        let array = array_of_values(sql_type, values.iter().map(Value::as_tuple_value)).unwrap();
        assert_eq!(*array.data_type(), sql_type.arrow_type());
        for (row, value) in values.iter().enumerate() {
            let again = Value::of_array(array.as_ref(), row, sql_type).unwrap();
            assert!(is_same(&again, value), "{again:?} instead of {value:?}");
        }
        assert_eq!(
            Value::of_array(array.as_ref(), values.len(), sql_type),
            None
        );
    }
}

#[test]
fn order_and_hash_are_those_of_sql() {
    let floats = [f64::NEG_INFINITY, -1.0, 0.0, 2.0, f64::INFINITY, f64::NAN];
    for (left_at, left) in floats.iter().enumerate() {
        for (right_at, right) in floats.iter().enumerate() {
            let order = left_at.cmp(&right_at);
            assert_eq!(Value::Double(*left).cmp(&Value::Double(*right)), order);
            let narrow = |value: f64| Value::Real(value as f32);
            assert_eq!(narrow(*left).cmp(&narrow(*right)), order);
            assert_eq!(Value::Double(*left).cmp(&Value::Null), Ordering::Less);
        }
    }
    let hasher = RandomState::new();
    let equal = [
        (Value::Double(0.0), Value::Double(-0.0)),
        (Value::Double(f64::NAN), Value::Double(-f64::NAN)),
        (Value::Real(0.0), Value::Real(-0.0)),
        (Value::Null, Value::Null),
    ];
    for (left, right) in equal {
        assert_eq!(left, right);
        assert_eq!(hasher.hash_one(&left), hasher.hash_one(&right));
    }
    let decimals = [
        i128::MIN,
        -1_i128 << 64,
        -1,
        0,
        1,
        u64::MAX.into(),
        1 << 64,
        i128::MAX,
    ];
    for pair in decimals.windows(2) {
        let [left, right] = [pair[0], pair[1]].map(Decimal::from);
        assert!(left < right);
        assert_eq!(i128::from(left), pair[0]);
    }
}

#[test]
fn text_fits_its_declared_length() {
    let fitted = |sql_type, text: &str| {
        fit(sql_type, TupleValue::Bytes(text.as_bytes())).map(|value| match value {
            TupleValue::Bytes(bytes) => String::from_utf8(bytes.to_vec()).unwrap(),
            other => panic!("{other:?}"),
        })
    };
    let (varchar, char) = (SqlType::VarChar(3), SqlType::Char(3));
    assert_eq!(fitted(varchar, "ab ").unwrap(), "ab ");
    assert_eq!(fitted(varchar, "é€𝄞   ").unwrap(), "é€𝄞");
    assert_eq!(fitted(char, "é€   ").unwrap(), "é€");
    assert_eq!(fitted(char, "   ").unwrap(), "");
    assert_eq!(fitted(SqlType::Text, "abcd ").unwrap(), "abcd ");
    assert!(
        fitted(varchar, "abcd")
            .unwrap_err()
            .to_string()
            .contains("4 characters")
    );
    assert!(fitted(char, "ab  d").is_err());
    assert_eq!(fit(varchar, TupleValue::Null).unwrap(), TupleValue::Null);
}
