//! Texts that are read by a pattern, as `to_timestamp` and `to_date` do it.

use super::civil::Civil;
use super::pattern::{DAYS, MONTHS, PatternField, PatternNode, ROMAN, is_separator, nodes};
use crate::gregorian::{days_from_civil, month_days};
use crate::zone::{DAY, SECOND};

/// Why a text cannot be read: a SQLSTATE and a message.
pub type Unreadable = (&'static str, String);

/// Reads a text by a pattern: a timestamp, and seconds east of Greenwich, where the text says so.
pub fn read_by_pattern(pattern: &str, text: &str) -> Result<(i64, Option<i32>), Unreadable> {
    let nodes = nodes(pattern);
    let mut reader = PatternReader {
        text,
        rest: text,
        skipped: 0,
        found: PatternValues::default(),
    };
    let is_exact = |node: &PatternNode| {
        let PatternNode::Field { field, .. } = node else {
            return false;
        };
        *field == PatternField::Nothing
    };
    let is_fixed = nodes.iter().any(is_exact);
    for (place, node) in nodes.iter().enumerate() {
        if reader.rest.is_empty() {
            break;
        }
        reader.node(place, node, &nodes, is_fixed)?;
    }
    reader.found.moment()
}

struct PatternReader<'t> {
    text: &'t str,
    rest: &'t str,
    /// Blanks that were skipped beyond what the pattern has.
    skipped: i32,
    found: PatternValues,
}

/// The values of fields.
#[derive(Default)]
struct PatternValues {
    year: Option<i64>,
    year_digits: usize,
    century: Option<i64>,
    is_before_christ: bool,
    month: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    day_of_week: Option<i64>,
    week: Option<i64>,
    week_of_month: Option<i64>,
    julian: Option<i64>,
    hour: Option<i64>,
    has_half_days: bool,
    is_afternoon: bool,
    minute: Option<i64>,
    second: Option<i64>,
    second_of_day: Option<i64>,
    micros: i64,
    offset_sign: i32,
    offset_hours: i64,
    offset_minutes: i64,
    has_offset: bool,
    is_iso: Option<bool>,
    /// Digits of the second that `FF` asks for.
    fraction_digits: Option<u32>,
}

fn invalid<T>(text: impl Into<String>) -> Result<T, Unreadable> {
    Err(("22007", text.into()))
}

