//! A value while an expression is computed: borrowed where it can be.

use std::borrow::Cow;
use std::cmp::Ordering;

use quire_tables::row_table::{TupleValue, Value, compare_floats};

use super::{EvaluationError, ValueKind};

/// The value of an expression. Its type is known where the expression was built.
#[derive(Debug, Clone, PartialEq)]
pub enum PlanScalar<'a> {
    /// NULL of any type.
    Null,
    /// `BOOLEAN`
    Boolean(bool),
    /// Every integer; days of a date; a timestamp in the unit of its type.
    Integer(i64),
    /// A decimal without its point.
    Decimal(i128),
    /// `REAL`
    Real(f32),
    /// `DOUBLE PRECISION`
    Double(f64),
    /// Text or bytes.
    Bytes(Cow<'a, [u8]>),
}

impl<'a> From<TupleValue<'a>> for PlanScalar<'a> {
    #[inline]
    fn from(value: TupleValue<'a>) -> Self {
        match value {
            TupleValue::Null => Self::Null,
            TupleValue::Bool(value) => Self::Boolean(value),
            TupleValue::Integer(value) => Self::Integer(value),
            TupleValue::Wide(value) => Self::Decimal(value),
            TupleValue::Float32(value) => Self::Real(value),
            TupleValue::Float64(value) => Self::Double(value),
            TupleValue::Bytes(bytes) => Self::Bytes(Cow::Borrowed(bytes)),
            // None gets here: readers of tables decode their strings and report damage, and rows of queries have none in codes.
            TupleValue::Coded(text) => match text.to_vec() {
                Ok(bytes) => Self::Bytes(Cow::Owned(bytes)),
                Err(corrupt) => {
                    debug_assert!(false, "string in codes: {corrupt}");
                    Self::Null
                }
            },
        }
    }
}

impl PlanScalar<'_> {
    /// Whether it is NULL.
    #[inline]
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// How it is held; `None` for NULL, which does not say.
    #[must_use]
    pub fn kind(&self) -> Option<ValueKind> {
        Some(match self {
            Self::Null => return None,
            Self::Boolean(_) => ValueKind::Boolean,
            Self::Integer(_) => ValueKind::Integer,
            Self::Decimal(_) => ValueKind::Decimal,
            Self::Real(_) => ValueKind::Real,
            Self::Double(_) => ValueKind::Double,
            Self::Bytes(_) => ValueKind::Bytes,
        })
    }

    /// The value as tuples and keys take it.
    #[inline]
    #[must_use]
    pub fn as_tuple_value(&self) -> TupleValue<'_> {
        match self {
            Self::Null => TupleValue::Null,
            Self::Boolean(value) => TupleValue::Bool(*value),
            Self::Integer(value) => TupleValue::Integer(*value),
            Self::Decimal(value) => TupleValue::Wide(*value),
            Self::Real(value) => TupleValue::Float32(*value),
            Self::Double(value) => TupleValue::Float64(*value),
            Self::Bytes(bytes) => TupleValue::Bytes(bytes),
        }
    }

    /// The value, owned; `is_text` says what its bytes are.
    ///
    /// # Errors
    /// Text that is not UTF-8.
    #[inline]
    pub fn into_value(self, is_text: bool) -> Result<Value, EvaluationError> {
        Ok(match self {
            Self::Null => Value::Null,
            Self::Boolean(value) => Value::Boolean(value),
            Self::Integer(value) => Value::Integer(value),
            Self::Decimal(value) => Value::Decimal(value.into()),
            Self::Real(value) => Value::Real(value),
            Self::Double(value) => Value::Double(value),
            Self::Bytes(bytes) if is_text => match std::str::from_utf8(&bytes) {
                Ok(text) => Value::Text(text.into()),
                Err(_) => return Err(EvaluationError::NotText),
            },
            Self::Bytes(bytes) => Value::Bytes(bytes.into()),
        })
    }

    /// Order of two values of one type, neither NULL: bytes by their codes, and floats with one zero, and one NaN above all numbers.
    #[inline]
    #[must_use]
    pub fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Integer(left), Self::Integer(right)) => left.cmp(right),
            (Self::Bytes(left), Self::Bytes(right)) => left.cmp(right),
            (Self::Boolean(left), Self::Boolean(right)) => left.cmp(right),
            (Self::Decimal(left), Self::Decimal(right)) => left.cmp(right),
            (Self::Real(left), Self::Real(right)) => {
                compare_floats((*left).into(), (*right).into())
            }
            (Self::Double(left), Self::Double(right)) => compare_floats(*left, *right),
            // Values of different types are never compared; NULL is told apart before.
            _ => Ordering::Equal,
        }
    }
}
