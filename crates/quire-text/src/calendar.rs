//! Text to dates and timestamps: ISO 8601 as PostgreSQL reads it.
//!
//! Dates are `YYYY-MM-DD` in the proleptic Gregorian calendar; ` BC` follows the years before the
//! first. A time follows after a blank or `T`: `HH:MM[:SS[.fraction]]`, where digits beyond the
//! sixth are rounded; a zone may end it: `±HH[[:]MM[[:]SS]]`, a name or an abbreviation.

use std::ops::RangeInclusive;

pub use crate::gregorian::{civil_from_days, days_from_civil, month_days};
use crate::number_in::NumberInError;
use crate::zone::TimeZoneRules;

const DAY_MICROSECONDS: i64 = 86_400_000_000;
const LAST_YEAR: i64 = 294_276;

/// Days since 1970-01-01 that are dates: from 4714-11-24 BC, the first day of the Julian calendar's count, to 5874897-12-31.
pub const DATES: RangeInclusive<i32> = -2_440_588..=2_145_042_905;
/// The first moment of the first of them, in microseconds.
pub const FIRST_MOMENT: i64 = -2_440_588 * DAY_MICROSECONDS;

/// Days that are a date.
fn in_range(days: i64) -> Result<i32, NumberInError> {
    let days = i32::try_from(days).ok().filter(|days| DATES.contains(days));
    days.ok_or(NumberInError::OutOfRange)
}

/// Days since 1970-01-01.
#[inline]
pub fn parse_date(text: &[u8]) -> Result<i32, NumberInError> {
    if let Some(date) = text.as_array::<10>() {
        let [y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1] = *date else {
            return parse_date_any(text);
        };
        let digits = [y0, y1, y2, y3, m0, m1, d0, d1].map(|b| u32::from(b.wrapping_sub(b'0')));
        if digits.iter().any(|&d| d > 9) {
            return parse_date_any(text);
        }
        let year = digits[0] * 1000 + digits[1] * 100 + digits[2] * 10 + digits[3];
        return common_date(year, digits[4] * 10 + digits[5], digits[6] * 10 + digits[7]);
    }
    parse_date_any(text)
}

/// Days of a date in the years 1 to 9999: [`days_from_civil`] without negative numbers.
#[inline]
fn common_date(year: u32, month: u32, day: u32) -> Result<i32, NumberInError> {
    if !(1..=12).contains(&month)
        || day == 0
        || year == 0
        || (day > 28 && day > month_days(i64::from(year), month))
    {
        return Err(NumberInError::OutOfRange);
    }
    let (year, month_from_march) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let days_before_year = 365 * year + year / 4 - year / 100 + year / 400;
    let days = days_before_year + (153 * month_from_march + 2) / 5 + day - 1;
    Ok(days as i32 - 719_468)
}

#[cold]
fn civil(year: i64, month: u32, day: u32) -> Result<i32, NumberInError> {
    if !(1..=12).contains(&month) || day == 0 || (day > 28 && day > month_days(year, month)) {
        return Err(NumberInError::OutOfRange);
    }
    if year == 0 {
        return Err(NumberInError::OutOfRange);
    }
    in_range(days_from_civil(year, month, day))
}

#[cold]
fn parse_date_any(text: &[u8]) -> Result<i32, NumberInError> {
    let mut scanner = CalendarScanner {
        rest: text.trim_ascii(),
    };
    let date = scanner.date()?;
    if !scanner.is_at_era() {
        // A time of day and a zone are read, and count for nothing.
        if scanner.begins_time() {
            scanner.skip(1);
            scanner.time_of_day()?;
        }
        scanner.zone()?;
    }
    let before_christ = scanner.era();
    if !scanner.rest.is_empty() {
        return Err(NumberInError::Invalid);
    }
    date.days(before_christ)
}

/// Microseconds since 1970-01-01 00:00. With a zone it is an instant: the clock is that of the text's zone, or of this one if it
/// names none. Without, a zone is read and ignored, as PostgreSQL does for a value without time zone.
#[inline]
pub fn parse_timestamp(text: &[u8], zone: Option<&TimeZoneRules>) -> Result<i64, NumberInError> {
    if let Some(simple) = text.as_array::<19>() {
        let [date @ .., b' ' | b'T', h0, h1, b':', m0, m1, b':', s0, s1] = simple else {
            return parse_timestamp_any(text, zone);
        };
        let digits = [h0, h1, m0, m1, s0, s1].map(|b| u32::from(b.wrapping_sub(b'0')));
        let (hour, minute) = (digits[0] * 10 + digits[1], digits[2] * 10 + digits[3]);
        let second = digits[4] * 10 + digits[5];
        if digits.iter().any(|&d| d > 9) || hour > 23 || minute > 59 || second > 59 {
            return parse_timestamp_any(text, zone);
        }
        let seconds = i64::from(hour * 3600 + minute * 60 + second);
        let local = i64::from(parse_date(date)?) * DAY_MICROSECONDS + seconds * 1_000_000;
        return match zone {
            None => Ok(local),
            Some(zone) => zone.to_instant(local).ok_or(NumberInError::OutOfRange),
        };
    }
    parse_timestamp_any(text, zone)
}

