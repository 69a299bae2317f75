//! Texts of dates and times in the other forms that PostgreSQL reads: `January 8, 1999`, `1/8/1999`, `19990108 040506`, `J2451187`,
//! `Mon Feb 10 17:32:01 1997 PST`.
//!
//! The rules are those of the manual's appendix on date and time input: a text is a row of fields, each a number, a date, a time, an
//! offset or a word, and what a number means follows from what is known before it.

use super::NumberInError;
use super::free_text_fields::{FreeTextField, fields};
use crate::gregorian::{days_from_civil, month_days};
use crate::zone::{DAY, SECOND, TimeZoneRules};

/// Days of the Julian count at 1970-01-01.
const JULIAN_EPOCH: i64 = 2_440_588;

/// In which order the numbers of a date stand that has no name of a month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DateOrder {
    #[default]
    MonthDay,
    DayMonth,
    Year,
}

impl DateOrder {
    /// As `DateStyle` calls it.
    pub fn named(text: &str) -> Self {
        match text {
            "DMY" => Self::DayMonth,
            "YMD" => Self::Year,
            _ => Self::MonthDay,
        }
    }
}

/// What a text says.
#[derive(Debug, Clone, PartialEq)]
pub enum FreeText {
    Moment {
        /// Days since 1970-01-01.
        day: Option<i64>,
        /// Microseconds since midnight.
        time: Option<i64>,
        zone: Option<TimeZoneRules>,
    },
    /// `now`
    Now,
    /// `today`, and so many days after it.
    Today(i64),
}

/// Reads a text.
pub fn read_free_text(text: &str, order: DateOrder) -> Result<FreeText, NumberInError> {
    let mut reader = FreeTextReader {
        order,
        ..FreeTextReader::default()
    };
    for field in fields(text)? {
        reader.field(&field)?;
    }
    reader.finish()
}

/// What a word means.
enum FreeTextWord {
    Month(u32),
    Ignored,
    Afternoon(bool),
    BeforeChrist(bool),
    Julian,
    TimeFollows,
    Now,
    Today(i64),
    Epoch,
    Midnight,
    Zone(TimeZoneRules),
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

const DAYS_OF_WEEK: [&str; 17] = [
    "mon",
    "monday",
    "tue",
    "tues",
    "tuesday",
    "wed",
    "weds",
    "wednesday",
    "thu",
    "thur",
    "thurs",
    "thursday",
    "fri",
    "friday",
    "sat",
    "saturday",
    "sun",
];

fn month_of(word: &str) -> Option<u32> {
    let is_month = |name: &&str| **name == *word || name.get(..3) == Some(word);
    let place = match word {
        "sept" => Some(8),
        _ => MONTHS.iter().position(is_month),
    };
    place.and_then(|place| u32::try_from(place + 1).ok())
}

fn word(text: &str) -> Option<FreeTextWord> {
    let word = text.to_lowercase();
    if let Some(month) = month_of(&word) {
        return Some(FreeTextWord::Month(month));
    }
    if DAYS_OF_WEEK.contains(&word.as_str()) || word == "sunday" {
        return Some(FreeTextWord::Ignored);
    }
    Some(match word.as_str() {
        "at" | "on" => FreeTextWord::Ignored,
        "am" => FreeTextWord::Afternoon(false),
        "pm" => FreeTextWord::Afternoon(true),
        "ad" => FreeTextWord::BeforeChrist(false),
        "bc" => FreeTextWord::BeforeChrist(true),
        "j" | "jd" | "julian" => FreeTextWord::Julian,
        "t" => FreeTextWord::TimeFollows,
        "now" => FreeTextWord::Now,
        "today" => FreeTextWord::Today(0),
        "tomorrow" => FreeTextWord::Today(1),
        "yesterday" => FreeTextWord::Today(-1),
        "epoch" => FreeTextWord::Epoch,
        "allballs" => FreeTextWord::Midnight,
        _ => FreeTextWord::Zone(TimeZoneRules::of_time(text)?),
    })
}

#[derive(Default)]
struct FreeTextReader {
    order: DateOrder,
    year: Option<i64>,
    has_two_digits: bool,
    month: Option<u32>,
    has_text_month: bool,
    day: Option<u32>,
    day_of_year: Option<i64>,
    julian: Option<i64>,
    time: Option<i64>,
    zone: Option<TimeZoneRules>,
    is_before_christ: Option<bool>,
    is_afternoon: Option<bool>,
    expects_julian: bool,
    expects_time: bool,
    special: Option<FreeText>,
}

/// Puts a value where none is yet.
fn set<T>(place: &mut Option<T>, value: T) -> Result<(), NumberInError> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(NumberInError::Invalid),
    }
}

fn number(digits: &str) -> Result<i64, NumberInError> {
    digits.parse().map_err(|_| NumberInError::Invalid)
}

