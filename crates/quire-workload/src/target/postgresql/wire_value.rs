//! How does PostgreSQL's binary format write values?
//!
//! Parameters are written as the type that the server inferred for them; results are read by the type that it sends.

use super::numeric::{read_numeric, write_numeric};
use crate::SqlValue;
use bytes::BytesMut;
use postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use std::error::Error;

/// The day and the moment from which PostgreSQL counts: 2000-01-01.
const EPOCH_DAYS: i32 = 10_957;
const DAY_MICROS: i64 = 86_400_000_000;
const EPOCH_MICROS: i64 = EPOCH_DAYS as i64 * DAY_MICROS;

type WireError = Box<dyn Error + Sync + Send>;

/// A parameter.
#[derive(Debug)]
pub(super) struct WireParameter<'a>(pub &'a SqlValue);

impl ToSql for WireParameter<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, WireError> {
        let unfit = || format!("a parameter {:?} does not fit type {kind}", self.0);
        match (self.0, kind) {
            (SqlValue::Null, _) => return Ok(IsNull::Yes),
            (value, &Type::TEXT | &Type::VARCHAR | &Type::BPCHAR) => {
                value.to_string().to_sql(kind, out)?
            }
            (value, &Type::INT2) => {
                i16::try_from(integer(value).ok_or_else(unfit)?)?.to_sql(kind, out)?
            }
            (value, &Type::INT4) => {
                i32::try_from(integer(value).ok_or_else(unfit)?)?.to_sql(kind, out)?
            }
            (value, &Type::INT8) => integer(value).ok_or_else(unfit)?.to_sql(kind, out)?,
            (value, &Type::FLOAT8) => double(value).ok_or_else(unfit)?.to_sql(kind, out)?,
            (SqlValue::Integer(value), &Type::NUMERIC) => {
                write_numeric(*value, 0, out);
                IsNull::No
            }
            (SqlValue::Decimal { unscaled, scale }, &Type::NUMERIC) => {
                write_numeric(*unscaled, *scale, out);
                IsNull::No
            }
            (SqlValue::Date(days), &Type::DATE) => days
                .checked_sub(EPOCH_DAYS)
                .ok_or_else(unfit)?
                .to_sql(&Type::INT4, out)?,
            (SqlValue::Date(days), &Type::TIMESTAMP) => {
                (i64::from(*days) * DAY_MICROS - EPOCH_MICROS).to_sql(&Type::INT8, out)?
            }
            (SqlValue::Timestamp(micros), &Type::TIMESTAMP) => micros
                .checked_sub(EPOCH_MICROS)
                .ok_or_else(unfit)?
                .to_sql(&Type::INT8, out)?,
            _ => return Err(unfit().into()),
        };
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

fn integer(value: &SqlValue) -> Option<i64> {
    value.as_integer()
}

fn double(value: &SqlValue) -> Option<f64> {
    match *value {
        SqlValue::Integer(value) => Some(value as f64),
        SqlValue::Double(value) => Some(value),
        SqlValue::Decimal { unscaled, scale } => {
            Some(unscaled as f64 / 10f64.powi(i32::from(scale)))
        }
        _ => None,
    }
}

/// A value of a result.
pub(super) struct WireResult(pub SqlValue);

impl<'a> FromSql<'a> for WireResult {
    fn from_sql(kind: &Type, bytes: &'a [u8]) -> Result<Self, WireError> {
        let value = match *kind {
            Type::INT2 => SqlValue::Integer(i16::from_sql(kind, bytes)?.into()),
            Type::INT4 => SqlValue::Integer(i32::from_sql(kind, bytes)?.into()),
            Type::INT8 => SqlValue::Integer(i64::from_sql(kind, bytes)?),
            Type::FLOAT8 => SqlValue::Double(f64::from_sql(kind, bytes)?),
            Type::NUMERIC => read_numeric(bytes)?,
            Type::TEXT | Type::VARCHAR | Type::BPCHAR => {
                SqlValue::text(<&str>::from_sql(kind, bytes)?)
            }
            Type::DATE => {
                let days = i32::from_sql(&Type::INT4, bytes)?;
                SqlValue::Date(
                    days.checked_add(EPOCH_DAYS)
                        .ok_or("a date without an end")?,
                )
            }
            Type::TIMESTAMP => {
                let micros = i64::from_sql(&Type::INT8, bytes)?;
                SqlValue::Timestamp(
                    micros
                        .checked_add(EPOCH_MICROS)
                        .ok_or("a timestamp without an end")?,
                )
            }
            _ => {
                return Err(
                    format!("no value of a workload has type {kind}: cast the result").into(),
                );
            }
        };
        Ok(Self(value))
    }

    fn from_sql_null(_: &Type) -> Result<Self, WireError> {
        Ok(Self(SqlValue::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: &SqlValue, kind: &Type) -> Result<BytesMut, WireError> {
        let mut out = BytesMut::new();
        WireParameter(value).to_sql(kind, &mut out).map(|_| out)
    }

    #[test]
    fn values_are_read_as_they_were_written() {
        let values = [
            (SqlValue::Integer(-2), Type::INT2),
            (SqlValue::Integer(70_000), Type::INT4),
            (SqlValue::Integer(i64::MIN), Type::INT8),
            (SqlValue::Double(0.1), Type::FLOAT8),
            (
                SqlValue::Decimal {
                    unscaled: -105,
                    scale: 2,
                },
                Type::NUMERIC,
            ),
            (SqlValue::text("é"), Type::VARCHAR),
            (SqlValue::Date(-1), Type::DATE),
            (SqlValue::Timestamp(-1), Type::TIMESTAMP),
        ];
        for (value, kind) in values {
            let bytes = written(&value, &kind).unwrap();
            assert_eq!(WireResult::from_sql(&kind, &bytes).unwrap().0, value);
        }
        // PostgreSQL's day 0.
        assert_eq!(
            &written(&SqlValue::Date(10_957), &Type::DATE).unwrap()[..],
            [0; 4]
        );
    }

    #[test]
    fn errors_name_the_type() {
        let message = |value: SqlValue, kind: Type| written(&value, &kind).unwrap_err().to_string();
        assert_eq!(
            message(SqlValue::Date(0), Type::INT4),
            "a parameter Date(0) does not fit type int4"
        );
        assert!(written(&SqlValue::Integer(70_000), &Type::INT2).is_err());
        let read = WireResult::from_sql(&Type::BOOL, &[1])
            .map(|value| value.0)
            .unwrap_err();
        assert_eq!(
            read.to_string(),
            "no value of a workload has type bool: cast the result"
        );
    }
}
