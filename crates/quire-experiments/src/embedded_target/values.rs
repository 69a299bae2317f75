//! Values of workloads as those of statements, and back.

use quire::arrow::datatypes::{DataType, TimeUnit};
use quire::{Error, Value, ValueRef};
use quire_workload::SqlValue;

/// Digits of a decimal parameter whose place in the statement does not tell its type.
const DECIMAL_DIGITS: u8 = 38;

/// Values and types of parameters: those that the statement knows, and where it knows none, those of the values.
pub(super) fn parameters_of(
    known: &[Option<DataType>],
    values: &[SqlValue],
) -> (Vec<Value>, Vec<Option<DataType>>) {
    let known = known.iter().chain(std::iter::repeat(&None));
    let pairs = values.iter().zip(known).map(|(value, known)| {
        let kind = known.clone().or_else(|| own_type(value));
        (statement_value(value, kind.as_ref()), kind)
    });
    pairs.unzip()
}

fn own_type(value: &SqlValue) -> Option<DataType> {
    Some(match value {
        SqlValue::Null => return None,
        SqlValue::Integer(_) => DataType::Int64,
        SqlValue::Double(_) => DataType::Float64,
        SqlValue::Decimal { scale, .. } => {
            DataType::Decimal128(DECIMAL_DIGITS, i8::try_from(*scale).unwrap_or(i8::MAX))
        }
        SqlValue::Text(_) => DataType::Utf8View,
        SqlValue::Date(_) => DataType::Date32,
        SqlValue::Timestamp(_) => DataType::Timestamp(TimeUnit::Microsecond, None),
    })
}

/// A value for a parameter of a type. A decimal takes the scale of its type; one with more digits behind the point goes as a text, which the
/// statement rounds or refuses.
fn statement_value(value: &SqlValue, kind: Option<&DataType>) -> Value {
    match value {
        SqlValue::Null => Value::Null,
        SqlValue::Double(value) => Value::Double(*value),
        SqlValue::Text(text) => Value::Text(text.as_str().into()),
        SqlValue::Date(days) => Value::Integer(i64::from(*days)),
        SqlValue::Timestamp(micros) => Value::Integer(*micros),
        SqlValue::Integer(_) | SqlValue::Decimal { .. } => {
            number(value, kind).unwrap_or_else(|| Value::Text(value.to_string().as_str().into()))
        }
    }
}

fn number(value: &SqlValue, kind: Option<&DataType>) -> Option<Value> {
    match kind {
        Some(DataType::Decimal128(_, scale)) => {
            let unscaled = value.as_unscaled(u8::try_from(*scale).ok()?)?;
            Some(Value::Decimal(i128::from(unscaled).into()))
        }
        _ => value.as_integer().map(Value::Integer),
    }
}

/// A value of a result, whose type says what its integers are.
pub(super) fn sql_value(value: ValueRef<'_>, kind: &DataType) -> Result<SqlValue, Error> {
    Ok(match (value, kind) {
        (ValueRef::Null, _) => SqlValue::Null,
        (ValueRef::Integer(days), DataType::Date32) => {
            SqlValue::Date(i32::try_from(days).map_err(|_| unknown(kind))?)
        }
        (ValueRef::Integer(micros), DataType::Timestamp(..)) => SqlValue::Timestamp(micros),
        (ValueRef::Integer(value), _) => SqlValue::Integer(value),
        (ValueRef::Boolean(value), _) => SqlValue::Integer(i64::from(value)),
        (ValueRef::Decimal(value), DataType::Decimal128(_, scale)) => SqlValue::Decimal {
            unscaled: i64::try_from(i128::from(value)).map_err(|_| unknown(kind))?,
            scale: u8::try_from(*scale).map_err(|_| unknown(kind))?,
        },
        (ValueRef::Real(value), _) => SqlValue::Double(f64::from(value)),
        (ValueRef::Double(value), _) => SqlValue::Double(value),
        (ValueRef::Text(text), _) => SqlValue::text(text),
        (ValueRef::Decimal(_) | ValueRef::Bytes(_), _) => return Err(unknown(kind)),
    })
}

fn unknown(kind: &DataType) -> Error {
    Error::new(
        "0A000",
        format!("workloads have no value of type {kind}, or none as large"),
    )
}
