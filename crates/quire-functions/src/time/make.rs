//! Dates, times and intervals out of numbers: `make_date`, `make_time`, `make_timestamp`, `make_timestamptz`, `make_interval`; and
//! intervals cut to the fields of their type.

use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use quire_text::calendar::{days_from_civil, month_days};
use quire_text::temporal::{
    DAY, DIGITS_MAX, Interval, IntervalFields, SECOND, TimeZoneRules, parse_interval_in,
};

use super::arithmetic::{in_range, interval};
use super::calendar::zone_called;
use super::call::{Overload, Run, TimeCallContext, TimeFunction};
use super::cast::{is_text, local_to_instant, text_type};
use super::value::{TimeKind, TimeValue};
use super::{error, invalid_text, out_of_range, wrong_arguments};

/// All of them.
pub(super) fn functions() -> Vec<TimeFunction> {
    vec![
        TimeFunction::new("make_date", |types, _| {
            let run: Run = |values, _| Ok(TimeValue::Integer(date(values)? / DAY));
            made("make_date", types, 3, TimeKind::Date, run)
        }),
        TimeFunction::new("make_time", |types, _| {
            let run: Run = |values, _| Ok(TimeValue::Integer(time(values, 0)?));
            made("make_time", types, 3, TimeKind::Time, run)
        }),
        TimeFunction::new("make_timestamp", |types, _| {
            let run: Run = |values, _| Ok(TimeValue::Integer(moment(values)?));
            made("make_timestamp", types, 6, TimeKind::Timestamp, run)
        }),
        TimeFunction::new("make_timestamptz", make_instant),
        TimeFunction::new("make_interval", |types, _| {
            made("make_interval", types, 7, TimeKind::Interval, span)
        }),
        TimeFunction::new("interval_in_fields", in_fields),
    ]
}

/// A function of so many numbers, which are integers but for seconds, the last one.
fn made(
    name: &str,
    types: &[DataType],
    count: usize,
    kind: TimeKind,
    run: Run,
) -> Result<Overload> {
    let is_number = |data_type: &DataType| data_type.is_numeric() || data_type.is_null();
    if types.len() != count || !types.iter().all(is_number) {
        return wrong_arguments(name, types);
    }
    let mut arguments = vec![DataType::Int64; count];
    if kind != TimeKind::Date {
        arguments[count - 1] = DataType::Float64;
    }
    Ok(Overload {
        arguments,
        result: kind.data_type(),
        run,
    })
}

fn make_instant(types: &[DataType], _: &[Option<&ScalarValue>]) -> Result<Overload> {
    let (numbers, zone) = match types {
        [numbers @ .., zone] if types.len() == 7 && (is_text(zone) || zone.is_null()) => {
            (numbers, Some(zone))
        }
        numbers => (numbers, None),
    };
    let run: Run = |values, context| {
        let local = moment(values)?;
        let instant = match values.get(6) {
            Some(TimeValue::Text(name)) => zone_of(name)?.to_instant(local),
            _ => Some(local_to_instant(local, context)?),
        };
        let instant = instant.map(TimeValue::Integer);
        instant.ok_or_else(|| out_of_range(TimeKind::Instant))
    };
    let mut overload = made("make_timestamptz", numbers, 6, TimeKind::Instant, run)?;
    overload.arguments.extend(zone.map(text_type));
    Ok(overload)
}

/// A zone by its name, or hours and minutes east of Greenwich with a sign.
fn zone_of(name: &str) -> Result<TimeZoneRules> {
    let Some(east) = name.strip_prefix(['+', '-']) else {
        let is_number = name.starts_with(|letter: char| letter.is_ascii_digit());
        return if is_number {
            Err(error(
                "22023",
                format!("invalid input syntax for type numeric time zone: \"{name}\""),
            ))
        } else {
            zone_called(name)
        };
    };
    let (hours, minutes) = east.split_once(':').unwrap_or((east, "0"));
    let (Ok(hours), Ok(minutes)) = (hours.parse::<i32>(), minutes.parse::<i32>()) else {
        return zone_called(name);
    };
    if hours > 15 || minutes > 59 {
        let text = format!("numeric time zone \"{name}\" out of range");
        return Err(error("22023", text));
    }
    let seconds = hours * 3_600 + minutes * 60;
    Ok(TimeZoneRules::east(if name.starts_with('-') {
        -seconds
    } else {
        seconds
    }))
}

