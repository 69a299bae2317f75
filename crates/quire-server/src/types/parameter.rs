//! What a client's bytes for a parameter mean.

use quire::Value;
use quire::arrow::datatypes::DataType;
use quire_text::temporal;
use thiserror::Error;

use super::array_parameter::array_text;
use super::binary::{EPOCH_DAYS, EPOCH_MICROSECONDS};
use super::numeric::{Decimal, NumericError, parse_numeric, read_numeric};
use super::{PgType, calendar, float};
use crate::wire::Format;

/// A parameter of a statement: how its bytes are read, and the type that its value has in the statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parameter {
    /// As clients are told.
    oid: u32,
    wire: PgType,
    target: DataType,
}

/// Bytes that are no value.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(crate) enum ParameterError {
    #[error("invalid input syntax for type {type_name}: \"{text}\"")]
    Malformed {
        type_name: &'static str,
        text: String,
    },
    #[error("incorrect binary data format for type {0}")]
    Binary(&'static str),
    #[error("value is out of range for type {0}")]
    OutOfRange(&'static str),
    #[error("invalid byte sequence for encoding \"UTF8\"")]
    NoText,
}

impl ParameterError {
    pub(crate) fn sqlstate(&self) -> &'static str {
        match self {
            Self::Malformed { .. } => "22P02",
            Self::Binary(_) => "22P03",
            Self::OutOfRange(_) => "22003",
            Self::NoText => "22021",
        }
    }
}

type Decoded = Result<Value, ParameterError>;

impl Parameter {
    /// What the client declares, 0 if nothing, and what the statement tells, decide together. Within one family of types the
    /// statement does, for it is its column that is compared or filled; a declared text is what clients say that leave it to the
    /// server.
    pub(crate) fn new(declared: u32, told: Option<&DataType>) -> Self {
        let declared = Some(declared)
            .filter(|oid| *oid != 0)
            .map(|oid| (oid, PgType::of_oid(oid)));
        match (declared, told) {
            (None, None) => Self::plain(25, PgType::Text),
            (None, Some(told)) => {
                let wire = PgType::of(told);
                Self {
                    oid: wire.oid(),
                    wire,
                    target: told.clone(),
                }
            }
            // A type that we do not know is read as text.
            (Some((oid, wire)), None) => Self::plain(oid, wire.unwrap_or(PgType::Text)),
            (Some((oid, wire)), Some(told)) => {
                let wire = wire.unwrap_or(PgType::Text);
                let of_statement = PgType::of(told);
                if wire == PgType::Text && of_statement != PgType::Text {
                    Self {
                        oid,
                        wire: of_statement,
                        target: told.clone(),
                    }
                } else if wire.family() == of_statement.family() {
                    Self {
                        oid,
                        wire,
                        target: told.clone(),
                    }
                } else {
                    Self::plain(oid, wire)
                }
            }
        }
    }

    fn plain(oid: u32, wire: PgType) -> Self {
        Self {
            oid,
            target: wire.data_type(),
            wire,
        }
    }

    pub(crate) fn oid(&self) -> u32 {
        self.oid
    }

    pub(crate) fn data_type(&self) -> &DataType {
        &self.target
    }

    /// The value, and its type where that has to be another than [`Parameter::data_type`] for the value to fit.
    pub(crate) fn decode(
        &self,
        format: Format,
        bytes: Option<&[u8]>,
    ) -> Result<(Value, Option<DataType>), ParameterError> {
        let Some(bytes) = bytes else {
            return Ok((Value::Null, None));
        };
        if let PgType::Numeric { .. } = self.wire {
            return self.decimal(format, bytes);
        }
        let value = match format {
            Format::Text => from_text(utf8(bytes)?, &self.wire)?,
            // The statement makes numbers of a text that is declared as one.
            Format::Binary if matches!(self.oid, 25 | 1043) => from_text(utf8(bytes)?, &self.wire)?,
            Format::Binary => from_binary(bytes, &self.wire)?,
        };
        let wider = match (&value, &self.target) {
            (Value::Integer(value), DataType::Int32) => i32::try_from(*value).is_err(),
            (Value::Integer(value), DataType::Int16) => i16::try_from(*value).is_err(),
            (Value::Double(_), DataType::Float32) => {
                return Ok((value, Some(DataType::Float64)));
            }
            (Value::Real(value), DataType::Float64) => {
                return Ok((Value::Double(f64::from(*value)), None));
            }
            _ => false,
        };
        Ok((value, wider.then_some(DataType::Int64)))
    }

