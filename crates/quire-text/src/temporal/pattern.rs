//! Patterns that say how a time is written, as `to_char` takes them: `YYYY-MM-DD HH24:MI:SS`, `FMDay, DDth "of" Month`.

use std::fmt::Write as _;

use super::civil::Civil;
use super::interval::{Interval, MONTHS_PER_YEAR};
use crate::zone::SECOND;

/// What a pattern cannot be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternError {
    /// A field of the calendar, asked of an interval.
    OfInterval,
    /// The name of a zone, which is not known here.
    ZoneName,
}

/// What is written.
pub enum WrittenPattern {
    /// A timestamp, and how many seconds east of Greenwich its clock is, if that is known.
    Moment(i64, Option<i32>),
    Interval(Interval),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LetterCase {
    Upper,
    Capital,
    Lower,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PatternField {
    Era(bool, LetterCase),
    HalfDay(bool, LetterCase),
    MonthName(bool, LetterCase),
    DayName(bool, LetterCase),
    RomanMonth(LetterCase),
    Century,
    /// So many digits of the year; 5 is with a comma.
    Year(u8),
    IsoYear(u8),
    Quarter,
    Month,
    WeekOfMonth,
    WeekOfYear,
    IsoWeek,
    DayOfYear,
    IsoDayOfYear,
    DayOfMonth,
    DayOfWeek,
    IsoDayOfWeek,
    Julian,
    Hour12,
    Hour24,
    Minute,
    Second,
    SecondOfDay,
    /// So many digits of the fraction of the second.
    Fraction(u32),
    Offset,
    OffsetHours,
    OffsetMinutes,
    ZoneName,
    /// `FX` says how texts are read.
    Nothing,
}

/// A name, and the field that it is in large or in small letters.
type CasedField = (&'static str, fn(LetterCase) -> PatternField);

const CASED: [CasedField; 11] = [
    ("A.D.", |case| PatternField::Era(true, case)),
    ("B.C.", |case| PatternField::Era(true, case)),
    ("AD", |case| PatternField::Era(false, case)),
    ("BC", |case| PatternField::Era(false, case)),
    ("A.M.", |case| PatternField::HalfDay(true, case)),
    ("P.M.", |case| PatternField::HalfDay(true, case)),
    ("AM", |case| PatternField::HalfDay(false, case)),
    ("PM", |case| PatternField::HalfDay(false, case)),
    ("RM", PatternField::RomanMonth),
    ("TZ", |_| PatternField::ZoneName),
    ("FX", |_| PatternField::Nothing),
];

/// Names of which the first letter may be large alone. The longer ones come first.
const NAMED: [CasedField; 4] = [
    ("MONTH", |case| PatternField::MonthName(true, case)),
    ("MON", |case| PatternField::MonthName(false, case)),
    ("DAY", |case| PatternField::DayName(true, case)),
    ("DY", |case| PatternField::DayName(false, case)),
];

/// The same in large and small letters. Of two that begin alike the longer one comes first.
const PLAIN: [(&str, PatternField); 39] = [
    ("SSSSS", PatternField::SecondOfDay),
    ("SSSS", PatternField::SecondOfDay),
    ("Y,YYY", PatternField::Year(5)),
    ("HH24", PatternField::Hour24),
    ("HH12", PatternField::Hour12),
    ("IDDD", PatternField::IsoDayOfYear),
    ("IYYY", PatternField::IsoYear(4)),
    ("YYYY", PatternField::Year(4)),
    ("TZH", PatternField::OffsetHours),
    ("TZM", PatternField::OffsetMinutes),
    ("DDD", PatternField::DayOfYear),
    ("IYY", PatternField::IsoYear(3)),
    ("YYY", PatternField::Year(3)),
    ("FF1", PatternField::Fraction(1)),
    ("FF2", PatternField::Fraction(2)),
    ("FF3", PatternField::Fraction(3)),
    ("FF4", PatternField::Fraction(4)),
    ("FF5", PatternField::Fraction(5)),
    ("FF6", PatternField::Fraction(6)),
    ("CC", PatternField::Century),
    ("DD", PatternField::DayOfMonth),
    ("HH", PatternField::Hour12),
    ("ID", PatternField::IsoDayOfWeek),
    ("IW", PatternField::IsoWeek),
    ("IY", PatternField::IsoYear(2)),
    ("MI", PatternField::Minute),
    ("MM", PatternField::Month),
    ("MS", PatternField::Fraction(3)),
    ("OF", PatternField::Offset),
    ("SS", PatternField::Second),
    ("US", PatternField::Fraction(6)),
    ("WW", PatternField::WeekOfYear),
    ("YY", PatternField::Year(2)),
    ("D", PatternField::DayOfWeek),
    ("I", PatternField::IsoYear(1)),
    ("J", PatternField::Julian),
    ("Q", PatternField::Quarter),
    ("W", PatternField::WeekOfMonth),
    ("Y", PatternField::Year(1)),
];

/// A field at the front of a pattern, and how many letters it has.
fn field_of(pattern: &str) -> Option<(PatternField, usize)> {
    let named = NAMED.iter().find_map(|(name, make)| {
        let (first, rest) = name.split_at(1);
        let capital = format!("{first}{}", rest.to_lowercase());
        let lower = name.to_lowercase();
        let case = match pattern {
            _ if pattern.starts_with(name) => LetterCase::Upper,
            _ if pattern.starts_with(&capital) => LetterCase::Capital,
            _ if pattern.starts_with(&lower) => LetterCase::Lower,
            _ => return None,
        };
        Some((make(case), name.len()))
    });
    let plain = || {
        let begins =
            |name: &str| pattern.starts_with(name) || pattern.starts_with(&name.to_lowercase());
        let found = PLAIN.iter().find(|(name, _)| begins(name));
        found.map(|(name, field)| (*field, name.len()))
    };
    let cased = CASED.iter().find_map(|(name, make)| {
        let case = match pattern {
            _ if pattern.starts_with(name) => LetterCase::Upper,
            _ if pattern.starts_with(&name.to_lowercase()) => LetterCase::Lower,
            _ => return None,
        };
        Some((make(case), name.len()))
    });
    let cased = cased.filter(|_| {
        !["TZH", "TZM", "tzh", "tzm"]
            .iter()
            .any(|z| pattern.starts_with(z))
    });
    named.or(cased).or_else(plain)
}

/// A piece of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PatternNode {
    Field {
        field: PatternField,
        /// Letters of its name.
        letters: usize,
        /// `FM`: without blanks and zeros that fill it up.
        is_short: bool,
        /// `TH` or `th`, the former in large letters.
        ordinal: Option<bool>,
    },
    /// A sign or a blank.
    Separator(char),
    Text(char),
}

/// The pieces of a pattern.
pub(super) fn nodes(pattern: &str) -> Vec<PatternNode> {
    let mut nodes = Vec::new();
    let mut rest = pattern;
    let mut is_short = false;
    while let Some(letter) = rest.chars().next() {
        if let Some(behind) = prefix(rest, "FM") {
            (rest, is_short) = (behind, true);
            continue;
        }
        if let Some(behind) = prefix(rest, "TM") {
            rest = behind;
            continue;
        }
        if let Some((field, letters)) = field_of(rest) {
            rest = &rest[letters..];
            let mut ordinal = None;
            for (suffix, is_upper) in [("TH", true), ("th", false)] {
                if let Some(behind) = rest.strip_prefix(suffix).filter(|_| ordinal.is_none()) {
                    (rest, ordinal) = (behind, Some(is_upper));
                }
            }
            rest = rest.strip_prefix("SP").unwrap_or(rest);
            nodes.push(PatternNode::Field {
                field,
                letters,
                is_short,
                ordinal,
            });
            is_short = false;
            continue;
        }
        rest = &rest[letter.len_utf8()..];
        match letter {
            '"' => rest = quoted(rest, &mut nodes),
            '\\' if rest.starts_with('"') => {
                nodes.push(PatternNode::Text('"'));
                rest = &rest[1..];
            }
            sign if is_separator(sign) => nodes.push(PatternNode::Separator(sign)),
            letter => nodes.push(PatternNode::Text(letter)),
        }
    }
    nodes
}

pub(super) fn is_separator(letter: char) -> bool {
    letter.is_ascii() && !letter.is_ascii_alphanumeric() && !letter.is_ascii_control()
}

/// Writes a time by a pattern.
pub fn write_by_pattern(pattern: &str, written: &WrittenPattern) -> Result<String, PatternError> {
    let parts = PatternParts::of(written);
    let mut out = String::new();
    for node in nodes(pattern) {
        let (field, is_short, is_upper) = match node {
            PatternNode::Separator(letter) | PatternNode::Text(letter) => {
                out.push(letter);
                continue;
            }
            PatternNode::Field {
                field,
                is_short,
                ordinal,
                ..
            } => (field, is_short, ordinal),
        };
        let start = out.len();
        parts.write(field, is_short, &mut out)?;
        if let Some(is_upper) = is_upper {
            let ending = ordinal(&out[start..]);
            out.push_str(&if is_upper {
                ending.to_uppercase()
            } else {
                ending.to_owned()
            });
        }
    }
    Ok(out)
}

fn prefix<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.strip_prefix(name)
        .or_else(|| text.strip_prefix(&*name.to_lowercase()))
}

/// Text in double quotes; gives what stands behind it.
fn quoted<'t>(text: &'t str, nodes: &mut Vec<PatternNode>) -> &'t str {
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return &text[at + 1..],
            '\\' => nodes.extend(letters.next().map(|(_, letter)| PatternNode::Text(letter))),
            letter => nodes.push(PatternNode::Text(letter)),
        }
    }
    ""
}

