//! Fields of dates, times and intervals: what `extract` and `date_trunc` name.

use super::civil::Civil;
use super::interval::{Interval, MONTHS_PER_YEAR};
use crate::zone::{DAY, SECOND};

const HOUR: i64 = 3_600 * SECOND;
const MINUTE: i64 = 60 * SECOND;

/// Half-days of 1970-01-01 00:00 by the Julian count, which begins at noon but counts whole days from midnight here.
const JULIAN_EPOCH: i64 = 2_440_588;

/// The name of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TemporalField {
    Microseconds,
    Milliseconds,
    Second,
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Quarter,
    Year,
    Decade,
    Century,
    Millennium,
    IsoYear,
    DayOfWeek,
    IsoDayOfWeek,
    DayOfYear,
    Epoch,
    Julian,
    Timezone,
    TimezoneHour,
    TimezoneMinute,
}

/// A field's value: a number, of which so many decimals are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScaledFieldValue {
    pub units: i128,
    pub scale: u8,
}

impl ScaledFieldValue {
    fn whole(units: i64) -> Self {
        Self {
            units: units.into(),
            scale: 0,
        }
    }
}

impl TemporalField {
    /// The field of a name, in any case.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name.trim().to_lowercase().as_str() {
            "microsecond" | "microseconds" | "us" | "usec" | "usecs" | "usecond" | "useconds" => {
                Self::Microseconds
            }
            "millisecond" | "milliseconds" | "ms" | "msec" | "msecs" | "msecond" | "mseconds" => {
                Self::Milliseconds
            }
            "second" | "seconds" | "s" | "sec" | "secs" => Self::Second,
            "minute" | "minutes" | "m" | "min" | "mins" => Self::Minute,
            "hour" | "hours" | "h" | "hr" | "hrs" => Self::Hour,
            "day" | "days" | "d" => Self::Day,
            "week" | "weeks" | "w" => Self::Week,
            "month" | "months" | "mon" | "mons" => Self::Month,
            "quarter" | "quarters" | "qtr" => Self::Quarter,
            "year" | "years" | "y" | "yr" | "yrs" => Self::Year,
            "decade" | "decades" | "dec" | "decs" => Self::Decade,
            "century" | "centuries" | "c" | "cent" => Self::Century,
            "millennium" | "millennia" | "mil" | "mils" => Self::Millennium,
            "isoyear" => Self::IsoYear,
            "dow" => Self::DayOfWeek,
            "isodow" => Self::IsoDayOfWeek,
            "doy" => Self::DayOfYear,
            "epoch" => Self::Epoch,
            "julian" => Self::Julian,
            "timezone" => Self::Timezone,
            "timezone_hour" => Self::TimezoneHour,
            "timezone_minute" => Self::TimezoneMinute,
            _ => return None,
        })
    }

    /// Decimals of the field's values.
    pub fn scale(self) -> u8 {
        match self {
            Self::Milliseconds => 3,
            Self::Second | Self::Epoch => 6,
            _ => 0,
        }
    }

    /// Whether it is a part of the time of day.
    pub fn is_of_clock(self) -> bool {
        matches!(
            self,
            Self::Microseconds | Self::Milliseconds | Self::Second | Self::Minute | Self::Hour
        )
    }

    /// Whether it is a distance from Greenwich.
    pub fn is_of_zone(self) -> bool {
        matches!(
            self,
            Self::Timezone | Self::TimezoneHour | Self::TimezoneMinute
        )
    }

    /// The field of an offset in seconds east of Greenwich.
    pub fn of_offset(self, seconds: i32) -> Option<ScaledFieldValue> {
        let seconds = i64::from(seconds);
        Some(ScaledFieldValue::whole(match self {
            Self::Timezone => seconds,
            Self::TimezoneHour => seconds / 3_600,
            Self::TimezoneMinute => seconds / 60 % 60,
            _ => return None,
        }))
    }

    /// The field of a time, in microseconds; of an interval's it may be negative and longer than a day.
    pub fn of_time(self, micros: i64) -> Option<ScaledFieldValue> {
        let of_minute = i128::from(micros % MINUTE);
        let decimal = |units, scale| Some(ScaledFieldValue { units, scale });
        match self {
            Self::Microseconds => decimal(of_minute, 0),
            Self::Milliseconds => decimal(of_minute, 3),
            Self::Second => decimal(of_minute, 6),
            Self::Minute => Some(ScaledFieldValue::whole(micros % HOUR / MINUTE)),
            Self::Hour => Some(ScaledFieldValue::whole(micros / HOUR)),
            Self::Epoch => decimal(micros.into(), 6),
            _ => None,
        }
    }

    /// The field of a timestamp, or of an instant in its zone but for `Epoch`.
    pub fn of_timestamp(self, timestamp: i64) -> Option<ScaledFieldValue> {
        match self {
            Self::Epoch => Some(ScaledFieldValue {
                units: timestamp.into(),
                scale: 6,
            }),
            _ => self.of_civil(Civil::of(timestamp)),
        }
    }

    /// The field of a date, days after 1970-01-01.
    pub fn of_day(self, days: i64) -> Option<ScaledFieldValue> {
        match self {
            Self::Epoch => Some(ScaledFieldValue {
                units: i128::from(days) * i128::from(DAY),
                scale: 6,
            }),
            _ => self.of_civil(Civil::of_day(days)),
        }
    }

    fn of_civil(self, civil: Civil) -> Option<ScaledFieldValue> {
        let counted = Civil::counted_year(civil.year);
        let months = i64::from(civil.month);
        let group = |years: i64| {
            if counted > 0 {
                (counted + years - 1) / years
            } else {
                -((years - 1 - counted) / years)
            }
        };
        Some(ScaledFieldValue::whole(match self {
            field if field.is_of_clock() => return field.of_time(civil.time),
            Self::Day => civil.day.into(),
            Self::Week => civil.week().1,
            Self::Month => months,
            Self::Quarter => (months + 2) / 3,
            Self::Year => counted,
            Self::Decade => civil.year.div_euclid(10),
            Self::Century => group(100),
            Self::Millennium => group(1_000),
            Self::IsoYear => Civil::counted_year(civil.week().0),
            Self::DayOfWeek => civil.weekday(),
            Self::IsoDayOfWeek => (civil.weekday() + 6) % 7 + 1,
            Self::DayOfYear => civil.day_of_year(),
            Self::Julian if civil.time == 0 => civil.days() + JULIAN_EPOCH,
            _ => return None,
        }))
    }

    /// The field of an interval. A year has 365.25 days in its length, and a month 30.
    pub fn of_interval(self, interval: Interval) -> Option<ScaledFieldValue> {
        let (years, months) = (
            i64::from(interval.months / MONTHS_PER_YEAR),
            i64::from(interval.months % MONTHS_PER_YEAR),
        );
        Some(ScaledFieldValue::whole(match self {
            Self::Epoch => {
                let quarter_days = i128::from(years) * 1_461 + i128::from(months) * 120;
                let days = quarter_days + i128::from(interval.days) * 4;
                return Some(ScaledFieldValue {
                    units: days * i128::from(DAY / 4) + i128::from(interval.micros),
                    scale: 6,
                });
            }
            field if field.is_of_clock() => return field.of_time(interval.micros),
            Self::Day => interval.days.into(),
            Self::Month => months,
            Self::Quarter => months / 3 + 1,
            Self::Year => years,
            Self::Decade => years / 10,
            Self::Century => years / 100,
            Self::Millennium => years / 1_000,
            _ => return None,
        }))
    }
}
