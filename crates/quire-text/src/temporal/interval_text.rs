//! Text to intervals, in the forms that PostgreSQL reads: `1 year 2 mons -3 days 04:05:06.7 ago`, `1-2 3 4:05`, `P1Y2M3DT4H5M6S`.

use super::NumberInError;
use super::interval::{Interval, Unit, in_i64};
use super::interval_fields::IntervalFields;
use crate::zone::{DAY, SECOND};

/// The interval that a text names.
pub fn parse_interval(text: &str) -> Result<Interval, NumberInError> {
    parse_interval_in(text, IntervalFields::default())
}

/// The same where the type says which fields are meant: a number without a unit is of the last one.
pub fn parse_interval_in(text: &str, fields: IntervalFields) -> Result<Interval, NumberInError> {
    let text = text.trim();
    let mut sum = Sum {
        fields,
        ..Sum::default()
    };
    match text.strip_prefix(['P', 'p']) {
        Some(iso) => iso_8601(iso, &mut sum)?,
        None => traditional(text, &mut sum)?,
    }
    sum.interval()
}

/// What the parts of a text add up to.
#[derive(Default)]
struct Sum {
    months: i128,
    days: i128,
    micros: i128,
    fields: IntervalFields,
    /// The units that have been named, each a bit.
    seen: u32,
}

impl Sum {
    /// Notes units that a text may name once.
    fn see(&mut self, units: u32) -> Result<(), NumberInError> {
        if self.seen & units != 0 {
            return Err(NumberInError::Invalid);
        }
        self.seen |= units;
        Ok(())
    }

    fn interval(&self) -> Result<Interval, NumberInError> {
        let micros = i64::try_from(self.micros).map_err(|_| NumberInError::OutOfRange)?;
        Ok(Interval {
            months: i32::try_from(self.months).map_err(|_| NumberInError::OutOfRange)?,
            days: i32::try_from(self.days).map_err(|_| NumberInError::OutOfRange)?,
            micros,
        })
    }

    /// Adds so much of a unit. Fractions of months become days, those of days become time.
    fn add(&mut self, number: &IntervalNumber, unit: Unit) -> Result<(), NumberInError> {
        match unit {
            Unit::Months(count) => {
                self.months += number.whole * count;
                let months = number.fraction * count as f64;
                // Fractions of years and longer are rounded to months.
                if count > 1 {
                    self.months += months.round_ties_even() as i128;
                } else {
                    self.add_days(months * 30.0)?;
                }
            }
            Unit::Days(count) => {
                self.days += number.whole * count;
                self.add_days(number.fraction * count as f64)?;
            }
            Unit::Micros(count) => {
                self.micros += number.whole * count;
                let micros = (number.fraction * count as f64).round_ties_even();
                self.micros += i128::from(in_i64(micros).ok_or(NumberInError::OutOfRange)?);
            }
        }
        Ok(())
    }

    fn add_days(&mut self, days: f64) -> Result<(), NumberInError> {
        let micros = ((days - days.trunc()) * DAY as f64).round_ties_even();
        self.days += i128::from(in_i64(days.trunc()).ok_or(NumberInError::OutOfRange)?);
        self.micros += i128::from(in_i64(micros).ok_or(NumberInError::OutOfRange)?);
        Ok(())
    }

    fn negate(&mut self) {
        self.months = -self.months;
        self.days = -self.days;
        self.micros = -self.micros;
    }
}

/// Bits of [`Sum::seen`]. A number of seconds with a fraction has milliseconds and microseconds, too.
const TIME: u32 = 0b1_1111;
const SECONDS: u32 = 0b111;
const YEARS: u32 = 1 << 8;
const MONTHS: u32 = 1 << 9;

