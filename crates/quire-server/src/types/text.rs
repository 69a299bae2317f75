//! Values as text.

use quire::arrow::array::{Array, ArrayRef};

use quire_text::temporal::TimeZoneRules;

use super::{WireCell, WireColumn, calendar, float, numeric};

/// Appends a value as text, an instant as clocks of the zone show it; `false` when it is NULL.
pub(crate) fn write_text(out: &mut Vec<u8>, cell: &WireCell<'_>, zone: &TimeZoneRules) -> bool {
    match cell {
        WireCell::Null => return false,
        WireCell::Boolean(value) => out.push(if *value { b't' } else { b'f' }),
        WireCell::Integer(value) => write_integer(out, *value),
        WireCell::Decimal { units, scale } => {
            out.extend(numeric::numeric_text(*units, *scale).bytes())
        }
        WireCell::Real(value) => out.extend(float::real_text(*value).bytes()),
        WireCell::Double(value) => out.extend(float::double_text(*value).bytes()),
        WireCell::Text(text) => out.extend(text.as_bytes()),
        WireCell::Shown(text) => out.extend(text.as_bytes()),
        WireCell::Bytes(bytes) => write_hex(out, bytes),
        WireCell::Date(day) => out.extend(calendar::date_text(*day).bytes()),
        WireCell::Time(micros) => out.extend(calendar::time_text(*micros).bytes()),
        WireCell::Timestamp(micros) => out.extend(calendar::timestamp_text(*micros).bytes()),
        WireCell::TimestampTz(micros) => out.extend(calendar::instant_text(*micros, zone).bytes()),
        WireCell::Interval {
            months,
            days,
            microseconds,
        } => out.extend(calendar::interval_text(*months, *days, *microseconds).bytes()),
        WireCell::Array(elements) => match WireColumn::new(elements) {
            Ok(column) => write_array(out, &column, elements.len(), zone),
            Err(_) => return false,
        },
        WireCell::Row(fields) => write_row(out, fields, zone),
    }
    true
}

/// The digits, without the detour over a string.
fn write_integer(out: &mut Vec<u8>, value: i64) {
    let mut digits = [0_u8; 20];
    let mut rest = value.unsigned_abs();
    let mut first = digits.len();
    for place in digits.iter_mut().rev() {
        *place = b'0' + (rest % 10) as u8;
        first -= 1;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        out.push(b'-');
    }
    out.extend(&digits[first..]);
}

fn write_hex(out: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.extend(b"\\x");
    for byte in bytes {
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 15)]);
    }
}

/// `{1,NULL,"a b"}`
fn write_array(out: &mut Vec<u8>, column: &WireColumn, count: usize, zone: &TimeZoneRules) {
    out.push(b'{');
    for row in 0..count {
        if row > 0 {
            out.push(b',');
        }
        let cell = column.cell(row);
        let mut element = Vec::new();
        if !write_text(&mut element, &cell, zone) {
            out.extend(b"NULL");
        } else if matches!(cell, WireCell::Array(_)) {
            out.extend(element);
        } else {
            write_element(out, &element);
        }
    }
    out.push(b'}');
}

/// The text of an element, with quotes if it needs them.
pub(super) fn write_element(out: &mut Vec<u8>, element: &[u8]) {
    if !needs_quotes(element) {
        out.extend(element);
        return;
    }
    out.push(b'"');
    for byte in element {
        if matches!(byte, b'"' | b'\\') {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    out.push(b'"');
}

fn needs_quotes(element: &[u8]) -> bool {
    let is_special =
        |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'{' | b'}' | b',' | b'"' | b'\\');
    element.is_empty() || element.eq_ignore_ascii_case(b"null") || element.iter().any(is_special)
}

/// `(1,,"a b")`: NULL is nothing at all, and quotes within quotes are doubled.
fn write_row(out: &mut Vec<u8>, fields: &[ArrayRef], zone: &TimeZoneRules) {
    let is_special =
        |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'(' | b')' | b',' | b'"' | b'\\');
    out.push(b'(');
    for (place, field) in fields.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        let mut text = Vec::new();
        let is_there =
            WireColumn::new(field).is_ok_and(|column| write_text(&mut text, &column.cell(0), zone));
        if !is_there || !(text.is_empty() || text.iter().any(is_special)) {
            out.extend(text);
            continue;
        }
        out.push(b'"');
        for byte in text {
            if matches!(byte, b'"' | b'\\') {
                out.push(byte);
            }
            out.push(byte);
        }
        out.push(b'"');
    }
    out.push(b')');
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use quire::arrow::array::{Int64Array, StringArray};

    use super::*;

    fn text(cell: &WireCell<'_>) -> Option<String> {
        let mut out = Vec::new();
        write_text(&mut out, cell, &TimeZoneRules::default())
            .then(|| String::from_utf8(out).unwrap())
    }

    #[test]
    fn values_are_written_as_postgresql_does() {
        assert_eq!(text(&WireCell::Null), None);
        for value in [0, 7, -7, i64::MAX, i64::MIN, 1_000_000] {
            assert_eq!(text(&WireCell::Integer(value)), Some(value.to_string()));
        }
        assert_eq!(text(&WireCell::Boolean(true)).unwrap(), "t");
        assert_eq!(
            text(&WireCell::Bytes(&[0, 0xAB, 0xFF])).unwrap(),
            "\\x00abff"
        );
    }

    #[test]
    fn rows_leave_null_out_and_quote_what_needs_it() {
        let number: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        let words = StringArray::from(vec![None, Some(""), Some("x\"y\\z"), Some("null")]);
        let mut fields = vec![Arc::clone(&number)];
        fields.extend((0..words.len()).map(|row| Arc::new(words.slice(row, 1)) as ArrayRef));
        assert_eq!(
            text(&WireCell::Row(fields)).unwrap(),
            r#"(1,,"","x""y\\z",null)"#
        );
    }

    #[test]
    fn arrays_quote_what_needs_it() {
        let words = StringArray::from(vec![
            Some("a"),
            None,
            Some(""),
            Some("b c"),
            Some("\"\\"),
            Some("null"),
        ]);
        let array: ArrayRef = Arc::new(words);
        assert_eq!(
            text(&WireCell::Array(array)).unwrap(),
            r#"{a,NULL,"","b c","\"\\","null"}"#
        );
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, -2]));
        assert_eq!(text(&WireCell::Array(numbers)).unwrap(), "{1,-2}");
    }
}
