//! Casts between the types of time, and between them and text. The session's zone stands between instants and what clocks show.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, plan_err};
use datafusion::logical_expr::Expr;
use quire_text::temporal;
use quire_text::temporal::{DAY, FreeText, Interval, SECOND};

use super::call::{Overload, Run, TimeCallContext, TimeFunction};
use super::clock::micros_now;
use super::value::{TimeKind, TimeValue};
use super::{invalid_text, out_of_range, wrong_arguments};

/// The cast of an expression of one type to another, if it is one of these.
pub fn time_cast(expr: Expr, from: &DataType, to: &DataType) -> Option<Expr> {
    let function = match (TimeKind::of(from), TimeKind::of(to)) {
        (Some(from), Some(to)) if from != to => function_to(to),
        (None, Some(to)) if is_text(from) => function_to(to),
        (Some(_), None) if is_text(to) => TimeFunction::new("time_to_text", to_text),
        _ => return None,
    };
    Some(function.call(vec![expr]))
}

pub(super) fn is_text(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
    )
}

/// The type of a text argument: its own, if it is one.
pub(super) fn text_type(given: &DataType) -> DataType {
    if is_text(given) {
        given.clone()
    } else {
        DataType::Utf8View
    }
}

fn function_to(kind: TimeKind) -> TimeFunction {
    match kind {
        TimeKind::Date => {
            TimeFunction::new("cast_to_date", |types, _| to_kind(types, TimeKind::Date))
        }
        TimeKind::Timestamp => TimeFunction::new("cast_to_timestamp", |types, _| {
            to_kind(types, TimeKind::Timestamp)
        }),
        TimeKind::Instant => TimeFunction::new("cast_to_timestamptz", |types, _| {
            to_kind(types, TimeKind::Instant)
        }),
        TimeKind::Time => {
            TimeFunction::new("cast_to_time", |types, _| to_kind(types, TimeKind::Time))
        }
        TimeKind::Interval => TimeFunction::new("cast_to_interval", |types, _| {
            to_kind(types, TimeKind::Interval)
        }),
    }
}

fn to_kind(types: &[DataType], to: TimeKind) -> Result<Overload> {
    let [from] = types else {
        return wrong_arguments("cast", types);
    };
    let Some(kind) = TimeKind::of(from) else {
        return Ok(Overload {
            arguments: vec![text_type(from)],
            result: to.data_type(),
            run: text_reader(to),
        });
    };
    let run: Run = match (kind, to) {
        (TimeKind::Date, TimeKind::Timestamp) => {
            |values, _| day_start(values).map(TimeValue::Integer)
        }
        (TimeKind::Date, TimeKind::Instant) => {
            |values, context| local_to_instant(day_start(values)?, context).map(TimeValue::Integer)
        }
        (TimeKind::Timestamp, TimeKind::Date) => |values, _| Ok(whole_days(integer(values))),
        (TimeKind::Timestamp, TimeKind::Instant) => {
            |values, context| local_to_instant(integer(values), context).map(TimeValue::Integer)
        }
        (TimeKind::Timestamp, TimeKind::Time) => |values, _| Ok(time_of_day(integer(values))),
        (TimeKind::Instant, TimeKind::Timestamp) => {
            |values, context| instant_to_local(integer(values), context).map(TimeValue::Integer)
        }
        (TimeKind::Instant, TimeKind::Date) => {
            |values, context| Ok(whole_days(instant_to_local(integer(values), context)?))
        }
        (TimeKind::Instant, TimeKind::Time) => {
            |values, context| Ok(time_of_day(instant_to_local(integer(values), context)?))
        }
        (TimeKind::Time, TimeKind::Interval) => |values, _| {
            Ok(TimeValue::Interval(Interval {
                micros: integer(values),
                ..Interval::default()
            }))
        },
        (TimeKind::Interval, TimeKind::Time) => |values, _| match values {
            [TimeValue::Interval(interval)] => Ok(time_of_day(interval.micros)),
            _ => Ok(TimeValue::Integer(0)),
        },
        _ => return plan_err!("cannot cast type {} to {}", kind.sql_name(), to.sql_name()),
    };
    Ok(Overload {
        arguments: vec![kind.data_type()],
        result: to.data_type(),
        run,
    })
}

fn text_reader(to: TimeKind) -> Run {
    match to {
        TimeKind::Date => |values, context| read(values, TimeKind::Date, context),
        TimeKind::Timestamp => |values, context| read(values, TimeKind::Timestamp, context),
        TimeKind::Instant => |values, context| read(values, TimeKind::Instant, context),
        TimeKind::Time => |values, context| read(values, TimeKind::Time, context),
        TimeKind::Interval => |values, context| read(values, TimeKind::Interval, context),
    }
}