fn bits_of(unit: Unit, number: &IntervalNumber) -> u32 {
    const SECOND_MICROS: i128 = SECOND as i128;
    match unit {
        Unit::Micros(1) => 1,
        Unit::Micros(1_000) => 1 << 1,
        Unit::Micros(SECOND_MICROS) if number.fraction != 0.0 => SECONDS,
        Unit::Micros(SECOND_MICROS) => 1 << 2,
        Unit::Micros(count) if count == 60 * SECOND_MICROS => 1 << 3,
        Unit::Micros(_) => 1 << 4,
        Unit::Days(1) => 1 << 5,
        Unit::Days(_) => 1 << 6,
        Unit::Months(1) => MONTHS,
        Unit::Months(3) => 1 << 7,
        Unit::Months(12) => YEARS,
        Unit::Months(120) => 1 << 10,
        Unit::Months(1_200) => 1 << 11,
        Unit::Months(_) => 1 << 12,
    }
}

fn unit_of(word: &str) -> Option<Unit> {
    let second = i128::from(SECOND);
    Some(match word.to_lowercase().as_str() {
        "us" | "usec" | "usecs" | "microsecond" | "microseconds" | "usecond" | "useconds"
        | "microsecon" => Unit::Micros(1),
        "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" | "msecond" | "mseconds"
        | "millisecon" => Unit::Micros(1_000),
        "s" | "sec" | "secs" | "second" | "seconds" => Unit::Micros(second),
        "m" | "min" | "mins" | "minute" | "minutes" => Unit::Micros(60 * second),
        "h" | "hr" | "hrs" | "hour" | "hours" => Unit::Micros(3_600 * second),
        "d" | "day" | "days" => Unit::Days(1),
        "w" | "week" | "weeks" => Unit::Days(7),
        "mon" | "mons" | "month" | "months" => Unit::Months(1),
        "qtr" | "quarter" | "quarters" => Unit::Months(3),
        "y" | "yr" | "yrs" | "year" | "years" => Unit::Months(12),
        "dec" | "decs" | "decade" | "decades" => Unit::Months(120),
        "c" | "cent" | "century" | "centuries" => Unit::Months(1_200),
        "mil" | "mils" | "millennium" | "millennia" => Unit::Months(12_000),
        _ => return None,
    })
}

/// A decimal number, its fraction with its sign.
struct IntervalNumber {
    whole: i128,
    fraction: f64,
    is_negative: bool,
}

/// Takes a number off the front of a text.
fn number<'t>(text: &mut &'t str) -> Result<IntervalNumber, NumberInError> {
    let given: &'t str = text;
    let is_negative = given.starts_with('-');
    let rest = given.strip_prefix(['+', '-']).unwrap_or(given);
    let end = |text: &str| {
        text.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len())
    };
    let (digits, mut rest) = rest.split_at(end(rest));
    let mut decimals = "";
    if let Some(behind) = rest.strip_prefix('.') {
        (decimals, rest) = behind.split_at(end(behind));
    }
    if digits.is_empty() && decimals.is_empty() {
        return Err(NumberInError::Invalid);
    }
    *text = rest;
    // Ten digits are more than any part of an interval has, but for microseconds.
    let whole: i64 = match digits {
        "" => 0,
        digits => digits.parse().map_err(|_| NumberInError::OutOfRange)?,
    };
    let fraction = format!("0.{decimals}0").parse().unwrap_or(0.0);
    let sign = if is_negative { -1 } else { 1 };
    Ok(IntervalNumber {
        whole: i128::from(sign * whole),
        fraction: sign as f64 * fraction,
        is_negative,
    })
}

/// A sequence of numbers with units, times of day, and years with months.
fn traditional(text: &str, sum: &mut Sum) -> Result<(), NumberInError> {
    let mut rest = text.trim_start_matches('@').trim_start();
    if rest.is_empty() {
        return Err(NumberInError::Invalid);
    }
    // In the SQL form `-1-2 3 4:05` the first sign is that of all; it is read as PostgreSQL's own form, where it is not.
    let mut is_over = false;
    while !rest.is_empty() {
        if is_over {
            return Err(NumberInError::Invalid);
        }
        if rest.eq_ignore_ascii_case("ago") && rest.len() < text.len() {
            sum.negate();
            is_over = true;
            rest = "";
            continue;
        }
        let value = number(&mut rest)?;
        if rest.starts_with(':') {
            add_time(&value, &mut rest, sum)?;
        } else if let Some(behind) = rest.strip_prefix('-')
            && behind.starts_with(|c: char| c.is_ascii_digit())
        {
            rest = behind;
            add_years_and_months(&value, &mut rest, sum)?;
        } else {
            add_with_unit(&value, &mut rest, sum)?;
        }
        rest = rest.trim_start();
    }
    Ok(())
}

