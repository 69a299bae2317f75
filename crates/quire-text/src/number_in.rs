//! Text to numbers, by the rules of PostgreSQL's input functions.
//!
//! Blanks around a number are allowed; a decimal with more fraction digits than the column's
//! scale is rounded half away from zero; everything else that does not fit is an error.

/// Why a text is no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberInError {
    Invalid,
    OutOfRange,
}

/// Powers of ten that fit 64 bits.
const POWERS: [u64; 19] = {
    let mut powers = [1u64; 19];
    let mut at = 1;
    while at < powers.len() {
        powers[at] = powers[at - 1] * 10;
        at += 1;
    }
    powers
};

/// A whole number.
#[inline]
pub fn parse_i64(text: &[u8]) -> Result<i64, NumberInError> {
    let (negative, digits) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        _ => (false, text),
    };
    if digits.is_empty() || digits.len() > 18 {
        return parse_i64_any(text);
    }
    let mut value = 0i64;
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return parse_i64_any(text);
        }
        // At most 18 digits: this never wraps, and is not checked in the innermost loop.
        value = value.wrapping_mul(10).wrapping_add(i64::from(digit));
    }
    Ok(if negative { -value } else { value })
}

/// A whole number that a smaller type must hold.
#[inline]
pub fn parse_integer<T: TryFrom<i64>>(text: &[u8]) -> Result<T, NumberInError> {
    T::try_from(parse_i64(text)?).map_err(|_| NumberInError::OutOfRange)
}

#[cold]
fn parse_i64_any(text: &[u8]) -> Result<i64, NumberInError> {
    let (negative, digits) = split_sign(text.trim_ascii());
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(NumberInError::Invalid);
    }
    let mut value = 0i64;
    for &byte in digits {
        let digit = i64::from(byte - b'0');
        // Downwards, because the negative range is the larger one.
        value = value
            .checked_mul(10)
            .and_then(|v| v.checked_sub(digit))
            .ok_or(NumberInError::OutOfRange)?;
    }
    if negative {
        Ok(value)
    } else {
        value.checked_neg().ok_or(NumberInError::OutOfRange)
    }
}

fn split_sign(text: &[u8]) -> (bool, &[u8]) {
    match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, text),
    }
}

/// A decimal in units of 10^-scale, with at most `precision` digits.
#[inline]
pub fn parse_decimal(text: &[u8], precision: u8, scale: u8) -> Result<i128, NumberInError> {
    let (negative, body) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        _ => (false, text),
    };
    if body.is_empty() || body.len() > 18 {
        return parse_decimal_any(text, precision, scale);
    }
    let mut mantissa = 0u64;
    let mut point = None;
    for (position, &byte) in body.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit <= 9 {
            // At most 18 digits: this never wraps, and is not checked in the innermost loop.
            mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
        } else if byte == b'.' && point.is_none() {
            point = Some(position);
        } else {
            return parse_decimal_any(text, precision, scale);
        }
    }
    let fraction = point.map_or(0, |point| body.len() - point - 1);
    let digits = body.len() - usize::from(point.is_some());
    let Some(missing) = usize::from(scale).checked_sub(fraction) else {
        return parse_decimal_any(text, precision, scale);
    };
    if digits == 0 || digits + missing > 18 {
        return parse_decimal_any(text, precision, scale);
    }
    let value = mantissa * POWERS[missing];
    if precision < 18 && value >= POWERS[usize::from(precision)] {
        return Err(NumberInError::OutOfRange);
    }
    Ok(if negative {
        -i128::from(value)
    } else {
        i128::from(value)
    })
}

#[cold]
fn parse_decimal_any(text: &[u8], precision: u8, scale: u8) -> Result<i128, NumberInError> {
    let (negative, body) = split_sign(text.trim_ascii());
    let (mantissa, exponent) = split_exponent(body)?;
    let point = mantissa
        .iter()
        .position(|&b| b == b'.')
        .unwrap_or(mantissa.len());
    let fraction = mantissa.get(point + 1..).unwrap_or_default();
    let digits = mantissa[..point].iter().chain(fraction);
    let digit_count = point + fraction.len();
    if digit_count == 0 || !digits.clone().all(u8::is_ascii_digit) {
        return Err(NumberInError::Invalid);
    }
    // Digits before the rounding position.
    let kept = point as i64 + exponent + i64::from(scale);
    let mut value = 0i128;
    for (position, &byte) in digits.clone().enumerate() {
        if position as i64 >= kept {
            let rounds_up = position as i64 == kept && byte >= b'5';
            value += i128::from(rounds_up);
            break;
        }
        value = append_digit(value, byte - b'0')?;
    }
    for _ in digit_count as i64..kept {
        if value == 0 {
            break;
        }
        value = append_digit(value, 0)?;
    }
    if value >= 10i128.pow(u32::from(precision.min(38))) {
        return Err(NumberInError::OutOfRange);
    }
    Ok(if negative { -value } else { value })
}

fn append_digit(value: i128, digit: u8) -> Result<i128, NumberInError> {
    let value = value
        .checked_mul(10)
        .and_then(|v| v.checked_add(i128::from(digit)));
    value.ok_or(NumberInError::OutOfRange)
}

fn split_exponent(body: &[u8]) -> Result<(&[u8], i64), NumberInError> {
    let Some(at) = body.iter().position(|b| b.eq_ignore_ascii_case(&b'e')) else {
        return Ok((body, 0));
    };
    let (negative, digits) = split_sign(&body[at + 1..]);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(NumberInError::Invalid);
    }
    // Larger exponents change nothing: the value is out of range or zero.
    let magnitude = digits.iter().fold(0i64, |value, &b| {
        (value * 10 + i64::from(b - b'0')).min(1 << 40)
    });
    Ok((&body[..at], if negative { -magnitude } else { magnitude }))
}

/// A floating-point number; `Infinity` and `NaN` by name.
#[inline]
pub fn parse_f64(text: &[u8]) -> Result<f64, NumberInError> {
    let text = std::str::from_utf8(text.trim_ascii()).map_err(|_| NumberInError::Invalid)?;
    let value: f64 = text.parse().map_err(|_| NumberInError::Invalid)?;
    check_float(text, value.is_infinite(), value == 0.0)?;
    Ok(value)
}

/// A single-precision number, rounded once.
#[inline]
pub fn parse_f32(text: &[u8]) -> Result<f32, NumberInError> {
    let text = std::str::from_utf8(text.trim_ascii()).map_err(|_| NumberInError::Invalid)?;
    let value: f32 = text.parse().map_err(|_| NumberInError::Invalid)?;
    check_float(text, value.is_infinite(), value == 0.0)?;
    Ok(value)
}

/// An infinity that was not asked for, or a zero made of digits that are not, is out of range.
#[inline]
fn check_float(text: &str, infinite: bool, zero: bool) -> Result<(), NumberInError> {
    if infinite && !text.contains(['i', 'I']) {
        return Err(NumberInError::OutOfRange);
    }
    if zero {
        let mantissa = text.split(['e', 'E']).next().unwrap_or_default();
        if mantissa.bytes().any(|b| matches!(b, b'1'..=b'9')) {
            return Err(NumberInError::OutOfRange);
        }
    }
    Ok(())
}
