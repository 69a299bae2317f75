//! The arithmetic of ALP. It is part of the format: see `float`.

use super::dispatch;

/// 1.5 · 2⁵²: adding it to a number below 2⁵¹ in magnitude leaves the nearest integer in the low bits.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// Powers of ten for one pair of exponents (e, f).
#[derive(Clone, Copy, Debug)]
pub struct AlpScale {
    /// 10^e and 10^−e.
    pub up: f64,
    pub up_inverse: f64,
    /// 10^f and 10^−f.
    pub down: f64,
    pub down_inverse: f64,
}

#[inline(always)]
fn digits_of(value: f64, scale: &AlpScale) -> i64 {
    let rounded = value * scale.up * scale.down_inverse + ROUNDER;
    (rounded.to_bits() as i64).wrapping_sub(ROUNDER.to_bits() as i64)
}

#[inline(always)]
fn value_of(digits: i64, scale: &AlpScale) -> f64 {
    digits as f64 * scale.down * scale.up_inverse
}

macro_rules! decimal_kernels {
    ($float:ty, $digits:ty, $encode:ident, $decode:ident) => {
        dispatch! {
            /// Digits of each value, and how many values do not come back from theirs bit for bit.
            pub(crate) fn $encode(values: &[$float], scale: &AlpScale, digits: &mut [$digits]) -> usize
                = |values: &[$float], scale: &AlpScale, digits: &mut [$digits]| {
                    let mut failed = 0usize;
                    for (&value, digits) in values.iter().zip(digits) {
                        *digits = digits_of(f64::from(value), scale) as $digits;
                        let back = value_of(i64::from(*digits), scale) as $float;
                        failed += usize::from(back.to_bits() != value.to_bits());
                    }
                    failed
                }
        }
        dispatch! {
            /// The value of each digits.
            pub(crate) fn $decode(digits: &[$digits; 1024], scale: &AlpScale, out: &mut [$float; 1024])
                = |digits: &[$digits; 1024], scale: &AlpScale, out: &mut [$float; 1024]| {
                    for (value, &digits) in out.iter_mut().zip(digits) {
                        *value = value_of(i64::from(digits), scale) as $float;
                    }
                }
        }
    };
}
decimal_kernels!(f64, i64, encode_f64, decode_f64);
decimal_kernels!(f32, i32, encode_f32, decode_f32);

/// The value of one number's digits, the same arithmetic as the vector kernels.
pub(crate) fn decode_one(digits: i64, scale: &AlpScale) -> f64 {
    value_of(digits, scale)
}