impl FreeTextReader {
    fn field(&mut self, field: &FreeTextField<'_>) -> Result<(), NumberInError> {
        match field {
            FreeTextField::Number(digits) if self.expects_julian => {
                self.expects_julian = false;
                self.julian_day(digits)
            }
            FreeTextField::Number(digits) => self.number_field(digits),
            FreeTextField::Date(text) => self.date(text),
            FreeTextField::Time(text) => set(&mut self.time, time_of(text)?),
            FreeTextField::Offset(text) => {
                set(&mut self.zone, TimeZoneRules::east(offset_of(text)?))
            }
            FreeTextField::Word(text) => self.word(text),
        }
    }

    fn julian_day(&mut self, digits: &str) -> Result<(), NumberInError> {
        let (days, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        set(&mut self.julian, number(days)? - JULIAN_EPOCH)?;
        if fraction.is_empty() {
            return Ok(());
        }
        let fraction: f64 = format!("0.{fraction}")
            .parse()
            .map_err(|_| NumberInError::Invalid)?;
        set(
            &mut self.time,
            (fraction * DAY as f64).round_ties_even() as i64,
        )
    }

    fn word(&mut self, text: &str) -> Result<(), NumberInError> {
        match word(text).ok_or(NumberInError::Invalid)? {
            FreeTextWord::Month(month) => self.named_month(month),
            FreeTextWord::Ignored => Ok(()),
            FreeTextWord::Afternoon(is_afternoon) => set(&mut self.is_afternoon, is_afternoon),
            FreeTextWord::BeforeChrist(is_before) => set(&mut self.is_before_christ, is_before),
            FreeTextWord::Julian => {
                self.expects_julian = true;
                Ok(())
            }
            FreeTextWord::TimeFollows => {
                self.expects_time = true;
                Ok(())
            }
            FreeTextWord::Now => set(&mut self.special, FreeText::Now),
            FreeTextWord::Today(days) => set(&mut self.special, FreeText::Today(days)),
            FreeTextWord::Epoch => {
                let epoch = FreeText::Moment {
                    day: Some(0),
                    time: Some(0),
                    zone: Some(TimeZoneRules::default()),
                };
                set(&mut self.special, epoch)
            }
            FreeTextWord::Midnight => {
                set(&mut self.time, 0)?;
                set(&mut self.zone, TimeZoneRules::default())
            }
            FreeTextWord::Zone(zone) => set(&mut self.zone, zone),
        }
    }

    /// A number before it that was taken for a month is the day.
    fn named_month(&mut self, month: u32) -> Result<(), NumberInError> {
        if self.has_text_month {
            return Err(NumberInError::Invalid);
        }
        if let Some(day) = self.month.take() {
            set(&mut self.day, day)?;
        }
        self.has_text_month = true;
        self.month = Some(month);
        Ok(())
    }

    /// Fields of a date with one kind of sign between them.
    fn date(&mut self, text: &str) -> Result<(), NumberInError> {
        if text.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && let Some(zone) = TimeZoneRules::of_time(text)
        {
            return set(&mut self.zone, zone);
        }
        let parts = text.split(|letter: char| !letter.is_ascii_alphanumeric());
        let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
        if parts.len() > 3 {
            return Err(NumberInError::Invalid);
        }
        let is_word = |part: &&str| part.starts_with(|letter: char| letter.is_ascii_alphabetic());
        for part in parts.iter().filter(|part| is_word(part)) {
            let month = month_of(&part.to_lowercase()).ok_or(NumberInError::Invalid)?;
            self.named_month(month)?;
        }
        let numbers = parts.into_iter().filter(|part| !is_word(part));
        numbers.into_iter().try_for_each(|part| self.part(part))?;
        if self.has_date() {
            Ok(())
        } else {
            Err(NumberInError::Invalid)
        }
    }

    fn has_date(&self) -> bool {
        let has_day = self.day.is_some() && self.month.is_some();
        self.julian.is_some() || (self.year.is_some() && (has_day || self.day_of_year.is_some()))
    }

    fn number_field(&mut self, digits: &str) -> Result<(), NumberInError> {
        let whole = digits.split('.').next().unwrap_or(digits);
        let has_point = digits.contains('.');
        if has_point && !self.has_date() && !self.expects_time {
            return self.date(digits);
        }
        if self.expects_time || (has_point && whole.len() > 2) || whole.len() >= 6 {
            return self.joined(digits, whole, has_point);
        }
        self.part(digits)
    }

    /// `19990108`, `990108` and `040506.789`.
    fn joined(&mut self, digits: &str, whole: &str, has_point: bool) -> Result<(), NumberInError> {
        if !has_point && !self.has_date() && !self.expects_time {
            let (rest, day) = whole.split_at(whole.len() - 2);
            let (year, month) = rest.split_at(rest.len() - 2);
            set(&mut self.year, number(year)?)?;
            self.has_two_digits = year.len() == 2;
            set(&mut self.month, number(month)? as u32)?;
            return set(&mut self.day, number(day)? as u32);
        }
        self.expects_time = false;
        let fraction = digits.get(whole.len()..).unwrap_or_default();
        let text = match whole.len() {
            6 => format!("{}:{}:{}{fraction}", &whole[..2], &whole[2..4], &whole[4..]),
            4 if !has_point => format!("{}:{}", &whole[..2], &whole[2..]),
            _ => return Err(NumberInError::Invalid),
        };
        set(&mut self.time, time_of(&text)?)
    }

    /// One number of a date; what it is follows from what is there.
    fn part(&mut self, digits: &str) -> Result<(), NumberInError> {
        let value = number(digits)?;
        let small = u32::try_from(value).map_err(|_| NumberInError::OutOfRange);
        let is_long = digits.len() >= 3 || self.order == DateOrder::Year;
        let is_day_of_year = digits.len() == 3 && (1..=366).contains(&value);
        match (self.year, self.month, self.day) {
            (Some(_), None, None) if is_day_of_year => set(&mut self.day_of_year, value),
            (None, None, None) if is_long => self.set_year(digits, value),
            (None, None, None) if self.order == DateOrder::DayMonth => set(&mut self.day, small?),
            (None, None, None) => set(&mut self.month, small?),
            (Some(_), None, _) | (None, None, Some(_)) => set(&mut self.month, small?),
            (None, Some(_), None) if self.has_text_month && is_long => self.set_year(digits, value),
            // `99 Jan 08` with the year first, `08 Jan 1999` otherwise.
            (Some(year), Some(_), None) if self.has_text_month && digits.len() >= 3 => {
                self.day = Some(u32::try_from(year).map_err(|_| NumberInError::OutOfRange)?);
                self.year = None;
                self.set_year(digits, value)
            }
            (_, Some(_), None) => set(&mut self.day, small?),
            (None, Some(_), Some(_)) => self.set_year(digits, value),
            (Some(_), Some(_), Some(_)) => Err(NumberInError::Invalid),
        }
    }

    fn set_year(&mut self, digits: &str, value: i64) -> Result<(), NumberInError> {
        self.has_two_digits = digits.len() <= 2;
        set(&mut self.year, value)
    }

    fn finish(self) -> Result<FreeText, NumberInError> {
        if self.expects_julian || self.expects_time {
            return Err(NumberInError::Invalid);
        }
        let has_parts = self.year.is_some() || self.month.is_some() || self.day.is_some();
        if let Some(special) = self.special {
            let is_alone = !has_parts && self.time.is_none() && self.julian.is_none();
            return is_alone.then_some(special).ok_or(NumberInError::Invalid);
        }
        let day = match self.julian {
            Some(_) if has_parts => return Err(NumberInError::Invalid),
            Some(day) => Some(day),
            None if has_parts => Some(self.day_of_calendar()?),
            None => None,
        };
        let time = self.time_of_day()?;
        if day.is_none() && time.is_none() {
            Err(NumberInError::Invalid)
        } else {
            Ok(FreeText::Moment {
                day,
                time,
                zone: self.zone,
            })
        }
    }

    fn day_of_calendar(&self) -> Result<i64, NumberInError> {
        let year = self.year.ok_or(NumberInError::Invalid)?;
        let year = match (self.is_before_christ, self.has_two_digits) {
            (Some(true), _) if year <= 0 => return Err(NumberInError::OutOfRange),
            (Some(true), _) => 1 - year,
            (_, true) if year < 70 => year + 2_000,
            (_, true) => year + 1_900,
            _ if year == 0 => return Err(NumberInError::OutOfRange),
            _ => year,
        };
        if let (Some(day_of_year), None, None) = (self.day_of_year, self.month, self.day) {
            return Ok(days_from_civil(year, 1, 1) + day_of_year - 1);
        }
        let (Some(month), Some(day)) = (self.month, self.day) else {
            return Err(NumberInError::Invalid);
        };
        let is_month = (1..=12).contains(&month);
        if !is_month || day == 0 || day > month_days(year, month) || year.abs() > 5_874_897 {
            return Err(NumberInError::OutOfRange);
        }
        Ok(days_from_civil(year, month, day))
    }

    fn time_of_day(&self) -> Result<Option<i64>, NumberInError> {
        let (Some(time), Some(is_afternoon)) = (self.time, self.is_afternoon) else {
            return match self.is_afternoon {
                Some(_) => Err(NumberInError::Invalid),
                None => Ok(self.time),
            };
        };
        let hour = time / (3_600 * SECOND);
        if hour > 12 {
            return Err(NumberInError::OutOfRange);
        }
        let noon = 12 * 3_600 * SECOND;
        Ok(Some(match (is_afternoon, hour) {
            (true, 12) | (false, 0..12) => time,
            (true, _) => time + noon,
            (false, _) => time - noon,
        }))
    }
}

/// Microseconds of `h:mm[:ss[.fraction]]`.
fn time_of(text: &str) -> Result<i64, NumberInError> {
    crate::calendar::parse_time(text.as_bytes())
}

/// Seconds east of Greenwich of `+hh`, `-hhmm`, `+hh:mm[:ss]`.
fn offset_of(text: &str) -> Result<i32, NumberInError> {
    let (sign, rest) = text.split_at(1);
    let parts: Vec<&str> = rest.split(':').collect();
    let split = |digits: &str, at: usize| {
        let (hours, minutes) = digits.split_at(at);
        [number(hours), number(minutes), Ok(0)]
    };
    let [hours, minutes, seconds] = match parts.as_slice() {
        [hours] if hours.len() <= 2 => [number(hours), Ok(0), Ok(0)],
        [packed] if packed.len() <= 4 => split(packed, packed.len() - 2),
        [hours, minutes] => [number(hours), number(minutes), Ok(0)],
        [hours, minutes, seconds] => [number(hours), number(minutes), number(seconds)],
        _ => return Err(NumberInError::Invalid),
    };
    let (hours, minutes, seconds) = (hours?, minutes?, seconds?);
    if hours > 15 || minutes > 59 || seconds > 59 {
        return Err(NumberInError::OutOfRange);
    }
    let total = i32::try_from(hours * 3_600 + minutes * 60 + seconds);
    let total = total.map_err(|_| NumberInError::OutOfRange)?;
    Ok(if sign == "-" { -total } else { total })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::temporal::{write_date, write_time};

    fn shown(text: &str, order: DateOrder) -> String {
        match read_free_text(text, order).unwrap() {
            FreeText::Moment { day, time, zone } => {
                let mut shown = String::new();
                day.iter().for_each(|day| write_date(*day, &mut shown));
                shown.push('|');
                time.iter()
                    .for_each(|time| write_time(*time, SECOND, &mut shown));
                let zone = zone.map(|zone| zone.offset_at(0)).unwrap_or_default();
                format!("{shown}|{zone}")
            }
            special => format!("{special:?}"),
        }
    }

    // Values are PostgreSQL 15's.
    #[test]
    fn many_forms_are_read() {
        for (text, expected) in [
            ("January 8, 1999", "1999-01-08||0"),
            ("1/8/1999", "1999-01-08||0"),
            ("1999-Jan-08", "1999-01-08||0"),
            ("Jan-08-1999", "1999-01-08||0"),
            ("08-Jan-99", "1999-01-08||0"),
            ("08 Jan 1999", "1999-01-08||0"),
            ("19990108", "1999-01-08||0"),
            ("990108", "1999-01-08||0"),
            ("1999.008", "1999-01-08||0"),
            ("J2451187", "1999-01-08||0"),
            ("January 8, 99 BC", "0099-01-08 BC||0"),
            ("Mon Feb 10 17:32:01 1997 PST", "1997-02-10|17:32:01|-28800"),
            ("19970210 173201 -0800", "1997-02-10|17:32:01|-28800"),
            ("20011227T040506.789-08", "2001-12-27|04:05:06.789|-28800"),
            ("Feb 10 5:32PM 1997", "1997-02-10|17:32:00|0"),
            ("1/8/99 04:05 AM", "1999-01-08|04:05:00|0"),
            ("04:05:06 PM", "|16:05:06|0"),
        ] {
            assert_eq!(shown(text, DateOrder::MonthDay), expected, "{text}");
        }
    }

    #[test]
    fn the_order_decides_what_numbers_are() {
        let read = |order| shown("01/02/03", order);
        assert_eq!(read(DateOrder::MonthDay), "2003-01-02||0");
        assert_eq!(read(DateOrder::DayMonth), "2003-02-01||0");
        assert_eq!(read(DateOrder::Year), "2001-02-03||0");
    }

    #[test]
    fn other_texts_are_refused() {
        for (text, reason) in [
            ("Janvier 8, 1999", NumberInError::Invalid),
            ("18/18/1999", NumberInError::OutOfRange),
            ("Feb 30 1997", NumberInError::OutOfRange),
            ("Feb 10 17:32:01", NumberInError::Invalid),
            ("", NumberInError::Invalid),
            ("now 12:00", NumberInError::Invalid),
            ("13:00 PM Jan 1 2000", NumberInError::OutOfRange),
        ] {
            assert_eq!(
                read_free_text(text, DateOrder::MonthDay),
                Err(reason),
                "{text}"
            );
        }
    }
}
