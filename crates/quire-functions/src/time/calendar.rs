//! Functions of the calendar: `age`, `date_trunc`, `date_bin`, `timezone`, `justify_…`, `to_timestamp`.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Expr;
use quire_text::temporal;
use quire_text::temporal::{DAY, Field, Interval, SECOND, Zone};

use super::arithmetic::{in_range, interval};
use super::call::{Context, Overload, Run, TimeFunction};
use super::cast::{integer, is_text, text_type};
use super::value::{Kind, Value};
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

fn point(data_type: &DataType) -> Option<Kind> {
    match Kind::of(data_type) {
        Some(kind @ (Kind::Timestamp | Kind::Instant)) => Some(kind),
        // As an instant a date, and a text without a type, is preferred.
        Some(Kind::Date) => Some(Kind::Instant),
        None if is_text(data_type) || data_type.is_null() => Some(Kind::Instant),
        _ => None,
    }
}

fn age(types: &[DataType], _: &[Option<&ScalarValue>]) -> Result<Overload> {
    let kinds: Option<Vec<Kind>> = types.iter().map(point).collect();
    let Some([first, second]) = kinds.as_deref() else {
        return wrong_arguments("age", types);
    };
    let is_local = *first == Kind::Timestamp && *second == Kind::Timestamp;
    let kind = if is_local {
        Kind::Timestamp
    } else {
        Kind::Instant
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
        result: Kind::Interval.data_type(),
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
        arguments: vec![Kind::Interval.data_type()],
        result: Kind::Interval.data_type(),
        run,
    })
}

/// `timezone(zone, x)`, which is `x AT TIME ZONE zone`: instants become what clocks show there, and the other way round.
fn timezone(types: &[DataType], _: &[Option<&ScalarValue>]) -> Result<Overload> {
    let [zone, moment] = types else {
        return wrong_arguments("timezone", types);
    };
    let is_interval = Kind::of(zone) == Some(Kind::Interval);
    let (from, to) = match point(moment) {
        Some(Kind::Timestamp) => (Kind::Timestamp, Kind::Instant),
        Some(_) => (Kind::Instant, Kind::Timestamp),
        None => return wrong_arguments("timezone", types),
    };
    let run: Run = match (from, is_interval) {
        (Kind::Timestamp, false) => |values, _| to_instant(&named_zone(values)?, values),
        (Kind::Timestamp, true) => |values, _| to_instant(&interval_zone(values)?, values),
        (_, false) => |values, _| to_local(&named_zone(values)?, values),
        (_, true) => |values, _| to_local(&interval_zone(values)?, values),
    };
    let zone = if is_interval {
        Kind::Interval.data_type()
    } else {
        text_type(zone)
    };
    Ok(Overload {
        arguments: vec![zone, from.data_type()],
        result: to.data_type(),
        run,
    })
}

