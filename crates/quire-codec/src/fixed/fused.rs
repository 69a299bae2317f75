//! Answers about a vector for which no values, or only some, are decoded.
//!
//! Codes are asked directly where the codec allows it: packed values without exceptions, dictionary codes,
//! constants. Elsewhere the vector is decoded and then asked, so that every codec answers everything, and alike.

use super::{FixedDecoder, FixedScheme, no_dictionary};
use crate::int::element::{Element, Packed};
use crate::{Corrupt, GROUP_VALUES, RowMask, VECTOR_VALUES, vector_rows};
use std::ops::RangeInclusive;

impl<E: Element> FixedDecoder<E> {
    /// Decodes rows `128 · group` to `128 · group + 127` and returns how many there are; `out` beyond them is
    /// arbitrary. PFOR and dictionaries read no other codes of the vector.
    ///
    /// # Errors
    /// No such rows, or wrong bytes.
    #[inline]
    pub fn decode_group(
        &mut self,
        group: usize,
        out: &mut [E; GROUP_VALUES],
    ) -> Result<usize, Corrupt> {
        let start = group.saturating_mul(GROUP_VALUES);
        if start >= self.row_count {
            return Err(Corrupt::new("group is beyond the segment", 0));
        }
        match &mut self.scheme {
            FixedScheme::Packed(decoder) => decoder.decode_group(group, out),
            FixedScheme::Dictionary(decoder) => decoder.decode_group(group, out),
            FixedScheme::Pdict(decoder) => decoder.decode_group(group, out),
            FixedScheme::Sparse(decoder) => decoder.decode_group(group, out),
            _ => {
                let mut values = [E::default(); VECTOR_VALUES];
                self.decode_vector(start / VECTOR_VALUES, &mut values)?;
                out.copy_from_slice(&values[start % VECTOR_VALUES..][..GROUP_VALUES]);
                Ok((self.row_count - start).min(GROUP_VALUES))
            }
        }
    }

