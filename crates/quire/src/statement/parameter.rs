//! Values for parameters: of the types that the statement gives them, and as text of a statement.

use std::ops::Range;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::arrow::util::display::array_value_to_string;
use datafusion::common::ScalarValue;
use datafusion::common::format::DEFAULT_CAST_OPTIONS;
use quire_error::Error;
use quire_exec::plan::PlanScalar;
use quire_functions::elements_of;
use quire_functions::{TimeKind, invalid_text};
use quire_tables::row_table::Value;
use quire_text::bytea;
use quire_text::temporal;
use quire_text::temporal::{SECOND, TimeZoneRules};
use quire_text::type_name::sql_type_name;

use quire_planner::scalar::{from_planned, is_binary, is_text, to_planned};

/// The type that a value has by itself. Integers are BIGINT; decimals, whose scale a value does not say, have none.
pub(super) fn natural_type(value: &Value) -> Option<DataType> {
    Some(match value {
        Value::Null => return None,
        Value::Boolean(_) => DataType::Boolean,
        Value::Integer(_) => DataType::Int64,
        Value::Decimal(_) => return None,
        Value::Real(_) => DataType::Float32,
        Value::Double(_) => DataType::Float64,
        Value::Text(_) => DataType::Utf8,
        Value::Bytes(_) => DataType::Binary,
    })
}

/// Whether a value is one of the type as it stands.
pub(super) fn is_of(value: &Value, data_type: &DataType) -> bool {
    match (value, data_type) {
        (Value::Null, _)
        | (Value::Boolean(_), DataType::Boolean)
        | (Value::Integer(_), DataType::Int64 | DataType::Timestamp(..))
        | (Value::Real(_), DataType::Float32)
        | (Value::Double(_), DataType::Float64) => true,
        (Value::Integer(value), DataType::Int32 | DataType::Date32) => {
            i32::try_from(*value).is_ok()
        }
        (Value::Integer(value), DataType::Int16) => i16::try_from(*value).is_ok(),
        (Value::Decimal(value), DataType::Decimal128(precision, _)) => {
            let limit = 10_u128
                .checked_pow(u32::from(*precision))
                .unwrap_or(u128::MAX);
            i128::from(*value).unsigned_abs() < limit
        }
        // An array is its text until it is written into the statement.
        (Value::Text(_), DataType::List(_)) => true,
        (Value::Text(_), data_type) => is_text(data_type),
        (Value::Bytes(_), data_type) => is_binary(data_type),
        _ => false,
    }
}

/// The value as one of the type, cast where it is of another.
pub(super) fn converted(
    value: &Value,
    data_type: &DataType,
    zone: &TimeZoneRules,
    number: usize,
) -> Result<Value, Error> {
    if is_of(value, data_type) {
        return Ok(value.clone());
    }
    if let Value::Text(text) = value
        && let Some(moment) = moment_of(text, data_type, zone)
    {
        return moment;
    }
    let wrong = || {
        let text = format!("the value for parameter ${} is no {data_type}", number + 1);
        Error::new("22P02", text)
    };
    let natural = natural_type(value).ok_or_else(wrong)?;
    let mut scalar = PlanScalar::from(value.as_tuple_value());
    if let (PlanScalar::Double(value), true) = (&scalar, data_type.is_integer()) {
        scalar = PlanScalar::Double(value.round_ties_even());
    }
    let planned = to_planned(&scalar, &natural)?;
    let cast = planned.cast_to_with_options(data_type, &DEFAULT_CAST_OPTIONS);
    let cast = cast.map_err(|error| wrong().with_detail(Error::from(error).message()))?;
    let scalar = from_planned(cast).ok_or_else(wrong)?;
    Ok(scalar.into_value(is_text(data_type))?)
}

/// The date or timestamp that a text names, if that is what it is for.
fn moment_of(
    text: &str,
    data_type: &DataType,
    zone: &TimeZoneRules,
) -> Option<Result<Value, Error>> {
    let bytes = text.as_bytes();
    let moment = match TimeKind::of(data_type)? {
        TimeKind::Date => quire_text::calendar::parse_date(bytes).map(i64::from),
        TimeKind::Timestamp => quire_text::calendar::parse_timestamp(bytes, None),
        TimeKind::Instant => quire_text::calendar::parse_timestamp(bytes, Some(zone)),
        TimeKind::Time | TimeKind::Interval => return None,
    };
    let kind = TimeKind::of(data_type)?;
    Some(match moment {
        Ok(moment) => Ok(Value::Integer(moment)),
        Err(reason) => Err(invalid_text(reason, kind, text)),
    })
}

/// The text with something else in the places of its parameters, by their numbers from 1.
pub(super) fn with_places(
    sql: &str,
    places: &[(Range<usize>, usize)],
    written: impl Fn(usize) -> Result<String, Error>,
) -> Result<String, Error> {
    let mut text = String::with_capacity(sql.len() + 16 * places.len());
    let mut end = 0;
    for (range, number) in places {
        text.push_str(sql.get(end..range.start).unwrap_or_default());
        text.push_str(&written(*number)?);
        end = range.end;
    }
    text.push_str(sql.get(end..).unwrap_or_default());
    Ok(text)
}