/// The ending of an ordinal number.
fn ordinal(digits: &str) -> &'static str {
    let is_teen = digits.len() > 1 && digits.as_bytes()[digits.len() - 2] == b'1';
    match digits.as_bytes().last() {
        Some(b'1') if !is_teen => "st",
        Some(b'2') if !is_teen => "nd",
        Some(b'3') if !is_teen => "rd",
        _ => "th",
    }
}

pub(super) const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
pub(super) const ROMAN: [&str; 12] = [
    "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII",
];
pub(super) const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

/// Names of months and days are filled up to the longest one.
const NAME_LETTERS: usize = 9;

/// The parts of what is written.
struct PatternParts {
    /// Of the calendar; nothing of an interval.
    civil: Option<Civil>,
    /// As it is written: years before the first are counted back from it.
    year: i64,
    month: i64,
    day: i64,
    hour: i64,
    micros: i64,
    offset: Option<i32>,
}

impl PatternParts {
    fn of(written: &WrittenPattern) -> Self {
        match written {
            WrittenPattern::Moment(timestamp, offset) => {
                let civil = Civil::of(*timestamp);
                let year = civil.year;
                Self {
                    year: if year <= 0 { 1 - year } else { year },
                    month: civil.month.into(),
                    day: civil.day.into(),
                    hour: civil.time / (3_600 * SECOND),
                    micros: civil.time,
                    offset: *offset,
                    civil: Some(civil),
                }
            }
            WrittenPattern::Interval(interval) => Self {
                civil: None,
                year: (interval.months / MONTHS_PER_YEAR).into(),
                month: (interval.months % MONTHS_PER_YEAR).into(),
                day: interval.days.into(),
                hour: interval.micros / (3_600 * SECOND),
                micros: interval.micros,
                offset: None,
            },
        }
    }

