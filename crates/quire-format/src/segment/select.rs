//! Which rows of a vector have an integer of a range, read from the packed bits where the codec allows it.

use super::plain::{PlainSegment, ValueDecoder};
use super::reader::SegmentReader;
use quire_codec::int::Element;
use quire_codec::{Corrupt, PhysicalType, RowMask};
use std::ops::RangeInclusive;

impl SegmentReader {
    /// Marks the rows of a vector whose integer lies in `range`, and returns how many rows the vector has. Bits past the
    /// row count and those of NULL rows are unspecified.
    ///
    /// # Errors
    /// Corrupt bytes, a vector beyond the segment, or a segment that holds no integers of 16 to 64 bits.
    pub fn select_range(
        &mut self,
        vector: usize,
        range: RangeInclusive<i64>,
        mask: &mut RowMask,
    ) -> Result<usize, Corrupt> {
        if let Some(plain) = self.as_plain() {
            return plain.select_range(vector, range, mask);
        }
        match self.physical_type() {
            PhysicalType::Int16 => {
                let mut values = [0_i16; 1024];
                let rows = self.decode_i16(vector, &mut values)?;
                *mask = marked(&values, range);
                Ok(rows)
            }
            PhysicalType::Int32 => {
                let mut values = [0_i32; 1024];
                let rows = self.decode_i32(vector, &mut values)?;
                *mask = marked(&values, range);
                Ok(rows)
            }
            _ => {
                let mut values = [0_i64; 1024];
                let rows = self.decode_i64(vector, &mut values)?;
                *mask = marked(&values, range);
                Ok(rows)
            }
        }
    }
}

impl PlainSegment {
    fn select_range(
        &mut self,
        vector: usize,
        range: RangeInclusive<i64>,
        mask: &mut RowMask,
    ) -> Result<usize, Corrupt> {
        match &mut self.values {
            ValueDecoder::Int16(decoder) => decoder.select_range(vector, narrowed(range), mask),
            ValueDecoder::Int32(decoder) => decoder.select_range(vector, narrowed(range), mask),
            ValueDecoder::Int64(decoder) => decoder.select_range(vector, narrowed(range), mask),
            _ => Err(self.wrong_type(PhysicalType::Int64)),
        }
    }
}

/// The values of the type that lie in `range`; an empty range if there are none.
fn narrowed<E: Element>(range: RangeInclusive<i64>) -> RangeInclusive<E> {
    let (least, most) = E::RANGE;
    let (low, high) = (i128::from(*range.start()), i128::from(*range.end()));
    if low > high || low > most.wide() || high < least.wide() {
        return most..=least;
    }
    let within = |bound: i128| E::from_wide(bound.clamp(least.wide(), most.wide()));
    within(low)..=within(high)
}

fn marked<E: Element>(values: &[E; 1024], range: RangeInclusive<i64>) -> RowMask {
    let (low, high) = narrowed::<E>(range).into_inner();
    if low > high {
        return RowMask::default();
    }
    E::select(values, low, high)
}
