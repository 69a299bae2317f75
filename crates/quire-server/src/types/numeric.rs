//! Decimals: as text, and in PostgreSQL's binary form.
//!
//! | part | bytes | what |
//! |---|---|---|
//! | digit count | 2 | of base 10,000 |
//! | weight | 2 | the power of 10,000 of the first digit |
//! | sign | 2 | 0x0000 positive, 0x4000 negative, 0xC000 NaN, 0xD000 and 0xF000 infinities |
//! | scale | 2 | decimal digits behind the point |
//! | digits | 2 each | 0 to 9,999 |

use quire_text::number_in::parse_decimal;

/// Digits of a decimal in base 10,000 that may be wanted at most: 38 decimal ones on both sides of a point.
const DIGITS_MAX: usize = 24;
/// Decimal digits that a value has at most.
const PRECISION_MAX: u32 = 38;

/// A decimal: so many units of a power of ten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WireDecimal {
    pub(super) units: i128,
    pub(super) scale: u8,
}

/// Why a decimal was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumericError {
    /// It is none.
    Malformed,
    /// It has more than 38 digits, or is NaN or infinite.
    OutOfRange,
}

/// `-12.50`
pub(super) fn numeric_text(units: i128, scale: i8) -> String {
    let sign = if units < 0 { "-" } else { "" };
    let digits = units.unsigned_abs().to_string();
    let Ok(scale @ 1..) = usize::try_from(scale) else {
        let zeros = if units == 0 {
            0
        } else {
            usize::from(scale.unsigned_abs())
        };
        return format!("{sign}{digits}{}", "0".repeat(zeros));
    };
    let digits = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    format!("{sign}{whole}.{fraction}")
}

/// The units of a decimal in a type with `precision` digits, `scale` of them behind the point: rounded as in an assignment. `None` if it has more
/// digits before the point.
pub(crate) fn rescaled(units: i128, from: i8, precision: u8, scale: u8) -> Option<i128> {
    let text = numeric_text(units, from);
    parse_decimal(text.as_bytes(), precision, scale).ok()
}

/// Appends the binary form.
pub(super) fn write_numeric(out: &mut Vec<u8>, units: i128, scale: i8) {
    let shown_scale = u16::try_from(scale).unwrap_or(0);
    // The point is moved to the border of two digits of base 10,000.
    let fraction_digits = usize::from(shown_scale).div_ceil(4);
    let padding = (fraction_digits * 4) - usize::from(shown_scale);
    let zeros = if scale < 0 {
        usize::from(scale.unsigned_abs())
    } else {
        padding
    };
    let decimal = format!("{}{}", units.unsigned_abs(), "0".repeat(zeros));
    let bytes = decimal.as_bytes();
    let groups = bytes.rchunks(4).rev().map(|group| {
        group
            .iter()
            .fold(0_u16, |value, digit| value * 10 + u16::from(digit - b'0'))
    });
    let mut digits: Vec<u16> = groups.collect();
    let mut weight = digits.len() as i16 - fraction_digits as i16 - 1;
    let leading = digits.iter().take_while(|digit| **digit == 0).count();
    digits.drain(..leading);
    weight -= leading as i16;
    while digits.last() == Some(&0) {
        digits.pop();
    }
    if digits.is_empty() {
        weight = 0;
    }
    let sign = if units < 0 { 0x4000_u16 } else { 0 };
    out.extend((digits.len() as u16).to_be_bytes());
    out.extend(weight.to_be_bytes());
    out.extend(sign.to_be_bytes());
    out.extend(shown_scale.to_be_bytes());
    digits
        .iter()
        .for_each(|digit| out.extend(digit.to_be_bytes()));
}

/// Reads the binary form.
pub(super) fn read_numeric(bytes: &[u8]) -> Result<WireDecimal, NumericError> {
    let words: Vec<u16> = bytes
        .chunks(2)
        .map(|pair| pair.try_into().map(u16::from_be_bytes))
        .collect::<Result<_, _>>()
        .map_err(|_| NumericError::Malformed)?;
    let [count, weight, sign, scale, digits @ ..] = words.as_slice() else {
        return Err(NumericError::Malformed);
    };
    if usize::from(*count) != digits.len() || digits.iter().any(|digit| *digit > 9999) {
        return Err(NumericError::Malformed);
    }
    let is_negative = match sign {
        0 => false,
        0x4000 => true,
        0xC000 | 0xD000 | 0xF000 => return Err(NumericError::OutOfRange),
        _ => return Err(NumericError::Malformed),
    };
    let weight = i32::from(*weight as i16);
    if digits.len() > DIGITS_MAX || !(-(DIGITS_MAX as i32)..=DIGITS_MAX as i32).contains(&weight) {
        return Err(NumericError::OutOfRange);
    }
    let digit = |power: i32| {
        let index = usize::try_from(weight - power).ok();
        let digit = index.and_then(|index| digits.get(index));
        format!("{:04}", digit.copied().unwrap_or(0))
    };
    let lowest = weight + 1 - digits.len() as i32;
    let whole: String = (0..=weight).rev().map(digit).collect();
    let mut fraction: String = (lowest..0).rev().map(digit).collect();
    let scale = usize::from(*scale);
    if scale > fraction.len() {
        // More zeros than can be kept need not be counted.
        let zeros = (scale - fraction.len()).min(PRECISION_MAX as usize + 1);
        fraction += &"0".repeat(zeros);
    } else if fraction[scale..].bytes().all(|byte| byte == b'0') {
        fraction.truncate(scale);
    }
    let sign = if is_negative { "-" } else { "" };
    let whole = if whole.is_empty() { "0" } else { &whole };
    parse_numeric(&format!("{sign}{whole}.{fraction}"))
}

