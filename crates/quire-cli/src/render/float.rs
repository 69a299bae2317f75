//! Floating-point numbers as PostgreSQL writes them: the fewest digits that read back to the same
//! value, an exponent only for very large and very small ones.

use std::fmt::Write as _;

/// Decimal exponents below this are written with an `e`.
const SMALLEST_PLAIN_EXPONENT: i32 = -4;

/// Appends an 8-byte float; exponents from 15 on are written with an `e`.
pub fn write_f64(value: f64, out: &mut String) {
    if value.is_finite() {
        write_digits(&format!("{value:e}"), 15, out);
    } else {
        write_special(value, out);
    }
}

/// Appends a 4-byte float; exponents from 6 on are written with an `e`.
pub fn write_f32(value: f32, out: &mut String) {
    if value.is_finite() {
        write_digits(&format!("{value:e}"), 6, out);
    } else {
        write_special(f64::from(value), out);
    }
}

fn write_special(value: f64, out: &mut String) {
    out.push_str(if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    });
}

/// `scientific` is `[-]d[.ddd]e[-]x` with the shortest digits.
fn write_digits(scientific: &str, first_large_exponent: i32, out: &mut String) {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    out.push_str(sign);
    if !(SMALLEST_PLAIN_EXPONENT..first_large_exponent).contains(&exponent) {
        let exponent_sign = if exponent < 0 { '-' } else { '+' };
        let _ = write!(
            out,
            "{mantissa}e{exponent_sign}{:02}",
            exponent.unsigned_abs()
        );
        return;
    }
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    match usize::try_from(exponent) {
        Ok(exponent) if digits.len() <= exponent + 1 => {
            out.push_str(&digits);
            out.extend(std::iter::repeat_n('0', exponent + 1 - digits.len()));
        }
        Ok(exponent) => {
            let (whole, fraction) = digits.split_at(exponent + 1);
            let _ = write!(out, "{whole}.{fraction}");
        }
        Err(_) => {
            out.push_str("0.");
            out.extend(std::iter::repeat_n(
                '0',
                exponent.unsigned_abs() as usize - 1,
            ));
            out.push_str(&digits);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{write_f32, write_f64};

    fn f64_text(value: f64) -> String {
        let mut out = String::new();
        write_f64(value, &mut out);
        out
    }

    fn f32_text(value: f32) -> String {
        let mut out = String::new();
        write_f32(value, &mut out);
        out
    }

    #[test]
    fn plain_numbers_have_the_fewest_digits() {
        assert_eq!(f64_text(0.0), "0");
        assert_eq!(f64_text(-0.0), "-0");
        assert_eq!(f64_text(1.0), "1");
        assert_eq!(f64_text(0.1), "0.1");
        assert_eq!(f64_text(-12.5), "-12.5");
        assert_eq!(f64_text(100.0), "100");
        assert_eq!(f64_text(0.1 + 0.2), "0.30000000000000004");
    }

    #[test]
    fn the_exponent_appears_where_postgresql_writes_one() {
        assert_eq!(f64_text(0.0001), "0.0001");
        assert_eq!(f64_text(0.00001), "1e-05");
        assert_eq!(f64_text(123_456_789_012_345.0), "123456789012345");
        assert_eq!(f64_text(1e15), "1e+15");
        assert_eq!(f64_text(1.5e300), "1.5e+300");
        assert_eq!(f32_text(100_000.0), "100000");
        assert_eq!(f32_text(1_000_000.0), "1e+06");
        assert_eq!(f32_text(0.1), "0.1");
    }

    #[test]
    fn special_values_have_names() {
        assert_eq!(f64_text(f64::NAN), "NaN");
        assert_eq!(f64_text(f64::INFINITY), "Infinity");
        assert_eq!(f32_text(f32::NEG_INFINITY), "-Infinity");
    }

    #[test]
    fn every_text_reads_back_to_the_same_bits() {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..20_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let value = f64::from_bits(state);
            if value.is_finite() {
                let read: f64 = f64_text(value).parse().unwrap();
                assert_eq!(read.to_bits(), value.to_bits());
            }
        }
    }
}
