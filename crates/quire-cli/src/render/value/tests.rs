#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use quire::arrow::array::types::{Int32Type, IntervalMonthDayNano};
use quire::arrow::array::{
    Array, ArrayRef, BinaryViewArray, BooleanArray, Date32Array, Decimal128Array, DictionaryArray,
    Float64Array, Int16Array, Int64Array, IntervalMonthDayNanoArray, ListArray, NullArray,
    StringArray, StringViewArray, StructArray, Time64MicrosecondArray, TimestampMicrosecondArray,
    UInt64Array,
};
use quire::arrow::datatypes::{DataType, Field};

use super::Texts;

/// The texts of a column; `None` for NULL.
fn texts(array: &dyn Array) -> Vec<Option<String>> {
    let texts = Texts::new(array);
    (0..array.len())
        .map(|row| {
            let mut out = String::new();
            texts.write(row, &mut out).then_some(out)
        })
        .collect()
}

fn assert_texts(array: &dyn Array, expected: &[Option<&str>]) {
    let expected: Vec<Option<String>> = expected
        .iter()
        .map(|text| text.map(str::to_owned))
        .collect();
    assert_eq!(texts(array), expected);
}

#[test]
fn simple_types() {
    assert_texts(
        &BooleanArray::from(vec![Some(true), None, Some(false)]),
        &[Some("true"), None, Some("false")],
    );
    assert_texts(
        &Int16Array::from(vec![Some(-32768), None]),
        &[Some("-32768"), None],
    );
    assert_texts(
        &Int64Array::from(vec![i64::MAX]),
        &[Some("9223372036854775807")],
    );
    assert_texts(
        &UInt64Array::from(vec![u64::MAX]),
        &[Some("18446744073709551615")],
    );
    assert_texts(
        &Float64Array::from(vec![1.0, 0.25]),
        &[Some("1"), Some("0.25")],
    );
    assert_texts(
        &StringViewArray::from(vec![Some("é\n"), None, Some("")]),
        &[Some("é\n"), None, Some("")],
    );
    assert_texts(&NullArray::new(2), &[None, None]);
}

#[test]
fn decimals_keep_their_scale() {
    let decimals = Decimal128Array::from(vec![12_345, -5, 0])
        .with_precision_and_scale(15, 2)
        .unwrap();
    assert_texts(&decimals, &[Some("123.45"), Some("-0.05"), Some("0.00")]);
}

#[test]
fn dates_times_and_intervals() {
    assert_texts(&Date32Array::from(vec![10_957]), &[Some("2000-01-01")]);
    assert_texts(
        &TimestampMicrosecondArray::from(vec![1_500_000]),
        &[Some("1970-01-01 00:00:01.5")],
    );
    let with_zone = TimestampMicrosecondArray::from(vec![0]).with_timezone("+00:00");
    assert_texts(&with_zone, &[Some("1970-01-01 00:00:00+00")]);
    let in_berlin = TimestampMicrosecondArray::from(vec![0]).with_timezone("+01:00");
    assert_texts(&in_berlin, &[Some("1970-01-01 01:00:00+01")]);
    assert_texts(
        &Time64MicrosecondArray::from(vec![3_600_000_000]),
        &[Some("01:00:00")],
    );
    let interval = IntervalMonthDayNano::new(13, 2, 0);
    assert_texts(
        &IntervalMonthDayNanoArray::from(vec![interval]),
        &[Some("1 year 1 mon 2 days")],
    );
}

#[test]
fn bytes_are_hexadecimal() {
    let bytes = BinaryViewArray::from(vec![Some(b"\x00\xff".as_slice()), Some(b""), None]);
    assert_texts(&bytes, &[Some("\\x00ff"), Some("\\x"), None]);
}

#[test]
fn dictionaries_show_their_values() {
    let values: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    let keys = quire::arrow::array::Int32Array::from(vec![Some(1), None, Some(0)]);
    let dictionary = DictionaryArray::<Int32Type>::try_new(keys, values).unwrap();
    assert_texts(&dictionary, &[Some("b"), None, Some("a")]);
}

#[test]
fn lists_and_rows_are_written_as_postgresql_writes_them() {
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(vec![
        Some(vec![Some(1), None, Some(3)]),
        Some(vec![]),
        None,
    ]);
    assert_texts(&lists, &[Some("{1,NULL,3}"), Some("{}"), None]);

    let name: ArrayRef = Arc::new(StringArray::from(vec![
        Some("a b"),
        None,
        Some("say \"hi\""),
    ]));
    let count: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let rows = StructArray::from(vec![
        (Arc::new(Field::new("name", DataType::Utf8, true)), name),
        (Arc::new(Field::new("count", DataType::Int64, false)), count),
    ]);
    assert_texts(
        &rows,
        &[
            Some("(\"a b\",1)"),
            Some("(,2)"),
            Some("(\"say \\\"hi\\\"\",3)"),
        ],
    );
}
