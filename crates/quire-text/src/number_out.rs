//! Values to text, as PostgreSQL prints them; every text reads back as the same value.

use std::io::Write;

use crate::gregorian::civil_from_days;

const DAY_MICROSECONDS: i64 = 86_400_000_000;

/// Appends a whole number.
pub fn write_integer(value: i128, out: &mut Vec<u8>) {
    if value < 0 {
        out.push(b'-');
    }
    write_digits(value.unsigned_abs(), 1, out);
}

/// Appends a number with at least `digits_min` digits.
fn write_digits(mut value: u128, digits_min: usize, out: &mut Vec<u8>) {
    let mut digits = [b'0'; 39];
    let mut at = digits.len();
    // Most values fit 64 bits, where division is cheap.
    while value > u128::from(u64::MAX) {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
    }
    let mut small = value as u64;
    while small > 0 {
        at -= 1;
        digits[at] = b'0' + (small % 10) as u8;
        small /= 10;
    }
    at = at.min(digits.len() - digits_min.min(digits.len()));
    out.extend_from_slice(&digits[at..]);
}

/// Appends a decimal in units of 10^-scale, with all its fraction digits.
pub fn write_decimal(value: i128, scale: i8, out: &mut Vec<u8>) {
    if value < 0 {
        out.push(b'-');
    }
    let Ok(fraction_digits) = usize::try_from(scale) else {
        write_digits(value.unsigned_abs(), 1, out);
        if value != 0 {
            out.extend(std::iter::repeat_n(b'0', usize::from(scale.unsigned_abs())));
        }
        return;
    };
    write_digits(value.unsigned_abs(), fraction_digits + 1, out);
    if fraction_digits > 0 {
        out.insert(out.len() - fraction_digits, b'.');
    }
}

/// Appends the shortest text that reads back as the same double.
pub fn write_f64(value: f64, out: &mut Vec<u8>) {
    if value.is_finite() {
        // Writing to a vector cannot fail.
        let start = out.len();
        let _ = write!(out, "{value:e}");
        lay_out(start, 15, out);
    } else {
        write_special(value.is_nan(), value < 0.0, out);
    }
}

/// Appends the shortest text that reads back as the same single-precision number.
pub fn write_f32(value: f32, out: &mut Vec<u8>) {
    if value.is_finite() {
        let start = out.len();
        let _ = write!(out, "{value:e}");
        lay_out(start, 6, out);
    } else {
        write_special(value.is_nan(), value < 0.0, out);
    }
}

fn write_special(is_nan: bool, negative: bool, out: &mut Vec<u8>) {
    let text: &[u8] = match (is_nan, negative) {
        (true, _) => b"NaN",
        (false, true) => b"-Infinity",
        (false, false) => b"Infinity",
    };
    out.extend_from_slice(text);
}

/// Turns `d.ddde±x` at `start` into PostgreSQL's layout: without exponent for exponents from -4
/// to below `exponent_limit`, otherwise with a sign and at least two digits.
fn lay_out(start: usize, exponent_limit: i32, out: &mut Vec<u8>) {
    let mut scientific = [0u8; 32];
    let text = &out[start..];
    let length = text.len().min(scientific.len());
    scientific[..length].copy_from_slice(&text[..length]);
    let text = &scientific[..length];
    let split = text.iter().position(|&b| b == b'e').unwrap_or(length);
    let exponent = std::str::from_utf8(text.get(split + 1..).unwrap_or_default());
    let exponent: i32 = exponent.ok().and_then(|e| e.parse().ok()).unwrap_or(0);
    let mantissa = &text[..split];
    if !(-4..exponent_limit).contains(&exponent) {
        out.truncate(start + split);
        // Writing to a vector cannot fail.
        let _ = write!(
            out,
            "e{}{:02}",
            if exponent < 0 { '-' } else { '+' },
            exponent.abs()
        );
        return;
    }
    out.truncate(start);
    let (sign, digits) = match mantissa.split_first() {
        Some((b'-', rest)) => (&mantissa[..1], rest),
        _ => (&mantissa[..0], mantissa),
    };
    out.extend_from_slice(sign);
    let digits = || digits.iter().copied().filter(|b| *b != b'.');
    let count = digits().count() as i32;
    if exponent < 0 {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', (-exponent - 1) as usize));
        out.extend(digits());
        return;
    }
    for (position, digit) in digits().enumerate() {
        if position as i32 == exponent + 1 {
            out.push(b'.');
        }
        out.push(digit);
    }
    out.extend(std::iter::repeat_n(
        b'0',
        (exponent + 1 - count).max(0) as usize,
    ));
}

/// Appends `YYYY-MM-DD`, with ` BC` after years before 1.
pub fn write_date(days: i64, out: &mut Vec<u8>) {
    if write_civil(days, out) {
        out.extend_from_slice(b" BC");
    }
}

/// Appends `YYYY-MM-DD HH:MM:SS[.ffffff]`, then `+00` when `zoned`, then ` BC` before year 1.
pub fn write_timestamp(microseconds: i64, zoned: bool, out: &mut Vec<u8>) {
    let before_christ = write_civil(microseconds.div_euclid(DAY_MICROSECONDS), out);
    let of_day = microseconds.rem_euclid(DAY_MICROSECONDS);
    let (seconds, fraction) = ((of_day / 1_000_000) as u32, of_day % 1_000_000);
    out.push(b' ');
    write_time_of_day(seconds, fraction as u32, out);
    if zoned {
        out.extend_from_slice(b"+00");
    }
    if before_christ {
        out.extend_from_slice(b" BC");
    }
}

/// Appends `HH:MM:SS[.ffffff]`.
pub fn write_time_of_day(seconds: u32, microseconds: u32, out: &mut Vec<u8>) {
    write_pair(seconds / 3600, out);
    out.push(b':');
    write_pair(seconds / 60 % 60, out);
    out.push(b':');
    write_pair(seconds % 60, out);
    if microseconds != 0 {
        out.push(b'.');
        write_digits(u128::from(microseconds), 6, out);
        while out.last() == Some(&b'0') {
            out.pop();
        }
    }
}

/// Appends the date's digits; true when the year is before 1.
fn write_civil(days: i64, out: &mut Vec<u8>) -> bool {
    let (year, month, day) = civil_from_days(days);
    let before_christ = year <= 0;
    let shown = if before_christ { 1 - year } else { year };
    write_digits(shown.unsigned_abs().into(), 4, out);
    out.push(b'-');
    write_pair(month, out);
    out.push(b'-');
    write_pair(day, out);
    before_christ
}

fn write_pair(value: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&[b'0' + (value / 10 % 10) as u8, b'0' + (value % 10) as u8]);
}
