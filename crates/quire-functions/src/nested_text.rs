//! Arrays and rows as text, `{1,NULL,"a b"}` and `(1,,"a b")`, as PostgreSQL writes them. Arrow would write `[1, , a b]` and `{c0: 1}`.

use std::sync::Arc;

use datafusion::arrow::array::types::{
    Date32Type, Decimal128Type, Float32Type, Float64Type, IntervalMonthDayNanoType,
    Time64MicrosecondType, TimestampMicrosecondType,
};
use datafusion::arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, ListArray, StringViewArray, StructArray,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, IntervalUnit, TimeUnit};
use datafusion::common::Result;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use quire_text::bytea;
use quire_text::number_out::{write_f32, write_f64};
use quire_text::temporal;
use quire_text::temporal::{SECOND, TimeZoneRules};

use super::array_results::map_array;
use crate::zone_of;

/// The function, which gives the text of an array or a row.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct NestedText {
    signature: Signature,
}

impl Default for NestedText {
    fn default() -> Self {
        Self {
            signature: Signature::any(1, Volatility::Immutable),
        }
    }
}

impl NestedText {
    /// Whether values of the type have parts.
    pub fn is_needed_for(from: &DataType) -> bool {
        matches!(
            from,
            DataType::List(_)
                | DataType::LargeList(_)
                | DataType::FixedSizeList(..)
                | DataType::Struct(_)
        )
    }
}

impl ScalarUDFImpl for NestedText {
    fn name(&self) -> &str {
        "nested_to_text"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Utf8View)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let zone = zone_of(&args.config_options);
        map_array(&args.args, |array| {
            let texts = texts(array, &zone)?;
            Ok(Arc::new(texts.into_iter().collect::<StringViewArray>()))
        })
    }
}

/// The text of each value; nothing for NULL.
fn texts(array: &ArrayRef, zone: &TimeZoneRules) -> Result<Vec<Option<String>>> {
    Ok(match array.data_type() {
        DataType::List(_) => arrays(array.as_list(), zone)?,
        DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            let list = cast(array, &DataType::List(Arc::clone(item)))?;
            arrays(list.as_list(), zone)?
        }
        DataType::Struct(_) => rows(array.as_struct(), zone)?,
        DataType::Boolean => {
            let values = array.as_boolean().iter();
            let letter = |value| if value { "t" } else { "f" }.to_owned();
            values.map(|value| value.map(letter)).collect()
        }
        DataType::Float32 => written::<Float32Type>(array, |value, out| {
            as_text(out, |bytes| write_f32(value, bytes))
        }),
        DataType::Float64 => written::<Float64Type>(array, |value, out| {
            as_text(out, |bytes| write_f64(value, bytes))
        }),
        DataType::Decimal128(..) => {
            let values = array.as_primitive::<Decimal128Type>();
            let shown = |row| values.is_valid(row).then(|| values.value_as_string(row));
            (0..values.len()).map(shown).collect()
        }
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => {
            let values = cast(array, &DataType::BinaryView)?;
            let values = values.as_binary_view().iter();
            let shown = |bytes: &[u8]| {
                let mut out = String::new();
                as_text(&mut out, |text| bytea::write(bytes, text));
                out
            };
            values.map(|bytes| bytes.map(shown)).collect()
        }
        DataType::Date32 => {
            written::<Date32Type>(array, |days, out| temporal::write_date(days.into(), out))
        }
        DataType::Time64(TimeUnit::Microsecond) => {
            written::<Time64MicrosecondType>(array, |micros, out| {
                temporal::write_time(micros, SECOND, out)
            })
        }
        DataType::Timestamp(TimeUnit::Microsecond, None) => {
            written::<TimestampMicrosecondType>(array, |micros, out| {
                temporal::write_timestamp(micros, SECOND, None, out);
            })
        }
        DataType::Timestamp(TimeUnit::Microsecond, Some(_)) => {
            written::<TimestampMicrosecondType>(array, |micros, out| {
                temporal::write_instant(micros, zone, out)
            })
        }
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            written::<IntervalMonthDayNanoType>(array, |value, out| {
                let (months, days) = (value.months.into(), value.days.into());
                temporal::write_interval(months, days, value.nanoseconds.into(), out);
            })
        }
        _ => {
            let texts = cast(array, &DataType::Utf8View)?;
            let texts = texts.as_string_view().iter();
            texts.map(|text| text.map(str::to_owned)).collect()
        }
    })
}