    fn decimal(
        &self,
        format: Format,
        bytes: &[u8],
    ) -> Result<(Value, Option<DataType>), ParameterError> {
        let read = match format {
            Format::Text => parse_numeric(utf8(bytes)?),
            Format::Binary => read_numeric(bytes),
        };
        let decimal: Decimal = read.map_err(|error| match (error, format) {
            (NumericError::OutOfRange, _) => ParameterError::OutOfRange("numeric"),
            (NumericError::Malformed, Format::Binary) => ParameterError::Binary("numeric"),
            (NumericError::Malformed, Format::Text) => malformed(&self.wire, bytes),
        })?;
        if let DataType::Decimal128(precision, scale) = self.target
            && let Some(units) = u8::try_from(scale)
                .ok()
                .and_then(|scale| decimal.with_scale(scale))
            && units.unsigned_abs() < 10_u128.pow(u32::from(precision).min(38))
        {
            return Ok((Value::Decimal(units.into()), None));
        }
        // It has digits that the type has no room for; the statement decides what becomes of them.
        let fitting = DataType::Decimal128(38, decimal.scale.cast_signed());
        Ok((Value::Decimal(decimal.units.into()), Some(fitting)))
    }
}

fn utf8(bytes: &[u8]) -> Result<&str, ParameterError> {
    let text = std::str::from_utf8(bytes).map_err(|_| ParameterError::NoText)?;
    if text.contains('\0') {
        Err(ParameterError::NoText)
    } else {
        Ok(text)
    }
}

fn malformed(wire: &PgType, bytes: &[u8]) -> ParameterError {
    ParameterError::Malformed {
        type_name: wire.sql_name(),
        text: String::from_utf8_lossy(bytes).into_owned(),
    }
}

fn from_text(text: &str, wire: &PgType) -> Decoded {
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
        PgType::Array(element) => Value::Text(array_text(bytes, element)?.into()),
        PgType::Numeric { .. } => return Err(wrong()),
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
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn text(
        parameter: &Parameter,
        text: &str,
    ) -> Result<(Value, Option<DataType>), ParameterError> {
        parameter.decode(Format::Text, Some(text.as_bytes()))
    }

    #[test]
    fn client_and_statement_decide_the_type() {
        let told = |oid, told: &DataType| Parameter::new(oid, Some(told)).target;
        assert_eq!(told(0, &DataType::Int32), DataType::Int32);
        assert_eq!(told(21, &DataType::Int64), DataType::Int64);
        assert_eq!(told(25, &DataType::Int32), DataType::Int32);
        assert_eq!(told(23, &DataType::Utf8View), DataType::Int32);
        assert_eq!(
            told(1700, &DataType::Decimal128(10, 2)),
            DataType::Decimal128(10, 2)
        );
        assert_eq!(Parameter::new(0, None).oid(), 25);
        assert_eq!(Parameter::new(23, Some(&DataType::Int64)).oid(), 23);
    }

    #[test]
    fn values_that_do_not_fit_the_statement_keep_their_own_type() {
        let column = Parameter::new(20, Some(&DataType::Int32));
        assert_eq!(text(&column, "5").unwrap(), (Value::Integer(5), None));
        let large = text(&column, "5000000000").unwrap();
        assert_eq!(
            large,
            (Value::Integer(5_000_000_000), Some(DataType::Int64))
        );
        let price = Parameter::new(0, Some(&DataType::Decimal128(10, 2)));
        assert_eq!(
            text(&price, "1.5").unwrap(),
            (Value::Decimal(150.into()), None)
        );
        let precise = text(&price, "1.005").unwrap();
        assert_eq!(
            precise,
            (
                Value::Decimal(1005.into()),
                Some(DataType::Decimal128(38, 3))
            )
        );
    }

    #[test]
    fn wrong_bytes_are_errors() {
        for (oid, wrong) in [
            (23, "x"),
            (23, ""),
            (16, "maybe"),
            (701, "1.2.3"),
            (17, "\\xq"),
            (1700, "-"),
        ] {
            let error = text(&Parameter::new(oid, None), wrong).unwrap_err();
            assert_eq!(error.sqlstate(), "22P02", "{oid} {wrong}");
        }
        let error = text(&Parameter::new(23, None), "3000000000").unwrap_err();
        assert_eq!(error.sqlstate(), "22003");
        for oid in [16, 20, 21, 23, 700, 701, 1082, 1083, 1114, 1184, 1186, 1700] {
            let parameter = Parameter::new(oid, None);
            let error = parameter
                .decode(Format::Binary, Some(&[1, 2, 3]))
                .unwrap_err();
            assert_eq!(error.sqlstate(), "22P03", "{oid}");
        }
        let name = Parameter::new(25, None);
        assert_eq!(
            name.decode(Format::Text, Some(&[0xFF]))
                .unwrap_err()
                .sqlstate(),
            "22021"
        );
        assert_eq!(text(&name, "a\0b").unwrap_err().sqlstate(), "22021");
    }

    #[test]
    fn bytes_are_read_in_both_spellings() {
        assert_eq!(bytea("\\x00FFab"), Some(vec![0, 255, 0xAB]));
        assert_eq!(bytea("a\\\\b\\001"), Some(b"a\\b\x01".to_vec()));
        assert_eq!(bytea("\\x0"), None);
        assert_eq!(bytea("\\9"), None);
    }
}
