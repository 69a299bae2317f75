//! The floating point types, and what the codecs need of each.

use crate::int::element::PackedLane;
use crate::kernel::decimal::{self, AlpScale};
use crate::kernel::glue;
use crate::{PhysicalType, VECTOR_VALUES};
use bytemuck::Pod;
use std::fmt::Debug;

/// A floating point type.
pub trait Floating: Pod + Debug + PartialEq + Send + Sync {
    /// The integer of the same size, which holds the bits, or the digits of ALP.
    type Bits: PackedLane + Pod;
    const PHYSICAL_TYPE: PhysicalType;
    /// Largest power of ten ALP tries.
    const EXPONENT_MAX: usize;
    /// Digits of each value, and how many values do not come back from theirs bit for bit.
    #[doc(hidden)]
    fn encode_digits(values: &[Self], scale: &AlpScale, digits: &mut [Self::Bits]) -> usize;
    /// The value of each digits.
    #[doc(hidden)]
    fn decode_digits(
        digits: &[Self::Bits; VECTOR_VALUES],
        scale: &AlpScale,
        out: &mut [Self; VECTOR_VALUES],
    );
    /// As `decode_digits`, for one value.
    #[doc(hidden)]
    fn decode_one(digits: Self::Bits, scale: &AlpScale) -> Self;
    /// Distance of two digits, as an unsigned number.
    #[doc(hidden)]
    fn distance(low: Self::Bits, high: Self::Bits) -> u64;
    /// Puts the low bits of each value beside its high bits.
    #[doc(hidden)]
    fn add_low(low: &[Self::Bits; VECTOR_VALUES], high: &mut [Self::Bits; VECTOR_VALUES]);
}

impl Floating for f64 {
    type Bits = i64;
    const PHYSICAL_TYPE: PhysicalType = PhysicalType::Float64;
    const EXPONENT_MAX: usize = 18;
    fn encode_digits(values: &[Self], scale: &AlpScale, digits: &mut [i64]) -> usize {
        decimal::encode_f64(values, scale, digits)
    }
    fn decode_digits(
        digits: &[i64; VECTOR_VALUES],
        scale: &AlpScale,
        out: &mut [Self; VECTOR_VALUES],
    ) {
        decimal::decode_f64(digits, scale, out);
    }
    fn decode_one(digits: i64, scale: &AlpScale) -> Self {
        decimal::decode_one(digits, scale)
    }
    fn distance(low: i64, high: i64) -> u64 {
        high.wrapping_sub(low) as u64
    }
    fn add_low(low: &[i64; VECTOR_VALUES], high: &mut [i64; VECTOR_VALUES]) {
        glue::add_low_i64(low, high);
    }
}

impl Floating for f32 {
    type Bits = i32;
    const PHYSICAL_TYPE: PhysicalType = PhysicalType::Float32;
    const EXPONENT_MAX: usize = 10;
    fn encode_digits(values: &[Self], scale: &AlpScale, digits: &mut [i32]) -> usize {
        decimal::encode_f32(values, scale, digits)
    }
    fn decode_digits(
        digits: &[i32; VECTOR_VALUES],
        scale: &AlpScale,
        out: &mut [Self; VECTOR_VALUES],
    ) {
        decimal::decode_f32(digits, scale, out);
    }
    fn decode_one(digits: i32, scale: &AlpScale) -> Self {
        decimal::decode_one(digits.into(), scale) as f32
    }
    fn distance(low: i32, high: i32) -> u64 {
        u64::from(high.wrapping_sub(low) as u32)
    }
    fn add_low(low: &[i32; VECTOR_VALUES], high: &mut [i32; VECTOR_VALUES]) {
        glue::add_low_i32(low, high);
    }
}

/// The bits of floating point numbers.
pub(crate) fn as_bits<F: Floating>(values: &[F]) -> &[F::Bits] {
    bytemuck::cast_slice(values)
}
