//! The text of one value of a column, for every mode that shows values as text.

use std::fmt::Write as _;

use quire::arrow::array::types::{
    ArrowDictionaryKeyType, Date32Type, Date64Type, Decimal128Type, Decimal256Type, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, IntervalDayTimeType,
    IntervalMonthDayNanoType, IntervalYearMonthType, Time32MillisecondType, Time32SecondType,
    Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use quire::arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, StructArray};
use quire::arrow::buffer::NullBuffer;
use quire::arrow::datatypes::{DataType, IntervalUnit, TimeUnit};
use quire::arrow::util::display::{ArrayFormatter, FormatOptions};
use quire_text::temporal::{
    TimeZoneRules, write_date, write_instant, write_interval, write_time, write_timestamp,
};

use super::float::{write_f32, write_f64};

/// Appends the text of the value of a row. Only called for rows that are not NULL.
pub type WriteValue<'a> = Box<dyn Fn(usize, &mut String) + 'a>;

/// The values of one column of a batch as text.
pub struct Texts<'a> {
    nulls: Option<NullBuffer>,
    write: WriteValue<'a>,
}

impl<'a> Texts<'a> {
    /// Looks at the column's type once, so that reading a value does not.
    pub fn new(array: &'a dyn Array) -> Self {
        Self {
            nulls: array.logical_nulls(),
            write: value_writer(array),
        }
    }

    /// Appends the value of `row` and returns true; leaves `out` alone and returns false when it is
    /// NULL.
    pub fn write(&self, row: usize, out: &mut String) -> bool {
        if self.is_null(row) {
            return false;
        }
        (self.write)(row, out);
        true
    }

    /// Whether the value of `row` is NULL.
    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }
}

/// A closure that writes values of the array's type.
pub fn value_writer(array: &dyn Array) -> WriteValue<'_> {
    match array.data_type() {
        DataType::Boolean => {
            let values = array.as_boolean();
            Box::new(move |row, out| out.push_str(if values.value(row) { "true" } else { "false" }))
        }
        DataType::Int8 => integer::<Int8Type>(array),
        DataType::Int16 => integer::<Int16Type>(array),
        DataType::Int32 => integer::<Int32Type>(array),
        DataType::Int64 => integer::<Int64Type>(array),
        DataType::UInt8 => integer::<UInt8Type>(array),
        DataType::UInt16 => integer::<UInt16Type>(array),
        DataType::UInt32 => integer::<UInt32Type>(array),
        DataType::UInt64 => integer::<UInt64Type>(array),
        DataType::Float32 => primitive::<Float32Type>(array, write_f32),
        DataType::Float64 => primitive::<Float64Type>(array, write_f64),
        DataType::Decimal128(..) => {
            let values = array.as_primitive::<Decimal128Type>();
            Box::new(move |row, out| out.push_str(&values.value_as_string(row)))
        }
        DataType::Decimal256(..) => {
            let values = array.as_primitive::<Decimal256Type>();
            Box::new(move |row, out| out.push_str(&values.value_as_string(row)))
        }
        DataType::Utf8 => {
            let values = array.as_string::<i32>();
            Box::new(move |row, out| out.push_str(values.value(row)))
        }
        DataType::LargeUtf8 => {
            let values = array.as_string::<i64>();
            Box::new(move |row, out| out.push_str(values.value(row)))
        }
        DataType::Utf8View => {
            let values = array.as_string_view();
            Box::new(move |row, out| out.push_str(values.value(row)))
        }
        DataType::Date32 => {
            primitive::<Date32Type>(array, |days, out| write_date(days.into(), out))
        }
        DataType::Date64 => primitive::<Date64Type>(array, |milliseconds, out| {
            write_date(milliseconds.div_euclid(86_400_000), out);
        }),
        DataType::Timestamp(unit, zone) => timestamp(array, *unit, zone.as_deref()),
        DataType::Time32(_) | DataType::Time64(_) => time(array),
        DataType::Interval(unit) => interval(array, *unit),
        _ => binary_or_nested(array),
    }
}

fn primitive<T: ArrowPrimitiveType>(
    array: &dyn Array,
    write: impl Fn(T::Native, &mut String) + 'static,
) -> WriteValue<'_> {
    let values = array.as_primitive::<T>();
    Box::new(move |row, out| write(values.value(row), out))
}

