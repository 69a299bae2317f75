//! How does MariaDB's protocol write values?

use super::super::text_value::{days_of_date, decimal_of_text};
use crate::SqlValue;
use mysql::Value;
use mysql::consts::ColumnType as WireType;

/// A parameter. Decimals are texts: the protocol of this client has no decimals, and the server takes them as doubles where it computes.
pub(super) fn wire_parameter(value: &SqlValue) -> Value {
    match value {
        SqlValue::Null => Value::NULL,
        SqlValue::Integer(value) => Value::Int(*value),
        SqlValue::Double(value) => Value::Double(*value),
        SqlValue::Text(text) => Value::Bytes(text.as_bytes().to_vec()),
        value @ (SqlValue::Decimal { .. } | SqlValue::Date(_) | SqlValue::Timestamp(_)) => {
            Value::Bytes(value.to_string().into_bytes())
        }
    }
}

/// A value of a result, or what is wrong with it.
pub(super) fn value_of_result(kind: WireType, value: Value) -> Result<SqlValue, String> {
    let converted = match (kind, value) {
        (_, Value::NULL) => Some(SqlValue::Null),
        (_, Value::Int(value)) => Some(SqlValue::Integer(value)),
        (_, Value::UInt(value)) => i64::try_from(value).ok().map(SqlValue::Integer),
        (WireType::MYSQL_TYPE_DOUBLE, Value::Double(value)) => Some(SqlValue::Double(value)),
        (WireType::MYSQL_TYPE_NEWDECIMAL, Value::Bytes(bytes)) => decimal(&bytes),
        (
            WireType::MYSQL_TYPE_VARCHAR
            | WireType::MYSQL_TYPE_VAR_STRING
            | WireType::MYSQL_TYPE_STRING
            | WireType::MYSQL_TYPE_TINY_BLOB
            | WireType::MYSQL_TYPE_BLOB
            | WireType::MYSQL_TYPE_MEDIUM_BLOB
            | WireType::MYSQL_TYPE_LONG_BLOB,
            Value::Bytes(bytes),
        ) => String::from_utf8(bytes).ok().map(SqlValue::Text),
        (WireType::MYSQL_TYPE_DATE, Value::Date(year, month, day, ..)) => {
            days_of_date(year, month, day).map(SqlValue::Date)
        }
        (WireType::MYSQL_TYPE_DATETIME, value @ Value::Date(..)) => timestamp(&value),
        (_, value) => {
            return Err(format!(
                "no value of a workload has type {kind:?}, as {value:?} has: cast the result"
            ));
        }
    };
    converted.ok_or_else(|| format!("a value of type {kind:?} that a workload cannot have"))
}

/// A decimal, or a double if 64 bits do not hold its digits.
fn decimal(bytes: &[u8]) -> Option<SqlValue> {
    let text = std::str::from_utf8(bytes).ok()?;
    decimal_of_text(text).or_else(|| text.parse().ok().map(SqlValue::Double))
}

fn timestamp(value: &Value) -> Option<SqlValue> {
    let Value::Date(year, month, day, hour, minute, second, micros) = *value else {
        return None;
    };
    let days = i64::from(days_of_date(year, month, day)?);
    let seconds = ((days * 24 + i64::from(hour)) * 60 + i64::from(minute)) * 60 + i64::from(second);
    Some(SqlValue::Timestamp(seconds * 1_000_000 + i64::from(micros)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read_by_their_types() {
        let read = |kind, value| value_of_result(kind, value);
        let decimal = |text: &str| read(WireType::MYSQL_TYPE_NEWDECIMAL, Value::Bytes(text.into()));
        assert_eq!(
            decimal("-0.05"),
            Ok(SqlValue::Decimal {
                unscaled: -5,
                scale: 2
            })
        );
        assert_eq!(
            decimal("12345678901234567890"),
            Ok(SqlValue::Double(12_345_678_901_234_567_890.0))
        );
        let moment = Value::Date(1969, 12, 31, 23, 59, 59, 999_999);
        assert_eq!(
            read(WireType::MYSQL_TYPE_DATETIME, moment),
            Ok(SqlValue::Timestamp(-1))
        );
        assert!(read(WireType::MYSQL_TYPE_DATE, Value::Date(0, 0, 0, 0, 0, 0, 0)).is_err());
        let message = read(WireType::MYSQL_TYPE_FLOAT, Value::Float(1.0)).unwrap_err();
        assert!(message.contains("MYSQL_TYPE_FLOAT"), "{message}");
    }
}
