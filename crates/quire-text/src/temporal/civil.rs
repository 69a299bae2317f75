//! A timestamp as a calendar and a clock show it, and the fields that are taken out of it.

use crate::gregorian::{civil_from_days, days_from_civil};
use crate::zone::DAY;

pub use crate::gregorian::month_days;

/// Year, month, day, and microseconds since midnight. Years before 1 are 0 and below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Civil {
    pub year: i64,
    pub month: u32,
    pub day: u32,
    pub time: i64,
}

impl Civil {
    pub fn of(timestamp: i64) -> Self {
        Self {
            time: timestamp.rem_euclid(DAY),
            ..Self::of_day(timestamp.div_euclid(DAY))
        }
    }

    /// Midnight of a day, which may be beyond what a timestamp holds.
    pub fn of_day(days: i64) -> Self {
        let (year, month, day) = civil_from_days(days);
        Self {
            year,
            month,
            day,
            time: 0,
        }
    }

    pub fn days(&self) -> i64 {
        days_from_civil(self.year, self.month, self.day)
    }

    /// The timestamp; `None` beyond what one holds.
    pub fn micros(&self) -> Option<i64> {
        self.days().checked_mul(DAY)?.checked_add(self.time)
    }

    /// Moves it by months. A day that the new month does not have becomes its last one.
    pub(super) fn add_months(&mut self, months: i32) {
        let total = self.year * 12 + i64::from(self.month) - 1 + i64::from(months);
        self.year = total.div_euclid(12);
        self.month = total.rem_euclid(12) as u32 + 1;
        self.day = self.day.min(month_days(self.year, self.month));
    }

    /// 0 for Sunday to 6 for Saturday.
    pub(super) fn weekday(&self) -> i64 {
        (self.days() + 4).rem_euclid(7)
    }

    pub fn day_of_year(&self) -> i64 {
        self.days() - days_from_civil(self.year, 1, 1) + 1
    }

    /// Year and number of the week by ISO 8601: that of its Thursday.
    pub(super) fn week(&self) -> (i64, i64) {
        let thursday = self.days() - (self.weekday() + 6) % 7 + 3;
        let (year, ..) = civil_from_days(thursday);
        (year, (thursday - days_from_civil(year, 1, 1)) / 7 + 1)
    }

    /// The year as people count it: there is none between 1 BC, which is -1, and 1.
    pub(super) fn counted_year(year: i64) -> i64 {
        if year > 0 { year } else { year - 1 }
    }
}
