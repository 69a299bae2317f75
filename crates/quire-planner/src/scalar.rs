//! Values of expressions as DataFusion has them, and which of its types are ours.

use std::borrow::Cow;

use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::ScalarValue;
use quire_exec::plan::{PlanScalar, ValueKind};

use quire_error::Error;

/// The value as DataFusion's functions take it: with one NaN, for they tell its bits apart.
pub fn to_planned(scalar: &PlanScalar<'_>, data_type: &DataType) -> Result<ScalarValue, Error> {
    let narrowed = || {
        Error::new(
            "XX000",
            format!("internal error: a value is no {data_type}"),
        )
    };
    Ok(match (scalar, data_type) {
        (PlanScalar::Null, _) => ScalarValue::try_from(data_type)?,
        (PlanScalar::Boolean(value), DataType::Boolean) => ScalarValue::Boolean(Some(*value)),
        (PlanScalar::Integer(value), _) => {
            integer_to_planned(*value, data_type).ok_or_else(narrowed)?
        }
        (PlanScalar::Decimal(value), DataType::Decimal128(precision, scale)) => {
            ScalarValue::Decimal128(Some(*value), *precision, *scale)
        }
        (PlanScalar::Real(value), DataType::Float32) => {
            ScalarValue::Float32(Some(if value.is_nan() { f32::NAN } else { *value }))
        }
        (PlanScalar::Double(value), DataType::Float64) => {
            ScalarValue::Float64(Some(if value.is_nan() { f64::NAN } else { *value }))
        }
        (PlanScalar::Bytes(bytes), _) => match data_type {
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
pub fn from_planned(value: ScalarValue) -> Option<PlanScalar<'static>> {
    if value.is_null() {
        return is_known(&value.data_type()).then_some(PlanScalar::Null);
    }
    Some(match value {
        ScalarValue::Boolean(Some(value)) => PlanScalar::Boolean(value),
        ScalarValue::Int8(Some(value)) => PlanScalar::Integer(value.into()),
        ScalarValue::Int16(Some(value)) => PlanScalar::Integer(value.into()),
        ScalarValue::Int32(Some(value)) => PlanScalar::Integer(value.into()),
        ScalarValue::Int64(Some(value)) => PlanScalar::Integer(value),
        ScalarValue::UInt8(Some(value)) => PlanScalar::Integer(value.into()),
        ScalarValue::UInt16(Some(value)) => PlanScalar::Integer(value.into()),
        ScalarValue::UInt32(Some(value)) => PlanScalar::Integer(value.into()),
        ScalarValue::Date32(Some(value)) => PlanScalar::Integer(value.into()),
        ScalarValue::TimestampSecond(Some(value), _)
        | ScalarValue::TimestampMillisecond(Some(value), _)
        | ScalarValue::TimestampMicrosecond(Some(value), _)
        | ScalarValue::TimestampNanosecond(Some(value), _) => PlanScalar::Integer(value),
        ScalarValue::Decimal128(Some(value), ..) => PlanScalar::Decimal(value),
        ScalarValue::Float32(Some(value)) => PlanScalar::Real(value),
        ScalarValue::Float64(Some(value)) => PlanScalar::Double(value),
        ScalarValue::Utf8(Some(text))
        | ScalarValue::LargeUtf8(Some(text))
        | ScalarValue::Utf8View(Some(text)) => PlanScalar::Bytes(Cow::Owned(text.into_bytes())),
        ScalarValue::Binary(Some(bytes))
        | ScalarValue::LargeBinary(Some(bytes))
        | ScalarValue::BinaryView(Some(bytes)) => PlanScalar::Bytes(Cow::Owned(bytes)),
        _ => return None,
    })
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

/// How values of a type are held; `None` when they cannot be computed with.
pub(crate) fn kind_of(data_type: &DataType) -> Option<ValueKind> {
    ValueKind::of_arrow(data_type)
}

/// Whether values of a type can be computed with here.
pub(crate) fn is_known(data_type: &DataType) -> bool {
    kind_of(data_type).is_some()
}

pub fn is_text(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
    )
}

pub fn is_binary(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView
    )
}

/// Whether values of both types are the same here.
pub(crate) fn is_same(left: &DataType, right: &DataType) -> bool {
    left == right || (is_text(left) && is_text(right)) || (is_binary(left) && is_binary(right))
}

/// Text that a table or an expression gave.
fn text_of(bytes: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(bytes).map_err(|_| Error::new("XX001", "a stored text is not UTF-8"))
}
