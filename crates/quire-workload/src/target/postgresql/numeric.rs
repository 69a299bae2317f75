//! How does PostgreSQL's protocol write a NUMERIC?
//!
//! Four 16-bit numbers (the count of digits, the weight of the first digit, the sign, the digits of the fraction that are shown), then digits of
//! base 10,000, the first one first (PostgreSQL 15, `src/backend/utils/adt/numeric.c`, `numeric_send`).

use crate::SqlValue;
use bytes::BufMut;

const BASE: u128 = 10_000;
/// Decimal digits of a digit.
const DIGIT_DIGITS: u32 = 4;
const POSITIVE: u16 = 0x0000;
const NEGATIVE: u16 = 0x4000;
/// A value that fits 64 bits has no more, with any scale of 8 bits.
const DIGITS_MAX: usize = 1_000;

/// Appends `unscaled` / 10^`scale`.
pub(super) fn write_numeric(unscaled: i64, scale: u8, out: &mut impl BufMut) {
    let fraction_digits = u32::from(scale).div_ceil(DIGIT_DIGITS);
    let shift = fraction_digits * DIGIT_DIGITS - u32::from(scale);
    let mut rest = u128::from(unscaled.unsigned_abs()) * 10u128.pow(shift);
    let mut digits = Vec::new();
    while rest > 0 {
        digits.push((rest % BASE) as i16);
        rest /= BASE;
    }
    let weight = digits.len() as i16 - 1 - fraction_digits as i16;
    // Zeros behind the last digit are implied.
    let implied = digits.iter().take_while(|&&digit| digit == 0).count();
    let digits = &digits[implied..];
    out.put_i16(digits.len() as i16);
    out.put_i16(if digits.is_empty() { 0 } else { weight });
    out.put_u16(if unscaled < 0 { NEGATIVE } else { POSITIVE });
    out.put_u16(u16::from(scale));
    for &digit in digits.iter().rev() {
        out.put_i16(digit);
    }
}

/// The value of those bytes: a decimal with the scale that they show, or a double if that has more digits than 64 bits hold, as averages do.
pub(super) fn read_numeric(bytes: &[u8]) -> Result<SqlValue, &'static str> {
    let mut words = bytes.chunks(2).map(|pair| match *pair {
        [high, low] => Ok(u16::from_be_bytes([high, low])),
        _ => Err("a NUMERIC of an odd number of bytes"),
    });
    let mut next = || words.next().unwrap_or(Err("a NUMERIC that ends early"));
    let (count, weight, sign, scale) = (next()?, next()? as i16, next()?, next()?);
    if usize::from(count) > DIGITS_MAX {
        return Err("a NUMERIC of too many digits");
    }
    let negative = match sign {
        POSITIVE => false,
        NEGATIVE => true,
        _ => return Err("a NUMERIC that is not a number, or infinite"),
    };
    let digits: Vec<u16> = (0..count).map(|_| next()).collect::<Result<_, _>>()?;
    if digits.iter().any(|&digit| u128::from(digit) >= BASE) {
        return Err("a NUMERIC with a digit above 9999");
    }
    let exact = exact_decimal(&digits, weight, negative, scale);
    Ok(exact.unwrap_or_else(|| SqlValue::Double(nearest_double(&digits, weight, negative))))
}

fn exact_decimal(digits: &[u16], weight: i16, negative: bool, scale: u16) -> Option<SqlValue> {
    let mut unscaled = 0i128;
    for (index, &digit) in digits.iter().enumerate() {
        let exponent = (i32::from(weight) - index as i32) * DIGIT_DIGITS as i32 + i32::from(scale);
        let digit = i128::from(digit);
        let part = match u32::try_from(exponent) {
            Ok(exponent) => digit.checked_mul(10i128.checked_pow(exponent)?)?,
            // Digits below the scale are zeros.
            Err(_) => digit / 10i128.checked_pow(exponent.unsigned_abs())?,
        };
        unscaled = unscaled.checked_add(part)?;
    }
    let unscaled = i64::try_from(if negative { -unscaled } else { unscaled }).ok()?;
    let scale = u8::try_from(scale).ok()?;
    Some(SqlValue::Decimal { unscaled, scale })
}

fn nearest_double(digits: &[u16], weight: i16, negative: bool) -> f64 {
    let parts = digits.iter().enumerate().map(|(index, &digit)| {
        let exponent = (i32::from(weight) - index as i32) * DIGIT_DIGITS as i32;
        f64::from(digit) * 10f64.powi(exponent)
    });
    let value: f64 = parts.sum();
    if negative { -value } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(unscaled: i64, scale: u8) -> SqlValue {
        SqlValue::Decimal { unscaled, scale }
    }

    /// As `SELECT encode(numeric_send(…), 'hex')` of PostgreSQL 15 prints them.
    const SENT: [(i64, u8, &str); 9] = [
        (0, 0, "0000000000000000"),
        (0, 2, "0000000000000002"),
        (1_234_567, 2, "0003000100000002000109291a2c"),
        (-5, 2, "0001ffff4000000201f4"),
        (10_000, 0, "00010001000000000001"),
        (100, 2, "00010000000000020001"),
        (1, 5, "0001fffe0000000503e8"),
        (999_999_990_001, 4, "0003000100000004270f270f0001"),
        (i64::MIN, 0, "0005000440000000039a0d2c0170156516b0"),
    ];

    fn bytes_of(hex: &str) -> Vec<u8> {
        let digits: Vec<u8> = hex.bytes().collect();
        let digit = |byte: u8| (byte as char).to_digit(16).unwrap() as u8;
        digits
            .chunks(2)
            .map(|pair| digit(pair[0]) * 16 + digit(pair[1]))
            .collect()
    }

    #[test]
    fn numbers_are_written_and_read_as_postgresql_sends_them() {
        for (unscaled, scale, hex) in SENT {
            let mut written = Vec::new();
            write_numeric(unscaled, scale, &mut written);
            assert_eq!(written, bytes_of(hex), "{unscaled} / 10^{scale}");
            assert_eq!(read_numeric(&written), Ok(decimal(unscaled, scale)));
        }
    }

    #[test]
    fn every_value_is_read_as_it_was_written() {
        let mut random = crate::SeededRandom::new(1);
        for _ in 0..10_000 {
            let unscaled = random.next_u64() as i64 >> random.below(64);
            let scale = random.below(30) as u8;
            let mut written = Vec::new();
            write_numeric(unscaled, scale, &mut written);
            assert_eq!(read_numeric(&written), Ok(decimal(unscaled, scale)));
        }
    }

    #[test]
    fn too_many_digits_are_a_double() {
        // 3333.3333333333333333, as the average of 3333, 3333 and 3334.
        let bytes = bytes_of("00050000000000100d050d050d050d050d05");
        let Ok(SqlValue::Double(value)) = read_numeric(&bytes) else {
            panic!("{:?}", read_numeric(&bytes));
        };
        assert!((value - 10_000.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn other_bytes_are_errors() {
        for hex in [
            "",
            "00",
            "0001000000000000",
            "00000000c0000000",
            "0001000000000000ffff",
            "7fff000000000000",
            "000100000000000000",
        ] {
            let read = read_numeric(&bytes_of(hex));
            assert!(read.is_err(), "{hex}: {read:?}");
        }
    }
}
