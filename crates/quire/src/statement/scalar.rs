//! A value while an expression is computed: borrowed where it can be.

use std::borrow::Cow;
use std::cmp::Ordering;

use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::ScalarValue;
use quire_engine::row_table::{TupleValue, Value};

use crate::error::Error;

/// The value of an expression. Its type is known where the expression was compiled.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Scalar<'a> {
    Null,
    Boolean(bool),
    /// Every integer; days of a date; a timestamp in the unit of its type.
    Integer(i64),
    /// A decimal without its point.
    Decimal(i128),
    Real(f32),
    Double(f64),
    /// Text or bytes.
    Bytes(Cow<'a, [u8]>),
}

impl<'a> From<TupleValue<'a>> for Scalar<'a> {
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
        }
    }
}

impl Scalar<'_> {
    #[inline]
    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The value, owned; `is_text` says what its bytes are.
    pub(super) fn into_value(self, is_text: bool) -> Result<Value, Error> {
        Ok(match self {
            Self::Null => Value::Null,
            Self::Boolean(value) => Value::Boolean(value),
            Self::Integer(value) => Value::Integer(value),
            Self::Decimal(value) => Value::Decimal(value.into()),
            Self::Real(value) => Value::Real(value),
            Self::Double(value) => Value::Double(value),
            Self::Bytes(bytes) if is_text => Value::Text(text_of(&bytes)?.into()),
            Self::Bytes(bytes) => Value::Bytes(bytes.into()),
        })
    }

    /// Order of two values of one type, neither NULL, as the general path's operators see it: floats in their total order, but with one
    /// zero.
    #[inline]
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Integer(left), Self::Integer(right)) => left.cmp(right),
            (Self::Bytes(left), Self::Bytes(right)) => left.cmp(right),
            (Self::Boolean(left), Self::Boolean(right)) => left.cmp(right),
            (Self::Decimal(left), Self::Decimal(right)) => left.cmp(right),
            // Adding zero makes -0.0 positive.
            (Self::Real(left), Self::Real(right)) => (left + 0.0).total_cmp(&(right + 0.0)),
            (Self::Double(left), Self::Double(right)) => (left + 0.0).total_cmp(&(right + 0.0)),
            // Values of different types are never compared; NULL is told apart before.
            _ => Ordering::Equal,
        }
    }

    /// The value as DataFusion's functions take it.
    pub(super) fn to_planned(&self, data_type: &DataType) -> Result<ScalarValue, Error> {
        let narrowed = || {
            Error::new(
                "XX000",
                format!("internal error: a value is no {data_type}"),
            )
        };
        Ok(match (self, data_type) {
            (Self::Null, _) => ScalarValue::try_from(data_type)?,
            (Self::Boolean(value), DataType::Boolean) => ScalarValue::Boolean(Some(*value)),
            (Self::Integer(value), _) => {
                integer_to_planned(*value, data_type).ok_or_else(narrowed)?
            }
            (Self::Decimal(value), DataType::Decimal128(precision, scale)) => {
                ScalarValue::Decimal128(Some(*value), *precision, *scale)
            }
            (Self::Real(value), DataType::Float32) => ScalarValue::Float32(Some(*value)),
            (Self::Double(value), DataType::Float64) => ScalarValue::Float64(Some(*value)),
            (Self::Bytes(bytes), _) => match data_type {
                DataType::Utf8 => ScalarValue::Utf8(Some(text_of(bytes)?.to_owned())),
                DataType::LargeUtf8 => ScalarValue::LargeUtf8(Some(text_of(bytes)?.to_owned())),
                DataType::Utf8View => ScalarValue::Utf8View(Some(text_of(bytes)?.to_owned())),
                DataType::Binary => ScalarValue::Binary(Some(bytes.to_vec())),
                DataType::LargeBinary => ScalarValue::LargeBinary(Some(bytes.to_vec())),
                DataType::BinaryView => ScalarValue::BinaryView(Some(bytes.to_vec())),
                _ => return Err(narrowed()),
            },
            _ => return Err(narrowed()),
        })
    }

    /// A value of DataFusion's; `None` when its type is none of ours.
    pub(super) fn from_planned(value: ScalarValue) -> Option<Scalar<'static>> {
        if value.is_null() {
            return is_known(&value.data_type()).then_some(Scalar::Null);
        }
        Some(match value {
            ScalarValue::Boolean(Some(value)) => Scalar::Boolean(value),
            ScalarValue::Int8(Some(value)) => Scalar::Integer(value.into()),
            ScalarValue::Int16(Some(value)) => Scalar::Integer(value.into()),
            ScalarValue::Int32(Some(value)) => Scalar::Integer(value.into()),
            ScalarValue::Int64(Some(value)) => Scalar::Integer(value),
            ScalarValue::UInt8(Some(value)) => Scalar::Integer(value.into()),
            ScalarValue::UInt16(Some(value)) => Scalar::Integer(value.into()),
            ScalarValue::UInt32(Some(value)) => Scalar::Integer(value.into()),
            ScalarValue::Date32(Some(value)) => Scalar::Integer(value.into()),
            ScalarValue::TimestampSecond(Some(value), _)
            | ScalarValue::TimestampMillisecond(Some(value), _)
            | ScalarValue::TimestampMicrosecond(Some(value), _)
            | ScalarValue::TimestampNanosecond(Some(value), _) => Scalar::Integer(value),
            ScalarValue::Decimal128(Some(value), ..) => Scalar::Decimal(value),
            ScalarValue::Float32(Some(value)) => Scalar::Real(value),
            ScalarValue::Float64(Some(value)) => Scalar::Double(value),
            ScalarValue::Utf8(Some(text))
            | ScalarValue::LargeUtf8(Some(text))
            | ScalarValue::Utf8View(Some(text)) => Scalar::Bytes(Cow::Owned(text.into_bytes())),
            ScalarValue::Binary(Some(bytes))
            | ScalarValue::LargeBinary(Some(bytes))
            | ScalarValue::BinaryView(Some(bytes)) => Scalar::Bytes(Cow::Owned(bytes)),
            _ => return None,
        })
    }
}