    fn civil(&self) -> Result<&Civil, PatternError> {
        self.civil.as_ref().ok_or(PatternError::OfInterval)
    }

    fn write(
        &self,
        field: PatternField,
        is_short: bool,
        out: &mut String,
    ) -> Result<(), PatternError> {
        if let Some((value, width)) = self.number(field)? {
            // The sign is one more.
            let width = if is_short || width == 0 {
                0
            } else {
                width + usize::from(value < 0)
            };
            let _ = write!(out, "{value:0width$}");
            return Ok(());
        }
        let filled = |name: &str, width: usize| {
            if is_short {
                name.to_owned()
            } else {
                format!("{name:<width$}")
            }
        };
        let text = match field {
            PatternField::Era(has_points, case) => {
                let is_before = self.civil()?.year <= 0;
                cased(
                    with_points(if is_before { "BC" } else { "AD" }, has_points),
                    case,
                )
            }
            PatternField::HalfDay(has_points, case) => {
                let is_afternoon = self.hour % 24 >= 12;
                cased(
                    with_points(if is_afternoon { "PM" } else { "AM" }, has_points),
                    case,
                )
            }
            PatternField::MonthName(is_long, case) => {
                self.civil()?;
                let name = MONTHS[(self.month - 1) as usize % 12];
                self.name(name, is_long, case, &filled)
            }
            PatternField::DayName(is_long, case) => {
                let name = DAYS[self.civil()?.weekday() as usize % 7];
                self.name(name, is_long, case, &filled)
            }
            PatternField::RomanMonth(case) => match self.roman_month() {
                None => String::new(),
                Some(name) => filled(&cased(name.to_owned(), case), 4),
            },
            PatternField::Year(5) => format!("{},{:03}", self.year / 1_000, self.year % 1_000),
            PatternField::Offset | PatternField::OffsetHours | PatternField::OffsetMinutes => {
                self.offset(field, is_short)?
            }
            PatternField::ZoneName => return Err(PatternError::ZoneName),
            _ => String::new(),
        };
        out.push_str(&text);
        Ok(())
    }

