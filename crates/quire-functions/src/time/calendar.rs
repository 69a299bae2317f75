//! Functions of the calendar: `age`, `date_trunc`, `date_bin`, `timezone`, `justify_…`, `to_timestamp`.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Expr;
use quire_text::temporal;
use quire_text::temporal::{DAY, Interval, SECOND, TemporalField, TimeZoneRules};

use super::arithmetic::{in_range, interval};
use super::call::{Overload, Run, TimeCallContext, TimeFunction};
use super::cast::{integer, is_text, text_type};
use super::value::{TimeKind, TimeValue};
use super::{error, out_of_range, wrong_arguments};

/// All of them.
pub(super) fn functions() -> Vec<TimeFunction> {
    vec![
        TimeFunction::new("age", age),
        TimeFunction::new("justify_hours", |types, _| justify("justify_hours", types)),
        TimeFunction::new("justify_days", |types, _| justify("justify_days", types)),
        TimeFunction::new("justify_interval", |types, _| {
            justify("justify_interval", types)
        }),
        TimeFunction::new("timezone", timezone),
        TimeFunction::new("date_trunc", date_trunc).with_alias("datetrunc"),
        TimeFunction::new("date_bin", date_bin),
    ]
}

/// Integers may be written for fractions.
fn is_number(data_type: &DataType) -> bool {
    data_type.is_numeric() || data_type.is_null()
}

fn point(data_type: &DataType) -> Option<TimeKind> {
    match TimeKind::of(data_type) {
        Some(kind @ (TimeKind::Timestamp | TimeKind::Instant)) => Some(kind),
        // As an instant a date, and a text without a type, is preferred.
        Some(TimeKind::Date) => Some(TimeKind::Instant),
        None if is_text(data_type) || data_type.is_null() => Some(TimeKind::Instant),
        _ => None,
    }
}

fn age(types: &[DataType], _: &[Option<&ScalarValue>]) -> Result<Overload> {
    let kinds: Option<Vec<TimeKind>> = types.iter().map(point).collect();
    let Some([first, second]) = kinds.as_deref() else {
        return wrong_arguments("age", types);
    };
    let is_local = *first == TimeKind::Timestamp && *second == TimeKind::Timestamp;
    let kind = if is_local {
        TimeKind::Timestamp
    } else {
        TimeKind::Instant
    };
    let run: Run = match is_local {
        true => |values, _| in_range(Interval::age(integer(values), integer(&values[1..]))),
        false => |values, context| {
            let local = |instant| context.zone.to_local(instant);
            let both = local(integer(values)).zip(local(integer(&values[1..])));
            in_range(both.and_then(|(later, earlier)| Interval::age(later, earlier)))
        },
    };
    Ok(Overload {
        arguments: vec![kind.data_type(), kind.data_type()],
        result: TimeKind::Interval.data_type(),
        run,
    })
}

fn justify(name: &str, types: &[DataType]) -> Result<Overload> {
    if types.len() != 1 {
        return wrong_arguments(name, types);
    }
    let run: Run = match name {
        "justify_hours" => |values, _| in_range(interval(values, 0).justify_hours()),
        "justify_days" => |values, _| in_range(interval(values, 0).justify_days()),
        _ => |values, _| in_range(interval(values, 0).justify()),
    };
    Ok(Overload {
        arguments: vec![TimeKind::Interval.data_type()],
        result: TimeKind::Interval.data_type(),
        run,
    })
}

/// `timezone(zone, x)`, which is `x AT TIME ZONE zone`: instants become what clocks show there, and the other way round.
fn timezone(types: &[DataType], _: &[Option<&ScalarValue>]) -> Result<Overload> {
    let [zone, moment] = types else {
        return wrong_arguments("timezone", types);
    };
    let is_interval = TimeKind::of(zone) == Some(TimeKind::Interval);
    let (from, to) = match point(moment) {
        Some(TimeKind::Timestamp) => (TimeKind::Timestamp, TimeKind::Instant),
        Some(_) => (TimeKind::Instant, TimeKind::Timestamp),
        None => return wrong_arguments("timezone", types),
    };
    let run: Run = match (from, is_interval) {
        (TimeKind::Timestamp, false) => |values, _| to_instant(&named_zone(values)?, values),
        (TimeKind::Timestamp, true) => |values, _| to_instant(&interval_zone(values)?, values),
        (_, false) => |values, _| to_local(&named_zone(values)?, values),
        (_, true) => |values, _| to_local(&interval_zone(values)?, values),
    };
    let zone = if is_interval {
        TimeKind::Interval.data_type()
    } else {
        text_type(zone)
    };
    Ok(Overload {
        arguments: vec![zone, from.data_type()],
        result: to.data_type(),
        run,
    })
}