#[cold]
fn parse_timestamp_any(text: &[u8], zone: Option<&TimeZoneRules>) -> Result<i64, NumberInError> {
    let mut scanner = CalendarScanner {
        rest: text.trim_ascii(),
    };
    let date = scanner.date()?;
    let mut microseconds = 0;
    let mut own_zone = None;
    if scanner.begins_time() {
        scanner.skip(1);
        microseconds = scanner.time_of_day()?;
    }
    if !scanner.is_at_era() {
        own_zone = scanner.zone()?;
    }
    let before_christ = scanner.era();
    if !scanner.rest.is_empty() {
        return Err(NumberInError::Invalid);
    }
    if date.year > LAST_YEAR {
        return Err(NumberInError::OutOfRange);
    }
    let days = i64::from(date.days(before_christ)?);
    let local = days
        .checked_mul(DAY_MICROSECONDS)
        .and_then(|d| d.checked_add(microseconds));
    let local = local.ok_or(NumberInError::OutOfRange)?;
    match (zone, own_zone) {
        (None, _) => Ok(local),
        (Some(_), Some(OwnZone::Offset(seconds))) => local
            .checked_sub(seconds * 1_000_000)
            .ok_or(NumberInError::OutOfRange),
        (Some(_), Some(OwnZone::Named(own))) => {
            own.to_instant(local).ok_or(NumberInError::OutOfRange)
        }
        (Some(zone), None) => zone.to_instant(local).ok_or(NumberInError::OutOfRange),
    }
}

/// Microseconds since midnight. A date before it and a zone behind it are read and ignored.
pub fn parse_time(text: &[u8]) -> Result<i64, NumberInError> {
    let mut scanner = CalendarScanner {
        rest: text.trim_ascii(),
    };
    let before = scanner.rest;
    if scanner.date().is_ok() {
        if !scanner.begins_time() {
            return Err(NumberInError::Invalid);
        }
        scanner.skip(1);
    } else {
        scanner.rest = before;
    }
    let time = scanner.time_of_day()?;
    scanner.zone()?;
    if scanner.rest.is_empty() {
        Ok(time)
    } else {
        Err(NumberInError::Invalid)
    }
}

/// The zone that a text names.
enum OwnZone {
    /// Seconds east of Greenwich.
    Offset(i64),
    Named(TimeZoneRules),
}

struct CivilDate {
    year: i64,
    month: u32,
    day: u32,
}

impl CivilDate {
    fn days(&self, before_christ: bool) -> Result<i32, NumberInError> {
        if self.year == 0 {
            return Err(NumberInError::OutOfRange);
        }
        if !before_christ {
            return civil(self.year, self.month, self.day);
        }
        // 1 BC is year 0 of the calendar's arithmetic, and a leap year.
        let year = 1 - self.year;
        if !(1..=12).contains(&self.month)
            || self.day == 0
            || self.day > month_days(year, self.month)
        {
            return Err(NumberInError::OutOfRange);
        }
        in_range(days_from_civil(year, self.month, self.day))
    }
}

struct CalendarScanner<'a> {
    rest: &'a [u8],
}

