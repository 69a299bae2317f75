//! Days and times of day as PostgreSQL writes and reads them, in the proleptic Gregorian calendar.
//!
//! Dates are counted from March: H. Hinnant, *chrono-compatible low-level date algorithms* (2014), sections `days_from_civil`
//! and `civil_from_days`.

const DAY_MICROSECONDS: i64 = 86_400_000_000;

/// Year (0 is 1 BC), month and day of a day since 1970.
fn civil(day: i64) -> (i64, u32, u32) {
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month as u32, day_of_month as u32)
}

/// The day since 1970 of a date; `None` when there is no such date.
fn day_of(year: i64, month: u32, day: u32) -> Option<i64> {
    if !(1..=12).contains(&month) || day == 0 || !(-300_000..=300_000).contains(&year) {
        return None;
    }
    let shifted_year = year - i64::from(month <= 2);
    let era = shifted_year.div_euclid(400);
    let year_of_era = shifted_year.rem_euclid(400);
    let month_from_march = i64::from(if month > 2 { month - 3 } else { month + 9 });
    let day_of_year = (153 * month_from_march + 2) / 5 + i64::from(day) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let found = era * 146_097 + day_of_era - 719_468;
    (civil(found) == (year, month, day)).then_some(found)
}

fn push_date(out: &mut String, day: i64) -> bool {
    let (year, month, day) = civil(day);
    let is_before_christ = year <= 0;
    let shown = if is_before_christ { 1 - year } else { year };
    *out += &format!("{shown:04}-{month:02}-{day:02}");
    is_before_christ
}

/// `2024-03-01`, and ` BC` for years before 1.
pub(super) fn date_text(day: i32) -> String {
    let mut text = String::new();
    if push_date(&mut text, i64::from(day)) {
        text += " BC";
    }
    text
}

/// `04:05:06.789`
pub(super) fn time_text(microseconds: i64) -> String {
    let (seconds, fraction) = (
        microseconds.div_euclid(1_000_000),
        microseconds.rem_euclid(1_000_000),
    );
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    let mut text = format!("{hours:02}:{minutes:02}:{:02}", seconds % 60);
    if fraction != 0 {
        text += format!(".{fraction:06}").trim_end_matches('0');
    }
    text
}

/// `2024-03-01 04:05:06.789`, `+00` behind it for an instant, and ` BC`.
pub(super) fn timestamp_text(microseconds: i64, is_instant: bool) -> String {
    let mut text = String::new();
    let is_before_christ = push_date(&mut text, microseconds.div_euclid(DAY_MICROSECONDS));
    text.push(' ');
    text += &time_text(microseconds.rem_euclid(DAY_MICROSECONDS));
    if is_instant {
        text += "+00";
    }
    if is_before_christ {
        text += " BC";
    }
    text
}

/// `1 year 2 mons 3 days 04:05:06.789`
pub(super) fn interval_text(months: i32, days: i32, microseconds: i64) -> String {
    let mut parts = Vec::new();
    let mut part = |count: i32, unit: &str| {
        if count != 0 {
            let plural = if count == 1 { "" } else { "s" };
            parts.push(format!("{count} {unit}{plural}"));
        }
    };
    part(months / 12, "year");
    part(months % 12, "mon");
    part(days, "day");
    if microseconds != 0 || parts.is_empty() {
        let sign = if microseconds < 0 { "-" } else { "" };
        let magnitude = i64::try_from(microseconds.unsigned_abs()).unwrap_or(i64::MAX);
        parts.push(format!("{sign}{}", time_text(magnitude)));
    }
    parts.join(" ")
}

/// A date as PostgreSQL writes it, with year, month and day in this order.
pub(super) fn parse_date(text: &str) -> Option<i32> {
    let (text, is_before_christ) = without_era(text.trim());
    i32::try_from(parse_day(text, is_before_christ)?).ok()
}

fn without_era(text: &str) -> (&str, bool) {
    match text.strip_suffix(" BC") {
        Some(rest) => (rest, true),
        None => (text, false),
    }
}

