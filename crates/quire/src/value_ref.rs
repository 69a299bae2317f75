//! A value that is somebody else's.

use quire_tables::row_table::{Decimal, TupleValue, Value};

/// The value of one column of one row, where it is: [`Value`] without a copy of texts and bytes.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum ValueRef<'a> {
    /// `BOOLEAN`
    Boolean(bool),
    /// Every integer; days of a `DATE`, microseconds of a `TIMESTAMP`.
    Integer(i64),
    /// `DECIMAL`, without its point.
    Decimal(Decimal),
    /// `REAL`
    Real(f32),
    /// `DOUBLE PRECISION`
    Double(f64),
    /// `TEXT`, `VARCHAR(n)`, `CHAR(n)`
    Text(&'a str),
    /// `BYTEA`
    Bytes(&'a [u8]),
    /// NULL of any type.
    #[default]
    Null,
}

impl<'a> ValueRef<'a> {
    /// Whether the value is NULL.
    #[must_use]
    pub const fn is_null(self) -> bool {
        matches!(self, Self::Null)
    }

    /// The value, owned.
    #[must_use]
    pub(crate) fn to_value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Boolean(value) => Value::Boolean(value),
            Self::Integer(value) => Value::Integer(value),
            Self::Decimal(value) => Value::Decimal(value),
            Self::Real(value) => Value::Real(value),
            Self::Double(value) => Value::Double(value),
            Self::Text(text) => Value::Text(text.into()),
            Self::Bytes(bytes) => Value::Bytes(bytes.into()),
        }
    }

    pub(crate) fn as_tuple_value(self) -> TupleValue<'a> {
        match self {
            Self::Null => TupleValue::Null,
            Self::Boolean(value) => TupleValue::Bool(value),
            Self::Integer(value) => TupleValue::Integer(value),
            Self::Decimal(value) => TupleValue::Wide(value.into()),
            Self::Real(value) => TupleValue::Float32(value),
            Self::Double(value) => TupleValue::Float64(value),
            Self::Text(text) => TupleValue::Bytes(text.as_bytes()),
            Self::Bytes(bytes) => TupleValue::Bytes(bytes),
        }
    }
}

impl<'a> From<&'a Value> for ValueRef<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Boolean(value) => Self::Boolean(*value),
            Value::Integer(value) => Self::Integer(*value),
            Value::Decimal(value) => Self::Decimal(*value),
            Value::Real(value) => Self::Real(*value),
            Value::Double(value) => Self::Double(*value),
            Value::Text(text) => Self::Text(text),
            Value::Bytes(bytes) => Self::Bytes(bytes),
        }
    }
}
