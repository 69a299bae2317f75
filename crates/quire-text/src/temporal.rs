//! Dates, times and intervals as PostgreSQL's ISO style writes them, and reads them.
//!
//! Every value of the type has a text, also years beyond what calendar libraries cover; years
//! before 1 end in ` BC`.

mod civil;
mod fields;
mod free_text;
mod free_text_fields;
mod interval;
mod interval_fields;
mod interval_text;
mod pattern;
mod pattern_field;
mod pattern_reading;
mod truncate;

pub use fields::{ScaledFieldValue, TemporalField};
pub use free_text::{DateOrder, FreeText, read_free_text};
pub use interval::Interval;
pub use interval_fields::{DIGITS_MAX, IntervalFields};
pub use interval_text::{parse_interval, parse_interval_in};
pub use pattern::{PatternError, WrittenPattern, write_by_pattern};
pub use pattern_reading::read_by_pattern;
pub use truncate::{bin, truncate, truncate_instant, truncate_interval};

use std::fmt::Write as _;

use crate::gregorian::civil_from_days;
pub use crate::number_in::NumberInError;
use crate::zone::write_offset;
pub use crate::zone::{DAY, SECOND, TimeZoneRules};

const SECONDS_PER_DAY: i64 = 86_400;
const NANOSECONDS_PER_SECOND: i64 = 1_000_000_000;

/// Appends the date `days` after 1970-01-01.
pub fn write_date(days: i64, out: &mut String) {
    let (text, is_before_christ) = date_text(days);
    out.push_str(&text);
    push_era(is_before_christ, out);
}

/// Appends a point in time: `ticks` after 1970-01-01 00:00:00, of which a second has
/// `ticks_per_second` (1, 1,000, 1,000,000 or 1,000,000,000). `offset` is minutes east of
/// Greenwich; `None` for timestamps without time zone.
pub fn write_timestamp(ticks: i64, ticks_per_second: i64, offset: Option<i32>, out: &mut String) {
    let offset = offset.map(|minutes| minutes.saturating_mul(60));
    write_moment(ticks, ticks_per_second, offset, out);
}

/// Appends an instant, microseconds after 1970-01-01 00:00:00 in Greenwich, as clocks of the zone show it.
pub fn write_instant(micros: i64, zone: &TimeZoneRules, out: &mut String) {
    write_moment(micros, SECOND, Some(zone.offset_at(micros)), out);
}

/// `offset` is seconds east of Greenwich.
fn write_moment(ticks: i64, ticks_per_second: i64, offset: Option<i32>, out: &mut String) {
    let seconds = ticks
        .div_euclid(ticks_per_second)
        .saturating_add(offset.unwrap_or(0).into());
    let nanoseconds =
        ticks.rem_euclid(ticks_per_second) * (NANOSECONDS_PER_SECOND / ticks_per_second);
    let (date, is_before_christ) = date_text(seconds.div_euclid(SECONDS_PER_DAY));
    out.push_str(&date);
    out.push(' ');
    write_clock(seconds.rem_euclid(SECONDS_PER_DAY), nanoseconds, out);
    if let Some(seconds) = offset {
        write_offset(seconds, out);
    }
    push_era(is_before_christ, out);
}

/// Appends a time of day, `ticks` after midnight.
pub fn write_time(ticks: i64, ticks_per_second: i64, out: &mut String) {
    let nanoseconds =
        ticks.rem_euclid(ticks_per_second) * (NANOSECONDS_PER_SECOND / ticks_per_second);
    write_clock(ticks.div_euclid(ticks_per_second), nanoseconds, out);
}

/// Appends `1 year 2 mons 3 days 04:05:06.5`; parts that are zero are left out, and a part behind a negative one has its sign.
pub fn write_interval(months: i64, days: i64, nanoseconds: i128, out: &mut String) {
    let start = out.len();
    let mut is_behind_negative = false;
    let parts = [(months / 12, "year"), (months % 12, "mon"), (days, "day")];
    for (count, unit) in parts.into_iter().filter(|(count, _)| *count != 0) {
        if out.len() > start {
            out.push(' ');
        }
        let sign = if is_behind_negative && count > 0 {
            "+"
        } else {
            ""
        };
        let plural = if count == 1 { "" } else { "s" };
        let _ = write!(out, "{sign}{count} {unit}{plural}");
        is_behind_negative = count < 0;
    }
    if nanoseconds == 0 && out.len() > start {
        return;
    }
    if out.len() > start {
        out.push(' ');
    }
    match nanoseconds < 0 {
        true => out.push('-'),
        false if is_behind_negative => out.push('+'),
        false => {}
    }
    let magnitude = nanoseconds.unsigned_abs();
    let per_second = u128::from(NANOSECONDS_PER_SECOND.unsigned_abs());
    let seconds = i64::try_from(magnitude / per_second).unwrap_or(i64::MAX);
    let fraction = i64::try_from(magnitude % per_second).unwrap_or(0);
    write_clock(seconds, fraction, out);
}

/// The day since 1970-01-01 of a date that is written as `2024-03-01` or `0044-03-15 BC`; `None` when it is no such date.
pub fn parse_date(text: &str) -> Option<i32> {
    crate::calendar::parse_date(text.as_bytes()).ok()
}