    fn name(
        &self,
        name: &str,
        is_long: bool,
        case: LetterCase,
        filled: &dyn Fn(&str, usize) -> String,
    ) -> String {
        if is_long {
            filled(&cased(name.to_owned(), case), NAME_LETTERS)
        } else {
            cased(name[..3].to_owned(), case)
        }
    }

    fn offset(&self, field: PatternField, is_short: bool) -> Result<String, PatternError> {
        self.civil()?;
        let seconds = self.offset.unwrap_or(0);
        let sign = if seconds < 0 { '-' } else { '+' };
        let (hours, minutes) = (seconds.abs() / 3_600, seconds.abs() / 60 % 60);
        Ok(match field {
            PatternField::OffsetHours => format!("{sign}{hours:02}"),
            PatternField::OffsetMinutes => format!("{minutes:02}"),
            _ => {
                let width = if is_short { 0 } else { 2 };
                let minutes = match minutes {
                    0 => String::new(),
                    minutes => format!(":{minutes:02}"),
                };
                format!("{sign}{hours:0width$}{minutes}")
            }
        })
    }

    /// A field that is a number, and how many digits it is filled up to.
    fn number(&self, field: PatternField) -> Result<Option<(i64, usize)>, PatternError> {
        let of_hour = self.micros % (3_600 * SECOND);
        let digits = |count: u8, year: i64| match count {
            4 => (year, 4),
            count => (year % 10_i64.pow(count.into()), usize::from(count)),
        };
        Ok(Some(match field {
            PatternField::Hour12 => match self.hour % 12 {
                0 => (12, 2),
                hour => (hour, 2),
            },
            PatternField::Hour24 => (self.hour, 2),
            PatternField::Minute => (of_hour / (60 * SECOND), 2),
            PatternField::Second => (of_hour / SECOND % 60, 2),
            PatternField::SecondOfDay => (self.micros / SECOND, 0),
            PatternField::Fraction(digits) => {
                let unit = 10_i64.pow(6 - digits);
                (self.micros % SECOND / unit, digits as usize)
            }
            PatternField::Year(count @ 1..=4) => digits(count, self.year),
            PatternField::IsoYear(count) => {
                let year = self.civil()?.week().0;
                digits(count, if year <= 0 { 1 - year } else { year })
            }
            PatternField::Century => (self.century(), 2),
            PatternField::Month => (self.month, 2),
            PatternField::Quarter if self.month == 0 => return Ok(None),
            PatternField::Quarter => ((self.month - 1) / 3 + 1, 0),
            PatternField::DayOfMonth => (self.day, 2),
            PatternField::WeekOfMonth => ((self.day - 1) / 7 + 1, 0),
            PatternField::DayOfYear => (self.civil()?.day_of_year(), 3),
            PatternField::WeekOfYear => ((self.civil()?.day_of_year() - 1) / 7 + 1, 2),
            PatternField::IsoWeek => (self.civil()?.week().1, 2),
            PatternField::IsoDayOfYear => {
                let civil = self.civil()?;
                ((civil.week().1 - 1) * 7 + (civil.weekday() + 6) % 7 + 1, 3)
            }
            PatternField::DayOfWeek => (self.civil()?.weekday() + 1, 0),
            PatternField::IsoDayOfWeek => ((self.civil()?.weekday() + 6) % 7 + 1, 0),
            PatternField::Julian => (self.civil()?.days() + 2_440_588, 0),
            _ => return Ok(None),
        }))
    }

