//! SQL types of columns: how each is spelled, stored and handed out as an Arrow array.

use std::fmt;
use std::sync::Arc;

use arrow_schema::{DataType, TimeUnit};
use quire_codec::{Corrupt, PhysicalType};
use quire_format::catalog::TypeRecord;

/// Largest number of decimal digits a DECIMAL can declare.
pub(crate) const MAX_DECIMAL_PRECISION: u8 = 38;
/// Decimals of at most this many digits are stored in 64 bits.
pub(crate) const MAX_INT64_PRECISION: u8 = 18;
/// Largest length VARCHAR(n) and CHAR(n) can declare, in characters (as in PostgreSQL).
pub(crate) const MAX_TEXT_CHARACTERS: u32 = 10_485_760;

/// Type of a column as SQL names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SqlType {
    /// `BOOLEAN`
    Boolean,
    /// `SMALLINT`, 16 bits
    SmallInt,
    /// `INTEGER`, 32 bits
    Integer,
    /// `BIGINT`, 64 bits
    BigInt,
    /// `REAL`, 32-bit float
    Real,
    /// `DOUBLE PRECISION`, 64-bit float
    Double,
    /// `DECIMAL(precision, scale)`: exact, `precision` digits of which `scale` after the point
    Decimal {
        /// Digits altogether, 1 to 38.
        precision: u8,
        /// Digits after the point, at most `precision`.
        scale: u8,
    },
    /// `DATE`: days since 1970-01-01
    Date,
    /// `TIMESTAMP`: microseconds since 1970-01-01, no time zone
    Timestamp,
    /// `TIMESTAMP WITH TIME ZONE`: microseconds since 1970-01-01 UTC
    TimestampTz,
    /// `TEXT`
    Text,
    /// `VARCHAR(n)`: at most n characters
    VarChar(u32),
    /// `CHAR(n)`: at most n characters, stored without its trailing blanks
    Char(u32),
    /// `BYTEA`
    Bytea,
}

impl SqlType {
    /// The type whose values the codecs see.
    pub fn physical_type(&self) -> PhysicalType {
        match *self {
            SqlType::Boolean => PhysicalType::Bool,
            SqlType::SmallInt => PhysicalType::Int16,
            SqlType::Integer | SqlType::Date => PhysicalType::Int32,
            SqlType::BigInt | SqlType::Timestamp | SqlType::TimestampTz => PhysicalType::Int64,
            SqlType::Real => PhysicalType::Float32,
            SqlType::Double => PhysicalType::Float64,
            SqlType::Decimal { precision, .. } if precision <= MAX_INT64_PRECISION => {
                PhysicalType::Int64
            }
            SqlType::Decimal { .. } => PhysicalType::Int128,
            SqlType::Text | SqlType::VarChar(_) | SqlType::Char(_) | SqlType::Bytea => {
                PhysicalType::Bytes
            }
        }
    }

    /// The Arrow type in which batches are appended and scanned.
    pub fn arrow_type(&self) -> DataType {
        match *self {
            SqlType::Boolean => DataType::Boolean,
            SqlType::SmallInt => DataType::Int16,
            SqlType::Integer => DataType::Int32,
            SqlType::BigInt => DataType::Int64,
            SqlType::Real => DataType::Float32,
            SqlType::Double => DataType::Float64,
            // A precision is at most 38 and a scale at most that: both fit an i8.
            SqlType::Decimal { precision, scale } => DataType::Decimal128(precision, scale as i8),
            SqlType::Date => DataType::Date32,
            SqlType::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
            SqlType::TimestampTz => {
                DataType::Timestamp(TimeUnit::Microsecond, Some(Arc::from("+00:00")))
            }
            SqlType::Text | SqlType::VarChar(_) | SqlType::Char(_) => DataType::Utf8View,
            SqlType::Bytea => DataType::BinaryView,
        }
    }

    /// Whether values are UTF-8 text.
    pub fn is_text(&self) -> bool {
        matches!(self, SqlType::Text | SqlType::VarChar(_) | SqlType::Char(_))
    }

    /// SMALLINT, INTEGER or BIGINT.
    pub fn is_integer(&self) -> bool {
        matches!(self, SqlType::SmallInt | SqlType::Integer | SqlType::BigInt)
    }