fn parse_day(text: &str, is_before_christ: bool) -> Option<i64> {
    let mut parts = text.split('-');
    let mut next = || parts.next().filter(|part| is_digits(part));
    let (year, month, day) = (next()?, next()?, next()?);
    if parts.next().is_some() || year.len() < 4 {
        return None;
    }
    let year: i64 = year.parse().ok()?;
    let year = if is_before_christ { 1 - year } else { year };
    day_of(year, month.parse().ok()?, day.parse().ok()?)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A time of day, of up to six digits behind the second.
fn parse_time(text: &str) -> Option<i64> {
    let (clock, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = clock.split(':');
    let mut next = |most: i64| {
        let part = parts
            .next()
            .filter(|part| is_digits(part) && part.len() <= 2);
        part.and_then(|part| part.parse().ok())
            .filter(|value: &i64| *value <= most)
    };
    let (hours, minutes) = (next(24)?, next(59)?);
    let seconds = if clock.matches(':').count() == 2 {
        next(59)?
    } else {
        0
    };
    if clock.matches(':').count() > 2 || fraction.len() > 6 {
        return None;
    }
    let fraction = match fraction {
        "" => 0,
        digits if is_digits(digits) => format!("{digits:0<6}").parse().ok()?,
        _ => return None,
    };
    let total = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + fraction;
    (total <= DAY_MICROSECONDS).then_some(total)
}

/// A timestamp as PostgreSQL writes it: `2024-03-01 04:05:06.789+00`, with `T` for the blank, or a date alone. Of an offset, which
/// only instants heed, hours, minutes and seconds are read, or `Z`.
pub(super) fn parse_timestamp(text: &str, is_instant: bool) -> Option<i64> {
    let (text, is_before_christ) = without_era(text.trim());
    let (day, clock) = text.split_once([' ', 'T']).unwrap_or((text, "00:00"));
    let day = parse_day(day, is_before_christ)?;
    let offset_at = clock.find(['+', '-', 'Z']).unwrap_or(clock.len());
    let (clock, offset) = clock.split_at(offset_at);
    let offset = match offset.as_bytes() {
        [] | b"Z" => 0,
        [sign, ..] => {
            let magnitude = parse_offset(&offset[1..])?;
            if *sign == b'-' { -magnitude } else { magnitude }
        }
    };
    let local = day
        .checked_mul(DAY_MICROSECONDS)?
        .checked_add(parse_time(clock)?)?;
    local.checked_sub(if is_instant { offset } else { 0 })
}

fn parse_offset(text: &str) -> Option<i64> {
    if is_digits(text) && text.len() <= 2 {
        return Some(text.parse::<i64>().ok()? * 3_600_000_000);
    }
    if is_digits(text) && text.len() == 4 {
        return parse_time(&format!("{}:{}", &text[..2], &text[2..]));
    }
    parse_time(text)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn days_follow_one_another() {
        // Each day is the one after the day before, from 4800 BC to 14000: an oracle without the formula.
        let length = |year: i64, month: u32| match month {
            2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        };
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for number in 0..4_400_000_i64 {
            assert_eq!(civil(number), (year, month, day));
            day += 1;
            if day > length(year, month) {
                (month, day) = (month + 1, 1);
            }
            if month > 12 {
                (year, month) = (year + 1, 1);
            }
        }
        for number in -2_500_000..2_500_000 {
            let (year, month, day) = civil(number);
            assert_eq!(day_of(year, month, day), Some(number));
        }
    }

    #[test]
    fn texts_are_those_of_postgresql() {
        // From PostgreSQL 15.
        assert_eq!(date_text(0), "1970-01-01");
        assert_eq!(date_text(-719_162), "0001-01-01");
        assert_eq!(date_text(-719_163), "0001-12-31 BC");
        assert_eq!(date_text(2_932_896), "9999-12-31");
        assert_eq!(timestamp_text(-1, false), "1969-12-31 23:59:59.999999");
        assert_eq!(timestamp_text(1_500_000, true), "1970-01-01 00:00:01.5+00");
        assert_eq!(
            interval_text(14, 3, 14_706_789_000),
            "1 year 2 mons 3 days 04:05:06.789"
        );
        assert_eq!(interval_text(0, 0, 0), "00:00:00");
        assert_eq!(interval_text(-1, 0, -1_000_000), "-1 mons -00:00:01");
    }

    #[test]
    fn texts_are_read_back() {
        for day in [-719_163, -719_162, -1, 0, 19_782, 2_932_896, 5_000_000] {
            assert_eq!(parse_date(&date_text(day)), Some(day));
        }
        for micros in [-62_135_596_800_000_000, -1, 0, 1_709_265_906_789_000] {
            assert_eq!(
                parse_timestamp(&timestamp_text(micros, false), false),
                Some(micros)
            );
            assert_eq!(
                parse_timestamp(&timestamp_text(micros, true), true),
                Some(micros)
            );
        }
        let two = parse_timestamp("1970-01-01T02:00:00+02:00", true);
        assert_eq!(two, Some(0));
        assert_eq!(
            parse_timestamp("1970-01-01 02:00-0530", true),
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
            assert_eq!(parse_date(wrong), None, "{wrong}");
            assert_eq!(parse_timestamp(wrong, false), None, "{wrong}");
        }
        assert_eq!(parse_timestamp("2023-01-01 25:00", false), None);
    }
}