    /// Marks the rows of vector `vector` whose values lie in `range`, and returns how many rows it has; bits
    /// beyond them are 0. A comparison with a constant is a range: `< c` is `MIN..=c - 1`, `= c` is `c..=c`.
    ///
    /// # Errors
    /// No such vector, or wrong bytes.
    ///
    /// ```
    /// use quire_codec::{CodecId, fixed};
    ///
    /// let values: Vec<i32> = (0..2000).map(|row| row % 100).collect();
    /// let image: std::sync::Arc<[u8]> = fixed::encode(CodecId::Pfor, &values)?.into();
    /// let bytes = 0..image.len();
    /// let mut decoder = fixed::FixedDecoder::<i32>::open(CodecId::Pfor, image, bytes, 2000)?;
    /// let mut mask = [0; 16];
    /// decoder.select_range(0, 10..=12, &mut mask)?;
    /// assert_eq!(mask[0], 0b111 << 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn select_range(
        &mut self,
        vector: usize,
        range: RangeInclusive<E>,
        mask: &mut RowMask,
    ) -> Result<usize, Corrupt> {
        let rows = self.checked_rows(vector)?;
        let (low, high) = range.into_inner();
        if low > high {
            *mask = [0; 16];
        } else {
            self.mark(vector, low, high, mask)?;
        }
        clear_beyond(rows, mask);
        Ok(rows)
    }

    fn mark(&mut self, vector: usize, low: E, high: E, mask: &mut RowMask) -> Result<(), Corrupt> {
        let marked = match &mut self.scheme {
            FixedScheme::Constant(value) => {
                let all = (low..=high).contains(value);
                *mask = [if all { u64::MAX } else { 0 }; 16];
                true
            }
            FixedScheme::Packed(decoder) => decoder.select(vector, low, high, mask)?,
            FixedScheme::Dictionary(decoder) => {
                decoder.select_range(vector, low, high, mask)?;
                true
            }
            FixedScheme::Pdict(decoder) => {
                decoder.select_range(vector, low, high, mask)?;
                true
            }
            FixedScheme::Sparse(decoder) => {
                decoder.select_range(vector, low, high, mask)?;
                true
            }
            FixedScheme::Plain(..) | FixedScheme::Rle(_) => false,
        };
        if !marked {
            let mut values = [E::default(); VECTOR_VALUES];
            self.decode_vector(vector, &mut values)?;
            *mask = E::select(&values, low, high);
        }
        Ok(())
    }

    /// Marks the rows of vector `vector` whose dictionary codes have their bit set in `wanted`: code `c` is bit
    /// `c % 64` of word `c / 64`. A predicate on values is decided once per distinct value that way. Returns
    /// how many rows the vector has; bits beyond them are 0.
    ///
    /// # Errors
    /// The codec is not [`crate::CodecId::Dictionary`], there is no such vector, or wrong bytes.
    pub fn select_codes(
        &mut self,
        vector: usize,
        wanted: &[u64],
        mask: &mut RowMask,
    ) -> Result<usize, Corrupt> {
        let rows = self.checked_rows(vector)?;
        let FixedScheme::Dictionary(decoder) = &self.scheme else {
            return Err(no_dictionary());
        };
        *mask = decoder.select_codes(vector, wanted)?;
        clear_beyond(rows, mask);
        Ok(rows)
    }

    /// The sum of the values of vector `vector`; `None` if it passes 128 bits.
    ///
    /// # Errors
    /// No such vector, or wrong bytes.
    pub fn sum(&mut self, vector: usize) -> Result<Option<i128>, Corrupt> {
        let rows = self.checked_rows(vector)?;
        let direct = match &mut self.scheme {
            FixedScheme::Constant(value) => return Ok(value.wide().checked_mul(rows as i128)),
            FixedScheme::Packed(decoder) => decoder.line(vector)?.and_then(|line| line.sum()),
            FixedScheme::Sparse(decoder) => decoder.sum(vector)?,
            _ => None,
        };
        if direct.is_some() {
            return Ok(direct);
        }
        let mut values = [E::default(); VECTOR_VALUES];
        self.decode_vector(vector, &mut values)?;
        Ok(E::sum(&values[..rows]))
    }

    /// The smallest and the largest value of vector `vector`.
    ///
    /// # Errors
    /// No such vector, or wrong bytes.
    pub fn extremes(&mut self, vector: usize) -> Result<(E, E), Corrupt> {
        let rows = self.checked_rows(vector)?;
        let direct = match &mut self.scheme {
            FixedScheme::Constant(value) => return Ok((*value, *value)),
            FixedScheme::Sparse(decoder) => return decoder.extremes(vector),
            FixedScheme::Packed(decoder) => decoder.line(vector)?.and_then(|line| line.extremes()),
            _ => None,
        };
        if let Some((low, high)) = direct {
            return Ok((E::from_wide(low), E::from_wide(high)));
        }
        let mut values = [E::default(); VECTOR_VALUES];
        self.decode_vector(vector, &mut values)?;
        let (low, high) = E::RANGE;
        Ok(values[..rows]
            .iter()
            .fold((high, low), |(least, most), &value| {
                (least.min(value), most.max(value))
            }))
    }

    /// Rows of a vector that exists.
    fn checked_rows(&self, vector: usize) -> Result<usize, Corrupt> {
        match vector_rows(self.row_count, vector) {
            0 => Err(Corrupt::new("vector is beyond the segment", 0)),
            rows => Ok(rows),
        }
    }
}

/// Clears the bits from `rows` on.
pub(crate) fn clear_beyond(rows: usize, mask: &mut RowMask) {
    if rows == VECTOR_VALUES {
        return;
    }
    for (word, bits) in mask.iter_mut().enumerate() {
        let present = rows.saturating_sub(word * 64).min(64) as u32;
        *bits &= u64::MAX.checked_shr(64 - present).unwrap_or(0);
    }
}
