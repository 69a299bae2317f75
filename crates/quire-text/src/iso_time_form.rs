//! Whether a text is a date or a moment in ISO 8601's form, so strictly that reading it changes no value.
//!
//! [`crate::calendar`] reads more: it rounds digits, and ignores a zone where none is wanted. Who asks which type the texts of a column have asks here.

use crate::calendar::{parse_date, parse_timestamp};

/// The forms: four digits of the year, two of all else, at most six of the fraction, and offsets or `Z` as zones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IsoTimeForm {
    /// `YYYY-MM-DD`.
    Date,
    /// A date, a blank or `T`, and `HH:MM[:SS[.fraction]]`.
    Timestamp,
    /// A timestamp with `Z`, `±HH`, `±HHMM` or `±HH:MM`.
    ZonedTimestamp,
}

impl IsoTimeForm {
    /// The form of `text`; `None` if it is no date or moment in ISO form, or one that would lose digits.
    pub fn of(text: &[u8]) -> Option<Self> {
        let (date, rest) = text.split_at_checked(10)?;
        let dashes = date[4] == b'-' && date[7] == b'-';
        if !dashes || !date[..4].iter().all(u8::is_ascii_digit) || parse_date(date).is_err() {
            return None;
        }
        if rest.is_empty() {
            return Some(Self::Date);
        }
        let after_time = after_time_of_day(rest)?;
        let zoned = match after_time {
            [] => false,
            b"Z" => true,
            [b'+' | b'-', zone @ ..] => match zone {
                [_, _] | [_, _, _, _] => zone.iter().all(u8::is_ascii_digit),
                [hour @ .., b':', _, _] if hour.len() == 2 => true,
                _ => return None,
            },
            _ => return None,
        };
        if parse_timestamp(text, None).is_err() {
            return None;
        }
        Some(if zoned {
            Self::ZonedTimestamp
        } else {
            Self::Timestamp
        })
    }
}

/// What follows `[ T]HH:MM[:SS[.1–6 digits]]`, with an hour below 24 and a second below 60.
fn after_time_of_day(text: &[u8]) -> Option<&[u8]> {
    let [b' ' | b'T', h0, h1, b':', m0, m1, rest @ ..] = text else {
        return None;
    };
    if ![h0, h1, m0, m1].iter().all(|b| b.is_ascii_digit()) || (*h0 == b'2' && *h1 > b'3') {
        return None;
    }
    let [b':', s0 @ b'0'..=b'5', s1, rest @ ..] = rest else {
        return Some(rest);
    };
    if *s0 > b'5' || !s1.is_ascii_digit() {
        return None;
    }
    let Some(fraction) = rest.strip_prefix(b".") else {
        return Some(rest);
    };
    let digits = fraction.iter().take_while(|b| b.is_ascii_digit()).count();
    (1..=6).contains(&digits).then(|| &fraction[digits..])
}