impl PatternReader<'_> {
    fn node(
        &mut self,
        place: usize,
        node: &PatternNode,
        nodes: &[PatternNode],
        is_fixed: bool,
    ) -> Result<(), Unreadable> {
        let is_field = matches!(node, PatternNode::Field { .. });
        if !is_fixed && (is_field || place == 0) {
            self.skip_blanks();
        }
        match node {
            PatternNode::Separator(_) if !is_fixed => {
                self.skipped -= 1;
                if self.rest.starts_with(is_separator) {
                    self.rest = &self.rest[1..];
                    self.skipped += 1;
                }
            }
            PatternNode::Text(_) if !is_fixed && self.skipped > 0 => self.skipped -= 1,
            PatternNode::Separator(_) | PatternNode::Text(_) => {
                let length = self.rest.chars().next().map_or(0, char::len_utf8);
                self.rest = &self.rest[length..];
            }
            PatternNode::Field {
                field,
                letters,
                is_short,
                ordinal,
            } => {
                let next = nodes.get(place + 1);
                let is_open = *is_short || ordinal.is_some() || ends_number(next);
                self.field(*field, *letters, is_open)?;
                if ordinal.is_some() {
                    self.rest = self.rest.get(2..).unwrap_or("");
                }
                if !is_fixed {
                    self.skipped = 0;
                    self.skip_blanks();
                }
            }
        }
        Ok(())
    }

    fn skip_blanks(&mut self) {
        let trimmed = self.rest.trim_start();
        self.skipped += (self.rest.len() - trimmed.len()) as i32;
        self.rest = trimmed;
    }

    /// A number of so many digits, or of all that are there. Gives how many there were, too.
    fn number(&mut self, digits: usize, is_open: bool) -> Result<(i64, usize), Unreadable> {
        self.rest = self.rest.trim_start();
        let wrong = |text: &str| invalid(format!("invalid value \"{text}\" for a number"));
        let end_of = |text: &str| {
            let signed = usize::from(text.starts_with(['-', '+']));
            let digits = text[signed..].find(|letter: char| !letter.is_ascii_digit());
            digits.map_or(text.len(), |digits| digits + signed)
        };
        let length = if is_open {
            end_of(self.rest)
        } else {
            let taken: String = self.rest.chars().take(digits).collect();
            if taken.chars().count() < digits {
                return invalid("source string too short for a formatting field");
            }
            let end = end_of(&taken);
            if end < taken.len() && end > 0 {
                return wrong(&taken);
            }
            end
        };
        let (number, rest) = self.rest.split_at(length);
        let Ok(value) = number.trim_start_matches('+').parse::<i32>() else {
            if number.len() > 9 {
                return Err(("22008", format!("value \"{number}\" is out of range")));
            }
            return wrong(self.rest);
        };
        self.rest = rest;
        Ok((value.into(), length))
    }

    /// The place of the name that the text begins with.
    fn name(&mut self, names: &[String]) -> Result<usize, Unreadable> {
        let begins = |name: &String| {
            let start = self.rest.get(..name.len());
            start.is_some_and(|start| start.eq_ignore_ascii_case(name))
        };
        match names.iter().position(begins) {
            Some(place) => {
                self.rest = &self.rest[names[place].len()..];
                Ok(place)
            }
            None => {
                let word = self.rest.split_whitespace().next().unwrap_or("");
                invalid(format!("invalid value \"{word}\" for a name"))
            }
        }
    }

    fn of_convention(&mut self, is_iso: bool) -> Result<(), Unreadable> {
        match self.found.is_iso.replace(is_iso) {
            Some(before) if before != is_iso => invalid("invalid combination of date conventions"),
            _ => Ok(()),
        }
    }

    fn field(
        &mut self,
        field: PatternField,
        letters: usize,
        is_open: bool,
    ) -> Result<(), Unreadable> {
        match field {
            PatternField::Nothing => return Ok(()),
            PatternField::Era(has_points, _) => {
                let place = self.name(&either(["AD", "BC"], has_points))?;
                self.found.is_before_christ = place == 1;
                return Ok(());
            }
            PatternField::HalfDay(has_points, _) => {
                let place = self.name(&either(["AM", "PM"], has_points))?;
                self.found.is_afternoon = place == 1;
                self.found.has_half_days = true;
                return Ok(());
            }
            PatternField::MonthName(is_long, _) => {
                let place = self.name(&names(&MONTHS, is_long))?;
                return set(&mut self.found.month, place as i64 + 1);
            }
            PatternField::DayName(is_long, _) => {
                self.name(&names(&DAYS, is_long))?;
                return Ok(());
            }
            PatternField::RomanMonth(_) => {
                // The longer ones are tried first.
                let mut numbers: Vec<usize> = (0..12).collect();
                numbers.sort_by_key(|number| std::cmp::Reverse(ROMAN[*number].len()));
                let texts: Vec<_> = numbers.iter().map(|n| ROMAN[*n].to_owned()).collect();
                let place = self.name(&texts)?;
                return set(&mut self.found.month, numbers[place] as i64 + 1);
            }
            PatternField::Year(5) => return self.year_with_comma(),
            PatternField::ZoneName | PatternField::Offset => {
                let text = "formatting fields TZ and OF are only supported in to_char";
                return Err(("0A000", text.to_owned()));
            }
            PatternField::OffsetHours => {
                self.found.has_offset = true;
                // The sign may have been taken for one between fields.
                let before = self.text.get(..self.text.len() - self.rest.len());
                let is_behind_sign = self.skipped > 0 && before.is_some_and(|t| t.ends_with('-'));
                let is_signed = self.rest.starts_with(['+', '-', ' ']);
                let is_west = self.rest.starts_with('-') || (!is_signed && is_behind_sign);
                self.found.offset_sign = if is_west { -1 } else { 1 };
                self.rest = self.rest.trim_start_matches(['+', '-', ' ']);
                self.found.offset_hours = self.number(2, is_open)?.0;
                return Ok(());
            }
            _ => {}
        }
        self.numeric(field, letters, is_open)
    }

    fn numeric(
        &mut self,
        field: PatternField,
        letters: usize,
        is_open: bool,
    ) -> Result<(), Unreadable> {
        if let Some(is_iso) = field.is_of_iso_week() {
            self.of_convention(is_iso)?;
        }
        let digits = field.digit_count_max(letters);
        let (value, length) = self.number(digits, is_open)?;
        let found = &mut self.found;
        match field {
            PatternField::Hour12 | PatternField::Hour24 => {
                found.has_half_days |= field == PatternField::Hour12;
                set(&mut found.hour, value)
            }
            PatternField::Minute => set(&mut found.minute, value),
            PatternField::Second => set(&mut found.second, value),
            PatternField::SecondOfDay => set(&mut found.second_of_day, value),
            PatternField::Fraction(digits) => {
                // `FF3`, unlike `MS`, says to how many digits the second is rounded.
                found.fraction_digits = (letters == 3).then_some(digits);
                found.micros += value * 10_i64.pow(6_u32.saturating_sub(length as u32));
                Ok(())
            }
            PatternField::OffsetMinutes => {
                if !found.has_offset {
                    (found.has_offset, found.offset_sign) = (true, 1);
                }
                found.offset_minutes = value;
                Ok(())
            }
            PatternField::Month => set(&mut found.month, value),
            PatternField::DayOfMonth => set(&mut found.day, value),
            PatternField::DayOfYear | PatternField::IsoDayOfYear => {
                set(&mut found.day_of_year, value)
            }
            PatternField::IsoDayOfWeek => set(&mut found.day_of_week, value),
            PatternField::WeekOfYear | PatternField::IsoWeek => set(&mut found.week, value),
            PatternField::WeekOfMonth => set(&mut found.week_of_month, value),
            PatternField::Julian => set(&mut found.julian, value),
            PatternField::Century => set(&mut found.century, value),
            PatternField::Year(count) | PatternField::IsoYear(count) => {
                found.year_digits = count.into();
                let is_partial = count < 4 && length < 4;
                set(
                    &mut found.year,
                    if is_partial { near_2020(value) } else { value },
                )
            }
            _ => Ok(()),
        }
    }

    /// `1,999`
    fn year_with_comma(&mut self) -> Result<(), Unreadable> {
        let (thousands, _) = self.number(1, true)?;
        let Some(behind) = self.rest.strip_prefix(',') else {
            return invalid("invalid input string for \"Y,YYY\"");
        };
        self.rest = behind;
        let (rest, _) = self.number(3, false)?;
        self.found.year_digits = 4;
        set(&mut self.found.year, thousands * 1_000 + rest)
    }
}