fn written<T: ArrowPrimitiveType>(
    array: &ArrayRef,
    write: impl Fn(T::Native, &mut String),
) -> Vec<Option<String>> {
    let shown = |value| {
        let mut out = String::new();
        write(value, &mut out);
        out
    };
    let values = array.as_primitive::<T>().iter();
    values.map(|value| value.map(shown)).collect()
}

/// Appends what a writer of bytes, all of them ASCII, writes.
fn as_text(out: &mut String, write: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = Vec::new();
    write(&mut bytes);
    out.extend(bytes.into_iter().map(char::from));
}

/// `{1,NULL,"a b"}`; an array whose elements are empty arrays is empty itself.
fn arrays(lists: &ListArray, zone: &TimeZoneRules) -> Result<Vec<Option<String>>> {
    let offsets = lists.value_offsets();
    // Of a part of an array, the elements of that part alone.
    let first = offsets.first().map_or(0, |first| *first as usize);
    let end = offsets.last().map_or(0, |end| *end as usize);
    let elements = texts(&lists.values().slice(first, end - first), zone)?;
    let is_nested = lists.value_type().is_list();
    let shown = |row: usize| {
        let places = offsets[row] as usize - first..offsets[row + 1] as usize - first;
        let elements = elements.get(places).unwrap_or_default();
        let is_empty = is_nested
            && elements
                .iter()
                .all(|element| element.as_deref() == Some("{}"));
        let mut out = String::from("{");
        for (place, element) in elements.iter().enumerate().filter(|_| !is_empty) {
            if place > 0 {
                out.push(',');
            }
            match element {
                Some(element) if is_nested => out.push_str(element),
                Some(element) => push_element(element, &mut out),
                None => out.push_str("NULL"),
            }
        }
        out.push('}');
        out
    };
    let rows = 0..lists.len();
    Ok(rows
        .map(|row| lists.is_valid(row).then(|| shown(row)))
        .collect())
}

fn push_element(element: &str, out: &mut String) {
    let is_special =
        |letter: char| is_blank(letter) || matches!(letter, '{' | '}' | ',' | '"' | '\\');
    let needs_quotes =
        element.is_empty() || element.eq_ignore_ascii_case("null") || element.contains(is_special);
    if !needs_quotes {
        out.push_str(element);
        return;
    }
    out.push('"');
    for letter in element.chars() {
        if matches!(letter, '"' | '\\') {
            out.push('\\');
        }
        out.push(letter);
    }
    out.push('"');
}

/// `(1,,"a b")`: NULL is nothing at all, and quotes within quotes are doubled.
fn rows(rows: &StructArray, zone: &TimeZoneRules) -> Result<Vec<Option<String>>> {
    let fields = rows.columns().iter().map(|column| texts(column, zone));
    let fields = fields.collect::<Result<Vec<_>>>()?;
    let shown = |row: usize| {
        let mut out = String::from("(");
        for (place, field) in fields.iter().enumerate() {
            if place > 0 {
                out.push(',');
            }
            if let Some(Some(field)) = field.get(row) {
                push_field(field, &mut out);
            }
        }
        out.push(')');
        out
    };
    let places = 0..rows.len();
    Ok(places
        .map(|row| rows.is_valid(row).then(|| shown(row)))
        .collect())
}

fn push_field(field: &str, out: &mut String) {
    let is_special =
        |letter: char| is_blank(letter) || matches!(letter, '(' | ')' | ',' | '"' | '\\');
    if !field.is_empty() && !field.contains(is_special) {
        out.push_str(field);
        return;
    }
    out.push('"');
    for letter in field.chars() {
        if matches!(letter, '"' | '\\') {
            out.push(letter);
        }
        out.push(letter);
    }
    out.push('"');
}

/// C's `isspace`.
fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\n' | '\r' | '\u{b}' | '\u{c}')
}
