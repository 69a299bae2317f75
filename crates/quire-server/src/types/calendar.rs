//! Days and times of day as PostgreSQL writes them; [`quire_text::temporal`] knows the calendar.

use quire_text::temporal;
use quire_text::temporal::TimeZoneRules;

const MICROSECONDS_PER_SECOND: i64 = 1_000_000;

fn text_of(write: impl FnOnce(&mut String)) -> String {
    let mut text = String::new();
    write(&mut text);
    text
}

/// `2024-03-01`, and ` BC` for years before 1.
pub(super) fn date_text(day: i32) -> String {
    text_of(|out| temporal::write_date(day.into(), out))
}

/// `04:05:06.789`
pub(super) fn time_text(microseconds: i64) -> String {
    text_of(|out| temporal::write_time(microseconds, MICROSECONDS_PER_SECOND, out))
}

/// `2024-03-01 04:05:06.789`, and ` BC` for years before 1.
pub(super) fn timestamp_text(microseconds: i64) -> String {
    text_of(|out| temporal::write_timestamp(microseconds, MICROSECONDS_PER_SECOND, None, out))
}

/// The same for an instant, as clocks of the zone show it, with `+01` behind it.
pub(super) fn instant_text(microseconds: i64, zone: &TimeZoneRules) -> String {
    text_of(|out| temporal::write_instant(microseconds, zone, out))
}

/// `1 year 2 mons 3 days 04:05:06.789`
pub(super) fn interval_text(months: i32, days: i32, microseconds: i64) -> String {
    let nanoseconds = i128::from(microseconds) * 1000;
    text_of(|out| temporal::write_interval(months.into(), days.into(), nanoseconds, out))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn texts_are_those_of_postgresql() {
        // From PostgreSQL 15.
        assert_eq!(date_text(0), "1970-01-01");
        assert_eq!(date_text(-719_162), "0001-01-01");
        assert_eq!(date_text(-719_163), "0001-12-31 BC");
        assert_eq!(date_text(2_932_896), "9999-12-31");
        assert_eq!(timestamp_text(-1), "1969-12-31 23:59:59.999999");
        let zoned = |name| instant_text(1_500_000, &TimeZoneRules::of_setting(name).unwrap());
        assert_eq!(zoned("UTC"), "1970-01-01 00:00:01.5+00");
        assert_eq!(zoned("America/New_York"), "1969-12-31 19:00:01.5-05");
        assert_eq!(
            interval_text(14, 3, 14_706_789_000),
            "1 year 2 mons 3 days 04:05:06.789"
        );
        assert_eq!(interval_text(0, 0, 0), "00:00:00");
        assert_eq!(interval_text(-1, 0, -1_000_000), "-1 mons -00:00:01");
    }

    #[test]
    fn texts_are_read_back() {
        let utc = TimeZoneRules::default();
        for day in [-719_163, -719_162, -1, 0, 19_782, 2_932_896, 5_000_000] {
            assert_eq!(temporal::parse_date(&date_text(day)), Some(day));
        }
        for micros in [-62_135_596_800_000_000, -1, 0, 1_709_265_906_789_000] {
            assert_eq!(
                temporal::parse_timestamp(&timestamp_text(micros), None),
                Some(micros)
            );
            assert_eq!(
                temporal::parse_timestamp(&instant_text(micros, &utc), Some(&utc)),
                Some(micros)
            );
        }
        let two = temporal::parse_timestamp("1970-01-01T02:00:00+02:00", Some(&utc));
        assert_eq!(two, Some(0));
        assert_eq!(
            temporal::parse_timestamp("1970-01-01 02:00-0530", Some(&utc)),
            Some(27_000_000_000)
        );
        for wrong in [
            "2023-02-29",
            "2023-13-01",
            "23-01-01",
            "x",
            "2023-01-01-01",
            "",
        ] {
            assert_eq!(temporal::parse_date(wrong), None, "{wrong}");
            assert_eq!(temporal::parse_timestamp(wrong, None), None, "{wrong}");
        }
        assert_eq!(temporal::parse_timestamp("2023-01-01 25:00", None), None);
    }
}
