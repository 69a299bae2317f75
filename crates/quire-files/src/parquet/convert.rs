//! Arrays as Parquet has them to arrays of Quire's types, without changing a value.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, PrimitiveArray, StringViewBuilder, new_null_array,
};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{
    DataType, Date32Type, Date64Type, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimeUnit, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType,
};

use quire_text::number_out::write_time_of_day;

const DAY_MILLISECONDS: i64 = 86_400_000;

/// The array as `target`. The error names the value that would change, or that no text can have.
pub(super) fn convert(array: &ArrayRef, target: &DataType) -> Result<ArrayRef, String> {
    let converted = converted(array, target)?;
    if let Some(texts) = converted.as_string_view_opt()
        && let Some(row) = texts
            .iter()
            .position(|text| text.is_some_and(|text| text.contains('\0')))
    {
        return Err(format!(
            "value {row} of a column of text has a zero byte, which text cannot hold"
        ));
    }
    Ok(converted)
}

fn converted(array: &ArrayRef, target: &DataType) -> Result<ArrayRef, String> {
    if array.data_type() == target {
        return Ok(Arc::clone(array));
    }
    match (array.data_type(), target) {
        (DataType::Null, _) => Ok(new_null_array(target, array.len())),
        (DataType::Timestamp(unit, _), DataType::Timestamp(TimeUnit::Microsecond, zone)) => {
            let microseconds = timestamps(array, *unit)?;
            Ok(Arc::new(microseconds.with_timezone_opt(zone.clone())))
        }
        (DataType::Date64, DataType::Date32) => {
            let days = array
                .as_primitive::<Date64Type>()
                .try_unary::<_, Date32Type, String>(|ms| {
                    if ms % DAY_MILLISECONDS != 0 {
                        return Err(format!("{ms} milliseconds are no whole day"));
                    }
                    i32::try_from(ms / DAY_MILLISECONDS).map_err(|_| format!("day of {ms} ms"))
                });
            Ok(Arc::new(days?))
        }
        (DataType::Time32(unit) | DataType::Time64(unit), DataType::Utf8View) => {
            times(array, *unit)
        }
        (DataType::FixedSizeBinary(16), DataType::Utf8View) => Ok(uuids(array)),
        _ => {
            let options = CastOptions {
                safe: false,
                ..CastOptions::default()
            };
            cast_with_options(array, target, &options).map_err(|error| error.to_string())
        }
    }
}

fn timestamps(
    array: &ArrayRef,
    unit: TimeUnit,
) -> Result<PrimitiveArray<TimestampMicrosecondType>, String> {
    let too_far = |value: i64| format!("timestamp {value} {unit:?}s is out of range");
    let scaled =
        |factor: i64| move |value: i64| value.checked_mul(factor).ok_or_else(|| too_far(value));
    match unit {
        TimeUnit::Second => array
            .as_primitive::<TimestampSecondType>()
            .try_unary(scaled(1_000_000)),
        TimeUnit::Millisecond => array
            .as_primitive::<TimestampMillisecondType>()
            .try_unary(scaled(1_000)),
        TimeUnit::Microsecond => Ok(array.as_primitive::<TimestampMicrosecondType>().clone()),
        TimeUnit::Nanosecond => array
            .as_primitive::<TimestampNanosecondType>()
            .try_unary(|ns| {
                if ns % 1_000 == 0 {
                    return Ok(ns / 1_000);
                }
                Err(format!(
                    "timestamp {ns} ns since 1970 has digits beyond microseconds, which TIMESTAMP \
                 would lose; round the column before"
                ))
            }),
    }
}

fn times(array: &ArrayRef, unit: TimeUnit) -> Result<ArrayRef, String> {
    match unit {
        TimeUnit::Second => time_texts::<Time32SecondType>(array, 1_000_000, 1),
        TimeUnit::Millisecond => time_texts::<Time32MillisecondType>(array, 1_000, 1),
        TimeUnit::Microsecond => time_texts::<Time64MicrosecondType>(array, 1, 1),
        TimeUnit::Nanosecond => time_texts::<Time64NanosecondType>(array, 1, 1_000),
    }
}

/// `HH:MM:SS[.ffffff]` of values that are microseconds when multiplied and divided.
fn time_texts<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    multiply: i64,
    divide: i64,
) -> Result<ArrayRef, String>
where
    T::Native: Into<i64>,
{
    let mut builder = StringViewBuilder::with_capacity(array.len());
    let mut text = Vec::new();
    for value in array.as_primitive::<T>() {
        let Some(value) = value else {
            builder.append_null();
            continue;
        };
        let value: i64 = value.into();
        let microseconds = value.checked_mul(multiply).filter(|v| v % divide == 0);
        let microseconds = microseconds
            .map(|v| v / divide)
            .and_then(|v| u64::try_from(v).ok());
        let Some(microseconds) = microseconds.filter(|v| *v <= 86_400_000_000) else {
            return Err(format!("{value} is no time of day in whole microseconds"));
        };
        text.clear();
        let seconds = (microseconds / 1_000_000) as u32;
        write_time_of_day(seconds, (microseconds % 1_000_000) as u32, &mut text);
        builder.append_value(String::from_utf8_lossy(&text));
    }
    Ok(Arc::new(builder.finish()))
}

/// `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx`.
fn uuids(array: &ArrayRef) -> ArrayRef {
    let array = array.as_fixed_size_binary();
    let mut builder = StringViewBuilder::with_capacity(array.len());
    for bytes in array {
        let text = bytes.map(|bytes| {
            let mut text = String::with_capacity(36);
            for (position, byte) in bytes.iter().enumerate() {
                if matches!(position, 4 | 6 | 8 | 10) {
                    text.push('-');
                }
                for digit in [byte >> 4, byte & 15] {
                    text.extend(char::from_digit(u32::from(digit), 16));
                }
            }
            text
        });
        builder.append_option(text);
    }
    Arc::new(builder.finish())
}