    /// Whether values that are equal in both types have equal bytes in a key.
    pub(crate) fn has_keys_of(&self, other: &SqlType) -> bool {
        match (self, other) {
            (SqlType::Decimal { scale: left, .. }, SqlType::Decimal { scale: right, .. }) => {
                left == right
            }
            (left, right) if left.is_text() => right.is_text(),
            (left, right) if left.is_integer() => right.is_integer(),
            (left, right) => left == right,
        }
    }

    /// What is wrong with the declared precision, scale or length, if anything.
    pub fn declaration_error(&self) -> Option<String> {
        match *self {
            SqlType::Decimal { precision, scale } => {
                if precision == 0 || precision > MAX_DECIMAL_PRECISION {
                    Some(format!(
                        "DECIMAL precision {precision} must be between 1 and {MAX_DECIMAL_PRECISION}"
                    ))
                } else if scale > precision {
                    Some(format!(
                        "DECIMAL scale {scale} must be at most its precision {precision}"
                    ))
                } else {
                    None
                }
            }
            SqlType::VarChar(length) | SqlType::Char(length)
                if length == 0 || length > MAX_TEXT_CHARACTERS =>
            {
                Some(format!(
                    "length {length} must be between 1 and {MAX_TEXT_CHARACTERS}"
                ))
            }
            _ => None,
        }
    }

    /// How the catalog stores this type.
    pub(crate) fn to_record(self) -> TypeRecord {
        let (id, first, second) = match self {
            SqlType::Boolean => (1, 0, 0),
            SqlType::SmallInt => (2, 0, 0),
            SqlType::Integer => (3, 0, 0),
            SqlType::BigInt => (4, 0, 0),
            SqlType::Real => (5, 0, 0),
            SqlType::Double => (6, 0, 0),
            SqlType::Decimal { precision, scale } => (7, u32::from(precision), u32::from(scale)),
            SqlType::Date => (8, 0, 0),
            SqlType::Timestamp => (9, 0, 0),
            SqlType::TimestampTz => (10, 0, 0),
            SqlType::Text => (11, 0, 0),
            SqlType::VarChar(length) => (12, length, 0),
            SqlType::Char(length) => (13, length, 0),
            SqlType::Bytea => (14, 0, 0),
        };
        TypeRecord { id, first, second }
    }

    /// Reads what [`SqlType::to_record`] wrote; ids are never reused for another type.
    pub(crate) fn from_record(record: TypeRecord) -> Result<SqlType, Corrupt> {
        let sql_type = match (record.id, record.first, record.second) {
            (1, 0, 0) => SqlType::Boolean,
            (2, 0, 0) => SqlType::SmallInt,
            (3, 0, 0) => SqlType::Integer,
            (4, 0, 0) => SqlType::BigInt,
            (5, 0, 0) => SqlType::Real,
            (6, 0, 0) => SqlType::Double,
            (7, precision @ 0..=255, scale @ 0..=255) => SqlType::Decimal {
                precision: precision as u8,
                scale: scale as u8,
            },
            (8, 0, 0) => SqlType::Date,
            (9, 0, 0) => SqlType::Timestamp,
            (10, 0, 0) => SqlType::TimestampTz,
            (11, 0, 0) => SqlType::Text,
            (12, length, 0) => SqlType::VarChar(length),
            (13, length, 0) => SqlType::Char(length),
            (14, 0, 0) => SqlType::Bytea,
            _ => return Err(Corrupt::new(format!("unknown column type {record:?}"), 0)),
        };
        match sql_type.declaration_error() {
            Some(what) => Err(Corrupt::new(what, 0)),
            None => Ok(sql_type),
        }
    }
}

impl fmt::Display for SqlType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            SqlType::Boolean => f.write_str("BOOLEAN"),
            SqlType::SmallInt => f.write_str("SMALLINT"),
            SqlType::Integer => f.write_str("INTEGER"),
            SqlType::BigInt => f.write_str("BIGINT"),
            SqlType::Real => f.write_str("REAL"),
            SqlType::Double => f.write_str("DOUBLE PRECISION"),
            SqlType::Decimal { precision, scale } => write!(f, "DECIMAL({precision},{scale})"),
            SqlType::Date => f.write_str("DATE"),
            SqlType::Timestamp => f.write_str("TIMESTAMP"),
            SqlType::TimestampTz => f.write_str("TIMESTAMP WITH TIME ZONE"),
            SqlType::Text => f.write_str("TEXT"),
            SqlType::VarChar(length) => write!(f, "VARCHAR({length})"),
            SqlType::Char(length) => write!(f, "CHAR({length})"),
            SqlType::Bytea => f.write_str("BYTEA"),
        }
    }
}