/// The value as an expression of SQL of that type.
pub(super) fn written(
    value: &Value,
    data_type: Option<&DataType>,
    number: usize,
) -> Result<String, Error> {
    let natural = natural_type(value);
    let Some(data_type) = data_type.or(natural.as_ref()) else {
        return match value {
            Value::Null => Ok("NULL".to_owned()),
            _ => {
                let text = format!("could not determine data type of parameter ${}", number + 1);
                Err(Error::new("42P18", text).with_hint("Cast it: CAST($1 AS DECIMAL(10,2))."))
            }
        };
    };
    if let DataType::List(element) = data_type {
        return match element.data_type() {
            // Numbers of the catalog.
            DataType::UInt32 => written_array(value, &DataType::Int64, number),
            element => written_array(value, element, number),
        };
    }
    if let (Value::Text(text), Some(_)) = (value, TimeKind::of(data_type)) {
        // The statement reads it.
        return Ok(format!("CAST({} AS {})", quoted(text), spelled(data_type)));
    }
    let value = converted(value, data_type, &TimeZoneRules::default(), number)?;
    let scalar = to_planned(&PlanScalar::from(value.as_tuple_value()), data_type)?;
    if let ScalarValue::Int64(Some(number @ 0..)) = scalar {
        return Ok(number.to_string());
    }
    if is_text(data_type) && !scalar.is_null() {
        return Ok(quoted(&text_of(&scalar)?));
    }
    let text = match &value {
        Value::Null => "NULL".to_owned(),
        Value::Bytes(bytes) => {
            let mut digits = Vec::with_capacity(2 + 2 * bytes.len());
            bytea::write(bytes, &mut digits);
            format!("'{}'", String::from_utf8_lossy(&digits))
        }
        _ => quoted(&text_of(&scalar)?),
    };
    Ok(format!("CAST({text} AS {})", spelled(data_type)))
}

/// An array, whose value is its text, with each element as a value of the type.
fn written_array(value: &Value, element_type: &DataType, number: usize) -> Result<String, Error> {
    let text = match value {
        Value::Null => return Ok("NULL".to_owned()),
        Value::Text(text) => text.to_string(),
        _ => {
            let text = format!("the value for parameter ${} is no array", number + 1);
            return Err(Error::new("22P02", text));
        }
    };
    let elements = elements_of(&text).ok_or_else(|| {
        let message = format!("malformed array literal: \"{text}\"");
        Error::new("22P02", message).with_hint("Arrays have one dimension here: {1,2,NULL}.")
    })?;
    let elements = elements.into_iter().map(|element| match element {
        Some(text) => written(&Value::Text(text.into()), Some(element_type), number),
        None => Ok("NULL".to_owned()),
    });
    let elements = elements.collect::<Result<Vec<_>, Error>>()?.join(", ");
    Ok(if elements.is_empty() {
        format!("CAST(ARRAY[] AS {}[])", spelled(element_type))
    } else {
        format!("ARRAY[{elements}]")
    })
}

fn text_of(scalar: &ScalarValue) -> Result<String, Error> {
    let mut text = String::new();
    match scalar {
        ScalarValue::Date32(Some(days)) => temporal::write_date((*days).into(), &mut text),
        ScalarValue::TimestampMicrosecond(Some(micros), zone) => {
            let offset = zone.as_ref().map(|_| 0);
            temporal::write_timestamp(*micros, SECOND, offset, &mut text);
        }
        _ => {}
    }
    if !text.is_empty() {
        return Ok(text);
    }
    let array: ArrayRef = scalar.to_array()?;
    Ok(array_value_to_string(&array, 0)?)
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A parameter's type in SQL. Timestamps of any unit are the same there; whatever else there may be comes as text.
pub(super) fn spelled(data_type: &DataType) -> String {
    let name = match data_type {
        DataType::Timestamp(_, zone) => {
            sql_type_name(&DataType::Timestamp(TimeUnit::Microsecond, zone.clone()))
        }
        other => sql_type_name(other),
    };
    name.unwrap_or_else(|| "TEXT".to_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn values_are_written_with_their_types() {
        for (value, data_type, expected) in [
            (Value::Integer(5), DataType::Int64, "5"),
            (Value::Integer(-5), DataType::Int32, "CAST('-5' AS INTEGER)"),
            (Value::Text("it's".into()), DataType::Utf8View, "'it''s'"),
            (
                Value::Decimal(1250.into()),
                DataType::Decimal128(10, 2),
                "CAST('12.50' AS DECIMAL(10,2))",
            ),
            (
                Value::Integer(19_000),
                DataType::Date32,
                "CAST('2022-01-08' AS DATE)",
            ),
            (
                Value::Bytes([1, 255].into()),
                DataType::BinaryView,
                "CAST('\\x01ff' AS BYTEA)",
            ),
            (Value::Null, DataType::Int32, "CAST(NULL AS INTEGER)"),
        ] {
            assert_eq!(written(&value, Some(&data_type), 0).unwrap(), expected);
        }
    }

    #[test]
    fn values_are_cast_to_the_types_of_parameters() {
        let cast = |value: Value, data_type: DataType| {
            converted(&value, &data_type, &TimeZoneRules::default(), 0)
        };
        let text = |text: &str| Value::Text(text.into());
        assert_eq!(
            cast(text("42"), DataType::Int32).unwrap(),
            Value::Integer(42)
        );
        assert_eq!(
            cast(text("2022-01-08"), DataType::Date32).unwrap(),
            Value::Integer(19_000)
        );
        assert_eq!(
            cast(Value::Integer(3), DataType::Decimal128(10, 2)).unwrap(),
            Value::Decimal(300.into())
        );
        assert_eq!(
            cast(Value::Integer(3), DataType::Float64).unwrap(),
            Value::Double(3.0)
        );
        assert_eq!(
            cast(Value::Double(2.5), DataType::Int32).unwrap(),
            Value::Integer(2)
        );
        let error = cast(Value::Integer(40_000), DataType::Int16).unwrap_err();
        assert_eq!(error.sqlstate(), "22P02");
        assert!(cast(text("x"), DataType::Int32).is_err());
    }
}