fn set(place: &mut Option<i64>, value: i64) -> Result<(), Unreadable> {
    match place.replace(value) {
        Some(before) if before != value => {
            invalid("conflicting values for one field in formatting string")
        }
        _ => Ok(()),
    }
}

/// Whether what follows cannot be a digit of the number before it.
fn ends_number(next: Option<&PatternNode>) -> bool {
    match next {
        None => true,
        Some(PatternNode::Field { field, .. }) => matches!(
            field,
            PatternField::Era(..)
                | PatternField::HalfDay(..)
                | PatternField::MonthName(..)
                | PatternField::DayName(..)
                | PatternField::RomanMonth(_)
                | PatternField::ZoneName
                | PatternField::Offset
                | PatternField::Nothing
        ),
        Some(PatternNode::Separator(letter) | PatternNode::Text(letter)) => {
            !letter.is_ascii_digit()
        }
    }
}

fn either(words: [&str; 2], has_points: bool) -> Vec<String> {
    let spelled = words.map(|word| {
        if has_points {
            word.chars().flat_map(|letter| [letter, '.']).collect()
        } else {
            word.to_owned()
        }
    });
    spelled.into()
}

fn names(all: &[&str], is_long: bool) -> Vec<String> {
    let shown = all.iter().map(|name| {
        if is_long {
            (*name).to_owned()
        } else {
            name[..3].to_owned()
        }
    });
    shown.collect()
}

/// A year without its first digits.
fn near_2020(year: i64) -> i64 {
    match year {
        0..70 => year + 2_000,
        70..100 => year + 1_900,
        100..520 => year + 2_000,
        520..1_000 => year + 1_000,
        year => year,
    }
}

