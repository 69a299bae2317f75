//! Intervals of certain fields: `INTERVAL DAY TO MINUTE`, `INTERVAL SECOND(2)`.

use super::interval::{Interval, MONTHS_PER_YEAR, Unit};
use crate::zone::SECOND;

/// Digits that seconds have behind the point.
pub const DIGITS_MAX: u32 = 6;

/// The fields that a type names, from the first to the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IntervalFields {
    #[default]
    All,
    Year,
    /// `MONTH`, `YEAR TO MONTH`.
    Month,
    Day,
    /// `HOUR`, `DAY TO HOUR`.
    Hour,
    /// `MINUTE`, `HOUR TO MINUTE`, `DAY TO MINUTE`.
    Minute,
    Second,
    MinuteToSecond,
}

impl IntervalFields {
    /// The fields of a type as SQL spells them; nothing spelled is all of them.
    pub fn named(text: &str) -> Self {
        match text.to_uppercase().as_str() {
            "YEAR" => Self::Year,
            "MONTH" | "YEAR TO MONTH" => Self::Month,
            "DAY" => Self::Day,
            "HOUR" | "DAY TO HOUR" => Self::Hour,
            "MINUTE" | "HOUR TO MINUTE" | "DAY TO MINUTE" => Self::Minute,
            "MINUTE TO SECOND" => Self::MinuteToSecond,
            "SECOND" | "HOUR TO SECOND" | "DAY TO SECOND" => Self::Second,
            _ => Self::All,
        }
    }

    /// The unit of a number that has none.
    pub(super) fn last_unit(self) -> Unit {
        let second = i128::from(SECOND);
        match self {
            Self::Year => Unit::Months(MONTHS_PER_YEAR.into()),
            Self::Month => Unit::Months(1),
            Self::Day => Unit::Days(1),
            Self::Hour => Unit::Micros(3_600 * second),
            Self::Minute => Unit::Micros(60 * second),
            Self::Second | Self::MinuteToSecond | Self::All => Unit::Micros(second),
        }
    }

    /// Whether `1:30` is minutes and seconds.
    pub(super) fn are_minutes_and_seconds(self) -> bool {
        self == Self::MinuteToSecond
    }

    /// The interval without what is smaller than the last field, its seconds rounded to so many digits.
    pub fn cut(self, interval: Interval, digits: u32) -> Option<Interval> {
        let whole = |unit: i64| Interval {
            micros: interval.micros / unit * unit,
            ..interval
        };
        Some(match self {
            Self::Year => Interval {
                months: interval.months / MONTHS_PER_YEAR * MONTHS_PER_YEAR,
                ..Interval::default()
            },
            Self::Month => Interval {
                months: interval.months,
                ..Interval::default()
            },
            Self::Day => Interval {
                micros: 0,
                ..interval
            },
            Self::Hour => whole(3_600 * SECOND),
            Self::Minute => whole(60 * SECOND),
            Self::Second | Self::MinuteToSecond | Self::All => Interval {
                micros: rounded(interval.micros, digits)?,
                ..interval
            },
        })
    }
}

/// Halves go away from zero.
fn rounded(micros: i64, digits: u32) -> Option<i64> {
    let unit = 10_i64.pow(DIGITS_MAX.saturating_sub(digits));
    let half = unit / 2;
    let moved = if micros < 0 {
        micros.checked_sub(half)?
    } else {
        micros.checked_add(half)?
    };
    Some(moved / unit * unit)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::temporal::{parse_interval, parse_interval_in};

    // Values are PostgreSQL 15's.
    #[test]
    fn intervals_are_read_and_cut_by_their_fields() {
        for (text, fields, digits, expected) in [
            ("1", "YEAR TO MONTH", 6, "1 month"),
            ("1 2:03:04", "DAY TO HOUR", 6, "1 day 02:00:00"),
            ("1 2:03:04", "HOUR TO MINUTE", 6, "1 day 02:03:00"),
            ("1 -2:03", "MINUTE TO SECOND", 6, "1 day -00:02:03"),
            ("1 day 01:23:45.6789", "", 0, "1 day 01:23:46"),
            ("1.234", "SECOND", 2, "00:00:01.23"),
            ("1.5", "DAY", 6, "1 day"),
            ("15 months", "YEAR", 6, "1 year"),
        ] {
            let fields = IntervalFields::named(fields);
            let read = parse_interval_in(text, fields).unwrap();
            let cut = fields.cut(read, digits).unwrap();
            assert_eq!(cut, parse_interval(expected).unwrap(), "{text} {fields:?}");
        }
    }
}
