//! Values that are all multiples of one unit apart, stored in that unit.
//!
//! Timestamps in microseconds that were recorded in seconds, or decimals that are whole: the unit is found
//! as the greatest common divisor of the distances from the first value, and only quotients are packed.
//!
//! | size | field |
//! |---|---|
//! | 1 | 0: packed vectors follow ([`super::pfor`]); 1: the fields below come first |
//! | type | origin: the first value |
//! | type | unit, unsigned, at least 2 |
//!
//! Value = origin + quotient · unit, wrapping.

use super::element::{Packed, PackedLane};
use super::line::LinearVector;
use super::pfor::PforDecoder;
use crate::{Corrupt, GROUP_VALUES, ImageCursor, RowMask, VECTOR_VALUES};
use std::ops::Range;
use std::sync::Arc;

/// Values looked at before all are.
const SAMPLE_VALUES: usize = 64;

/// Exact division by one number, as a shift and a multiplication modulo 2⁶⁴: an odd divisor has an inverse
/// there, and the product is a quotient exactly when it is small enough to be one.
#[derive(Clone, Copy, Debug)]
pub struct ExactDivisor {
    pub shift: u32,
    pub inverse: u64,
    pub quotient_max: u64,
}

impl ExactDivisor {
    pub(crate) fn new(divisor: u64) -> Self {
        let shift = divisor.max(1).trailing_zeros();
        let odd = divisor.max(1) >> shift;
        // Newton's iteration doubles the correct low bits, of which an odd number starts with three.
        let inverse = (0..5).fold(odd, |inverse, _| {
            inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse)))
        });
        Self {
            shift,
            inverse,
            quotient_max: (u64::MAX >> shift) / odd,
        }
    }

    /// The quotient, if `number` is a multiple of the divisor.
    #[inline(always)]
    pub(crate) fn divide(&self, number: u64) -> Option<u64> {
        let quotient = (number >> self.shift).wrapping_mul(self.inverse);
        let whole = number & ((1 << self.shift) - 1) == 0 && quotient <= self.quotient_max;
        whole.then_some(quotient)
    }

    /// The quotient of a multiple of the divisor.
    #[inline(always)]
    pub(crate) fn quotient(&self, multiple: u64) -> u64 {
        (multiple >> self.shift).wrapping_mul(self.inverse)
    }
}

fn common_divisor(mut left: u64, mut right: u64) -> u64 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}

/// Smallest value and the unit of all distances from it; `None` when it is 1 or there is nothing to divide.
///
/// Distances are taken from the smallest value, so that they are not negative.
fn unit_of<L: PackedLane>(values: &[L]) -> Option<(L, u64)> {
    let first = *values.first()?;
    let step = values.len().div_ceil(SAMPLE_VALUES);
    let mut unit = 0;
    for value in values.iter().step_by(step) {
        let (low, high) = (first.min(*value), first.max(*value));
        unit = common_divisor(unit, high.minus(low).bits());
        if unit == 1 {
            return None;
        }
    }
    let origin = L::extremes(values).0;
    let distance = |value: &L| value.minus(origin).bits();
    unit = common_divisor(unit, distance(&first));
    while unit > 1 {
        let divisor = ExactDivisor::new(unit);
        match values
            .iter()
            .map(distance)
            .find(|&far| divisor.divide(far).is_none())
        {
            Some(far) => unit = common_divisor(unit, far),
            None => return Some((origin, unit)),
        }
    }
    None
}

fn quotients<L: PackedLane>(values: &[L], origin: L, unit: u64) -> Vec<L> {
    let divisor = ExactDivisor::new(unit);
    let quotient = |value: &L| L::from_bits(divisor.quotient(value.minus(origin).bits()));
    values.iter().map(quotient).collect()
}

/// Decoder of packed payloads of 16, 32 and 64-bit integers.
#[derive(Clone, Debug)]
pub struct ScaledDecoder<L> {
    quotients: PforDecoder<L>,
    /// Origin and unit.
    scale: Option<(L, L)>,
}

