//! Times as texts by PostgreSQL's patterns: `to_char`, `to_timestamp`, `to_date`.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use quire_text::temporal::{DAY, PatternError, SECOND, Written, read_by_pattern, write_by_pattern};

use super::arithmetic::interval;
use super::call::{Context, Overload, Run, TimeFunction};
use super::cast::{instant_to_local, integer, is_text, text_type};
use super::value::{Kind, Value};
use super::{error, out_of_range, wrong_arguments};

/// The functions that statements call `to_char`, `to_timestamp` and `to_date`; the planner's of these names have patterns of `strftime`.
pub(super) fn functions() -> Vec<TimeFunction> {
    vec![
        TimeFunction::new("to_char_by_pattern", to_char),
        TimeFunction::new("to_timestamp_by_pattern", |types, _| {
            reading("to_timestamp", types, Kind::Instant, |values, context| {
                let (local, offset) = read(values)?;
                let instant = match offset {
                    Some(east) => local.checked_sub(i64::from(east) * SECOND),
                    None => context.zone.to_instant(local),
                };
                let instant = instant.map(Value::Integer);
                instant.ok_or_else(|| out_of_range(Kind::Instant))
            })
        }),
        TimeFunction::new("to_date_by_pattern", |types, _| {
            reading("to_date", types, Kind::Date, |values, _| {
                Ok(Value::Integer(read(values)?.0.div_euclid(DAY)))
            })
        }),
    ]
}

fn reading(name: &str, types: &[DataType], kind: Kind, run: Run) -> Result<Overload> {
    let is_open = |data_type: &DataType| is_text(data_type) || data_type.is_null();
    match types {
        [text, pattern] if is_open(text) && is_open(pattern) => Ok(Overload {
            arguments: vec![text_type(text), text_type(pattern)],
            result: kind.data_type(),
            run,
        }),
        _ => wrong_arguments(name, types),
    }
}

fn read(values: &[Value<'_>]) -> Result<(i64, Option<i32>)> {
    let [Value::Text(text), Value::Text(pattern)] = values else {
        return Ok((0, None));
    };
    read_by_pattern(pattern, text).map_err(|(sqlstate, message)| error(sqlstate, message))
}

fn to_char(types: &[DataType], _: &[Option<&ScalarValue>]) -> Result<Overload> {
    let [moment, pattern] = types else {
        return wrong_arguments("to_char", types);
    };
    if moment.is_numeric() {
        return Err(error("0A000", "to_char of numbers is not supported"));
    }
    let (kind, run): (Kind, Run) = match Kind::of(moment) {
        Some(Kind::Interval | Kind::Time) => (Kind::Interval, |values, _| {
            by_pattern(values, &Written::Interval(interval(values, 0)))
        }),
        Some(Kind::Timestamp) => (Kind::Timestamp, |values, _| {
            by_pattern(values, &Written::Moment(integer(values), None))
        }),
        Some(Kind::Date | Kind::Instant) => (Kind::Instant, instant_by_pattern),
        None if moment.is_null() || is_text(moment) => (Kind::Instant, instant_by_pattern),
        None => return wrong_arguments("to_char", types),
    };
    Ok(Overload {
        arguments: vec![kind.data_type(), text_type(pattern)],
        result: DataType::Utf8View,
        run,
    })
}

fn instant_by_pattern(values: &[Value<'_>], context: &Context) -> Result<Value<'static>> {
    let instant = integer(values);
    let local = instant_to_local(instant, context)?;
    let offset = context.zone.offset_at(instant);
    by_pattern(values, &Written::Moment(local, Some(offset)))
}

fn by_pattern(values: &[Value<'_>], written: &Written) -> Result<Value<'static>> {
    let pattern = match values.get(1) {
        Some(Value::Text(pattern)) => *pattern,
        _ => "",
    };
    let text = write_by_pattern(pattern, written).map_err(|refusal| match refusal {
        PatternError::OfInterval => error(
            "22007",
            "invalid format specification for an interval value",
        ),
        PatternError::ZoneName => error("0A000", "the pattern TZ of to_char is not supported"),
    })?;
    Ok(Value::Made(text))
}
