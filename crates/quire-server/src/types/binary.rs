//! Values in binary.

use quire::arrow::array::Array;
use quire_text::temporal::TimeZoneRules;

use super::{PgType, WireCell, WireColumn, numeric, write_text};

/// Days from 1970 to 2000, from where PostgreSQL counts.
pub(super) const EPOCH_DAYS: i32 = 10_957;
/// The same in microseconds.
pub(super) const EPOCH_MICROSECONDS: i64 = 946_684_800_000_000;

/// Appends a value of this type in binary; `false` when it is NULL, or a time that PostgreSQL cannot count.
pub(crate) fn write_binary(out: &mut Vec<u8>, cell: &WireCell<'_>, pg_type: &PgType) -> bool {
    match cell {
        WireCell::Null => return false,
        WireCell::Boolean(value) => out.push(u8::from(*value)),
        // A value of the column fits the type of the column.
        WireCell::Integer(value) => match pg_type {
            PgType::SmallInt => out.extend((*value as i16).to_be_bytes()),
            PgType::Integer => out.extend((*value as i32).to_be_bytes()),
            PgType::Oid => out.extend((*value as u32).to_be_bytes()),
            _ => out.extend(value.to_be_bytes()),
        },
        WireCell::Decimal { units, scale } => numeric::write_numeric(out, *units, *scale),
        WireCell::Real(value) => out.extend(value.to_be_bytes()),
        WireCell::Double(value) => out.extend(value.to_be_bytes()),
        WireCell::Text(_) | WireCell::Shown(_) | WireCell::Row(_) => {
            return write_text(out, cell, &TimeZoneRules::default());
        }
        WireCell::Bytes(bytes) => out.extend(*bytes),
        WireCell::Date(day) => match day.checked_sub(EPOCH_DAYS) {
            Some(day) => out.extend(day.to_be_bytes()),
            None => return false,
        },
        WireCell::Time(micros) => out.extend(micros.to_be_bytes()),
        WireCell::Timestamp(micros) | WireCell::TimestampTz(micros) => {
            match micros.checked_sub(EPOCH_MICROSECONDS) {
                Some(micros) => out.extend(micros.to_be_bytes()),
                None => return false,
            }
        }
        WireCell::Interval {
            months,
            days,
            microseconds,
        } => {
            out.extend(microseconds.to_be_bytes());
            out.extend(days.to_be_bytes());
            out.extend(months.to_be_bytes());
        }
        WireCell::Array(elements) => match (WireColumn::new(elements), pg_type) {
            (Ok(column), PgType::Array(element)) => {
                write_array(out, &column, elements.len(), element);
            }
            _ => return false,
        },
    }
    true
}

/// Dimensions, whether there are NULLs, the type of the elements; for each dimension its length and first index; the elements.
fn write_array(out: &mut Vec<u8>, column: &WireColumn, count: usize, element: &PgType) {
    let has_nulls = (0..count).any(|row| column.cell(row) == WireCell::Null);
    let dimensions = i32::from(count > 0);
    out.extend(dimensions.to_be_bytes());
    out.extend(i32::from(has_nulls).to_be_bytes());
    out.extend(element.oid().to_be_bytes());
    if count == 0 {
        return;
    }
    out.extend((count as i32).to_be_bytes());
    out.extend(1_i32.to_be_bytes());
    for row in 0..count {
        let start = out.len();
        out.extend((-1_i32).to_be_bytes());
        let cell = match column.cell(row) {
            // Arrays of arrays are shown as one of texts.
            cell @ WireCell::Array(_) => {
                let mut text = Vec::new();
                write_text(&mut text, &cell, &TimeZoneRules::default());
                WireCell::Shown(String::from_utf8_lossy(&text).into_owned())
            }
            cell => cell,
        };
        if write_binary(out, &cell, element) {
            let length = (out.len() - start - 4) as i32;
            out[start..start + 4].copy_from_slice(&length.to_be_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use quire::arrow::array::{ArrayRef, Int32Array};

    use super::*;

    fn binary(cell: &WireCell<'_>, pg_type: &PgType) -> Vec<u8> {
        let mut out = Vec::new();
        assert!(write_binary(&mut out, cell, pg_type));
        out
    }

    #[test]
    fn values_have_the_bytes_of_their_type() {
        assert_eq!(
            binary(&WireCell::Integer(-2), &PgType::SmallInt),
            [0xFF, 0xFE]
        );
        assert_eq!(
            binary(&WireCell::Integer(258), &PgType::Integer),
            [0, 0, 1, 2]
        );
        assert_eq!(binary(&WireCell::Integer(1), &PgType::BigInt).len(), 8);
        assert_eq!(binary(&WireCell::Date(10_958), &PgType::Date), [0, 0, 0, 1]);
        let start = WireCell::Timestamp(EPOCH_MICROSECONDS);
        assert_eq!(binary(&start, &PgType::Timestamp), [0; 8]);
        assert_eq!(
            binary(&WireCell::Double(1.0), &PgType::Double),
            [0x3F, 0xF0, 0, 0, 0, 0, 0, 0]
        );
        assert!(!write_binary(
            &mut Vec::new(),
            &WireCell::Null,
            &PgType::Text
        ));
    }

    #[test]
    fn arrays_have_a_header() {
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(5), None]));
        let array = PgType::Array(Box::new(PgType::Integer));
        let words: [i32; 8] = [1, 1, 23, 2, 1, 4, 5, -1];
        let expected: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        assert_eq!(binary(&WireCell::Array(numbers), &array), expected);
    }
}