fn integer_to_planned(value: i64, data_type: &DataType) -> Option<ScalarValue> {
    Some(match data_type {
        DataType::Int8 => ScalarValue::Int8(Some(value.try_into().ok()?)),
        DataType::Int16 => ScalarValue::Int16(Some(value.try_into().ok()?)),
        DataType::Int32 => ScalarValue::Int32(Some(value.try_into().ok()?)),
        DataType::Int64 => ScalarValue::Int64(Some(value)),
        DataType::UInt8 => ScalarValue::UInt8(Some(value.try_into().ok()?)),
        DataType::UInt16 => ScalarValue::UInt16(Some(value.try_into().ok()?)),
        DataType::UInt32 => ScalarValue::UInt32(Some(value.try_into().ok()?)),
        DataType::Date32 => ScalarValue::Date32(Some(value.try_into().ok()?)),
        DataType::Timestamp(unit, zone) => {
            let (value, zone) = (Some(value), zone.clone());
            match unit {
                TimeUnit::Second => ScalarValue::TimestampSecond(value, zone),
                TimeUnit::Millisecond => ScalarValue::TimestampMillisecond(value, zone),
                TimeUnit::Microsecond => ScalarValue::TimestampMicrosecond(value, zone),
                TimeUnit::Nanosecond => ScalarValue::TimestampNanosecond(value, zone),
            }
        }
        _ => return None,
    })
}

/// Whether values of a type can be computed with here.
pub(super) fn is_known(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Null
            | DataType::Boolean
            | DataType::Int8
            | DataType::Int16
            | DataType::Int32
            | DataType::Int64
            | DataType::UInt8
            | DataType::UInt16
            | DataType::UInt32
            | DataType::Date32
            | DataType::Timestamp(..)
            | DataType::Decimal128(..)
            | DataType::Float32
            | DataType::Float64
    ) || is_text(data_type)
        || is_binary(data_type)
}

pub(super) fn is_text(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
    )
}

pub(super) fn is_binary(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView
    )
}

/// Whether values of both types are the same here.
pub(super) fn is_same(left: &DataType, right: &DataType) -> bool {
    left == right || (is_text(left) && is_text(right)) || (is_binary(left) && is_binary(right))
}

/// Text that a table or an expression gave.
pub(super) fn text_of(bytes: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(bytes).map_err(|_| Error::new("XX001", "a stored text is not UTF-8"))
}