fn read(
    values: &[TimeValue<'_>],
    kind: TimeKind,
    context: &TimeCallContext,
) -> Result<TimeValue<'static>> {
    let text = match values {
        [TimeValue::Text(text)] => *text,
        _ => "",
    };
    let bytes = text.as_bytes();
    let read = match kind {
        TimeKind::Date => {
            quire_text::calendar::parse_date(bytes).map(|days| TimeValue::Integer(days.into()))
        }
        TimeKind::Timestamp => {
            quire_text::calendar::parse_timestamp(bytes, None).map(TimeValue::Integer)
        }
        TimeKind::Instant => quire_text::calendar::parse_timestamp(bytes, Some(&context.zone))
            .map(TimeValue::Integer),
        TimeKind::Time => quire_text::calendar::parse_time(bytes).map(TimeValue::Integer),
        TimeKind::Interval => temporal::parse_interval(text).map(TimeValue::Interval),
    };
    let read = match read {
        // The common forms are tried first.
        Err(quire_text::number_in::NumberInError::Invalid) if kind != TimeKind::Interval => {
            read_freely(text, kind, context).map(TimeValue::Integer)
        }
        read => read,
    };
    Ok(read.map_err(|reason| invalid_text(reason, kind, text))?)
}

/// Reads one of the other forms of dates and times.
fn read_freely(
    text: &str,
    kind: TimeKind,
    context: &TimeCallContext,
) -> Result<i64, quire_text::number_in::NumberInError> {
    let out_of_range = quire_text::number_in::NumberInError::OutOfRange;
    let local_now = || context.zone.to_local(micros_now()).ok_or(out_of_range);
    // Of a time alone digits are hours, minutes and seconds.
    let is_number = kind == TimeKind::Time && !text.contains(|letter: char| ":/-".contains(letter));
    let marked = if is_number && text.trim_start().starts_with(|c: char| c.is_ascii_digit()) {
        format!("T {text}")
    } else {
        text.to_owned()
    };
    let (day, time, zone) = match temporal::read_free_text(&marked, context.order)? {
        FreeText::Moment { day, time, zone } => (day, time, zone),
        FreeText::Now => {
            let now = local_now()?;
            (Some(now.div_euclid(DAY)), Some(now.rem_euclid(DAY)), None)
        }
        FreeText::Today(days) => (Some(local_now()?.div_euclid(DAY) + days), None, None),
    };
    if kind == TimeKind::Time {
        return time.ok_or(quire_text::number_in::NumberInError::Invalid);
    }
    let day = day.ok_or(quire_text::number_in::NumberInError::Invalid)?;
    let local = day.checked_mul(DAY);
    let local = local.and_then(|start| start.checked_add(time.unwrap_or(0)));
    match kind {
        TimeKind::Date => Ok(day),
        TimeKind::Instant => {
            let zone = zone.as_ref().unwrap_or(&context.zone);
            local
                .and_then(|local| zone.to_instant(local))
                .ok_or(out_of_range)
        }
        _ => local.ok_or(out_of_range),
    }
}

fn to_text(types: &[DataType], _: &[Option<&datafusion::common::ScalarValue>]) -> Result<Overload> {
    let Some(kind) = types.first().and_then(TimeKind::of) else {
        return wrong_arguments("cast", types);
    };
    let run: Run = match kind {
        TimeKind::Date => |values, _| made(|out| temporal::write_date(integer(values), out)),
        TimeKind::Timestamp => {
            |values, _| made(|out| temporal::write_timestamp(integer(values), SECOND, None, out))
        }
        TimeKind::Instant => |values, context| {
            made(|out| temporal::write_instant(integer(values), &context.zone, out))
        },
        TimeKind::Time => {
            |values, _| made(|out| temporal::write_time(integer(values), SECOND, out))
        }
        TimeKind::Interval => |values, _| {
            made(|out| {
                if let [TimeValue::Interval(interval)] = values {
                    let nanoseconds = i128::from(interval.micros) * 1_000;
                    let (months, days) = (interval.months.into(), interval.days.into());
                    temporal::write_interval(months, days, nanoseconds, out);
                }
            })
        },
    };
    Ok(Overload {
        arguments: vec![kind.data_type()],
        result: DataType::Utf8View,
        run,
    })
}

fn made(write: impl FnOnce(&mut String)) -> Result<TimeValue<'static>> {
    let mut text = String::new();
    write(&mut text);
    Ok(TimeValue::Made(text))
}

/// The only argument, which is a number of days or microseconds.
pub(super) fn integer(values: &[TimeValue<'_>]) -> i64 {
    match values {
        [TimeValue::Integer(value), ..] => *value,
        _ => 0,
    }
}

fn day_start(values: &[TimeValue<'_>]) -> Result<i64> {
    start_of(integer(values))
}

/// Midnight of a day.
pub(super) fn start_of(days: i64) -> Result<i64> {
    let micros = days.checked_mul(DAY);
    micros.ok_or_else(|| super::error("22008", "date out of range for timestamp"))
}

fn whole_days(micros: i64) -> TimeValue<'static> {
    TimeValue::Integer(micros.div_euclid(DAY))
}

fn time_of_day(micros: i64) -> TimeValue<'static> {
    TimeValue::Integer(micros.rem_euclid(DAY))
}

pub(super) fn local_to_instant(local: i64, context: &TimeCallContext) -> Result<i64> {
    let instant = context.zone.to_instant(local);
    instant.ok_or_else(|| out_of_range(TimeKind::Instant))
}

pub(super) fn instant_to_local(instant: i64, context: &TimeCallContext) -> Result<i64> {
    let local = context.zone.to_local(instant);
    local.ok_or_else(|| out_of_range(TimeKind::Instant))
}
