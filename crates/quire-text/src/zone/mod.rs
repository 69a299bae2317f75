//! Time zones: which clock a place had at an instant, and which instant a clock meant.
//!
//! Names are those of the IANA database in any case, PostgreSQL's abbreviations, and offsets. POSIX counts offsets westward,
//! `UTC+3` being three hours behind; times of day, and `SET TIME ZONE` with a number, count them eastward.

mod abbreviations;
mod meanings;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::str::FromStr;
use std::sync::LazyLock;

use chrono::{DateTime, Offset, TimeZone, Utc};
use chrono_tz::{TZ_VARIANTS, Tz};

use crate::gregorian::{civil_from_days, days_from_civil};
use abbreviations::{FIXED, OF_PLACES};
use meanings::Abbreviation;

pub const SECOND: i64 = 1_000_000;
pub const DAY: i64 = 86_400 * SECOND;

/// Offsets are less than 168 hours, as POSIX has it.
const MOST_HOURS: f64 = 168.0;

/// The last 28 years for which the database lists changes of clocks one by one. Later years repeat them.
const LISTED_YEARS: std::ops::RangeInclusive<i64> = 2071..=2098;

static BY_NAME: LazyLock<HashMap<String, Tz>> = LazyLock::new(|| {
    let named = TZ_VARIANTS.iter();
    named.map(|tz| (tz.name().to_lowercase(), *tz)).collect()
});

/// A time zone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeZoneRules {
    name: String,
    rule: Rule,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rule {
    /// Seconds east of Greenwich.
    Fixed(i32),
    Place(Tz),
    /// What an abbreviation meant in a place.
    Abbreviation(Abbreviation),
}

impl Default for TimeZoneRules {
    fn default() -> Self {
        Self {
            name: "UTC".to_owned(),
            rule: Rule::Fixed(0),
        }
    }
}

impl TimeZoneRules {
    /// The zone that a setting names: a name, a POSIX offset, or a number of hours east of Greenwich.
    pub fn of_setting(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Ok(hours) = f64::from_str(text) {
            let is_offset = hours.abs() < MOST_HOURS;
            return is_offset.then(|| Self::east((hours * 3600.0) as i32));
        }
        Self::of_place(text).or_else(|| Self::of_posix(text))
    }

    /// The zone that `AT TIME ZONE` names: an abbreviation, a name, or a POSIX offset.
    pub fn named(text: &str) -> Option<Self> {
        let text = text.trim();
        Self::abbreviated(text)
            .or_else(|| Self::of_place(text))
            .or_else(|| Self::of_posix(text))
    }

    /// A zone as it stands behind a time of day, without an offset: an abbreviation or a name.
    pub fn of_time(text: &str) -> Option<Self> {
        Self::abbreviated(text).or_else(|| Self::of_place(text))
    }

    /// So many seconds east of Greenwich, as an interval gives it.
    pub fn east(seconds: i32) -> Self {
        let mut name = String::from("<");
        write_offset(seconds, &mut name);
        name.push('>');
        write_offset(-seconds, &mut name);
        Self {
            name,
            rule: Rule::Fixed(seconds),
        }
    }

    fn of_place(text: &str) -> Option<Self> {
        let tz = BY_NAME.get(&text.to_lowercase())?;
        Some(Self {
            name: tz.name().to_owned(),
            rule: match tz {
                Tz::UTC => Rule::Fixed(0),
                tz => Rule::Place(*tz),
            },
        })
    }

    fn abbreviated(text: &str) -> Option<Self> {
        let key = text.to_lowercase();
        if let Ok(place) = FIXED.binary_search_by_key(&key.as_str(), |entry| entry.0) {
            return Some(Self {
                name: text.to_owned(),
                rule: Rule::Fixed(FIXED[place].1),
            });
        }
        let place = OF_PLACES.binary_search_by_key(&key.as_str(), |entry| entry.0);
        let place = place.ok()?;
        let zone = Self::of_place(OF_PLACES[place].1)?;
        Some(match zone.rule {
            Rule::Place(tz) => Self {
                name: zone.name,
                rule: Rule::Abbreviation(Abbreviation { place, tz }),
            },
            Rule::Fixed(_) | Rule::Abbreviation(_) => zone,
        })
    }

