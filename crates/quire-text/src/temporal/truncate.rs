//! Times cut to whole units of the calendar, or of a stride.

use super::civil::Civil;
use super::fields::TemporalField;
use super::interval::Interval;
use crate::zone::{DAY, SECOND, TimeZoneRules};

/// Microseconds of a unit of the clock.
fn clock_unit(field: TemporalField) -> Option<i64> {
    Some(match field {
        TemporalField::Microseconds => 1,
        TemporalField::Milliseconds => 1_000,
        TemporalField::Second => SECOND,
        TemporalField::Minute => 60 * SECOND,
        TemporalField::Hour => 3_600 * SECOND,
        _ => return None,
    })
}

/// The beginning of the unit that a timestamp is in; `None` for what is no unit. Inside, `None` beyond what a timestamp holds.
pub fn truncate(field: TemporalField, timestamp: i64) -> Option<Option<i64>> {
    if let Some(unit) = clock_unit(field) {
        return Some(timestamp.checked_sub(timestamp.rem_euclid(unit)));
    }
    let mut civil = Civil::of(timestamp);
    civil.time = 0;
    let first_of = |years: i64, from: i64| {
        // Centuries and millennia begin with years 1, 101, 1001; before them with -100, -200.
        let counted = civil.year - from;
        counted.div_euclid(years) * years + from
    };
    match field {
        TemporalField::Day => {}
        TemporalField::Week => {
            let monday = civil.days() - (civil.weekday() + 6) % 7;
            return Some(monday.checked_mul(DAY));
        }
        TemporalField::Month => civil.day = 1,
        TemporalField::Quarter => (civil.day, civil.month) = (1, (civil.month - 1) / 3 * 3 + 1),
        TemporalField::Year => (civil.day, civil.month) = (1, 1),
        TemporalField::Decade => (civil.day, civil.month, civil.year) = (1, 1, first_of(10, 0)),
        TemporalField::Century => (civil.day, civil.month, civil.year) = (1, 1, first_of(100, 1)),
        TemporalField::Millennium => {
            (civil.day, civil.month, civil.year) = (1, 1, first_of(1_000, 1))
        }
        _ => return None,
    }
    Some(civil.micros())
}

/// The same for an instant by the clocks of a zone. Within a day the offset from Greenwich stays as it is.
pub fn truncate_instant(
    field: TemporalField,
    instant: i64,
    zone: &TimeZoneRules,
) -> Option<Option<i64>> {
    let Some(local) = zone.to_local(instant) else {
        return Some(None);
    };
    let cut = truncate(field, local)?;
    let Some(cut) = cut else { return Some(None) };
    Some(match clock_unit(field) {
        Some(_) => instant.checked_sub(local - cut),
        None => zone.to_instant(cut),
    })
}

/// The interval without its smaller parts; `None` for what is no unit of intervals.
pub fn truncate_interval(field: TemporalField, interval: Interval) -> Option<Interval> {
    if let Some(unit) = clock_unit(field) {
        return Some(Interval {
            micros: interval.micros - interval.micros % unit,
            ..interval
        });
    }
    let months = |count: i32| Interval {
        months: interval.months - interval.months % count,
        ..Interval::default()
    };
    Some(match field {
        TemporalField::Day => Interval {
            micros: 0,
            ..interval
        },
        TemporalField::Month => months(1),
        TemporalField::Quarter => months(3),
        TemporalField::Year => months(12),
        TemporalField::Decade => months(120),
        TemporalField::Century => months(1_200),
        TemporalField::Millennium => months(12_000),
        _ => return None,
    })
}

/// The beginning of the stride that a timestamp is in, when one begins at the origin. The stride is positive.
pub fn bin(stride: i64, timestamp: i64, origin: i64) -> Option<i64> {
    let since = i128::from(timestamp) - i128::from(origin);
    let start = since - since.rem_euclid(stride.into());
    i64::try_from(start + i128::from(origin)).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::temporal::{parse_timestamp, write_timestamp};

    fn at(text: &str) -> i64 {
        parse_timestamp(text, None).unwrap()
    }

    // Values are PostgreSQL 15's.
    #[test]
    fn units_begin_where_the_calendar_says() {
        for (field, expected) in [
            ("week", "2024-12-30 00:00:00"),
            ("quarter", "2025-01-01 00:00:00"),
            ("decade", "2020-01-01 00:00:00"),
            ("century", "2001-01-01 00:00:00"),
            ("millennium", "2001-01-01 00:00:00"),
            ("milliseconds", "2025-01-05 10:20:30.123"),
        ] {
            let field = TemporalField::named(field).unwrap();
            let cut = truncate(field, at("2025-01-05 10:20:30.123456"));
            let mut text = String::new();
            write_timestamp(cut.unwrap().unwrap(), SECOND, None, &mut text);
            assert_eq!(text, expected);
        }
        assert_eq!(truncate(TemporalField::Epoch, 0), None);
    }

    #[test]
    fn days_of_a_zone_begin_at_its_midnight() {
        let zone = TimeZoneRules::named("America/New_York").unwrap();
        let cut = |field, text| truncate_instant(field, at(text), &zone).unwrap().unwrap();
        assert_eq!(
            cut(TemporalField::Day, "2024-03-11 01:00:00"),
            at("2024-03-10 05:00:00")
        );
        // The repeated hour stays in its second run.
        assert_eq!(
            cut(TemporalField::Hour, "2024-11-03 05:30:00"),
            at("2024-11-03 05:00:00")
        );
    }

    #[test]
    fn strides_reach_back_before_the_origin() {
        assert_eq!(bin(10, -1, 5), Some(-5));
        assert_eq!(bin(10, 5, 5), Some(5));
        assert_eq!(bin(10, i64::MIN, 5), None);
    }
}
