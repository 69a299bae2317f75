//! Keys of all types through the table and back.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, Date32Array, Decimal128Array,
    Float32Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array,
    IntervalMonthDayNanoArray, ListArray, StringViewArray, StructArray, TimestampMicrosecondArray,
    UInt64Array,
};
use datafusion::arrow::datatypes::{DataType, Field, Int32Type, IntervalMonthDayNano, Schema};
use datafusion::common::ScalarValue;
use quire_vector::{GroupTable, KeyRows};

use crate::optimize::packed_keys::{PackedKeys, in_packed_types};

/// Columns of `rows` rows with a few values each, among them the ends of their types; `is_null` says which are NULL.
fn columns(rows: i64, is_null: impl Fn(i64, i64) -> bool) -> Vec<ArrayRef> {
    let value =
        |column: i64, row: i64| (!is_null(column, row)).then_some(row * (column + 3) % 5 - 2);
    let values = |column: i64| (0..rows).map(move |row| (column, row));
    macro_rules! integers {
        ($array:ty, $column:expr, $map:expr) => {
            Arc::new(
                values($column)
                    .map(|(column, row)| value(column, row).map($map))
                    .collect::<$array>(),
            ) as ArrayRef
        };
    }
    let text = |value: i64| match value {
        -2 => String::new(),
        -1 => "short".to_owned(),
        0 => "twelve bytes".to_owned(),
        1 => "one byte more".to_owned(),
        _ => "a text that is much longer than a view".repeat(40),
    };
    let decimals = Decimal128Array::from_iter(
        values(8).map(|(column, row)| value(column, row).map(|value| i128::from(value) << 70)),
    );
    vec![
        integers!(Int64Array, 0, |value| value.wrapping_mul(i64::MAX / 2)),
        integers!(Int32Array, 1, |value| value as i32 * (i32::MAX / 2)),
        integers!(Int16Array, 2, |value| value as i16 * (i16::MAX / 2)),
        integers!(Int8Array, 3, |value| value as i8 * 63),
        integers!(BooleanArray, 4, |value| value > 0),
        integers!(Date32Array, 5, |value| value as i32),
        integers!(TimestampMicrosecondArray, 6, |value| value),
        integers!(UInt64Array, 7, |value| value as u64),
        Arc::new(decimals.with_precision_and_scale(38, 3).unwrap()),
        integers!(StringViewArray, 9, text),
        integers!(BinaryViewArray, 10, |value| vec![
            255_u8;
            (value + 2) as usize * 9
        ]),
        integers!(Float64Array, 11, |value| value as f64 / 7.0),
        integers!(Float32Array, 12, |value| value as f32 * f32::MAX / 2.0),
        integers!(BinaryArray, 13, |value| vec![
            7_u8;
            (value + 2) as usize * 5
        ]),
        integers!(IntervalMonthDayNanoArray, 14, |value| {
            IntervalMonthDayNano::new(value as i32, 30, value)
        }),
        Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(
            values(15).map(|(column, row)| {
                let items = value(column, row)?;
                Some((0..items + 2).map(|item| (item != 1).then_some(item as i32)))
            }),
        )),
        pairs(value, rows),
    ]
}

/// Rows of two fields, each of which may be NULL by itself.
fn pairs(value: impl Fn(i64, i64) -> Option<i64>, rows: i64) -> ArrayRef {
    let numbers = (0..rows).map(|row| value(16, row).filter(|value| *value != 1));
    let texts = (0..rows).map(|row| value(16, row).map(|value| format!("field {value}")));
    let fields: Vec<(Arc<Field>, ArrayRef)> = vec![
        (
            Arc::new(Field::new("number", DataType::Int64, true)),
            Arc::new(numbers.collect::<Int64Array>()),
        ),
        (
            Arc::new(Field::new("text", DataType::Utf8View, true)),
            Arc::new(texts.collect::<StringViewArray>()),
        ),
    ];
    let are_valid: Vec<bool> = (0..rows).map(|row| value(16, row).is_some()).collect();
    let (fields, columns): (Vec<_>, Vec<_>) = fields.into_iter().unzip();
    Arc::new(StructArray::new(
        fields.into(),
        columns,
        Some(are_valid.into()),
    ))
}

fn schema(columns: &[ArrayRef], has_nulls: bool) -> Schema {
    let fields = columns.iter().enumerate().map(|(number, values)| {
        Field::new(format!("k{number}"), values.data_type().clone(), has_nulls)
    });
    Schema::new(fields.collect::<Vec<_>>())
}