/// The unit behind a number. Without one a number is days before a time of day, and otherwise seconds.
fn add_with_unit(
    value: &IntervalNumber,
    rest: &mut &str,
    sum: &mut Sum,
) -> Result<(), NumberInError> {
    let behind = rest.trim_start();
    let end = behind
        .find(|c: char| !c.is_ascii_alphabetic())
        .unwrap_or(behind.len());
    let (word, after) = behind.split_at(end);
    if word.is_empty() {
        let next = behind.split_whitespace().next();
        let is_day = next.is_some_and(|next| next.contains(':'));
        if !behind.is_empty() && !is_day {
            return Err(NumberInError::Invalid);
        }
        let unit = if is_day {
            Unit::Days(1)
        } else {
            sum.fields.last_unit()
        };
        sum.see(bits_of(unit, value))?;
        return sum.add(value, unit);
    }
    if word.eq_ignore_ascii_case("ago") {
        return sum.add(value, sum.fields.last_unit());
    }
    *rest = after;
    let unit = unit_of(word).ok_or(NumberInError::Invalid)?;
    sum.see(bits_of(unit, value))?;
    sum.add(value, unit)
}

/// `2:30`, `2:30:15.5` behind its first number.
fn add_time(hours: &IntervalNumber, rest: &mut &str, sum: &mut Sum) -> Result<(), NumberInError> {
    let mut parts = [0_i128; 2];
    let mut fraction = 0.0;
    let mut count = 0;
    while let Some(behind) = rest.strip_prefix(':') {
        *rest = behind;
        if count == 2 || !behind.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(NumberInError::Invalid);
        }
        let value = number(rest)?;
        parts[count] = value.whole;
        fraction = value.fraction;
        count += 1;
    }
    if !rest.is_empty() && !rest.starts_with(' ') {
        return Err(NumberInError::Invalid);
    }
    sum.see(TIME)?;
    let [mut minutes, mut seconds] = parts;
    let mut hours_whole = hours.whole.abs();
    if count == 1 && (fraction != 0.0 || sum.fields.are_minutes_and_seconds()) {
        // `1:30.5` is minutes and seconds.
        (hours_whole, minutes, seconds) = (0, hours_whole, minutes);
    }
    if minutes > 59 || seconds > 60 {
        return Err(NumberInError::OutOfRange);
    }
    let whole = (hours_whole * 3_600 + minutes * 60 + seconds) * i128::from(SECOND);
    let micros = whole + (fraction * SECOND as f64).round_ties_even() as i128;
    sum.micros += if hours.is_negative { -micros } else { micros };
    Ok(())
}

/// `1-2`: years and months.
fn add_years_and_months(
    years: &IntervalNumber,
    rest: &mut &str,
    sum: &mut Sum,
) -> Result<(), NumberInError> {
    let months = number(rest)?;
    if months.whole > 11 || months.fraction != 0.0 {
        return Err(NumberInError::OutOfRange);
    }
    sum.see(YEARS | MONTHS)?;
    let total = years.whole.abs() * 12 + months.whole;
    sum.months += if years.is_negative { -total } else { total };
    Ok(())
}

/// What is behind the `P`: designators, or `0001-02-03T04:05:06`.
fn iso_8601(text: &str, sum: &mut Sum) -> Result<(), NumberInError> {
    if text.is_empty() {
        return Err(NumberInError::Invalid);
    }
    let (date, time) = match text.split_once(['T', 't']) {
        Some((date, time)) if !time.is_empty() => (date, time),
        Some(_) => return Err(NumberInError::Invalid),
        None => (text, ""),
    };
    let is_alternative = |text: &str| !text.contains(|c: char| c.is_ascii_alphabetic());
    if (date.contains('-') && is_alternative(date)) || time.contains(':') {
        return iso_alternative(date, time, sum);
    }
    let date_unit = |letter| match letter {
        'Y' => Some(Unit::Months(12)),
        'M' => Some(Unit::Months(1)),
        'W' => Some(Unit::Days(7)),
        'D' => Some(Unit::Days(1)),
        _ => None,
    };
    let time_unit = |letter| match letter {
        'H' => Some(Unit::Micros(3_600 * i128::from(SECOND))),
        'M' => Some(Unit::Micros(60 * i128::from(SECOND))),
        'S' => Some(Unit::Micros(i128::from(SECOND))),
        _ => None,
    };
    add_designated(date, &date_unit, sum)?;
    add_designated(time, &time_unit, sum)
}

