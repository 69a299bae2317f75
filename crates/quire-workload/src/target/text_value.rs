//! What value does a text of a CSV file or of a result stand for?
//!
//! The inverse of what [`SqlValue`] displays.

use crate::{ColumnType, SqlValue};

const DAY_MICROS: i64 = 86_400_000_000;

/// The value of a column's type that a text stands for; `None` if it does not.
pub(super) fn value_of_text(kind: ColumnType, text: &str) -> Option<SqlValue> {
    match kind {
        ColumnType::SmallInteger | ColumnType::Integer | ColumnType::BigInteger => {
            text.parse().ok().map(SqlValue::Integer)
        }
        ColumnType::Decimal { .. } => decimal_of_text(text),
        ColumnType::Double => text.parse().ok().map(SqlValue::Double),
        ColumnType::Char(_) | ColumnType::Varchar(_) => Some(SqlValue::text(text)),
        ColumnType::Date => date_of_text(text).map(SqlValue::Date),
        ColumnType::Timestamp => timestamp_of_text(text).map(SqlValue::Timestamp),
    }
}

/// A decimal with the scale that the text has.
pub(super) fn decimal_of_text(text: &str) -> Option<SqlValue> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && part.is_empty() {
        return None;
    }
    let mut unscaled = 0i64;
    for digit in whole.bytes().chain(part.bytes()) {
        let digit = i64::from(digit.is_ascii_digit().then(|| digit - b'0')?);
        let signed = if negative { -digit } else { digit };
        unscaled = unscaled.checked_mul(10)?.checked_add(signed)?;
    }
    let scale = u8::try_from(part.len()).ok()?;
    Some(SqlValue::Decimal { unscaled, scale })
}

/// Days since 1970-01-01 of `2000-02-29`.
pub(super) fn date_of_text(text: &str) -> Option<i32> {
    let mut parts = text.splitn(3, '-');
    let year: u16 = parts.next()?.parse().ok()?;
    let month = parts.next()?.parse().ok()?;
    let day = parts.next()?.parse().ok()?;
    days_of_date(year, month, day)
}

/// Microseconds since 1970-01-01 00:00:00 of `2000-02-29 12:30:00.25`; the fraction has up to six digits, or is absent.
pub(super) fn timestamp_of_text(text: &str) -> Option<i64> {
    let (date, time) = text.split_once(' ')?;
    let days = date_of_text(date)?;
    let (time, fraction) = time.split_once('.').unwrap_or((time, ""));
    let mut parts = time.splitn(3, ':');
    let mut part = |limit: i64| -> Option<i64> {
        let value = i64::from(parts.next()?.parse::<u8>().ok()?);
        (value < limit).then_some(value)
    };
    let seconds = part(24)? * 3_600 + part(60)? * 60 + part(60)?;
    let all_digits = fraction.bytes().all(|byte| byte.is_ascii_digit());
    if fraction.len() > 6 || !all_digits {
        return None;
    }
    let micros: i64 = format!("{fraction:0<6}").parse().ok()?;
    Some(i64::from(days) * DAY_MICROS + seconds * 1_000_000 + micros)
}

/// Days since 1970-01-01 of a date of the proleptic Gregorian calendar (H. Hinnant, *chrono-compatible low-level date algorithms*);
/// `None` if there is no such day.
pub(super) fn days_of_date(year: u16, month: u8, day: u8) -> Option<i32> {
    if !(1..=12).contains(&month) || day < 1 || day > days_of_month(year, month) {
        return None;
    }
    let (month, day) = (i32::from(month), i32::from(day));
    let year = i32::from(year) - i32::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some(era * 146_097 + day_of_era - 719_468)
}

fn days_of_month(year: u16, month: u8) -> u8 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_value_displays_is_read_as_that_value() {
        let values = [
            (ColumnType::BigInteger, SqlValue::Integer(i64::MIN)),
            (ColumnType::Double, SqlValue::Double(-0.1)),
            (ColumnType::Varchar(9), SqlValue::text("a,b")),
        ];
        for (kind, value) in values {
            assert_eq!(value_of_text(kind, &value.to_string()), Some(value));
        }
        for (unscaled, scale) in [(-5, 2), (i64::MIN, 4), (i64::MAX, 18), (7, 0), (0, 3)] {
            let value = SqlValue::Decimal { unscaled, scale };
            assert_eq!(decimal_of_text(&value.to_string()), Some(value));
        }
        for days in (-719_162..=100_000).step_by(13) {
            let value = SqlValue::Date(days);
            assert_eq!(
                value_of_text(ColumnType::Date, &value.to_string()),
                Some(value)
            );
        }
        for micros in [-1, 0, 1, -86_400_000_000, 951_827_696_000_001] {
            let value = SqlValue::Timestamp(micros);
            let read = value_of_text(ColumnType::Timestamp, &value.to_string());
            assert_eq!(read, Some(value));
        }
    }

    #[test]
    fn a_fraction_of_seconds_may_be_short_or_absent() {
        assert_eq!(timestamp_of_text("1970-01-01 00:00:01.25"), Some(1_250_000));
        assert_eq!(timestamp_of_text("1970-01-01 00:01:00"), Some(60_000_000));
    }

    #[test]
    fn other_texts_are_no_values() {
        for text in ["", "-", ".", "1.2.3", "1e5", "99999999999999999999", "+1"] {
            assert_eq!(decimal_of_text(text), None, "{text}");
        }
        for text in [
            "",
            "1970-02-29",
            "1970-13-01",
            "1970-00-01",
            "1970-01-00",
            "1970-1",
            "x-1-1",
        ] {
            assert_eq!(date_of_text(text), None, "{text}");
        }
        for text in [
            "1970-01-01",
            "1970-01-01 24:00:00",
            "1970-01-01 00:00:00.1234567",
            "1970-01-01 0:0",
        ] {
            assert_eq!(timestamp_of_text(text), None, "{text}");
        }
    }
}