    /// `UTC+3`, `<+02>-02`, `+05:30`: letters or something in angle brackets, and an offset that counts westward.
    fn of_posix(text: &str) -> Option<Self> {
        let rest = match text.strip_prefix('<') {
            Some(rest) => rest.split_once('>')?.1,
            None => text.trim_start_matches(|c: char| c.is_ascii_alphabetic()),
        };
        let west = posix_offset(rest)?;
        Some(Self {
            name: text.to_owned(),
            rule: Rule::Fixed(-west),
        })
    }

    /// What `SHOW` shows.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Seconds that clocks are ahead of Greenwich at an instant, in microseconds since 1970.
    pub fn offset_at(&self, instant: i64) -> i32 {
        match self.rule {
            Rule::Fixed(seconds) => seconds,
            Rule::Place(tz) => offset_of_place(tz, instant.div_euclid(SECOND)),
            Rule::Abbreviation(abbreviation) => {
                let seconds = instant.div_euclid(SECOND);
                meanings::offset_at(abbreviation, seconds)
                    .unwrap_or_else(|| offset_of_place(abbreviation.tz, seconds))
            }
        }
    }

    /// What a clock shows at an instant; `None` beyond what a timestamp holds.
    pub fn to_local(&self, instant: i64) -> Option<i64> {
        instant.checked_add(i64::from(self.offset_at(instant)) * SECOND)
    }

    /// When a clock shows this. Of two such instants it is the later one, and a time that is skipped counts by the offset before.
    /// An abbreviation has the offset that it meant then.
    pub fn to_instant(&self, local: i64) -> Option<i64> {
        let tz = match self.rule {
            Rule::Fixed(seconds) => return local.checked_sub(i64::from(seconds) * SECOND),
            Rule::Place(tz) => tz,
            Rule::Abbreviation(Abbreviation { tz, .. }) => {
                let name = String::new();
                let rule = Rule::Place(tz);
                let instant = Self { name, rule }.to_instant(local)?;
                return local.checked_sub(i64::from(self.offset_at(instant)) * SECOND);
            }
        };
        let seconds = local.div_euclid(SECOND);
        let before = offset_of_place(tz, seconds - 86_400);
        let after = offset_of_place(tz, seconds + 86_400);
        let holds = |offset: i32| offset_of_place(tz, seconds - i64::from(offset)) == offset;
        let offset = if holds(after) { after } else { before };
        local.checked_sub(i64::from(offset) * SECOND)
    }
}

fn offset_of_place(tz: Tz, seconds: i64) -> i32 {
    let seconds = seconds.saturating_sub(days_from_listed_year(seconds) * 86_400);
    // Years after those that are listed are mapped to listed ones, so only instants before the calendar's first are missing.
    let instant = DateTime::from_timestamp(seconds, 0).unwrap_or(DateTime::<Utc>::MIN_UTC);
    let offset = tz.offset_from_utc_datetime(&instant.naive_utc());
    offset.fix().local_minus_utc()
}

/// Days from a listed year with the same calendar to the year of an instant beyond the list.
fn days_from_listed_year(seconds: i64) -> i64 {
    let days = seconds.div_euclid(86_400);
    let (year, ..) = civil_from_days(days);
    if year <= *LISTED_YEARS.end() {
        return 0;
    }
    let first_day = days_from_civil(year, 1, 1);
    let length = days_from_civil(year + 1, 1, 1) - first_day;
    let alike = LISTED_YEARS.rev().find_map(|listed| {
        let day = days_from_civil(listed, 1, 1);
        let is_alike =
            (first_day - day) % 7 == 0 && days_from_civil(listed + 1, 1, 1) - day == length;
        is_alike.then_some(first_day - day)
    });
    alike.unwrap_or(0)
}

/// Seconds of `±h[h][:mm[:ss]]`.
fn posix_offset(text: &str) -> Option<i32> {
    let (sign, digits) = match text.as_bytes().first()? {
        b'-' => (-1, &text[1..]),
        b'+' => (1, &text[1..]),
        _ => (1, text),
    };
    let mut seconds = 0;
    let mut unit = 3600;
    for part in digits.split(':') {
        let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let value: i32 = part.parse().ok().filter(|_| is_number)?;
        let most = if unit == 3600 { 167 } else { 59 };
        if unit == 0 || value > most {
            return None;
        }
        seconds += value * unit;
        unit /= 60;
    }
    Some(sign * seconds)
}

