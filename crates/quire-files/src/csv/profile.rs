//! Which types a column's texts fit, so that no value changes.
//!
//! A column gets a type only if writing its values back gives values equal to the texts. In
//! order of preference:
//!
//! 1. BOOLEAN: `true`, `false` (also all upper case or capitalized).
//! 2. BIGINT: whole numbers without plus sign, leading zeros or `-0`, within 64 bits.
//! 3. DOUBLE PRECISION: every text is what Quire prints for the double it denotes.
//! 4. DECIMAL(18,s) or (38,s): every text has the same number s of fraction digits (`12.50`).
//! 5. DOUBLE PRECISION: texts of at most 17 significant digits that denote a number in another
//!    spelling (`20.0`, `.5`, `1.5E-05`): the double is the one the writing program had.
//! 6. DECIMAL(38,s): more digits than a double holds.
//! 7. DATE, TIMESTAMP, TIMESTAMP WITH TIME ZONE in ISO form; never two of them mixed.
//! 8. TEXT: everything else, such as `007`, `+1`, ` 1`, `1E5`, `1,5`, and columns without values.

use arrow::datatypes::{DataType, TimeUnit};

use quire_text::iso_time_form::IsoTimeForm;
use quire_text::number_in::{parse_f64, parse_i64};
use quire_text::number_out::write_f64;

const BOOLEAN: u16 = 1;
const INTEGER: u16 = 1 << 1;
const DOUBLE_SAME_TEXT: u16 = 1 << 2;
const DOUBLE_SAME_VALUE: u16 = 1 << 3;
const FIXED_DECIMAL: u16 = 1 << 4;
const ANY_DECIMAL: u16 = 1 << 5;
const DATE: u16 = 1 << 6;
const TIMESTAMP: u16 = 1 << 7;
const TIMESTAMP_TZ: u16 = 1 << 8;
const NUMBERS: u16 = INTEGER | DOUBLE_SAME_TEXT | DOUBLE_SAME_VALUE | FIXED_DECIMAL | ANY_DECIMAL;
const TIMES: u16 = DATE | TIMESTAMP | TIMESTAMP_TZ;
const ALL: u16 = BOOLEAN | NUMBERS | TIMES;

/// Digits that survive the way from text to double and back, whatever they are.
const DOUBLE_DIGITS_SAFE: usize = 15;
/// Digits that tell any two doubles apart.
const DOUBLE_DIGITS_MAX: usize = 17;

/// What is known of the texts of one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Profile {
    /// Types that all texts so far fit.
    fits: u16,
    has_values: bool,
    /// A number that is neither NaN nor infinite was seen.
    has_number: bool,
    integer_digits_max: usize,
    scale_min: usize,
    scale_max: usize,
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            fits: ALL,
            has_values: false,
            has_number: false,
            integer_digits_max: 0,
            scale_min: usize::MAX,
            scale_max: 0,
        }
    }
}

impl Profile {
    /// Whether more texts could change the type.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.fits != 0
    }

    /// Takes one text that is not NULL.
    #[inline]
    pub(super) fn observe(&mut self, text: &[u8]) {
        self.has_values = true;
        if self.fits != 0 {
            self.narrow(text);
        }
    }

    fn narrow(&mut self, text: &[u8]) {
        let first = text.first().copied().unwrap_or_default();
        let mut fits = 0;
        if matches!(first, b'0'..=b'9' | b'-' | b'.' | b'n' | b'N' | b'i' | b'I') {
            if self.fits & NUMBERS != 0 {
                fits = self.number(text);
            }
            if fits == 0 && self.fits & TIMES != 0 {
                fits = time_fit(text);
            }
        } else if matches!(
            text,
            b"true" | b"false" | b"TRUE" | b"FALSE" | b"True" | b"False"
        ) {
            fits = BOOLEAN;
        }
        self.fits &= fits;
    }

    fn number(&mut self, text: &[u8]) -> u16 {
        let Some(shape) = NumberShape::of(text) else {
            return special_fit(text);
        };
        self.has_number = true;
        self.integer_digits_max = self.integer_digits_max.max(shape.integer_digits);
        self.scale_min = self.scale_min.min(shape.fraction_digits);
        self.scale_max = self.scale_max.max(shape.fraction_digits);
        shape.fits(text, self.fits)
    }

    /// Takes what another part of the file showed.
    pub(super) fn merge(&mut self, other: &Self) {
        self.fits &= other.fits;
        self.has_values |= other.has_values;
        self.has_number |= other.has_number;
        self.integer_digits_max = self.integer_digits_max.max(other.integer_digits_max);
        self.scale_min = self.scale_min.min(other.scale_min);
        self.scale_max = self.scale_max.max(other.scale_max);
    }

    /// The column's type.
    pub(super) fn data_type(&self) -> DataType {
        let fits = |kind| self.fits & kind != 0;
        let digits = self.integer_digits_max + self.scale_max;
        let fixed = self.scale_min == self.scale_max;
        let decimal = |scale: usize| {
            let precision = if digits <= 18 { 18 } else { 38 };
            DataType::Decimal128(precision, scale as i8)
        };
        if !self.has_values {
            DataType::Utf8View
        } else if fits(BOOLEAN) {
            DataType::Boolean
        } else if fits(INTEGER) {
            DataType::Int64
        } else if fits(DOUBLE_SAME_TEXT) && self.has_number && self.scale_max > 0 {
            DataType::Float64
        } else if fits(FIXED_DECIMAL) && fixed && digits <= 38 {
            decimal(self.scale_max)
        } else if fits(DOUBLE_SAME_TEXT | DOUBLE_SAME_VALUE) && self.has_number {
            DataType::Float64
        } else if fits(ANY_DECIMAL) && digits <= 38 {
            decimal(self.scale_max)
        } else if fits(DATE) {
            DataType::Date32
        } else if fits(TIMESTAMP) {
            DataType::Timestamp(TimeUnit::Microsecond, None)
        } else if fits(TIMESTAMP_TZ) {
            DataType::Timestamp(TimeUnit::Microsecond, Some("+00:00".into()))
        } else {
            DataType::Utf8View
        }
    }
}