/// Microseconds since 1970-01-01 00:00 of a date and a time of day, `2024-03-01 04:05:06.789+01`, where `T` may stand for the
/// blank. With a zone it is an instant, whose text may name its own. `None` when it is no such text.
pub fn parse_timestamp(text: &str, zone: Option<&TimeZoneRules>) -> Option<i64> {
    crate::calendar::parse_timestamp(text.as_bytes(), zone).ok()
}

fn write_clock(seconds: i64, nanoseconds: i64, out: &mut String) {
    let _ = write!(
        out,
        "{:02}:{:02}:{:02}",
        seconds / 3600,
        seconds / 60 % 60,
        seconds % 60
    );
    if nanoseconds != 0 {
        let fraction = format!("{nanoseconds:09}");
        let _ = write!(out, ".{}", fraction.trim_end_matches('0'));
    }
}

fn push_era(is_before_christ: bool, out: &mut String) {
    if is_before_christ {
        out.push_str(" BC");
    }
}

fn date_text(days: i64) -> (String, bool) {
    let (year, month, day) = civil_from_days(days);
    let is_before_christ = year <= 0;
    let shown_year = if is_before_christ { 1 - year } else { year };
    (
        format!("{shown_year:04}-{month:02}-{day:02}"),
        is_before_christ,
    )
}

#[cfg(test)]
mod tests {
    use super::{write_date, write_interval, write_time, write_timestamp};

    fn text(write: impl FnOnce(&mut String)) -> String {
        let mut out = String::new();
        write(&mut out);
        out
    }

    #[test]
    fn dates_of_the_calendar() {
        assert_eq!(text(|out| write_date(0, out)), "1970-01-01");
        assert_eq!(text(|out| write_date(-1, out)), "1969-12-31");
        assert_eq!(text(|out| write_date(10_957, out)), "2000-01-01");
        assert_eq!(text(|out| write_date(11_016, out)), "2000-02-29");
        assert_eq!(text(|out| write_date(-719_162, out)), "0001-01-01");
        assert_eq!(text(|out| write_date(-719_163, out)), "0001-12-31 BC");
        assert_eq!(text(|out| write_date(2_932_897, out)), "10000-01-01");
    }

    #[test]
    fn consecutive_days_follow_the_month_lengths() {
        let mut expected = (1600, 1, 1);
        for days in -135_140..50_000 {
            let (year, month, day) = expected;
            assert_eq!(
                text(|out| write_date(days, out)),
                format!("{year:04}-{month:02}-{day:02}")
            );
            let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            let month_days = match month {
                2 if is_leap => 29,
                2 => 28,
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            expected = match (month, day) {
                (12, 31) => (year + 1, 1, 1),
                (_, last) if last == month_days => (year, month + 1, 1),
                _ => (year, month, day + 1),
            };
        }
    }

    #[test]
    fn timestamps_drop_trailing_zeros_of_the_fraction() {
        let micros = |ticks| text(|out| write_timestamp(ticks, 1_000_000, None, out));
        assert_eq!(micros(0), "1970-01-01 00:00:00");
        assert_eq!(micros(1_500_000), "1970-01-01 00:00:01.5");
        assert_eq!(micros(-1), "1969-12-31 23:59:59.999999");
        assert_eq!(
            text(|out| write_timestamp(946_684_800_000_000_001, 1_000_000_000, None, out)),
            "2000-01-01 00:00:00.000000001"
        );
        assert_eq!(
            micros(-62_135_596_800_000_001),
            "0001-12-31 23:59:59.999999 BC"
        );
    }

    #[test]
    fn offsets_shift_the_clock_and_are_shown() {
        let at = |offset| text(|out| write_timestamp(0, 1, Some(offset), out));
        assert_eq!(at(0), "1970-01-01 00:00:00+00");
        assert_eq!(at(330), "1970-01-01 05:30:00+05:30");
        assert_eq!(at(-480), "1969-12-31 16:00:00-08");
    }

    #[test]
    fn times_and_intervals() {
        assert_eq!(
            text(|out| write_time(86_399_999_999, 1_000_000, out)),
            "23:59:59.999999"
        );
        assert_eq!(
            text(|out| write_interval(14, 3, 14_706_500_000_000, out)),
            "1 year 2 mons 3 days 04:05:06.5"
        );
        assert_eq!(text(|out| write_interval(0, 0, 0, out)), "00:00:00");
        assert_eq!(
            text(|out| write_interval(0, -1, -1_000_000_000, out)),
            "-1 days -00:00:01"
        );
        assert_eq!(
            text(|out| write_interval(0, 0, 360_000_000_000_000, out)),
            "100:00:00"
        );
    }

    #[test]
    fn extreme_values_have_a_text() {
        for ticks in [i64::MIN, i64::MAX] {
            for per_second in [1, 1_000, 1_000_000, 1_000_000_000] {
                assert!(text(|out| write_time(ticks, per_second, out)).contains(':'));
                let point = text(|out| write_timestamp(ticks, per_second, Some(60), out));
                assert!(point.contains("+01"), "{point}");
            }
        }
        assert!(text(|out| write_date(i64::from(i32::MIN), out)).ends_with(" BC"));
    }
}
