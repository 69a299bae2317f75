//! Quotients of integers, rounded once: means, and decimals as floats.

/// The double nearest to `numerator / denominator`, a tie going to the even one; the denominator is not zero.
///
/// Dividing the two as doubles would round three times: both sides and the quotient.
#[must_use]
pub fn nearest_double(numerator: i128, denominator: u128) -> f64 {
    let magnitude = numerator.unsigned_abs();
    let (top, bottom) = (magnitude as f64, denominator as f64);
    let are_exact = is_exact(top, magnitude) && is_exact(bottom, denominator);
    let quotient = if are_exact {
        top / bottom
    } else {
        rounded_quotient(magnitude, denominator)
    };
    if numerator < 0 { -quotient } else { quotient }
}

/// Whether the double is the integer it was made of: the conversion back saturates, and 2^128 is no `u128`.
fn is_exact(double: f64, integer: u128) -> bool {
    double < 2_f64.powi(127) && double as u128 == integer
}

/// Bits of a quotient that are enough for a double (53), the bit that decides, and one that says whether anything follows.
const QUOTIENT_BITS: u32 = 55;

/// By long division: a quotient of 55 bits or more, whose last bit is set if there is a rest, rounds as the exact one does.
fn rounded_quotient(numerator: u128, denominator: u128) -> f64 {
    let (mut quotient, mut rest) = (numerator / denominator, numerator % denominator);
    let mut exponent = 0;
    while rest != 0 && u128::BITS - quotient.leading_zeros() < QUOTIENT_BITS {
        // The rest is less than the denominator, but twice the rest may be more than 128 bits hold.
        let is_one = rest >= denominator - rest;
        rest = if is_one {
            rest - (denominator - rest)
        } else {
            rest << 1
        };
        quotient = quotient << 1 | u128::from(is_one);
        exponent -= 1;
    }
    let sticky = quotient | u128::from(rest != 0);
    sticky as f64 * 2_f64.powi(exponent)
}

/// The integer nearest to `total * factor / count`, a tie going away from zero; `None` when there is none of 128 bits, or the count
/// is zero.
#[must_use]
pub fn nearest_mean(total: i128, factor: i128, count: i128) -> Option<i128> {
    // The product may need more than 128 bits where its parts do not.
    let whole = total.checked_div(count)?.checked_mul(factor)?;
    let rest = (total % count).checked_mul(factor)?;
    let (more, rest) = (rest / count, rest % count);
    let is_half = rest.unsigned_abs() >= count.unsigned_abs() - rest.unsigned_abs();
    let away = if is_half {
        rest.signum() * count.signum()
    } else {
        0
    };
    whole.checked_add(more)?.checked_add(away)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_are_rounded_once() {
        // The parser of the standard library is exact.
        for (digits, scale) in [
            (9_999_999_999_999_999_999_i128, 4_u32),
            (99_999_999_999_999_999_999_999, 8),
            (9_007_199_254_740_993, 0),
            (-12_345_678_901_234_567_890_123_456_789, 37),
            (1, 38),
            (123_456_789, 38),
            (i128::MAX, 0),
            (i128::MIN, 38),
        ] {
            let exact: f64 = format!("{digits}e-{scale}").parse().unwrap_or(f64::NAN);
            let found = nearest_double(digits, 10_u128.pow(scale));
            assert_eq!(found.to_bits(), exact.to_bits(), "{digits}e-{scale}");
        }
        // 2^53 + 1 by 1 and by 3: the second is 3002399751580331 exactly.
        assert_eq!(
            nearest_double(9_007_199_254_740_993, 3),
            3_002_399_751_580_331.0
        );
        assert_eq!(nearest_double(-36_055, 7), -36_055.0 / 7.0);
        assert_eq!(nearest_double(1, u128::MAX), 2_f64.powi(-128));
    }

    #[test]
    fn halves_of_means_go_away_from_zero() {
        for (total, factor, count, mean) in [
            (1, 10_000, 3, 3_333),
            (2, 10_000, 3, 6_667),
            (-2, 10_000, 3, -6_667),
            (1, 1, 2, 1),
            (-1, 1, 2, -1),
            (i128::MAX, 10_000, 20_000, i128::MAX / 2 + 1),
        ] {
            assert_eq!(
                nearest_mean(total, factor, count),
                Some(mean),
                "{total}/{count}"
            );
        }
        assert_eq!(nearest_mean(1, 1, 0), None);
        assert_eq!(nearest_mean(i128::MAX, 10_000, 1), None);
    }
}