fn integer<T: ArrowPrimitiveType>(array: &dyn Array) -> WriteValue<'_>
where
    T::Native: std::fmt::Display,
{
    primitive::<T>(array, |value, out| {
        let _ = write!(out, "{value}");
    })
}

fn timestamp<'a>(array: &'a dyn Array, unit: TimeUnit, zone: Option<&str>) -> WriteValue<'a> {
    let offset = match zone.map(fixed_offset) {
        None => None,
        Some(Some(minutes)) => Some(minutes),
        Some(None) => {
            return match zone.and_then(TimeZoneRules::of_setting) {
                Some(zone) if unit == TimeUnit::Microsecond => {
                    primitive::<TimestampMicrosecondType>(array, move |micros, out| {
                        write_instant(micros, &zone, out);
                    })
                }
                _ => any_other(array),
            };
        }
    };
    match unit {
        TimeUnit::Second => primitive::<TimestampSecondType>(array, move |ticks, out| {
            write_timestamp(ticks, 1, offset, out);
        }),
        TimeUnit::Millisecond => primitive::<TimestampMillisecondType>(array, move |ticks, out| {
            write_timestamp(ticks, 1_000, offset, out);
        }),
        TimeUnit::Microsecond => primitive::<TimestampMicrosecondType>(array, move |ticks, out| {
            write_timestamp(ticks, 1_000_000, offset, out);
        }),
        TimeUnit::Nanosecond => primitive::<TimestampNanosecondType>(array, move |ticks, out| {
            write_timestamp(ticks, 1_000_000_000, offset, out);
        }),
    }
}

/// Minutes east of Greenwich of `UTC`, `Z` or `+hh:mm`; `None` for the name of a region, whose
/// offset depends on the date.
fn fixed_offset(zone: &str) -> Option<i32> {
    if matches!(zone, "UTC" | "utc" | "Z" | "GMT") {
        return Some(0);
    }
    let (sign, digits) = match zone.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = digits.split_once(':').unwrap_or((digits, "0"));
    Some(sign * (hours.parse::<i32>().ok()? * 60 + minutes.parse::<i32>().ok()?))
}

fn time(array: &dyn Array) -> WriteValue<'_> {
    match array.data_type() {
        DataType::Time32(TimeUnit::Second) => primitive::<Time32SecondType>(array, |ticks, out| {
            write_time(ticks.into(), 1, out);
        }),
        DataType::Time32(_) => primitive::<Time32MillisecondType>(array, |ticks, out| {
            write_time(ticks.into(), 1_000, out);
        }),
        DataType::Time64(TimeUnit::Microsecond) => {
            primitive::<Time64MicrosecondType>(array, |ticks, out| {
                write_time(ticks, 1_000_000, out);
            })
        }
        _ => primitive::<Time64NanosecondType>(array, |ticks, out| {
            write_time(ticks, 1_000_000_000, out);
        }),
    }
}

fn interval(array: &dyn Array, unit: IntervalUnit) -> WriteValue<'_> {
    match unit {
        IntervalUnit::YearMonth => primitive::<IntervalYearMonthType>(array, |months, out| {
            write_interval(months.into(), 0, 0, out);
        }),
        IntervalUnit::DayTime => primitive::<IntervalDayTimeType>(array, |value, out| {
            write_interval(
                0,
                value.days.into(),
                i128::from(value.milliseconds) * 1_000_000,
                out,
            );
        }),
        IntervalUnit::MonthDayNano => primitive::<IntervalMonthDayNanoType>(array, |value, out| {
            write_interval(
                value.months.into(),
                value.days.into(),
                value.nanoseconds.into(),
                out,
            );
        }),
    }
}