impl PatternValues {
    fn moment(self) -> Result<(i64, Option<i32>), Unreadable> {
        let out_of_range = || {
            let text = "date/time field value out of range".to_owned();
            ("22008", text)
        };
        let time = self.time()?;
        let days = self.days()?;
        let time = self.rounded(time);
        let local = days
            .checked_mul(DAY)
            .and_then(|start| start.checked_add(time));
        let seconds = self.offset_hours * 3_600 + self.offset_minutes * 60;
        if self.offset_hours > 15 || self.offset_minutes > 59 {
            return Err(out_of_range());
        }
        let offset = self.has_offset.then(|| self.offset_sign * seconds as i32);
        Ok((local.ok_or_else(out_of_range)?, offset))
    }

    fn rounded(&self, time: i64) -> i64 {
        let unit = 10_i64.pow(6 - self.fraction_digits.unwrap_or(6).min(6));
        (time + unit / 2) / unit * unit
    }

    fn time(&self) -> Result<i64, Unreadable> {
        let of_day = self.second_of_day.unwrap_or(0);
        let mut hour = self.hour.unwrap_or(of_day / 3_600);
        let minute = self.minute.unwrap_or(of_day / 60 % 60);
        let second = self.second.unwrap_or(of_day % 60);
        if self.has_half_days {
            if !(1..=12).contains(&hour) {
                return invalid(format!("hour \"{hour}\" is invalid for the 12-hour clock"));
            }
            hour = hour % 12 + if self.is_afternoon { 12 } else { 0 };
        }
        let is_time =
            (0..24).contains(&hour) && (0..60).contains(&minute) && (0..60).contains(&second);
        if !is_time || !(0..SECOND).contains(&self.micros) {
            return Err(("22008", "date/time field value out of range".to_owned()));
        }
        Ok(((hour * 60 + minute) * 60 + second) * SECOND + self.micros)
    }

    /// The year as the calendar counts it, with a 0 before the first.
    fn year_of_calendar(&self) -> i64 {
        match (self.year, self.century) {
            (Some(year), Some(century)) if self.year_digits <= 2 => {
                let century = if self.is_before_christ {
                    -century
                } else {
                    century
                };
                match (year % 100, century >= 0) {
                    (0, true) => century * 100,
                    (0, false) => century * 100 + 1,
                    (year, true) => year + (century - 1) * 100,
                    (year, false) => (century + 1) * 100 - year + 1,
                }
            }
            (Some(year), _) => {
                let year = if self.is_before_christ { -year } else { year };
                if year < 0 { year + 1 } else { year }
            }
            (None, Some(century)) => {
                let century = if self.is_before_christ {
                    -century
                } else {
                    century
                };
                let first = if century >= 0 {
                    (century - 1) * 100
                } else {
                    century * 100
                };
                first + 1
            }
            (None, None) => 0,
        }
    }