fn to_instant(zone: &TimeZoneRules, values: &[TimeValue<'_>]) -> Result<TimeValue<'static>> {
    let instant = zone
        .to_instant(integer(&values[1..]))
        .map(TimeValue::Integer);
    instant.ok_or_else(|| out_of_range(TimeKind::Instant))
}

fn to_local(zone: &TimeZoneRules, values: &[TimeValue<'_>]) -> Result<TimeValue<'static>> {
    let local = zone.to_local(integer(&values[1..])).map(TimeValue::Integer);
    local.ok_or_else(|| out_of_range(TimeKind::Timestamp))
}

fn text<'v>(values: &'v [TimeValue<'_>], place: usize) -> &'v str {
    match values.get(place) {
        Some(TimeValue::Text(text)) => text,
        _ => "",
    }
}

pub(super) fn zone_called(name: &str) -> Result<TimeZoneRules> {
    let unknown = || error("22023", format!("time zone \"{name}\" not recognized"));
    TimeZoneRules::named(name).ok_or_else(unknown)
}

fn named_zone(values: &[TimeValue<'_>]) -> Result<TimeZoneRules> {
    zone_called(text(values, 0))
}

fn interval_zone(values: &[TimeValue<'_>]) -> Result<TimeZoneRules> {
    let east = interval(values, 0);
    let seconds = i32::try_from(east.micros / SECOND).ok();
    match seconds.filter(|_| east.months == 0 && east.days == 0) {
        Some(seconds) => Ok(TimeZoneRules::east(seconds)),
        None => Err(error(
            "22023",
            "interval time zone must not include months or days",
        )),
    }
}

fn date_trunc(types: &[DataType], _: &[Option<&ScalarValue>]) -> Result<Overload> {
    let (Some(name), Some(moment)) = (types.first(), types.get(1)) else {
        return wrong_arguments("date_trunc", types);
    };
    let kind = match TimeKind::of(moment) {
        Some(TimeKind::Interval) => Some(TimeKind::Interval),
        _ => point(moment),
    };
    let (kind, run): (TimeKind, Run) = match (kind, types.len()) {
        (Some(TimeKind::Interval), 2) => (TimeKind::Interval, truncate_interval as Run),
        (Some(TimeKind::Timestamp), 2) => (TimeKind::Timestamp, truncate_timestamp as Run),
        (Some(TimeKind::Instant), 2) => (TimeKind::Instant, truncate_instant as Run),
        (Some(TimeKind::Timestamp | TimeKind::Instant), 3) => {
            (TimeKind::Instant, truncate_in_zone as Run)
        }
        _ => return wrong_arguments("date_trunc", types),
    };
    let mut arguments = vec![text_type(name), kind.data_type()];
    arguments.extend(types.get(2).map(text_type));
    Ok(Overload {
        arguments,
        result: kind.data_type(),
        run,
    })
}

fn truncate_interval(values: &[TimeValue<'_>], _: &TimeCallContext) -> Result<TimeValue<'static>> {
    let field = unit(values, TimeKind::Interval)?;
    match temporal::truncate_interval(field, interval(values, 1)) {
        Some(cut) => Ok(TimeValue::Interval(cut)),
        None => Err(not_supported(values, TimeKind::Interval)),
    }
}

fn truncate_timestamp(values: &[TimeValue<'_>], _: &TimeCallContext) -> Result<TimeValue<'static>> {
    let field = unit(values, TimeKind::Timestamp)?;
    let cut = temporal::truncate(field, integer(&values[1..]));
    truncated(cut, values, TimeKind::Timestamp)
}

fn truncate_instant(
    values: &[TimeValue<'_>],
    context: &TimeCallContext,
) -> Result<TimeValue<'static>> {
    truncate_in(values, &context.zone)
}

fn truncate_in_zone(values: &[TimeValue<'_>], _: &TimeCallContext) -> Result<TimeValue<'static>> {
    truncate_in(values, &zone_called(text(values, 2))?)
}

fn truncate_in(values: &[TimeValue<'_>], zone: &TimeZoneRules) -> Result<TimeValue<'static>> {
    let field = unit(values, TimeKind::Instant)?;
    let cut = temporal::truncate_instant(field, integer(&values[1..]), zone);
    truncated(cut, values, TimeKind::Instant)
}

fn truncated(
    cut: Option<Option<i64>>,
    values: &[TimeValue<'_>],
    kind: TimeKind,
) -> Result<TimeValue<'static>> {
    match cut {
        Some(Some(cut)) => Ok(TimeValue::Integer(cut)),
        Some(None) => Err(out_of_range(kind)),
        None => Err(not_supported(values, kind)),
    }
}

fn unit(values: &[TimeValue<'_>], kind: TimeKind) -> Result<TemporalField> {
    let name = text(values, 0);
    TemporalField::named(name).ok_or_else(|| {
        let kind = kind.sql_name();
        error(
            "22023",
            format!("unit \"{name}\" not recognized for type {kind}"),
        )
    })
}

fn not_supported(values: &[TimeValue<'_>], kind: TimeKind) -> datafusion::common::DataFusionError {
    let (name, kind) = (text(values, 0), kind.sql_name());
    error(
        "0A000",
        format!("unit \"{name}\" not supported for type {kind}"),
    )
}

fn date_bin(types: &[DataType], _: &[Option<&ScalarValue>]) -> Result<Overload> {
    let kinds = match types {
        [_, moment, origin] => (point(moment), point(origin)),
        // The planner's function has an origin of its own, 1970.
        [_, moment] => (point(moment), point(moment)),
        _ => (None, None),
    };
    let kind = match kinds {
        (Some(TimeKind::Timestamp), Some(_)) => TimeKind::Timestamp,
        (Some(_), Some(_)) => TimeKind::Instant,
        _ => return wrong_arguments("date_bin", types),
    };
    let mut arguments = vec![TimeKind::Interval.data_type()];
    arguments.extend((1..types.len()).map(|_| kind.data_type()));
    Ok(Overload {
        arguments,
        result: kind.data_type(),
        run: |values, _| {
            let stride = interval(values, 0);
            if stride.months != 0 {
                let text = "timestamps cannot be binned into intervals containing months or years";
                return Err(error("0A000", text));
            }
            let micros = i64::from(stride.days).checked_mul(DAY);
            let micros = micros.and_then(|micros| micros.checked_add(stride.micros));
            let micros = micros.ok_or_else(|| out_of_range(TimeKind::Interval))?;
            if micros <= 0 {
                return Err(error("22008", "stride must be greater than zero"));
            }
            let origin = values.get(2).map_or(0, |_| integer(&values[2..]));
            let cut = temporal::bin(micros, integer(&values[1..]), origin);
            let cut = cut.map(TimeValue::Integer);
            cut.ok_or_else(|| out_of_range(TimeKind::Timestamp))
        },
    })
}

/// `to_timestamp(seconds)`
pub fn seconds_to_instant(seconds: Expr) -> Expr {
    TimeFunction::new("seconds_to_timestamptz", of_seconds).call(vec![seconds])
}

fn of_seconds(types: &[DataType], _: &[Option<&ScalarValue>]) -> Result<Overload> {
    match types {
        [seconds] if is_number(seconds) => Ok(Overload {
            arguments: vec![DataType::Float64],
            result: TimeKind::Instant.data_type(),
            run: instant_of_seconds,
        }),
        _ => wrong_arguments("to_timestamp", types),
    }
}

fn instant_of_seconds(values: &[TimeValue<'_>], _: &TimeCallContext) -> Result<TimeValue<'static>> {
    let seconds = match values {
        [TimeValue::Double(seconds)] => *seconds,
        _ => 0.0,
    };
    if seconds.is_nan() {
        return Err(error("22008", "timestamp cannot be NaN"));
    }
    let micros = (seconds * SECOND as f64).round_ties_even();
    // The bounds are 2^63 and exact in a double.
    let limit = -(i64::MIN as f64);
    if micros >= -limit && micros < limit {
        Ok(TimeValue::Integer(micros as i64))
    } else {
        Err(error(
            "22008",
            format!("timestamp out of range: \"{seconds:e}\""),
        ))
    }
}
