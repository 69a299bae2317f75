//! Intervals: months, days and microseconds, which are kept apart, and their arithmetic as PostgreSQL 15 does it.

use std::cmp::Ordering;

use super::civil::{Civil, month_days};
use crate::zone::{DAY, SECOND, TimeZoneRules};

pub(super) const MONTHS_PER_YEAR: i32 = 12;
const DAYS_PER_MONTH: i32 = 30;
const SECONDS_PER_DAY: f64 = 86_400.0;

/// A unit that texts name, as so many of what an interval keeps.
#[derive(Debug, Clone, Copy)]
pub(super) enum Unit {
    Months(i128),
    Days(i128),
    Micros(i128),
}

/// A span of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Interval {
    pub months: i32,
    pub days: i32,
    pub micros: i64,
}

impl Interval {
    /// A number of microseconds, as days and a time of less than a day.
    pub fn of_micros(micros: i64) -> Option<Self> {
        Some(Self {
            months: 0,
            days: i32::try_from(micros / DAY).ok()?,
            micros: micros % DAY,
        })
    }

    /// How long it is in microseconds when a month has 30 days and a day 24 hours: intervals are equal if their lengths are.
    pub fn length(self) -> i128 {
        let days = i128::from(self.months) * i128::from(DAYS_PER_MONTH) + i128::from(self.days);
        days * i128::from(DAY) + i128::from(self.micros)
    }

    pub fn compare(self, other: Self) -> Ordering {
        self.length().cmp(&other.length())
    }

    pub fn plus(self, other: Self) -> Option<Self> {
        Some(Self {
            months: self.months.checked_add(other.months)?,
            days: self.days.checked_add(other.days)?,
            micros: self.micros.checked_add(other.micros)?,
        })
    }

    pub fn negative(self) -> Option<Self> {
        Some(Self {
            months: self.months.checked_neg()?,
            days: self.days.checked_neg()?,
            micros: self.micros.checked_neg()?,
        })
    }

    pub fn minus(self, other: Self) -> Option<Self> {
        self.plus(other.negative()?)
    }

    pub fn times(self, factor: f64) -> Option<Self> {
        self.scaled(|part| part * factor)
    }

    /// The divisor is not 0.
    pub fn divided(self, divisor: f64) -> Option<Self> {
        self.scaled(|part| part / divisor)
    }

    /// Fractions of months become days, and those of days time.
    fn scaled(self, scale: impl Fn(f64) -> f64) -> Option<Self> {
        let (exact_months, exact_days) = (scale(self.months.into()), scale(self.days.into()));
        let (months, mut days) = (whole(exact_months)?, whole(exact_days)?);
        let more_days = rounded((exact_months - f64::from(months)) * f64::from(DAYS_PER_MONTH));
        let of_day = exact_days - f64::from(days) + more_days - more_days.trunc();
        let mut seconds = rounded(of_day * SECONDS_PER_DAY);
        if seconds.abs() >= SECONDS_PER_DAY {
            days = days.checked_add(whole(seconds / SECONDS_PER_DAY)?)?;
            seconds %= SECONDS_PER_DAY;
        }
        let micros = scale(self.micros as f64) + seconds * SECOND as f64;
        Some(Self {
            months,
            days: days.checked_add(whole(more_days)?)?,
            micros: in_i64(micros.round_ties_even())?,
        })
    }

    /// Whole days of the time become days.
    pub fn justify_hours(self) -> Option<Self> {
        let days = i32::try_from(self.micros / DAY).ok()?;
        let mut result = Self {
            days: self.days.checked_add(days)?,
            micros: self.micros % DAY,
            ..self
        };
        result.align_time();
        Some(result)
    }

    /// Every 30 days become a month.
    pub fn justify_days(self) -> Option<Self> {
        let mut result = Self {
            months: self.months.checked_add(self.days / DAYS_PER_MONTH)?,
            days: self.days % DAYS_PER_MONTH,
            ..self
        };
        if result.months > 0 && result.days < 0 {
            result.days += DAYS_PER_MONTH;
            result.months -= 1;
        } else if result.months < 0 && result.days > 0 {
            result.days -= DAYS_PER_MONTH;
            result.months += 1;
        }
        Some(result)
    }

    /// Both, all parts with one sign.
    pub fn justify(self) -> Option<Self> {
        let days = i64::from(self.days) + self.micros / DAY;
        let months = i64::from(self.months) + days / i64::from(DAYS_PER_MONTH);
        let mut result = Self {
            months: i32::try_from(months).ok()?,
            days: (days % i64::from(DAYS_PER_MONTH)) as i32,
            micros: self.micros % DAY,
        };
        let is_negative = result.days < 0 || (result.days == 0 && result.micros < 0);
        let is_positive = result.days > 0 || (result.days == 0 && result.micros > 0);
        if result.months > 0 && is_negative {
            result.days += DAYS_PER_MONTH;
            result.months -= 1;
        } else if result.months < 0 && is_positive {
            result.days -= DAYS_PER_MONTH;
            result.months += 1;
        }
        result.align_time();
        Some(result)
    }

    /// Gives the time the sign of the days.
    fn align_time(&mut self) {
        if self.days > 0 && self.micros < 0 {
            self.micros += DAY;
            self.days -= 1;
        } else if self.days < 0 && self.micros > 0 {
            self.micros -= DAY;
            self.days += 1;
        }
    }

    /// A timestamp moved by the interval: months first, then days, then the time.
    pub fn after(self, timestamp: i64) -> Option<i64> {
        let mut civil = Civil::of(timestamp);
        civil.add_months(self.months);
        let days = i64::from(self.days).checked_mul(DAY)?;
        civil.micros()?.checked_add(days)?.checked_add(self.micros)
    }