/// The groups of some columns' rows in two batches, beside those of a map.
fn check(columns: &[ArrayRef], has_nulls: bool) {
    let packed = PackedKeys::new(&schema(columns, has_nulls)).unwrap();
    let mut table = GroupTable::new(packed.layout());
    let mut rows = KeyRows::new(packed.layout());
    let mut known: HashMap<Vec<ScalarValue>, usize> = HashMap::new();
    let mut distinct = Vec::new();
    let row_count = columns[0].len();
    for (start, len) in [
        (0, row_count / 3),
        (row_count / 3, row_count - row_count / 3),
    ] {
        // Slices have values in front of them.
        let batch: Vec<ArrayRef> = columns
            .iter()
            .map(|values| values.slice(start, len))
            .collect();
        let packable = in_packed_types(batch.clone()).unwrap();
        let buffers = packed.pack(&packable, len, 11, &mut rows).unwrap();
        let mut groups = Vec::new();
        table.find(&rows, &buffers, &mut groups);
        for (row, group) in groups.into_iter().enumerate() {
            let key = batch
                .iter()
                .map(|values| ScalarValue::try_from_array(values, row).unwrap());
            let key: Vec<ScalarValue> = key.collect();
            let next = known.len();
            let expected = *known.entry(key.clone()).or_insert(next);
            assert_eq!(group, expected, "{key:?}");
            if expected == next {
                distinct.push(key);
            }
        }
    }
    assert_eq!(table.group_count(), distinct.len());
    let unpacked = packed.unpacked(table.into_keys());
    let half = distinct.len() / 2;
    for groups in [0..half, half..distinct.len()] {
        let unpacked = unpacked.columns(groups.clone()).unwrap();
        for (number, values) in unpacked.iter().enumerate() {
            assert_eq!(values.data_type(), columns[number].data_type());
            assert_eq!(values.len(), groups.len());
            for (row, key) in distinct[groups.clone()].iter().enumerate() {
                assert_eq!(
                    ScalarValue::try_from_array(values, row).unwrap(),
                    key[number]
                );
            }
        }
    }
}

#[test]
fn keys_of_every_type_are_told_apart_and_given_back() {
    let without = columns(200, |_, _| false);
    let with = columns(200, |column, row| (row / 5 + column) % 3 == 0);
    for (one, one_with) in without.iter().zip(&with) {
        let alone = |values: &ArrayRef, has_nulls| check(&[Arc::clone(values)], has_nulls);
        alone(one, false);
        alone(one, true);
        alone(one_with, true);
        for other in &with {
            check(&[Arc::clone(one), Arc::clone(other)], true);
        }
    }
    check(&without, false);
    check(&with, true);
}

/// Whatever an array holds in the place of a NULL, it is one NULL.
#[test]
fn nulls_are_equal_whatever_they_hide() {
    let nulls = || Some(vec![true, false, false, true].into());
    let integers = Int32Array::new(vec![1, 2, 3, 0].into(), nulls());
    let texts = StringViewArray::from(vec!["a", "b", "a text that is not short", ""]);
    let texts = StringViewArray::new(
        texts.views().clone(),
        texts.data_buffers().to_vec(),
        nulls(),
    );
    let columns: [ArrayRef; 2] = [Arc::new(integers), Arc::new(texts)];
    check(&columns, true);
    check(&columns[..1], true);
    check(&columns[1..], true);
}

#[test]
fn a_key_has_a_type_and_the_type_an_encoding() {
    let of =
        |data_type: DataType| PackedKeys::new(&Schema::new(vec![Field::new("k", data_type, true)]));
    assert!(of(DataType::Utf8).is_some());
    assert_eq!(of(DataType::Null), None);
    assert_eq!(PackedKeys::new(&Schema::empty()), None);
}

#[test]
fn a_null_where_there_is_none_is_an_error() {
    let columns: [ArrayRef; 1] = [Arc::new(Int64Array::from(vec![Some(1), None]))];
    let packed = PackedKeys::new(&schema(&columns, false)).unwrap();
    let mut rows = KeyRows::new(packed.layout());
    let error = packed.pack(&columns, 2, 0, &mut rows).unwrap_err();
    assert!(error.to_string().contains("never NULL"), "{error}");
}