/// Reads `-12.50`, `.5` or `1e-5`.
pub(super) fn parse_numeric(text: &str) -> Result<WireDecimal, NumericError> {
    let text = text.trim();
    let (is_negative, rest) = match text.as_bytes().first() {
        Some(b'-') => (true, &text[1..]),
        Some(b'+') => (false, &text[1..]),
        _ => (false, text),
    };
    if ["nan", "infinity", "inf"].contains(&rest.to_ascii_lowercase().as_str()) {
        return Err(NumericError::OutOfRange);
    }
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => {
            let exponent = exponent
                .parse::<i32>()
                .map_err(|_| NumericError::Malformed)?;
            (mantissa, exponent)
        }
        None => (rest, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = || whole.bytes().chain(fraction.bytes());
    if digits().next().is_none() || !digits().all(|byte| byte.is_ascii_digit()) {
        return Err(NumericError::Malformed);
    }
    let mut units = 0_i128;
    for digit in digits() {
        let more = units
            .checked_mul(10)
            .map(|units| units + i128::from(digit - b'0'));
        units = more.ok_or(NumericError::OutOfRange)?;
    }
    let fraction_digits = i32::try_from(fraction.len()).map_err(|_| NumericError::OutOfRange)?;
    let scale = fraction_digits.saturating_sub(exponent);
    let (units, scale) = if scale < 0 {
        let zeros = if units == 0 { 0 } else { scale.unsigned_abs() };
        let power = 10_i128.checked_pow(zeros).ok_or(NumericError::OutOfRange)?;
        (units.checked_mul(power).ok_or(NumericError::OutOfRange)?, 0)
    } else {
        (units, scale)
    };
    if scale > PRECISION_MAX as i32 || units >= 10_i128.pow(PRECISION_MAX) {
        return Err(NumericError::OutOfRange);
    }
    Ok(WireDecimal {
        units: if is_negative { -units } else { units },
        scale: scale as u8,
    })
}

impl WireDecimal {
    /// The same number with another scale, where it has room for it.
    pub(super) fn with_scale(self, scale: u8) -> Option<i128> {
        let zeros = u32::from(scale.checked_sub(self.scale)?);
        self.units.checked_mul(10_i128.checked_pow(zeros)?)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn binary(units: i128, scale: i8) -> Vec<u8> {
        let mut out = Vec::new();
        write_numeric(&mut out, units, scale);
        out
    }

    #[test]
    fn the_binary_form_is_that_of_postgresql() {
        // From numeric_send of PostgreSQL 15.
        let cases: [(i128, i8, &[u16]); 6] = [
            (0, 0, &[0, 0, 0, 0]),
            (1, 0, &[1, 0, 0, 0, 1]),
            (-1250, 2, &[2, 0, 0x4000, 2, 12, 5000]),
            (12_345_678, 0, &[2, 1, 0, 0, 1234, 5678]),
            (1, 5, &[1, 0xFFFE, 0, 5, 1000]),
            (10_000, 0, &[1, 1, 0, 0, 1]),
        ];
        for (units, scale, words) in cases {
            let expected: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
            assert_eq!(binary(units, scale), expected, "{units} {scale}");
        }
    }

    #[test]
    fn both_forms_are_read_back() {
        let mut units = 7_i128;
        for round in 0..2000 {
            units = units
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let value = (units >> 1) % 10_i128.pow(1 + round % 38);
            let scale = (round % 39) as i8;
            let expected = WireDecimal {
                units: value,
                scale: scale as u8,
            };
            assert_eq!(
                read_numeric(&binary(value, scale)),
                Ok(expected),
                "{value} {scale}"
            );
            assert_eq!(parse_numeric(&numeric_text(value, scale)), Ok(expected));
        }
    }

    #[test]
    fn wrong_forms_are_errors() {
        for wrong in ["", "-", ".", "1.2.3", "x", "1e", "--1", "0x1", "1_0"] {
            assert_eq!(
                parse_numeric(wrong),
                Err(NumericError::Malformed),
                "{wrong}"
            );
        }
        let digits = "9".repeat(39);
        for wrong in [
            digits.as_str(),
            "1e38",
            "1e-39",
            "NaN",
            "-Infinity",
            "1e99999999",
        ] {
            assert_eq!(
                parse_numeric(wrong),
                Err(NumericError::OutOfRange),
                "{wrong}"
            );
        }
        assert_eq!(parse_numeric("1e2").unwrap().units, 100);
        assert_eq!(
            read_numeric(&[0, 1, 0, 0, 0, 0, 0, 0, 0x27, 0x10]),
            Err(NumericError::Malformed)
        );
        assert_eq!(
            read_numeric(&[0, 0, 0, 0, 0xC0, 0, 0, 0]),
            Err(NumericError::OutOfRange)
        );
        assert_eq!(read_numeric(&[0; 7]), Err(NumericError::Malformed));
        assert_eq!(
            read_numeric(&[0, 1, 0x7F, 0xFF, 0, 0, 0, 0, 0, 1]),
            Err(NumericError::OutOfRange)
        );
    }
}