    fn days(&self) -> Result<i64, Unreadable> {
        let year = self.year_of_calendar();
        if let Some(julian) = self.julian {
            return Ok(julian - 2_440_588);
        }
        let is_iso = self.is_iso == Some(true);
        let monday = || {
            let fourth = days_from_civil(year, 1, 4);
            let weekday = Civil::of(fourth * DAY).weekday();
            fourth - (weekday + 6) % 7
        };
        if let (Some(week), true) = (self.week, is_iso) {
            let day = self.day_of_week.unwrap_or(1).max(1);
            return Ok(monday() + (week - 1) * 7 + day - 1);
        }
        let of_week = |week: Option<i64>| week.map(|week| (week - 1) * 7 + 1);
        let day_of_year = of_week(self.week).or(self.day_of_year);
        let day = of_week(self.week_of_month).or(self.day);
        if let (Some(day_of_year), true) = (
            day_of_year,
            self.month.is_none_or(|month| month <= 1) || day.is_none_or(|day| day <= 1),
        ) {
            if self.year.is_none() && self.century.is_none() {
                return invalid("cannot calculate day of year without year information");
            }
            let last = if is_iso {
                371
            } else {
                days_from_civil(year + 1, 1, 1) - days_from_civil(year, 1, 1)
            };
            if !(1..=last).contains(&day_of_year) {
                return Err(("22008", "date/time field value out of range".to_owned()));
            }
            let first = if is_iso {
                monday()
            } else {
                days_from_civil(year, 1, 1)
            };
            return Ok(first + day_of_year - 1);
        }
        let (month, day) = (self.month.unwrap_or(1), day.unwrap_or(1));
        let month = u32::try_from(month)
            .ok()
            .filter(|month| (1..=12).contains(month));
        let day = u32::try_from(day).ok().filter(|day| *day > 0);
        match (month, day) {
            (Some(month), Some(day)) if day <= month_days(year, month) => {
                Ok(days_from_civil(year, month, day))
            }
            _ => Err(("22008", "date/time field value out of range".to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::temporal::write_timestamp;

    fn read(text: &str, pattern: &str) -> String {
        let (micros, _) = read_by_pattern(pattern, text).unwrap();
        let mut shown = String::new();
        write_timestamp(micros, SECOND, None, &mut shown);
        shown
    }

    // Values are PostgreSQL 15's.
    #[test]
    fn texts_are_read_by_patterns() {
        for (text, pattern, expected) in [
            (
                "0097/Feb/16 --> 08:14:30",
                "YYYY/Mon/DD --> HH:MI:SS",
                "0097-02-16 08:14:30",
            ),
            (
                "97/2/16 8:14:30",
                "FMYYYY/FMMM/FMDD FMHH:FMMI:FMSS",
                "0097-02-16 08:14:30",
            ),
            (
                "2011$03!18 23_38_15",
                "YYYY-MM-DD HH24:MI:SS",
                "2011-03-18 23:38:15",
            ),
            ("1985 January 12", "YYYY FMMonth DD", "1985-01-12 00:00:00"),
            (
                "My birthday-> Year: 1976, Month: May, Day: 16",
                "\"My birthday-> Year:\" YYYY, \"Month:\" FMMonth, \"Day:\" DD",
                "1976-05-16 00:00:00",
            ),
            ("1,582nd VIII 21", "Y,YYYth FMRM DD", "1582-08-21 00:00:00"),
            ("05121445482000", "MMDDHH24MISSYYYY", "2000-05-12 14:45:48"),
            (
                "2000January09Sunday",
                "YYYYFMMonthDDFMDay",
                "2000-01-09 00:00:00",
            ),
            ("97/Feb/16", "YY/Mon/DD", "1997-02-16 00:00:00"),
            ("2005527", "YYYYWWD", "2005-12-24 00:00:00"),
            ("2005527", "IYYYIWID", "2006-01-01 00:00:00"),
            (
                "44-02-01 11:12:13 BC",
                "YYYY-MM-DD HH24:MI:SS BC",
                "0044-02-01 11:12:13 BC",
            ),
            (
                "2011-12-18 11:38 PM",
                "YYYY-MM-DD HH12:MI PM",
                "2011-12-18 23:38:00",
            ),
            (
                "2018-11-02 12:34:56.025",
                "YYYY-MM-DD HH24:MI:SS.MS",
                "2018-11-02 12:34:56.025",
            ),
        ] {
            assert_eq!(read(text, pattern), expected, "{text}");
        }
        let zoned = read_by_pattern("YYYY-MM-DD HH24:MI TZH:TZM", "2011-12-18 11:38 -05:20");
        assert_eq!(zoned.unwrap().1, Some(-19_200));
    }

    #[test]
    fn other_texts_are_refused() {
        for (text, pattern, sqlstate) in [
            ("2005527", "YYYYIWID", "22007"),
            ("19971", "YYYYMMDD", "22007"),
            ("199711xy", "YYYYMMDD", "22007"),
            ("2016-13-10", "YYYY-MM-DD", "22008"),
            ("2016-06-13 25:00:00", "YYYY-MM-DD HH24:MI:SS", "22008"),
            ("2016-06-13 15:50:55", "YYYY-MM-DD HH:MI:SS", "22007"),
        ] {
            let refused = read_by_pattern(pattern, text).map_err(|(sqlstate, _)| sqlstate);
            assert_eq!(refused, Err(sqlstate), "{text}");
        }
    }
}