impl<'a> CalendarScanner<'a> {
    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes.min(self.rest.len())..];
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.rest.first() == Some(&byte);
        self.skip(usize::from(found));
        found
    }

    fn number(&mut self, digits_min: usize, digits_max: usize) -> Result<i64, NumberInError> {
        let digits = self.rest.iter().take_while(|b| b.is_ascii_digit()).count();
        if digits < digits_min || digits > digits_max {
            return Err(NumberInError::Invalid);
        }
        let value = self.rest[..digits]
            .iter()
            .fold(0, |v, &b| v * 10 + i64::from(b - b'0'));
        self.skip(digits);
        Ok(value)
    }

    fn date(&mut self) -> Result<CivilDate, NumberInError> {
        let year = self.number(4, 7)?;
        let dash = self.take(b'-');
        let month = self.number(1, 2)? as u32;
        if !dash || !self.take(b'-') {
            return Err(NumberInError::Invalid);
        }
        let day = self.number(1, 2)? as u32;
        // A fourth number behind a dash is no zone.
        if self.rest.first() == Some(&b'-') {
            return Err(NumberInError::Invalid);
        }
        Ok(CivilDate { year, month, day })
    }

    fn era(&mut self) -> bool {
        let before_christ = self.rest.trim_ascii_start().eq_ignore_ascii_case(b"BC");
        if self.is_at_era() {
            self.rest = &[];
        }
        before_christ
    }

    fn time_of_day(&mut self) -> Result<i64, NumberInError> {
        let hour = self.number(1, 2)?;
        if !self.take(b':') {
            return Err(NumberInError::Invalid);
        }
        let minute = self.number(2, 2)?;
        let mut second = 0;
        let mut fraction = 0;
        if self.take(b':') {
            second = self.number(2, 2)?;
            if self.take(b'.') {
                fraction = self.fraction()?;
            }
        }
        let total = ((hour * 60 + minute) * 60 + second) * 1_000_000 + fraction;
        // 24:00 and second 60 are the first moment of what follows.
        if hour > 24 || minute > 59 || second > 60 || total > DAY_MICROSECONDS {
            return Err(NumberInError::OutOfRange);
        }
        Ok(total)
    }

    /// Microseconds of the digits after the point, rounded to the nearest.
    fn fraction(&mut self) -> Result<i64, NumberInError> {
        let digits = self.rest.iter().take_while(|b| b.is_ascii_digit()).count();
        let value = (0..6).fold(0, |value, position| {
            let digit = self.rest[..digits]
                .get(position)
                .map_or(0, |b| i64::from(b - b'0'));
            value * 10 + digit
        });
        let rounds_up = self.rest[..digits].get(6).is_some_and(|&b| b >= b'5');
        self.skip(digits);
        Ok(value + i64::from(rounds_up))
    }

    /// Whether a time of day follows.
    fn begins_time(&self) -> bool {
        match self.rest {
            [b' ', rest @ ..] => rest.first().is_some_and(u8::is_ascii_digit),
            [b'T' | b't', ..] => true,
            _ => false,
        }
    }

    fn is_at_era(&self) -> bool {
        let text = self.rest.trim_ascii_start();
        text.eq_ignore_ascii_case(b"BC") || text.eq_ignore_ascii_case(b"AD")
    }

    /// A zone, if there is one.
    fn zone(&mut self) -> Result<Option<OwnZone>, NumberInError> {
        let text = self.rest.trim_ascii_start();
        match text.first() {
            Some(b'+' | b'-') => Ok(Some(OwnZone::Offset(self.offset(text)?))),
            Some(letter) if letter.is_ascii_alphabetic() => self.named_zone(text).map(Some),
            _ => Ok(None),
        }
    }

    fn named_zone(&mut self, text: &'a [u8]) -> Result<OwnZone, NumberInError> {
        let is_part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'/' | b'_' | b'-' | b'+');
        let end = text.iter().take_while(|b| is_part(b)).count();
        let (name, rest) = text.split_at(end);
        self.rest = rest;
        if name.eq_ignore_ascii_case(b"Z") {
            return Ok(OwnZone::Offset(0));
        }
        let name = std::str::from_utf8(name).map_err(|_| NumberInError::Invalid)?;
        let zone = TimeZoneRules::of_time(name).ok_or(NumberInError::Invalid)?;
        Ok(OwnZone::Named(zone))
    }

    /// Seconds east of Greenwich, written as `±HH[[:]MM[[:]SS]]`.
    fn offset(&mut self, text: &'a [u8]) -> Result<i64, NumberInError> {
        let sign = text.first();
        self.rest = &text[1..];
        let digits = self.rest.iter().take_while(|b| b.is_ascii_digit()).count();
        let (hour, minute) = if digits > 2 {
            let packed = self.number(3, 4)?;
            (packed / 100, packed % 100)
        } else {
            let hour = self.number(1, 2)?;
            (
                hour,
                if self.take(b':') {
                    self.number(2, 2)?
                } else {
                    0
                },
            )
        };
        let second = if self.take(b':') {
            self.number(2, 2)?
        } else {
            0
        };
        if hour > 15 || minute > 59 || second > 59 {
            return Err(NumberInError::OutOfRange);
        }
        let seconds = hour * 3600 + minute * 60 + second;
        Ok(if sign == Some(&b'-') {
            -seconds
        } else {
            seconds
        })
    }
}
