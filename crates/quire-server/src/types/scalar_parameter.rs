//! What a client's bytes for one value mean.

use quire::Value;
use quire_text::temporal;

use super::binary::{EPOCH_DAYS, EPOCH_MICROSECONDS};
use super::parameter_error::ParameterError;
use super::{PgType, calendar, float};

type Decoded = Result<Value, ParameterError>;

/// A value of text.
pub(crate) fn utf8(bytes: &[u8]) -> Result<&str, ParameterError> {
    let text = std::str::from_utf8(bytes).map_err(|_| ParameterError::NoText)?;
    if text.contains('\0') {
        Err(ParameterError::NoText)
    } else {
        Ok(text)
    }
}

pub(super) fn malformed(wire: &PgType, bytes: &[u8]) -> ParameterError {
    ParameterError::Malformed {
        type_name: wire.sql_name(),
        text: String::from_utf8_lossy(bytes).into_owned(),
    }
}

pub(super) fn from_text(text: &str, wire: &PgType) -> Decoded {
    let wrong = || malformed(wire, text.as_bytes());
    Ok(match wire {
        PgType::Boolean => Value::Boolean(boolean(text).ok_or_else(wrong)?),
        PgType::SmallInt | PgType::Integer | PgType::BigInt | PgType::Oid => {
            let value: i64 = text.trim().parse().map_err(|_| wrong())?;
            let fits = match wire {
                PgType::SmallInt => i16::try_from(value).is_ok(),
                PgType::Integer => i32::try_from(value).is_ok(),
                PgType::Oid => u32::try_from(value).is_ok(),
                _ => true,
            };
            if !fits {
                return Err(ParameterError::OutOfRange(wire.sql_name()));
            }
            Value::Integer(value)
        }
        PgType::Real => Value::Real(float::parse_double(text).ok_or_else(wrong)? as f32),
        PgType::Double => Value::Double(float::parse_double(text).ok_or_else(wrong)?),
        PgType::Bytea => Value::Bytes(bytea(text).ok_or_else(wrong)?.into()),
        PgType::Date => match temporal::parse_date(text) {
            Some(day) => Value::Integer(day.into()),
            // Other spellings are left to the statement.
            None => Value::Text(text.into()),
        },
        PgType::Timestamp => match temporal::parse_timestamp(text, None) {
            Some(micros) => Value::Integer(micros),
            None => Value::Text(text.into()),
        },
        // The statement knows where the session is.
        PgType::TimestampTz
        | PgType::Numeric { .. }
        | PgType::Text
        | PgType::Json
        | PgType::Time
        | PgType::Interval
        // The statement reads its elements.
        | PgType::Array(_) => Value::Text(text.into()),
    })
}

pub(super) fn from_binary(bytes: &[u8], wire: &PgType) -> Decoded {
    let wrong = || ParameterError::Binary(wire.sql_name());
    let out_of_range = || ParameterError::OutOfRange(wire.sql_name());
    Ok(match wire {
        PgType::Boolean => Value::Boolean(array::<1>(bytes).ok_or_else(wrong)? != [0]),
        PgType::SmallInt => {
            Value::Integer(i16::from_be_bytes(array(bytes).ok_or_else(wrong)?).into())
        }
        PgType::Integer => {
            Value::Integer(i32::from_be_bytes(array(bytes).ok_or_else(wrong)?).into())
        }
        PgType::Oid => Value::Integer(u32::from_be_bytes(array(bytes).ok_or_else(wrong)?).into()),
        PgType::BigInt => Value::Integer(i64::from_be_bytes(array(bytes).ok_or_else(wrong)?)),
        PgType::Real => Value::Real(f32::from_be_bytes(array(bytes).ok_or_else(wrong)?)),
        PgType::Double => Value::Double(f64::from_be_bytes(array(bytes).ok_or_else(wrong)?)),
        PgType::Bytea => Value::Bytes(bytes.into()),
        PgType::Date => match i32::from_be_bytes(array(bytes).ok_or_else(wrong)?) {
            // Infinity has no place in a table.
            i32::MIN | i32::MAX => return Err(out_of_range()),
            day => Value::Integer(i64::from(day) + i64::from(EPOCH_DAYS)),
        },
        PgType::Timestamp | PgType::TimestampTz => {
            match i64::from_be_bytes(array(bytes).ok_or_else(wrong)?) {
                i64::MIN | i64::MAX => return Err(out_of_range()),
                micros => Value::Integer(
                    micros
                        .checked_add(EPOCH_MICROSECONDS)
                        .ok_or_else(out_of_range)?,
                ),
            }
        }
        PgType::Time => {
            let micros = i64::from_be_bytes(array(bytes).ok_or_else(wrong)?);
            Value::Text(calendar::time_text(micros).into())
        }
        PgType::Interval => {
            let (time, rest) = bytes.split_at_checked(8).ok_or_else(wrong)?;
            let (days, months) = rest.split_at_checked(4).ok_or_else(wrong)?;
            let micros = i64::from_be_bytes(array(time).ok_or_else(wrong)?);
            let days = i32::from_be_bytes(array(days).ok_or_else(wrong)?);
            let months = i32::from_be_bytes(array(months).ok_or_else(wrong)?);
            Value::Text(calendar::interval_text(months, days, micros).into())
        }
        PgType::Text | PgType::Json => Value::Text(utf8(bytes)?.into()),
        // Arrays have no arrays as elements, and decimals are read for themselves.
        PgType::Array(_) | PgType::Numeric { .. } => return Err(wrong()),
    })
}

pub(super) fn array<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}

/// `t`, `true`, `yes`, `on`, `1` and what abbreviates them.
fn boolean(text: &str) -> Option<bool> {
    let text = text.trim().to_ascii_lowercase();
    let abbreviates = |word: &str, letters: usize| text.len() >= letters && word.starts_with(&text);
    if abbreviates("true", 1) || abbreviates("yes", 1) || text == "on" || text == "1" {
        Some(true)
    } else if abbreviates("false", 1)
        || abbreviates("no", 1)
        || abbreviates("off", 2)
        || text == "0"
    {
        Some(false)
    } else {
        None
    }
}

/// `\x00ff`, or text in which `\\` is a backslash and `\ooo` a byte.
fn bytea(text: &str) -> Option<Vec<u8>> {
    if let Some(digits) = text.strip_prefix("\\x") {
        let digits: Vec<u8> = digits
            .bytes()
            .filter(|byte| !byte.is_ascii_whitespace())
            .collect();
        let nibble = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
        let pairs = digits.chunks(2).map(|pair| match pair {
            [high, low] => Some(nibble(*high)? << 4 | nibble(*low)?),
            _ => None,
        });
        return pairs.collect();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        match (first, tail) {
            (b'\\', [b'\\', tail @ ..]) => {
                bytes.push(b'\\');
                rest = tail;
            }
            (
                b'\\',
                [
                    high @ b'0'..=b'3',
                    middle @ b'0'..=b'7',
                    low @ b'0'..=b'7',
                    tail @ ..,
                ],
            ) => {
                bytes.push((high - b'0') << 6 | (middle - b'0') << 3 | (low - b'0'));
                rest = tail;
            }
            (b'\\', _) => return None,
            (byte, _) => bytes.push(*byte),
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::bytea;

    #[test]
    fn bytes_are_read_in_both_spellings() {
        assert_eq!(bytea("\\x00FFab"), Some(vec![0, 255, 0xAB]));
        assert_eq!(bytea("a\\\\b\\001"), Some(b"a\\b\x01".to_vec()));
        assert_eq!(bytea("\\x0"), None);
        assert_eq!(bytea("\\9"), None);
    }
}