impl<L: PackedLane> Packed<L> for ScaledDecoder<L> {
    fn encoded_bytes(values: &[L], delta: bool) -> usize {
        match unit_of(values) {
            None => 1 + PforDecoder::encoded_bytes(values, delta),
            Some((origin, unit)) => {
                let quotients = quotients(values, origin, unit);
                1 + 2 * L::BYTES + PforDecoder::encoded_bytes(&quotients, delta)
            }
        }
    }

    fn encode(values: &[L], delta: bool, out: &mut Vec<u8>) {
        match unit_of(values) {
            None => {
                out.push(0);
                PforDecoder::encode(values, delta, out);
            }
            Some((origin, unit)) => {
                out.push(1);
                origin.append(out);
                L::from_bits(unit).append(out);
                PforDecoder::encode(&quotients(values, origin, unit), delta, out);
            }
        }
    }

    fn open(
        image: Arc<[u8]>,
        payload: Range<usize>,
        row_count: usize,
        delta: bool,
    ) -> Result<Self, Corrupt> {
        let end = payload.end;
        let mut cursor = ImageCursor::new(&image, payload)?;
        let scale = match cursor.u8("form of packed values")? {
            0 => None,
            1 => {
                let missing = || Corrupt::new("origin and unit are cut short", 0);
                let origin = L::read(cursor.bytes(L::BYTES, "origin")?).ok_or_else(missing)?;
                let unit = L::read(cursor.bytes(L::BYTES, "unit")?).ok_or_else(missing)?;
                if unit.bits() < 2 {
                    return Err(cursor.corrupt("unit is below 2"));
                }
                Some((origin, unit))
            }
            _ => return Err(cursor.corrupt("form of packed values is neither 0 nor 1")),
        };
        let rest = cursor.position()..end;
        let quotients = PforDecoder::open(image, rest, row_count, delta)?;
        Ok(Self { quotients, scale })
    }

    #[inline]
    fn decode_vector(&self, vector: usize, out: &mut [L; VECTOR_VALUES]) -> Result<usize, Corrupt> {
        let rows = self.quotients.decode_vector(vector, out)?;
        if let Some((origin, unit)) = self.scale {
            L::rescale(origin, unit, out);
        }
        Ok(rows)
    }

    #[inline]
    fn value(&self, row: usize) -> Result<L, Corrupt> {
        let value = self.quotients.value(row)?;
        Ok(match self.scale {
            Some((origin, unit)) => origin.plus(unit.times(value)),
            None => value,
        })
    }

    #[inline]
    fn decode_group(&self, group: usize, out: &mut [L; GROUP_VALUES]) -> Result<usize, Corrupt> {
        let rows = self.quotients.decode_group(group, out)?;
        if let Some((origin, unit)) = self.scale {
            for value in out {
                *value = origin.plus(unit.times(*value));
            }
        }
        Ok(rows)
    }

    fn select(&self, vector: usize, low: L, high: L, mask: &mut RowMask) -> Result<bool, Corrupt> {
        if self.scale.is_none() {
            return self.quotients.select(vector, low, high, mask);
        }
        let line = self.line(vector)?;
        Ok(line.is_some_and(|line| line.select(low.wide(), high.wide(), mask)))
    }

    fn line(&self, vector: usize) -> Result<Option<LinearVector<'_>>, Corrupt> {
        let line = self.quotients.line(vector)?;
        let Some((origin, unit)) = self.scale else {
            return Ok(line);
        };
        let unit = i128::from(unit.bits());
        Ok(line.and_then(|line| {
            let first = origin.wide().checked_add(unit.checked_mul(line.first)?)?;
            let scaled = LinearVector {
                first,
                unit,
                ..line
            };
            scaled.within((L::RANGE.0.wide(), L::RANGE.1.wide()))
        }))
    }
}
