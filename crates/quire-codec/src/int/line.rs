//! The values of a vector as a line over its codes, and what that answers without unpacking them.
//!
//! In a vector without exceptions every value is `first + unit · code`. Where that does not wrap, values and codes
//! have the same order: a range of values is a range of codes, the extremes are those of the codes, and the sum
//! follows from theirs.

use crate::kernel::{packed_scan, packed_select};
use crate::{RowMask, VECTOR_VALUES};

/// A full vector of which value `i` is `first + unit · code[i]`, without wrapping in the type of its values.
#[derive(Clone, Copy, Debug)]
pub struct LinearVector<'a> {
    pub first: i128,
    /// From 1 to 2⁶⁴ − 1.
    pub unit: i128,
    /// Bits of a code.
    pub width: usize,
    /// The codes in FastLanes order.
    pub packed: &'a [u8],
    /// Bits of a lane.
    pub lane_bits: usize,
}

impl LinearVector<'_> {
    fn code_max(&self) -> u64 {
        u64::MAX.checked_shr(64 - self.width as u32).unwrap_or(0)
    }

    /// The line, unless a value of it would lie outside `range` or pass 128 bits.
    #[inline]
    pub(crate) fn within(self, range: (i128, i128)) -> Option<Self> {
        let length = self.unit.checked_mul(self.code_max().into())?;
        let last = self.first.checked_add(length)?;
        (range.0 <= self.first && last <= range.1).then_some(self)
    }

    /// Marks the rows whose values are from `low` to `high`; false if the values must be looked at.
    pub(crate) fn select(&self, low: i128, high: i128, mask: &mut RowMask) -> bool {
        let codes = self.codes_within(low, high);
        let Some((code_low, code_high)) = codes else {
            *mask = [0; 16];
            return true;
        };
        if code_low == 0 && code_high == self.code_max() {
            *mask = [u64::MAX; 16];
            return true;
        }
        let span = code_high - code_low;
        packed_select::select(
            self.lane_bits,
            self.width,
            self.packed,
            code_low,
            span,
            mask,
        )
    }

    /// The lowest and the highest code with a value from `low` to `high`; `None` if there can be none.
    fn codes_within(&self, low: i128, high: i128) -> Option<(u64, u64)> {
        if high < self.first {
            return None;
        }
        // Distances that saturate are beyond all codes: those of values of the type fit 64 bits.
        let above = |bound: i128| {
            let distance = bound.max(self.first).saturating_sub(self.first);
            u64::try_from(distance).unwrap_or(u64::MAX)
        };
        let (low, high) = (above(low), above(high));
        let (low, high) = match u64::try_from(self.unit) {
            Ok(1) => (low, high),
            Ok(unit) => (low.div_ceil(unit), high / unit),
            Err(_) => return None,
        };
        let high = high.min(self.code_max());
        (low <= high).then_some((low, high))
    }

    /// The sum of the values; `None` if they must be looked at.
    pub(crate) fn sum(&self) -> Option<i128> {
        let codes = match self.width {
            0 => 0,
            _ if self.lane_bits == 32 => packed_scan::sum(self.width, self.packed)?,
            _ => return None,
        };
        let above = self.unit.checked_mul(codes.into())?;
        self.first
            .checked_mul(VECTOR_VALUES as i128)?
            .checked_add(above)
    }

    /// The smallest and the largest value; `None` if they must be looked at.
    pub(crate) fn extremes(&self) -> Option<(i128, i128)> {
        let (low, high) = match self.width {
            0 => (0, 0),
            _ if self.lane_bits == 32 => packed_scan::extremes(self.width, self.packed)?,
            _ => return None,
        };
        let value = |code: u32| self.first + self.unit * i128::from(code);
        Some((value(low), value(high)))
    }
}