    /// An instant moved by the interval: months and days on the clock of a place, the time as it passes.
    pub fn after_instant(self, instant: i64, zone: &TimeZoneRules) -> Option<i64> {
        if self.months == 0 && self.days == 0 {
            return instant.checked_add(self.micros);
        }
        let of_calendar = Self { micros: 0, ..self };
        let local = of_calendar.after(zone.to_local(instant)?)?;
        zone.to_instant(local)?.checked_add(self.micros)
    }

    /// How far a timestamp is behind another one in years, months, days and time.
    pub fn age(later: i64, earlier: i64) -> Option<Self> {
        let (first, second) = (Civil::of(later), Civil::of(earlier));
        let sign = if later < earlier { -1 } else { 1 };
        let mut micros = i64::from(sign) * (first.time - second.time);
        let mut days = sign * (first.day as i32 - second.day as i32);
        let mut months = i64::from(sign)
            * ((first.year - second.year) * i64::from(MONTHS_PER_YEAR)
                + (i64::from(first.month) - i64::from(second.month)));
        if micros < 0 {
            micros += DAY;
            days -= 1;
        }
        let borrowed = if sign < 0 { &first } else { &second };
        while days < 0 {
            days += month_days(borrowed.year, borrowed.month) as i32;
            months -= 1;
        }
        Some(Self {
            months: i32::try_from(i64::from(sign) * months).ok()?,
            days: sign * days,
            micros: i64::from(sign) * micros,
        })
    }
}

fn whole(number: f64) -> Option<i32> {
    let number = number.trunc();
    let fits = number >= f64::from(i32::MIN) && number <= f64::from(i32::MAX);
    fits.then_some(number as i32)
}

pub(super) fn in_i64(number: f64) -> Option<i64> {
    // 2^63 is no value of the type; the nearest double below it is.
    let limit = 9_223_372_036_854_775_808.0;
    (number >= -limit && number < limit).then_some(number as i64)
}

/// Rounded to microseconds.
fn rounded(seconds: f64) -> f64 {
    (seconds * SECOND as f64).round_ties_even() / SECOND as f64
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::temporal::{parse_interval, parse_timestamp};

    fn interval(text: &str) -> Interval {
        parse_interval(text).unwrap()
    }

    fn at(text: &str) -> i64 {
        parse_timestamp(text, None).unwrap()
    }

    // Values are PostgreSQL 15's.
    #[test]
    fn lengths_decide() {
        let equal = |left, right| interval(left).compare(interval(right)) == Ordering::Equal;
        assert!(equal("24 hours", "1 day"));
        assert!(equal("1 month", "30 days"));
        assert!(!equal("1 year", "365 days"));
        assert!(interval("30 hours").compare(interval("1 day")) == Ordering::Greater);
    }

    #[test]
    fn fractions_go_down_to_smaller_units() {
        assert_eq!(
            interval("1 month").times(1.5).unwrap(),
            interval("1 mon 15 days")
        );
        assert_eq!(
            interval("1 day").divided(7.0).unwrap(),
            interval("03:25:42.857143")
        );
        assert_eq!(
            interval("1 year 2 months 3 days 04:05:06")
                .times(-0.7)
                .unwrap(),
            interval("-9 mons -26 days -05:15:34.2")
        );
        assert_eq!(interval("1 day").times(1e20), None);
        assert_eq!(interval("1 day").times(f64::NAN), None);
    }

    #[test]
    fn ends_of_months_are_kept_within_them() {
        let moved = |text, by| interval(by).after(at(text));
        assert_eq!(
            moved("2024-01-31 12:00:00", "1 month"),
            Some(at("2024-02-29 12:00:00"))
        );
        assert_eq!(
            moved("2024-03-31 00:00:00", "-1 month -1 day"),
            Some(at("2024-02-28 00:00:00"))
        );
        assert_eq!(moved("294246-01-01 00:00:00", "2 years"), None);
    }

    #[test]
    fn days_follow_the_clock_and_hours_do_not() {
        let zone = TimeZoneRules::named("America/New_York").unwrap();
        let start = at("2024-03-09 17:00:00");
        let day = interval("1 day").after_instant(start, &zone);
        assert_eq!(day, Some(at("2024-03-10 16:00:00")));
        let hours = interval("24 hours").after_instant(start, &zone);
        assert_eq!(hours, Some(at("2024-03-10 17:00:00")));
    }

    #[test]
    fn ages_borrow_from_the_months_between() {
        let age = |later, earlier| Interval::age(at(later), at(earlier)).unwrap();
        assert_eq!(
            age("2001-04-10 00:00:00", "1957-06-13 00:00:00"),
            interval("43 years 9 mons 27 days")
        );
        assert_eq!(
            age("1957-06-13 00:00:00", "2001-04-10 12:00:00"),
            interval("-43 years -9 mons -27 days -12:00:00")
        );
        assert_eq!(
            age("2024-03-01 00:00:00", "2024-01-31 01:00:00"),
            interval("1 mon 23:00:00")
        );
    }

    #[test]
    fn justified_parts_have_one_sign() {
        let of = |text| interval(text);
        assert_eq!(of("27:00:00").justify_hours(), Some(of("1 day 03:00:00")));
        assert_eq!(of("35 days").justify_days(), Some(of("1 mon 5 days")));
        assert_eq!(of("1 mon -1 hour").justify(), Some(of("29 days 23:00:00")));
        assert_eq!(
            of("-1 mon 1 hour").justify(),
            Some(of("-29 days -23:00:00"))
        );
    }
}
