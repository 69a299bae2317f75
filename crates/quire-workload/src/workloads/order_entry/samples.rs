//! How are values of a column drawn?

use crate::workloads::run_clock::day_start_us;
use crate::{SeededRandom, SqlValue};

pub(super) const UPPER_CASE: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ";
pub(super) const UPPER_CASE_AND_DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
pub(super) const LETTERS_AND_DIGITS: &[u8] =
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
pub(super) const LETTERS_AND_SPACE: &[u8] =
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz ";
pub(super) const LETTERS_DIGITS_AND_SPACE: &[u8] =
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 ";

/// An integer from `least` to `most`, all equally likely.
pub(super) fn integer(random: &mut SeededRandom, least: i64, most: i64) -> SqlValue {
    SqlValue::Integer(random.between(least, most))
}

/// An integer from `least` to `most`, normally distributed.
pub(super) fn normal(random: &mut SeededRandom, least: i64, most: i64) -> SqlValue {
    SqlValue::Integer(random.normal_between(least, most))
}

/// A whole amount of money.
pub(super) fn money(amount: i64) -> SqlValue {
    SqlValue::Decimal {
        unscaled: amount * 100,
        scale: 2,
    }
}

/// `least` to `most` characters of an alphabet of ASCII.
pub(super) fn text(random: &mut SeededRandom, alphabet: &[u8], least: i64, most: i64) -> SqlValue {
    let characters = random.between(least, most);
    SqlValue::Text(
        (0..characters)
            .map(|_| char::from(*random.pick(alphabet)))
            .collect(),
    )
}

/// One of the entries.
pub(super) fn one_of(random: &mut SeededRandom, entries: &[&str]) -> SqlValue {
    SqlValue::text(*random.pick(entries))
}

/// A value, or NULL. The value is drawn in any case.
pub(super) fn or_null(random: &mut SeededRandom, null_share: f64, value: SqlValue) -> SqlValue {
    if random.happens(null_share) {
        SqlValue::Null
    } else {
        value
    }
}

/// A day from the first to the last.
pub(super) fn day(random: &mut SeededRandom, first: i32, last: i32) -> SqlValue {
    SqlValue::Date(random.between(i64::from(first), i64::from(last)) as i32)
}

/// A time from the start of the first day to that of the last, a multiple of a unit.
pub(super) fn time(random: &mut SeededRandom, first: i32, last: i32, unit_us: i64) -> SqlValue {
    let units = (day_start_us(last) - day_start_us(first)) / unit_us;
    SqlValue::Timestamp(day_start_us(first) + random.between(0, units) * unit_us)
}