fn binary_or_nested(array: &dyn Array) -> WriteValue<'_> {
    match array.data_type() {
        DataType::Binary => {
            let values = array.as_binary::<i32>();
            Box::new(move |row, out| write_hexadecimal(values.value(row), out))
        }
        DataType::LargeBinary => {
            let values = array.as_binary::<i64>();
            Box::new(move |row, out| write_hexadecimal(values.value(row), out))
        }
        DataType::BinaryView => {
            let values = array.as_binary_view();
            Box::new(move |row, out| write_hexadecimal(values.value(row), out))
        }
        DataType::FixedSizeBinary(_) => {
            let values = array.as_fixed_size_binary();
            Box::new(move |row, out| write_hexadecimal(values.value(row), out))
        }
        DataType::List(_) => {
            let lists = array.as_list::<i32>();
            Box::new(move |row, out| write_list(&lists.value(row), out))
        }
        DataType::LargeList(_) => {
            let lists = array.as_list::<i64>();
            Box::new(move |row, out| write_list(&lists.value(row), out))
        }
        DataType::FixedSizeList(..) => {
            let lists = array.as_fixed_size_list();
            Box::new(move |row, out| write_list(&lists.value(row), out))
        }
        DataType::Struct(_) => struct_writer(array.as_struct()),
        DataType::Dictionary(key, _) => match key.as_ref() {
            DataType::Int8 => dictionary::<Int8Type>(array),
            DataType::Int16 => dictionary::<Int16Type>(array),
            DataType::Int32 => dictionary::<Int32Type>(array),
            DataType::UInt16 => dictionary::<UInt16Type>(array),
            DataType::UInt32 => dictionary::<UInt32Type>(array),
            _ => any_other(array),
        },
        _ => any_other(array),
    }
}

/// PostgreSQL's hexadecimal form of bytea, `\x` and two digits a byte.
fn write_hexadecimal(bytes: &[u8], out: &mut String) {
    out.push_str("\\x");
    for byte in bytes {
        let _ = write!(out, "{byte:02x}");
    }
}

/// PostgreSQL's `{1,NULL,"a b"}`.
fn write_list(elements: &ArrayRef, out: &mut String) {
    let texts = Texts::new(elements.as_ref());
    let is_nested = elements.data_type().is_nested();
    out.push('{');
    for row in 0..elements.len() {
        if row > 0 {
            out.push(',');
        }
        let start = out.len();
        if !texts.write(row, out) {
            out.push_str("NULL");
        } else if !is_nested && needs_quotes(&out[start..], &['{', '}', ',']) {
            quote_from(start, out);
        }
    }
    out.push('}');
}

/// PostgreSQL's row `(1,,"a b")`: a NULL field is nothing at all.
fn struct_writer(array: &StructArray) -> WriteValue<'_> {
    let fields: Vec<Texts> = array
        .columns()
        .iter()
        .map(|column| Texts::new(column.as_ref()))
        .collect();
    Box::new(move |row, out| {
        out.push('(');
        for (index, field) in fields.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            let start = out.len();
            if field.write(row, out) && needs_quotes(&out[start..], &['(', ')', ',']) {
                quote_from(start, out);
            }
        }
        out.push(')');
    })
}

fn needs_quotes(text: &str, separators: &[char]) -> bool {
    text.is_empty()
        || text.eq_ignore_ascii_case("null")
        || text.contains(separators)
        || text.contains(|c: char| c == '"' || c == '\\' || c.is_whitespace())
}

fn quote_from(start: usize, out: &mut String) {
    let quoted = out[start..].replace('\\', "\\\\").replace('"', "\\\"");
    out.truncate(start);
    let _ = write!(out, "\"{quoted}\"");
}

fn dictionary<K: ArrowDictionaryKeyType>(array: &dyn Array) -> WriteValue<'_> {
    let dictionary = array.as_dictionary::<K>();
    let values = Texts::new(dictionary.values().as_ref());
    Box::new(move |row, out| {
        if let Some(key) = dictionary.key(row) {
            values.write(key, out);
        }
    })
}

/// Types that no SQL type of ours maps to; shown as Arrow prints them.
fn any_other(array: &dyn Array) -> WriteValue<'_> {
    let options = FormatOptions::default()
        .with_null("NULL")
        .with_timestamp_tz_format(Some("%Y-%m-%d %H:%M:%S%.f%:z"));
    match ArrayFormatter::try_new(array, &options) {
        Ok(formatter) => Box::new(move |row, out| {
            let _ = write!(out, "{}", formatter.value(row));
        }),
        Err(error) => Box::new(move |_, out| {
            let _ = write!(out, "<{error}>");
        }),
    }
}

#[cfg(test)]
mod tests;