    /// Of a negative interval the months count back from the end of the year.
    fn roman_month(&self) -> Option<&'static str> {
        let month = match (self.month, self.year) {
            (0, 0) => return None,
            (0, 1..) => 12,
            (0, _) => 1,
            (month @ 1.., _) => month,
            (month, _) => 13 + month,
        };
        ROMAN.get(usize::try_from(month - 1).ok()?).copied()
    }

    fn century(&self) -> i64 {
        match &self.civil {
            Some(civil) if civil.year <= 0 => -((self.year - 1) / 100 + 1),
            Some(_) => (self.year - 1) / 100 + 1,
            None => self.year / 100,
        }
    }
}

fn with_points(text: &str, has_points: bool) -> String {
    if has_points {
        text.chars().flat_map(|letter| [letter, '.']).collect()
    } else {
        text.to_owned()
    }
}

fn cased(text: String, case: LetterCase) -> String {
    match case {
        LetterCase::Upper => text.to_uppercase(),
        LetterCase::Capital => text,
        LetterCase::Lower => text.to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::temporal::{parse_interval, parse_timestamp};

    fn shown(text: &str, pattern: &str) -> String {
        let at = parse_timestamp(text, None).unwrap();
        write_by_pattern(pattern, &WrittenPattern::Moment(at, Some(0))).unwrap()
    }

    // Values are PostgreSQL 15's.
    #[test]
    fn moments_are_written_by_patterns() {
        let at = "1997-02-10 17:32:01.5";
        for (pattern, expected) in [
            ("YYYY-MM-DD HH24:MI:SS.MS", "1997-02-10 17:32:01.500"),
            (
                "DAY Day day DY Dy dy|",
                "MONDAY    Monday    monday    MON Mon mon|",
            ),
            ("FMDAY FMMonth FMRM|", "MONDAY February II|"),
            ("Y,YYY YYY YY Y CC Q", "1,997 997 97 7 20 1"),
            ("HH HH12 AM p.m. SSSS", "05 05 PM p.m. 63121"),
            ("DDth FMDDTH MMth", "10th 10TH 02nd"),
            (
                "\"HH:MI is\" HH:MI \"\\\"quoted\\\"\"",
                "HH:MI is 05:32 \"quoted\"",
            ),
            ("IYYY-IW-ID DDD WW J", "1997-07-1 041 06 2450490"),
            ("US FF2 OF TZH:TZM", "500000 50 +00 +00:00"),
        ] {
            assert_eq!(shown(at, pattern), expected, "{pattern}");
        }
        assert_eq!(shown("0044-03-15 00:00:00 BC", "YYYY AD"), "0044 BC");
    }

    #[test]
    fn intervals_have_no_calendar() {
        let interval =
            WrittenPattern::Interval(parse_interval("15 months 3 days 26:04:05").unwrap());
        let shown = write_by_pattern("YYYY MM DD HH24:MI:SS HH12", &interval);
        assert_eq!(shown.unwrap(), "0001 03 03 26:04:05 02");
        let refused = write_by_pattern("Month", &interval);
        assert_eq!(refused, Err(PatternError::OfInterval));
    }
}
