//! Floats as PostgreSQL writes them: the fewest digits that mean the same number, with an exponent when it is large or small.

/// Exponents from which on PostgreSQL writes one: `DBL_DIG` and `FLT_DIG`.
const DOUBLE_DIGITS: i32 = 15;
const REAL_DIGITS: i32 = 6;

pub(super) fn double_text(value: f64) -> String {
    special(value).unwrap_or_else(|| arranged(&format!("{value:e}"), DOUBLE_DIGITS))
}

pub(super) fn real_text(value: f32) -> String {
    special(f64::from(value)).unwrap_or_else(|| arranged(&format!("{value:e}"), REAL_DIGITS))
}

fn special(value: f64) -> Option<String> {
    let text = if value.is_nan() {
        "NaN"
    } else if value == f64::INFINITY {
        "Infinity"
    } else if value == f64::NEG_INFINITY {
        "-Infinity"
    } else {
        return None;
    };
    Some(text.to_owned())
}

/// From `-1.25e3` to `-1250`, or `-1.25e+30`.
fn arranged(scientific: &str, most_exponent: i32) -> String {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    if !(-4..most_exponent).contains(&exponent) {
        let exponent_sign = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{mantissa}e{exponent_sign}{:02}", exponent.abs());
    }
    let digits: String = mantissa.chars().filter(|c| *c != '.').collect();
    let whole_digits = exponent + 1;
    match usize::try_from(whole_digits) {
        Ok(0) | Err(_) => {
            let zeros = "0".repeat(whole_digits.unsigned_abs() as usize);
            format!("{sign}0.{zeros}{digits}")
        }
        Ok(count) if count >= digits.len() => format!("{sign}{digits:0<count$}"),
        Ok(count) => format!("{sign}{}.{}", &digits[..count], &digits[count..]),
    }
}

/// What PostgreSQL reads as a float.
pub(super) fn parse_double(text: &str) -> Option<f64> {
    let text = text.trim();
    // Rust's grammar, which has a few names more.
    let letters = text.trim_start_matches(['+', '-']).to_ascii_lowercase();
    match letters.as_str() {
        "inf" | "infinity" | "nan" => text.parse().ok(),
        other if other.starts_with(|c: char| c.is_ascii_alphabetic()) => None,
        _ => text.parse().ok().filter(|value: &f64| value.is_finite()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_of_postgresql() {
        // From PostgreSQL 15.
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (1.5, "1.5"),
            (0.1, "0.1"),
            (-1250.0, "-1250"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (1e14, "100000000000000"),
            (1e15, "1e+15"),
            (123_456_789_012_345_680.0, "1.2345678901234568e+17"),
            (1.797_693_134_862_315_7e308, "1.7976931348623157e+308"),
            (5e-324, "5e-324"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
        ] {
            assert_eq!(double_text(value), text);
        }
        assert_eq!(real_text(123_456.0), "123456");
        assert_eq!(real_text(1e6), "1e+06");
        assert_eq!(real_text(0.1), "0.1");
    }

    #[test]
    fn texts_are_read() {
        assert_eq!(parse_double(" -Infinity "), Some(f64::NEG_INFINITY));
        assert_eq!(parse_double("1e400"), None);
        assert_eq!(parse_double("infinit"), None);
        assert_eq!(parse_double("1.5e3"), Some(1500.0));
        assert!(parse_double("nan").is_some_and(f64::is_nan));
    }
}
