//! A total of floats, and the steps that it is made by.

use datafusion::arrow::array::{ArrowNativeTypeOp, ArrowPrimitiveType};
use datafusion::arrow::datatypes::{Float32Type, Float64Type};
use datafusion::common::{DataFusionError, Result};
use quire_error::Error;

/// What is computed of floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FloatResult {
    Sum,
    Mean,
}

/// A type of floats that are added up.
pub(crate) trait SummableFloat: ArrowPrimitiveType + std::fmt::Debug {
    fn is_infinite(value: Self::Native) -> bool;
    fn divided(total: Self::Native, count: i64) -> Self::Native;
    /// Bits by which equal values are equal: those of -0 are those of 0.
    fn key(value: Self::Native) -> u64;
}

impl SummableFloat for Float32Type {
    fn is_infinite(value: f32) -> bool {
        value.is_infinite()
    }
    fn divided(total: f32, count: i64) -> f32 {
        total / count as f32
    }
    fn key(value: f32) -> u64 {
        Float64Type::key(value.into())
    }
}

impl SummableFloat for Float64Type {
    fn is_infinite(value: f64) -> bool {
        value.is_infinite()
    }
    fn divided(total: f64, count: i64) -> f64 {
        total / count as f64
    }
    fn key(value: f64) -> u64 {
        if value.is_nan() {
            f64::NAN.to_bits()
        } else {
            (value + 0.0).to_bits()
        }
    }
}

/// The sum of two floats; an error if it is infinite and neither of them is.
pub(crate) fn added<T: SummableFloat>(left: T::Native, right: T::Native) -> Result<T::Native> {
    let sum = left.add_wrapping(right);
    if T::is_infinite(sum) && !T::is_infinite(left) && !T::is_infinite(right) {
        Err(overflow())
    } else {
        Ok(sum)
    }
}

/// The error of a float that is too large.
#[cold]
pub(crate) fn overflow() -> DataFusionError {
    Error::new("22003", "value out of range: overflow").into()
}

impl FloatResult {
    /// What a total of some values comes to; NULL of none.
    pub(crate) fn of<T: SummableFloat>(self, total: T::Native, count: i64) -> Option<T::Native> {
        match self {
            _ if count == 0 => None,
            Self::Sum => Some(total),
            Self::Mean => Some(T::divided(total, count)),
        }
    }
}

/// A total and how many values are in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FloatTotal<N> {
    pub(super) sum: N,
    pub(super) count: i64,
}

impl<N: ArrowNativeTypeOp> FloatTotal<N> {
    pub(super) fn none() -> Self {
        let sum = N::ZERO;
        Self { sum, count: 0 }
    }

    /// Takes in a value, or the total of `count` others. The first is taken as it is: `-0` remains.
    pub(super) fn add<T: SummableFloat<Native = N>>(&mut self, sum: N, count: i64) -> Result<()> {
        self.sum = match (self.count, count) {
            (_, 0) => return Ok(()),
            (0, _) => sum,
            _ => added::<T>(self.sum, sum)?,
        };
        self.count += count;
        Ok(())
    }
}