/// Appends `+02`, `-04:56:02`: seconds east of Greenwich.
pub(crate) fn write_offset(seconds: i32, out: &mut String) {
    let sign = if seconds < 0 { '-' } else { '+' };
    let seconds = seconds.unsigned_abs();
    let _ = write!(out, "{sign}{:02}", seconds / 3600);
    if !seconds.is_multiple_of(3600) {
        let _ = write!(out, ":{:02}", seconds / 60 % 60);
    }
    if !seconds.is_multiple_of(60) {
        let _ = write!(out, ":{:02}", seconds % 60);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::temporal::parse_timestamp;

    fn at(text: &str) -> i64 {
        parse_timestamp(text, None).unwrap()
    }

    // Values are PostgreSQL 15's.
    #[test]
    fn names_are_found_in_any_case() {
        let zone = |text| TimeZoneRules::of_setting(text).map(|zone| zone.name().to_owned());
        assert_eq!(zone("europe/berlin").as_deref(), Some("Europe/Berlin"));
        assert_eq!(zone("+02").as_deref(), Some("<+02>-02"));
        assert_eq!(zone("-5.5").as_deref(), Some("<-05:30>+05:30"));
        assert_eq!(zone("UTC+3").as_deref(), Some("UTC+3"));
        assert_eq!(zone("est").as_deref(), Some("EST"));
        for unknown in [
            "nonsense/zone",
            "msk",
            "CEST",
            "",
            "<+02",
            "UTC+200",
            "+02:",
            "300",
        ] {
            assert_eq!(zone(unknown), None, "{unknown}");
        }
    }

    #[test]
    fn posix_counts_westward_and_settings_eastward() {
        let east = |zone: Option<TimeZoneRules>| zone.unwrap().offset_at(0);
        assert_eq!(east(TimeZoneRules::of_setting("+02")), 7_200);
        assert_eq!(east(TimeZoneRules::named("+02")), -7_200);
        assert_eq!(east(TimeZoneRules::named("UTC+3")), -10_800);
        assert_eq!(east(TimeZoneRules::named("FOO+05:30")), -19_800);
        assert_eq!(east(TimeZoneRules::of_setting("<+02>-02")), 7_200);
        assert_eq!(east(TimeZoneRules::named("est")), -18_000);
    }

    #[test]
    fn skipped_and_repeated_times_are_as_in_postgresql() {
        let zone = TimeZoneRules::named("America/New_York").unwrap();
        for (local, instant) in [
            ("2024-03-10 02:30:00", "2024-03-10 07:30:00"),
            ("2024-11-03 01:30:00", "2024-11-03 06:30:00"),
            ("2024-07-01 00:00:00", "2024-07-01 04:00:00"),
            ("2024-12-01 00:00:00", "2024-12-01 05:00:00"),
            ("2500-07-01 00:00:00", "2500-07-01 04:00:00"),
        ] {
            assert_eq!(zone.to_instant(at(local)), Some(at(instant)), "{local}");
        }
        assert_eq!(
            zone.to_local(at("2500-01-01 05:00:00")),
            Some(at("2500-01-01 00:00:00"))
        );
    }

    #[test]
    fn abbreviations_have_the_offset_that_they_meant() {
        let zone = TimeZoneRules::named("msk").unwrap();
        for (local, instant) in [
            ("2011-03-27 01:59:59", "2011-03-26 22:59:59"),
            ("2011-03-27 02:00:00", "2011-03-26 22:00:00"),
            ("2011-03-27 03:00:00", "2011-03-26 23:00:00"),
            ("2009-07-01 00:00:00", "2009-06-30 21:00:00"),
            ("2014-10-26 00:59:59", "2014-10-25 20:59:59"),
            ("2014-10-26 01:30:00", "2014-10-25 22:30:00"),
            ("2020-07-01 00:00:00", "2020-06-30 21:00:00"),
        ] {
            assert_eq!(zone.to_instant(at(local)), Some(at(instant)), "{local}");
        }
        // What a place no longer calls so is its own time.
        let zone = TimeZoneRules::named("VET").unwrap();
        assert_eq!(
            zone.to_instant(at("2010-01-01 00:00:00")),
            Some(at("2010-01-01 04:30:00"))
        );
    }

    #[test]
    fn extremes_have_an_answer() {
        let zone = TimeZoneRules::named("Asia/Tokyo").unwrap();
        assert_eq!(zone.to_local(i64::MAX), None);
        assert!(zone.to_local(i64::MIN).is_some());
        assert_eq!(zone.to_instant(i64::MIN), None);
    }
}
