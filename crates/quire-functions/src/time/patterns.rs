//! Times as texts by PostgreSQL's patterns: `to_char`, `to_timestamp`, `to_date`.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use quire_text::temporal::{
    DAY, PatternError, SECOND, WrittenPattern, read_by_pattern, write_by_pattern,
};

use super::arithmetic::interval;
use super::call::{Overload, Run, TimeCallContext, TimeFunction};
use super::cast::{instant_to_local, integer, is_text, text_type};
use super::value::{TimeKind, TimeValue};
use super::{error, out_of_range, wrong_arguments};

/// The functions that statements call `to_char`, `to_timestamp` and `to_date`; the planner's of these names have patterns of `strftime`.
pub(super) fn functions() -> Vec<TimeFunction> {
    vec![
        TimeFunction::new("to_char_by_pattern", to_char),
        TimeFunction::new("to_timestamp_by_pattern", |types, _| {
            reading(
                "to_timestamp",
                types,
                TimeKind::Instant,
                |values, context| {
                    let (local, offset) = read(values)?;
                    let instant = match offset {
                        Some(east) => local.checked_sub(i64::from(east) * SECOND),
                        None => context.zone.to_instant(local),
                    };
                    let instant = instant.map(TimeValue::Integer);
                    instant.ok_or_else(|| out_of_range(TimeKind::Instant))
                },
            )
        }),
        TimeFunction::new("to_date_by_pattern", |types, _| {
            reading("to_date", types, TimeKind::Date, |values, _| {
                Ok(TimeValue::Integer(read(values)?.0.div_euclid(DAY)))
            })
        }),
    ]
}

fn reading(name: &str, types: &[DataType], kind: TimeKind, run: Run) -> Result<Overload> {
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

fn read(values: &[TimeValue<'_>]) -> Result<(i64, Option<i32>)> {
    let [TimeValue::Text(text), TimeValue::Text(pattern)] = values else {
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
    let (kind, run): (TimeKind, Run) = match TimeKind::of(moment) {
        Some(TimeKind::Interval | TimeKind::Time) => (TimeKind::Interval, |values, _| {
            by_pattern(values, &WrittenPattern::Interval(interval(values, 0)))
        }),
        Some(TimeKind::Timestamp) => (TimeKind::Timestamp, |values, _| {
            by_pattern(values, &WrittenPattern::Moment(integer(values), None))
        }),
        Some(TimeKind::Date | TimeKind::Instant) => (TimeKind::Instant, instant_by_pattern),
        None if moment.is_null() || is_text(moment) => (TimeKind::Instant, instant_by_pattern),
        None => return wrong_arguments("to_char", types),
    };
    Ok(Overload {
        arguments: vec![kind.data_type(), text_type(pattern)],
        result: DataType::Utf8View,
        run,
    })
}

fn instant_by_pattern(
    values: &[TimeValue<'_>],
    context: &TimeCallContext,
) -> Result<TimeValue<'static>> {
    let instant = integer(values);
    let local = instant_to_local(instant, context)?;
    let offset = context.zone.offset_at(instant);
    by_pattern(values, &WrittenPattern::Moment(local, Some(offset)))
}

fn by_pattern(values: &[TimeValue<'_>], written: &WrittenPattern) -> Result<TimeValue<'static>> {
    let pattern = match values.get(1) {
        Some(TimeValue::Text(pattern)) => *pattern,
        _ => "",
    };
    let text = write_by_pattern(pattern, written).map_err(|refusal| match refusal {
        PatternError::OfInterval => error(
            "22007",
            "invalid format specification for an interval value",
        ),
        PatternError::ZoneName => error("0A000", "the pattern TZ of to_char is not supported"),
    })?;
    Ok(TimeValue::Made(text))
}