fn to_instant(zone: &Zone, values: &[Value<'_>]) -> Result<Value<'static>> {
    let instant = zone.to_instant(integer(&values[1..])).map(Value::Integer);
    instant.ok_or_else(|| out_of_range(Kind::Instant))
}

fn to_local(zone: &Zone, values: &[Value<'_>]) -> Result<Value<'static>> {
    let local = zone.to_local(integer(&values[1..])).map(Value::Integer);
    local.ok_or_else(|| out_of_range(Kind::Timestamp))
}

fn text<'v>(values: &'v [Value<'_>], place: usize) -> &'v str {
    match values.get(place) {
        Some(Value::Text(text)) => text,
        _ => "",
    }
}

pub(super) fn zone_called(name: &str) -> Result<Zone> {
    let unknown = || error("22023", format!("time zone \"{name}\" not recognized"));
    Zone::named(name).ok_or_else(unknown)
}

fn named_zone(values: &[Value<'_>]) -> Result<Zone> {
    zone_called(text(values, 0))
}

fn interval_zone(values: &[Value<'_>]) -> Result<Zone> {
    let east = interval(values, 0);
    let seconds = i32::try_from(east.micros / SECOND).ok();
    match seconds.filter(|_| east.months == 0 && east.days == 0) {
        Some(seconds) => Ok(Zone::east(seconds)),
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
    let kind = match Kind::of(moment) {
        Some(Kind::Interval) => Some(Kind::Interval),
        _ => point(moment),
    };
    let (kind, run): (Kind, Run) = match (kind, types.len()) {
        (Some(Kind::Interval), 2) => (Kind::Interval, truncate_interval as Run),
        (Some(Kind::Timestamp), 2) => (Kind::Timestamp, truncate_timestamp as Run),
        (Some(Kind::Instant), 2) => (Kind::Instant, truncate_instant as Run),
        (Some(Kind::Timestamp | Kind::Instant), 3) => (Kind::Instant, truncate_in_zone as Run),
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

fn truncate_interval(values: &[Value<'_>], _: &Context) -> Result<Value<'static>> {
    let field = unit(values, Kind::Interval)?;
    match temporal::truncate_interval(field, interval(values, 1)) {
        Some(cut) => Ok(Value::Interval(cut)),
        None => Err(not_supported(values, Kind::Interval)),
    }
}

fn truncate_timestamp(values: &[Value<'_>], _: &Context) -> Result<Value<'static>> {
    let field = unit(values, Kind::Timestamp)?;
    let cut = temporal::truncate(field, integer(&values[1..]));
    truncated(cut, values, Kind::Timestamp)
}

fn truncate_instant(values: &[Value<'_>], context: &Context) -> Result<Value<'static>> {
    truncate_in(values, &context.zone)
}

fn truncate_in_zone(values: &[Value<'_>], _: &Context) -> Result<Value<'static>> {
    truncate_in(values, &zone_called(text(values, 2))?)
}

fn truncate_in(values: &[Value<'_>], zone: &Zone) -> Result<Value<'static>> {
    let field = unit(values, Kind::Instant)?;
    let cut = temporal::truncate_instant(field, integer(&values[1..]), zone);
    truncated(cut, values, Kind::Instant)
}

fn truncated(cut: Option<Option<i64>>, values: &[Value<'_>], kind: Kind) -> Result<Value<'static>> {
    match cut {
        Some(Some(cut)) => Ok(Value::Integer(cut)),
        Some(None) => Err(out_of_range(kind)),
        None => Err(not_supported(values, kind)),
    }
}

fn unit(values: &[Value<'_>], kind: Kind) -> Result<Field> {
    let name = text(values, 0);
    Field::named(name).ok_or_else(|| {
        let kind = kind.sql_name();
        error(
            "22023",
            format!("unit \"{name}\" not recognized for type {kind}"),
        )
    })
}

fn not_supported(values: &[Value<'_>], kind: Kind) -> datafusion::common::DataFusionError {
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
        (Some(Kind::Timestamp), Some(_)) => Kind::Timestamp,
        (Some(_), Some(_)) => Kind::Instant,
        _ => return wrong_arguments("date_bin", types),
    };
    let mut arguments = vec![Kind::Interval.data_type()];
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
            let micros = micros.ok_or_else(|| out_of_range(Kind::Interval))?;
            if micros <= 0 {
                return Err(error("22008", "stride must be greater than zero"));
            }
            let origin = values.get(2).map_or(0, |_| integer(&values[2..]));
            let cut = temporal::bin(micros, integer(&values[1..]), origin);
            let cut = cut.map(Value::Integer);
            cut.ok_or_else(|| out_of_range(Kind::Timestamp))
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
            result: Kind::Instant.data_type(),
            run: instant_of_seconds,
        }),
        _ => wrong_arguments("to_timestamp", types),
    }
}

fn instant_of_seconds(values: &[Value<'_>], _: &Context) -> Result<Value<'static>> {
    let seconds = match values {
        [Value::Double(seconds)] => *seconds,
        _ => 0.0,
    };
    if seconds.is_nan() {
        return Err(error("22008", "timestamp cannot be NaN"));
    }
    let micros = (seconds * SECOND as f64).round_ties_even();
    // The bounds are 2^63 and exact in a double.
    let limit = -(i64::MIN as f64);
    if micros >= -limit && micros < limit {
        Ok(Value::Integer(micros as i64))
    } else {
        Err(error(
            "22008",
            format!("timestamp out of range: \"{seconds:e}\""),
        ))
    }
}
