//! How values are held while they are computed with.

use std::fmt;

use arrow_schema::DataType;

use quire_tables::SqlType;
use quire_tables::row_table::Value;

/// How a value is held. Several types of SQL are held alike; which of them it is, whoever asked for the value knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// True or false.
    Boolean,
    /// 64 bits: every integer, the days of a date, the units of a timestamp.
    Integer,
    /// 128 bits: a decimal without its point.
    Decimal,
    /// A float of 32 bits.
    Real,
    /// A float of 64 bits.
    Double,
    /// Text or bytes.
    Bytes,
}

impl ValueKind {
    /// How values of a column's type are held.
    #[must_use]
    pub fn of(sql_type: SqlType) -> Self {
        match sql_type {
            SqlType::Boolean => Self::Boolean,
            SqlType::SmallInt
            | SqlType::Integer
            | SqlType::BigInt
            | SqlType::Date
            | SqlType::Timestamp
            | SqlType::TimestampTz => Self::Integer,
            SqlType::Decimal { .. } => Self::Decimal,
            SqlType::Real => Self::Real,
            SqlType::Double => Self::Double,
            SqlType::Text | SqlType::VarChar(_) | SqlType::Char(_) | SqlType::Bytea => Self::Bytes,
        }
    }

    /// How values of an Arrow type are held; `None` when expressions cannot compute with them. A column of bare NULLs has no values:
    /// any kind will do.
    #[must_use]
    pub fn of_arrow(data_type: &DataType) -> Option<Self> {
        Some(match data_type {
            DataType::Null | DataType::Boolean => Self::Boolean,
            DataType::Int8
            | DataType::Int16
            | DataType::Int32
            | DataType::Int64
            | DataType::UInt8
            | DataType::UInt16
            | DataType::UInt32
            | DataType::Date32
            | DataType::Timestamp(..) => Self::Integer,
            DataType::Decimal128(..) => Self::Decimal,
            DataType::Float32 => Self::Real,
            DataType::Float64 => Self::Double,
            DataType::Utf8
            | DataType::LargeUtf8
            | DataType::Utf8View
            | DataType::Binary
            | DataType::LargeBinary
            | DataType::BinaryView => Self::Bytes,
            _ => return None,
        })
    }

    /// How a value is held; `None` for NULL, which does not say.
    #[must_use]
    pub fn of_value(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Boolean(_) => Self::Boolean,
            Value::Integer(_) => Self::Integer,
            Value::Decimal(_) => Self::Decimal,
            Value::Real(_) => Self::Real,
            Value::Double(_) => Self::Double,
            Value::Text(_) | Value::Bytes(_) => Self::Bytes,
            Value::Null => return None,
        })
    }
}

impl fmt::Display for ValueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Decimal => "decimal",
            Self::Real => "real",
            Self::Double => "double",
            Self::Bytes => "bytes",
        })
    }
}

/// Which integers a type has. All are held in 64 bits; the width says which results are out of range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IntegerWidth {
    /// -128 to 127; no type of a column, but of some functions.
    Bits8,
    /// `SMALLINT`
    Bits16,
    /// `INTEGER`
    Bits32,
    /// `BIGINT`
    Bits64,
}

impl IntegerWidth {
    /// Least and greatest value.
    #[must_use]
    pub const fn bounds(self) -> (i64, i64) {
        match self {
            Self::Bits8 => (i8::MIN as i64, i8::MAX as i64),
            Self::Bits16 => (i16::MIN as i64, i16::MAX as i64),
            Self::Bits32 => (i32::MIN as i64, i32::MAX as i64),
            Self::Bits64 => (i64::MIN, i64::MAX),
        }
    }

    /// The type's name in SQL.
    #[must_use]
    pub const fn sql_name(self) -> &'static str {
        match self {
            Self::Bits8 | Self::Bits16 => "smallint",
            Self::Bits32 => "integer",
            Self::Bits64 => "bigint",
        }
    }
}
