//! Casts between the types of time, and between them and text. The session's zone stands between instants and what clocks show.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::logical_expr::Expr;
use quire_text::temporal;
use quire_text::temporal::{DAY, FreeText, Interval, SECOND};

use super::call::{Context, Overload, Run, TimeFunction};
use super::clock::micros_now;
use super::value::{Kind, Value};
use super::{invalid_text, out_of_range, wrong_arguments};

/// The cast of an expression of one type to another, if it is one of these.
pub fn time_cast(expr: Expr, from: &DataType, to: &DataType) -> Option<Expr> {
    let function = match (Kind::of(from), Kind::of(to)) {
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

fn function_to(kind: Kind) -> TimeFunction {
    match kind {
        Kind::Date => TimeFunction::new("cast_to_date", |types, _| to_kind(types, Kind::Date)),
        Kind::Timestamp => TimeFunction::new("cast_to_timestamp", |types, _| {
            to_kind(types, Kind::Timestamp)
        }),
        Kind::Instant => TimeFunction::new("cast_to_timestamptz", |types, _| {
            to_kind(types, Kind::Instant)
        }),
        Kind::Time => TimeFunction::new("cast_to_time", |types, _| to_kind(types, Kind::Time)),
        Kind::Interval => TimeFunction::new("cast_to_interval", |types, _| {
            to_kind(types, Kind::Interval)
        }),
    }
}

fn to_kind(types: &[DataType], to: Kind) -> Result<Overload> {
    let [from] = types else {
        return wrong_arguments("cast", types);
    };
    let Some(kind) = Kind::of(from) else {
        return Ok(Overload {
            arguments: vec![text_type(from)],
            result: to.data_type(),
            run: text_reader(to),
        });
    };
    let run: Run = match (kind, to) {
        (Kind::Date, Kind::Timestamp) => |values, _| day_start(values).map(Value::Integer),
        (Kind::Date, Kind::Instant) => {
            |values, context| local_to_instant(day_start(values)?, context).map(Value::Integer)
        }
        (Kind::Timestamp, Kind::Date) => |values, _| Ok(whole_days(integer(values))),
        (Kind::Timestamp, Kind::Instant) => {
            |values, context| local_to_instant(integer(values), context).map(Value::Integer)
        }
        (Kind::Timestamp, Kind::Time) => |values, _| Ok(time_of_day(integer(values))),
        (Kind::Instant, Kind::Timestamp) => {
            |values, context| instant_to_local(integer(values), context).map(Value::Integer)
        }
        (Kind::Instant, Kind::Date) => {
            |values, context| Ok(whole_days(instant_to_local(integer(values), context)?))
        }
        (Kind::Instant, Kind::Time) => {
            |values, context| Ok(time_of_day(instant_to_local(integer(values), context)?))
        }
        (Kind::Time, Kind::Interval) => |values, _| {
            Ok(Value::Interval(Interval {
                micros: integer(values),
                ..Interval::default()
            }))
        },
        (Kind::Interval, Kind::Time) => |values, _| match values {
            [Value::Interval(interval)] => Ok(time_of_day(interval.micros)),
            _ => Ok(Value::Integer(0)),
        },
        _ => return plan_err!("cannot cast type {} to {}", kind.sql_name(), to.sql_name()),
    };
    Ok(Overload {
        arguments: vec![kind.data_type()],
        result: to.data_type(),
        run,
    })
}

fn text_reader(to: Kind) -> Run {
    match to {
        Kind::Date => |values, context| read(values, Kind::Date, context),
        Kind::Timestamp => |values, context| read(values, Kind::Timestamp, context),
        Kind::Instant => |values, context| read(values, Kind::Instant, context),
        Kind::Time => |values, context| read(values, Kind::Time, context),
        Kind::Interval => |values, context| read(values, Kind::Interval, context),
    }
}

fn read(values: &[Value<'_>], kind: Kind, context: &Context) -> Result<Value<'static>> {
    let text = match values {
        [Value::Text(text)] => *text,
        _ => "",
    };
    let bytes = text.as_bytes();
    let read = match kind {
        Kind::Date => {
            quire_text::calendar::parse_date(bytes).map(|days| Value::Integer(days.into()))
        }
        Kind::Timestamp => quire_text::calendar::parse_timestamp(bytes, None).map(Value::Integer),
        Kind::Instant => {
            quire_text::calendar::parse_timestamp(bytes, Some(&context.zone)).map(Value::Integer)
        }
        Kind::Time => quire_text::calendar::parse_time(bytes).map(Value::Integer),
        Kind::Interval => temporal::parse_interval(text).map(Value::Interval),
    };
    let read = match read {
        // The common forms are tried first.
        Err(quire_text::number_in::Reason::Invalid) if kind != Kind::Interval => {
            read_freely(text, kind, context).map(Value::Integer)
        }
        read => read,
    };
    read.map_err(|reason| DataFusionError::External(Box::new(invalid_text(reason, kind, text))))
}

/// Reads one of the other forms of dates and times.
fn read_freely(
    text: &str,
    kind: Kind,
    context: &Context,
) -> Result<i64, quire_text::number_in::Reason> {
    let out_of_range = quire_text::number_in::Reason::OutOfRange;
    let local_now = || context.zone.to_local(micros_now()).ok_or(out_of_range);
    // Of a time alone digits are hours, minutes and seconds.
    let is_number = kind == Kind::Time && !text.contains(|letter: char| ":/-".contains(letter));
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
    if kind == Kind::Time {
        return time.ok_or(quire_text::number_in::Reason::Invalid);
    }
    let day = day.ok_or(quire_text::number_in::Reason::Invalid)?;
    let local = day.checked_mul(DAY);
    let local = local.and_then(|start| start.checked_add(time.unwrap_or(0)));
    match kind {
        Kind::Date => Ok(day),
        Kind::Instant => {
            let zone = zone.as_ref().unwrap_or(&context.zone);
            local
                .and_then(|local| zone.to_instant(local))
                .ok_or(out_of_range)
        }
        _ => local.ok_or(out_of_range),
    }
}

fn to_text(types: &[DataType], _: &[Option<&datafusion::common::ScalarValue>]) -> Result<Overload> {
    let Some(kind) = types.first().and_then(Kind::of) else {
        return wrong_arguments("cast", types);
    };
    let run: Run = match kind {
        Kind::Date => |values, _| made(|out| temporal::write_date(integer(values), out)),
        Kind::Timestamp => {
            |values, _| made(|out| temporal::write_timestamp(integer(values), SECOND, None, out))
        }
        Kind::Instant => |values, context| {
            made(|out| temporal::write_instant(integer(values), &context.zone, out))
        },
        Kind::Time => |values, _| made(|out| temporal::write_time(integer(values), SECOND, out)),
        Kind::Interval => |values, _| {
            made(|out| {
                if let [Value::Interval(interval)] = values {
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

fn made(write: impl FnOnce(&mut String)) -> Result<Value<'static>> {
    let mut text = String::new();
    write(&mut text);
    Ok(Value::Made(text))
}

/// The only argument, which is a number of days or microseconds.
pub(super) fn integer(values: &[Value<'_>]) -> i64 {
    match values {
        [Value::Integer(value), ..] => *value,
        _ => 0,
    }
}

fn day_start(values: &[Value<'_>]) -> Result<i64> {
    start_of(integer(values))
}

/// Midnight of a day.
pub(super) fn start_of(days: i64) -> Result<i64> {
    let micros = days.checked_mul(DAY);
    micros.ok_or_else(|| super::error("22008", "date out of range for timestamp"))
}

fn whole_days(micros: i64) -> Value<'static> {
    Value::Integer(micros.div_euclid(DAY))
}

fn time_of_day(micros: i64) -> Value<'static> {
    Value::Integer(micros.rem_euclid(DAY))
}

pub(super) fn local_to_instant(local: i64, context: &Context) -> Result<i64> {
    let instant = context.zone.to_instant(local);
    instant.ok_or_else(|| out_of_range(Kind::Instant))
}

pub(super) fn instant_to_local(instant: i64, context: &Context) -> Result<i64> {
    let local = context.zone.to_local(instant);
    local.ok_or_else(|| out_of_range(Kind::Instant))
}