/// The parts of a number without leading zeros and plus sign.
#[derive(Debug, Clone, Copy)]
struct NumberShape {
    negative: bool,
    /// Digits before the point, without a zero that stands alone.
    integer_digits: usize,
    /// Something stands before the point.
    has_integer: bool,
    fraction_digits: usize,
    /// Digits from the first to the last that is not zero.
    significant_digits: usize,
    is_zero: bool,
    ends_with_zero: bool,
    has_exponent: bool,
}

impl NumberShape {
    fn of(text: &[u8]) -> Option<Self> {
        let (negative, body) = match text.split_first() {
            Some((b'-', rest)) => (true, rest),
            _ => (false, text),
        };
        let digits = |from: usize| {
            body[from..]
                .iter()
                .take_while(|b| b.is_ascii_digit())
                .count()
        };
        let integer = digits(0);
        let mut at = integer;
        let mut fraction = 0;
        if body.get(at) == Some(&b'.') {
            fraction = digits(at + 1);
            if fraction == 0 {
                return None;
            }
            at += 1 + fraction;
        }
        let leading_zero = integer > 1 && body[0] == b'0';
        if leading_zero || integer + fraction == 0 || !is_exponent(&body[at..], fraction > 0) {
            return None;
        }
        let mantissa = body[..at].iter().filter(|b| **b != b'.');
        let leading = mantissa.clone().take_while(|b| **b == b'0').count();
        let trailing = mantissa.rev().take_while(|b| **b == b'0').count();
        let is_zero = leading == integer + fraction;
        Some(Self {
            negative,
            integer_digits: integer - usize::from(integer == 1 && body[0] == b'0'),
            has_integer: integer > 0,
            fraction_digits: fraction,
            significant_digits: if is_zero {
                0
            } else {
                integer + fraction - leading - trailing
            },
            is_zero,
            ends_with_zero: fraction > 0 && body[at - 1] == b'0',
            has_exponent: at < body.len(),
        })
    }

    /// The number types that hold this text; `open` are those still of interest.
    fn fits(&self, text: &[u8], open: u16) -> u16 {
        let mut fits = 0;
        let plain = self.has_integer && !self.has_exponent;
        let negative_zero = self.negative && self.is_zero;
        if plain && !negative_zero {
            fits |= ANY_DECIMAL | FIXED_DECIMAL;
            if self.fraction_digits == 0 && (self.integer_digits <= 18 || parse_i64(text).is_ok()) {
                fits |= INTEGER;
            }
        }
        if self.significant_digits <= DOUBLE_DIGITS_MAX
            && (!self.has_exponent || parse_f64(text).is_ok())
        {
            fits |= DOUBLE_SAME_VALUE;
        }
        // Without an exponent, short enough, and at least 0.0001: printed as it is.
        let short = plain && self.integer_digits + self.fraction_digits <= DOUBLE_DIGITS_SAFE;
        let ordinary = short && (self.integer_digits > 0 || self.fraction_digits <= 4);
        if ordinary && !self.ends_with_zero {
            fits |= DOUBLE_SAME_TEXT;
        } else if !ordinary && !self.ends_with_zero && open & DOUBLE_SAME_TEXT != 0 {
            fits |= same_double_text(text);
        }
        fits
    }
}

fn same_double_text(text: &[u8]) -> u16 {
    let mut printed = Vec::with_capacity(32);
    match parse_f64(text) {
        Ok(value) => write_f64(value, &mut printed),
        Err(_) => return 0,
    }
    if printed == text { DOUBLE_SAME_TEXT } else { 0 }
}

/// Nothing, or an exponent that no product code looks like: with a sign, or after a fraction.
fn is_exponent(text: &[u8], after_fraction: bool) -> bool {
    let digits = match text {
        [] => return true,
        [b'e' | b'E', b'+' | b'-', digits @ ..] => digits,
        [b'e' | b'E', digits @ ..] if after_fraction => digits,
        _ => return false,
    };
    matches!(digits.len(), 1..=3) && digits.iter().all(u8::is_ascii_digit)
}

fn special_fit(text: &[u8]) -> u16 {
    match text {
        b"NaN" | b"Infinity" | b"-Infinity" => DOUBLE_SAME_TEXT | DOUBLE_SAME_VALUE,
        b"nan" | b"inf" | b"-inf" => DOUBLE_SAME_VALUE,
        _ => 0,
    }
}

/// The time type of a text in ISO form.
fn time_fit(text: &[u8]) -> u16 {
    match IsoTimeForm::of(text) {
        Some(IsoTimeForm::Date) => DATE,
        Some(IsoTimeForm::Timestamp) => TIMESTAMP,
        Some(IsoTimeForm::ZonedTimestamp) => TIMESTAMP_TZ,
        None => 0,
    }
}