fn whole(values: &[TimeValue<'_>], place: usize) -> i64 {
    match values.get(place) {
        Some(TimeValue::Integer(value)) => *value,
        _ => 0,
    }
}

fn seconds(values: &[TimeValue<'_>], place: usize) -> f64 {
    match values.get(place) {
        Some(TimeValue::Double(value)) => *value,
        _ => 0.0,
    }
}

/// Midnight of a year, a month and a day. Years below 0 are those before Christ, of which 1 is the last.
fn date(values: &[TimeValue<'_>]) -> Result<i64> {
    let [year, month, day] = [0, 1, 2].map(|place| whole(values, place));
    let wrong = || {
        let text = format!("date field value out of range: {year}-{month:02}-{day:02}");
        error("22008", text)
    };
    let counted = if year < 0 { year + 1 } else { year };
    let month_of_year = u32::try_from(month).ok().filter(|m| (1..=12).contains(m));
    let is_year = year != 0 && (-4_713..=5_874_897).contains(&year);
    let month = month_of_year.filter(|_| is_year).ok_or_else(wrong)?;
    let last = i64::from(month_days(counted, month));
    let day = u32::try_from(day)
        .ok()
        .filter(|_| (1..=last).contains(&day));
    let days = days_from_civil(counted, month, day.ok_or_else(wrong)?);
    days.checked_mul(DAY).ok_or_else(wrong)
}

/// Microseconds of hours, minutes and seconds, which stand at `place` and behind it.
fn time(values: &[TimeValue<'_>], place: usize) -> Result<i64> {
    let (hour, minute) = (whole(values, place), whole(values, place + 1));
    let second = seconds(values, place + 2);
    let micros = (second * SECOND as f64).round_ties_even();
    let is_time = (0..=24).contains(&hour)
        && (0..60).contains(&minute)
        && (0.0..=60.0 * SECOND as f64).contains(&micros);
    let total = (hour * 3_600 + minute * 60) * SECOND + if is_time { micros as i64 } else { 0 };
    if is_time && total <= DAY {
        Ok(total)
    } else {
        Err(error(
            "22008",
            format!("time field value out of range: {hour}:{minute:02}:{second:02}"),
        ))
    }
}

fn moment(values: &[TimeValue<'_>]) -> Result<i64> {
    let moment = date(values)?.checked_add(time(values, 3)?);
    moment.ok_or_else(|| out_of_range(TimeKind::Timestamp))
}

/// Years, months, weeks, days, hours, minutes and seconds.
fn span(values: &[TimeValue<'_>], _: &TimeCallContext) -> Result<TimeValue<'static>> {
    let part = |place| i128::from(whole(values, place));
    let micros = (seconds(values, 6) * SECOND as f64).round_ties_even();
    let fits = micros.is_finite() && micros.abs() < 9e18;
    let clock = (part(4) * 3_600 + part(5) * 60) * i128::from(SECOND);
    let made = || {
        Some(Interval {
            months: i32::try_from(part(0) * 12 + part(1)).ok()?,
            days: i32::try_from(part(2) * 7 + part(3)).ok()?,
            micros: i64::try_from(clock + micros as i128)
                .ok()
                .filter(|_| fits)?,
        })
    };
    in_range(made())
}

/// `interval_in_fields(value, 'DAY TO MINUTE', digits)`: what a cast to such a type gives.
fn in_fields(types: &[DataType], _: &[Option<&ScalarValue>]) -> Result<Overload> {
    let [value, fields, _] = types else {
        return wrong_arguments("interval", types);
    };
    let (from, run): (DataType, Run) = match TimeKind::of(value) {
        Some(TimeKind::Interval | TimeKind::Time) => {
            (TimeKind::Interval.data_type(), |values, _| {
                cut(interval(values, 0), values)
            })
        }
        None if is_text(value) || value.is_null() => (text_type(value), |values, _| {
            let written = match values.first() {
                Some(TimeValue::Text(text)) => *text,
                _ => "",
            };
            let read = parse_interval_in(written, fields_of(values));
            let read = read.map_err(|reason| invalid_text(reason, TimeKind::Interval, written))?;
            cut(read, values)
        }),
        _ => return wrong_arguments("interval", types),
    };
    Ok(Overload {
        arguments: vec![from, text_type(fields), DataType::Int64],
        result: TimeKind::Interval.data_type(),
        run,
    })
}

fn fields_of(values: &[TimeValue<'_>]) -> IntervalFields {
    match values.get(1) {
        Some(TimeValue::Text(fields)) => IntervalFields::named(fields),
        _ => IntervalFields::default(),
    }
}

fn cut(interval: Interval, values: &[TimeValue<'_>]) -> Result<TimeValue<'static>> {
    let digits = u32::try_from(whole(values, 2)).unwrap_or(DIGITS_MAX);
    in_range(fields_of(values).cut(interval, digits))
}
