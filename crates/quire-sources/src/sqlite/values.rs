//! A value of SQLite in a builder of the column's type.

use rusqlite::types::ValueRef;

use quire_files::TypedArrayBuilder;
use quire_text::calendar::{parse_date, parse_timestamp};
use quire_text::iso_time_form::IsoTimeForm;
use quire_text::number_in::{parse_decimal, parse_f64};
use quire_text::number_out::{write_decimal, write_f64, write_integer};

use crate::batch::append_null;

const ZERO_BYTE: &str = "the text has a zero byte, which text cannot hold here; read the column as bytes, with CAST(… AS BLOB) in a view, or leave it out";
const NOT_UTF8: &str = "the text is not valid UTF-8; mend it, read the column as bytes, with CAST(… AS BLOB) in a view, or leave it out";
const ANOTHER_TYPE: &str = "the value does not fit the type that all values had when the table was looked through; check the file for damage";

/// Appends `value`; gives the bytes that a text or byte string takes.
pub(super) fn append(
    column: &mut TypedArrayBuilder,
    value: ValueRef<'_>,
) -> Result<usize, &'static str> {
    if value == ValueRef::Null {
        append_null(column);
        return Ok(0);
    }
    match column {
        TypedArrayBuilder::Text(builder) => {
            let mut number = Vec::new();
            let text = std::str::from_utf8(as_bytes(value, &mut number)).map_err(|_| NOT_UTF8)?;
            if text.contains('\0') {
                return Err(ZERO_BYTE);
            }
            builder.append_value(text);
            return Ok(text.len());
        }
        TypedArrayBuilder::Bytes(builder) => {
            let mut number = Vec::new();
            let bytes = as_bytes(value, &mut number);
            builder.append_value(bytes);
            return Ok(bytes.len());
        }
        _ => append_fixed(column, value).ok_or(ANOTHER_TYPE)?,
    }
    Ok(0)
}

/// Appends a value of a type whose values all take the same room; `None` if it is of another.
fn append_fixed(column: &mut TypedArrayBuilder, value: ValueRef<'_>) -> Option<()> {
    match (column, value) {
        (TypedArrayBuilder::Boolean(builder), ValueRef::Integer(integer @ (0 | 1))) => {
            builder.append_value(integer == 1)
        }
        (TypedArrayBuilder::Int64(builder), ValueRef::Integer(integer)) => {
            builder.append_value(integer)
        }
        (TypedArrayBuilder::Float64(builder), ValueRef::Integer(integer)) => {
            builder.append_value(integer as f64)
        }
        (TypedArrayBuilder::Float64(builder), ValueRef::Real(real)) => builder.append_value(real),
        (TypedArrayBuilder::Decimal(builder, precision, scale), value) => {
            builder.append_value(decimal_of(value, *precision, *scale)?)
        }
        (TypedArrayBuilder::Date(builder), ValueRef::Text(text)) => {
            builder.append_value(parse_date(text).ok()?)
        }
        (TypedArrayBuilder::Timestamp(builder), ValueRef::Text(text)) => {
            builder.append_value(moment(text)?)
        }
        _ => return None,
    }
    Some(())
}

/// Microseconds since 1970: of UTC if the text has a zone, else of the clock.
fn moment(text: &[u8]) -> Option<i64> {
    let parsed = if IsoTimeForm::of(text)? == IsoTimeForm::ZonedTimestamp {
        parse_timestamp(text, Some(&quire_text::temporal::TimeZoneRules::east(0)))
    } else {
        parse_timestamp(text, None)
    };
    parsed.ok()
}

/// A number in units of 10^-scale, if that changes nothing: of a double, whose shortest text is the decimal that was meant, it is the
/// decimal that reads back as the same double.
pub(super) fn decimal_of(value: ValueRef<'_>, precision: u8, scale: u8) -> Option<i128> {
    let mut text = Vec::with_capacity(40);
    match value {
        ValueRef::Integer(integer) => {
            write_integer(i128::from(integer), &mut text);
            parse_decimal(&text, precision, scale).ok()
        }
        ValueRef::Real(real) => {
            write_f64(real, &mut text);
            let decimal = parse_decimal(&text, precision, scale).ok()?;
            text.clear();
            write_decimal(decimal, scale as i8, &mut text);
            (parse_f64(&text).ok()? == real).then_some(decimal)
        }
        _ => None,
    }
}

/// The bytes of a text or byte string; of a number those of its text, which is put into `number`.
fn as_bytes<'a>(value: ValueRef<'a>, number: &'a mut Vec<u8>) -> &'a [u8] {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => return bytes,
        ValueRef::Integer(integer) => write_integer(i128::from(integer), number),
        ValueRef::Real(real) => write_f64(real, number),
        ValueRef::Null => {}
    }
    number
}