fn add_designated(
    text: &str,
    unit_of: &dyn Fn(char) -> Option<Unit>,
    sum: &mut Sum,
) -> Result<(), NumberInError> {
    let mut rest = text;
    while !rest.is_empty() {
        let value = number(&mut rest)?;
        let letter = rest.chars().next().ok_or(NumberInError::Invalid)?;
        let unit = unit_of(letter.to_ascii_uppercase()).ok_or(NumberInError::Invalid)?;
        rest = &rest[1..];
        sum.add(&value, unit)?;
    }
    Ok(())
}

fn iso_alternative(date: &str, time: &str, sum: &mut Sum) -> Result<(), NumberInError> {
    let mut rest = date;
    for unit in [Unit::Months(12), Unit::Months(1), Unit::Days(1)] {
        if rest.is_empty() {
            break;
        }
        sum.add(&number(&mut rest)?, unit)?;
        rest = rest.strip_prefix('-').unwrap_or(rest);
    }
    if !rest.is_empty() {
        return Err(NumberInError::Invalid);
    }
    if time.is_empty() {
        return Ok(());
    }
    let mut rest = time;
    let hours = number(&mut rest)?;
    add_time(&hours, &mut rest, sum)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::temporal::write_interval;

    fn shown(text: &str) -> String {
        let interval = parse_interval(text).unwrap();
        let mut out = String::new();
        let nanoseconds = i128::from(interval.micros) * 1_000;
        write_interval(
            interval.months.into(),
            interval.days.into(),
            nanoseconds,
            &mut out,
        );
        out
    }

    // Values are PostgreSQL 15's.
    #[test]
    fn all_forms_are_read() {
        for (text, expected) in [
            (
                "1.5 weeks 1.7 months -2 days 03:04:05.678",
                "1 mon 29 days 15:04:05.678",
            ),
            ("1-2 3 4:05:06", "1 year 2 mons 3 days 04:05:06"),
            ("P1Y2M3DT4H5M6.7S", "1 year 2 mons 3 days 04:05:06.7"),
            ("P0001-02-03T04:05:06", "1 year 2 mons 3 days 04:05:06"),
            ("1 day ago", "-1 days"),
            ("-1 day 02:03", "-1 days +02:03:00"),
            ("1h30m", "01:30:00"),
            ("1h0m0s", "01:00:00"),
            ("@ 1 minute", "00:01:00"),
            ("10", "00:00:10"),
            (
                "1 y 2 mon 3 w 4 d 5 h 6 m 7 s 8 ms 9 us",
                "1 year 2 mons 25 days 05:06:07.008009",
            ),
            ("1 dec 1 c 1 mil", "1110 years"),
            ("1:30", "01:30:00"),
            ("1:2:3.4567891", "01:02:03.456789"),
            ("-1:30", "-01:30:00"),
            ("1 day -1:30", "1 day -01:30:00"),
            ("1 mon -3 days", "1 mon -3 days"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for wrong in [
            "", "abc", "1 foo", "1 day x", "P", "PT", "P1", "1 2", "ago", "1:2:3:4",
        ] {
            assert_eq!(
                parse_interval(wrong),
                Err(NumberInError::Invalid),
                "{wrong}"
            );
        }
        for large in ["3000000000 months", "99999999999999999999 days", "1:60"] {
            assert_eq!(
                parse_interval(large),
                Err(NumberInError::OutOfRange),
                "{large}"
            );
        }
    }
}
