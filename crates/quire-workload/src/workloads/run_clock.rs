//! What time is it in a run?

use crate::SqlValue;
use std::sync::atomic::{AtomicI64, Ordering};

const DAY_US: i64 = 86_400_000_000;

/// The clock of a run, which its users share. It moves on by a tick whenever it is read, so that all readings differ and the same seed gives
/// the same times; it has nothing to do with the time that passes.
pub(super) struct WorkloadClock {
    now_us: AtomicI64,
    tick_us: i64,
}

impl WorkloadClock {
    /// A clock that begins with a day.
    pub(super) fn new(first_day: i32, tick_us: i64) -> Self {
        Self {
            now_us: AtomicI64::new(day_start_us(first_day)),
            tick_us,
        }
    }

    /// The next time.
    pub(super) fn now(&self) -> SqlValue {
        SqlValue::Timestamp(self.now_us())
    }

    /// The next time, in microseconds since 1970.
    pub(super) fn now_us(&self) -> i64 {
        // Only the number counts: no other memory is read because of it.
        self.now_us.fetch_add(self.tick_us, Ordering::Relaxed) + self.tick_us
    }

    /// The day of the next time.
    pub(super) fn today(&self) -> i32 {
        self.now_us().div_euclid(DAY_US) as i32
    }
}

/// Midnight of a day, in microseconds since 1970.
pub(super) const fn day_start_us(day: i32) -> i64 {
    day as i64 * DAY_US
}

/// The days from 1970-01-01 to a date of the Gregorian calendar (H. Hinnant, *chrono-compatible low-level date algorithms*).
pub(super) const fn day_number(year: i32, month: i32, day: i32) -> i32 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::{WorkloadClock, day_number};
    use crate::SqlValue;

    #[test]
    fn days_are_those_that_dates_are_written_with() {
        for (year, month, day) in [(1970, 1, 1), (2000, 2, 29), (2012, 5, 10), (4312, 12, 31)] {
            let written = SqlValue::Date(day_number(year, month, day)).to_string();
            assert_eq!(written, format!("{year:04}-{month:02}-{day:02}"));
        }
    }

    #[test]
    fn the_clock_moves_on_at_each_reading() {
        let clock = WorkloadClock::new(1, 1_000_000);
        assert_eq!(clock.now().to_string(), "1970-01-02 00:00:01.000000");
        assert_eq!(clock.now().to_string(), "1970-01-02 00:00:02.000000");
        assert_eq!(clock.today(), 1);
    }
}
