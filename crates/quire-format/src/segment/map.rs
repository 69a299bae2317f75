//! A column that another column of its rows determines: one value for each value of the other, its *reference*, and
//! the rows that break the rule.
//!
//! # Layout, version 1
//!
//! | offset | size | field |
//! |---|---|---|
//! | 0 | 1 | format version, 1 |
//! | 1 | 1 | keys: 0 the codes of the reference's dictionary, 1 integers, which follow |
//! | 2 | 2 | 0 |
//! | 4 | 4 | row count, that of the reference |
//! | 8 | 4 | NULL count |
//! | 12 | 4 | `k`, bytes of the keys; 0 unless keys is 1 |
//! | 16 | 4 | `v`, bytes of the values |
//! | 20 | 4 | `p`, bytes of the positions of exceptions; 0 without any |
//! | 24 | 4 | `e`, bytes of the values of exceptions; 0 without any |
//! | 28 | k | keys: a segment of 64-bit integers that ascend, at most [`super::map_keys::KEY_SPAN_MAX`] apart, no NULLs |
//! | … | v | values: a segment of the column's type, one value per key; one more for NULL if the reference has NULLs |
//! | … | p | positions: a segment of 32-bit integers that ascend, rows of the column, no NULLs |
//! | … | e | a segment of the column's type, one value per position |
//!
//! A code that a row of the reference has, or the place of its value among the keys, is the *number* of the row's value;
//! behind the keys stands the value for NULL, and then those of the exceptions.

use std::cell::OnceCell;
use std::sync::Arc;

use quire_codec::{BytesVector, CodecScalar, Corrupt, RowMask, VECTOR_VALUES, vector_rows};

use super::entries::SegmentEntries;
use super::map_exceptions::MapExceptions;
use super::map_image::MapImage;
use super::map_lead::LeadRuns;
use super::map_numbers::{MapLead, MapNumbers};
use super::map_values::{MapValues, are_null};
use super::plain::PlainSegment;
use super::validity::{all_rows, is_valid};

/// A map segment that is being read, with its reference.
#[derive(Debug)]
pub(super) struct Mapped {
    row_count: usize,
    numbers: MapNumbers,
    values: MapValues,
}

impl Mapped {
    /// What is wrong with a reference that cannot be.
    pub(super) const WRONG_REFERENCE: &'static str = "map has a reference of other rows";

    /// Decodes the map, checks it, and joins it with its reference. Maps of one reference share its `runs`.
    pub(super) fn new(
        image: MapImage,
        reference: &PlainSegment,
        runs: &OnceCell<Arc<LeadRuns>>,
    ) -> Result<Self, Corrupt> {
        let wrong = |what: &'static str| Err(Corrupt::new(what, 0));
        let row_count = image.row_count;
        if reference.row_count() != row_count {
            return wrong(Self::WRONG_REFERENCE);
        }
        let lead = MapLead::new(&image, reference, runs)?;
        let keyed = image.values;
        let expected = lead.key_count + usize::from(reference.null_count() > 0);
        if keyed.row_count() != expected {
            return wrong("map does not have one value per key");
        }
        let (mut exceptions, mut others) = (MapExceptions::default(), None);
        if let Some((mut positions, found)) = image.exceptions {
            if found.physical_type() != keyed.physical_type()
                || found.row_count() != positions.row_count()
            {
                return wrong("exceptions of a map have no values");
            }
            exceptions = MapExceptions::new(&mut positions, row_count, expected, are_null(&found))?;
            others = Some(found);
        }
        let values = MapValues::decode(keyed, others, lead.code_count)?;
        if values.has_nulls() != (image.null_count > 0) {
            return wrong("NULL count of a map is not that of its values");
        }
        Ok(Self {
            row_count,
            numbers: MapNumbers::new(row_count, lead, exceptions),
            values,
        })
    }

    /// The values by code.
    pub(super) fn dictionary(&self) -> &SegmentEntries {
        self.values.by_code()
    }

    /// Whether a code stands for a value rather than NULL.
    pub(super) fn is_valid_code(&self, code: u32) -> bool {
        self.values.is_valid_code(code)
    }

    /// The codes of a vector, each below the length of the dictionary.
    pub(super) fn codes(
        &mut self,
        vector: usize,
        out: &mut [u32; VECTOR_VALUES],
    ) -> Result<usize, Corrupt> {
        match self.values.dictionary() {
            Some(dictionary) => {
                let code = |number| dictionary.code(number);
                self.numbers.spread(vector, out, code)
            }
            None => self.numbers.spread(vector, out, |number| number),
        }
    }

    /// Decodes a vector of the type that `of` picks.
    pub(super) fn decode<T: Copy + Default>(
        &mut self,
        vector: usize,
        out: &mut [T; VECTOR_VALUES],
        of: impl Fn(&SegmentEntries) -> Option<&[T]>,
    ) -> Result<usize, Corrupt> {
        let Some(values) = of(self.values.entries()) else {
            return Err(Corrupt::new("map holds values of another type", 0));
        };
        // Every number has a value, which opening has checked.
        let value_of = |number: u32| values.get(number as usize).copied().unwrap_or_default();
        self.numbers.spread(vector, out, value_of)
    }

    /// Appends a vector of strings.
    pub(super) fn decode_bytes(
        &mut self,
        vector: usize,
        out: &mut BytesVector,
    ) -> Result<usize, Corrupt> {
        let mut numbers = [0; VECTOR_VALUES];
        let rows = self.numbers.spread(vector, &mut numbers, |number| number)?;
        for &number in &numbers[..rows] {
            let value = self.values.entries().bytes(number);
            out.push(value.ok_or_else(|| Corrupt::new("map holds no strings", 0))?)?;
        }
        Ok(rows)
    }

    /// Which rows of a vector are not NULL, and how many are NULL.
    pub(super) fn validity(&mut self, vector: usize, out: &mut RowMask) -> Result<usize, Corrupt> {
        let rows = vector_rows(self.row_count, vector);
        *out = all_rows(rows);
        if !self.values.has_nulls() {
            return Ok(0);
        }
        let is_valid = |number| self.values.is_valid(number);
        // Few keys lead to NULL: their rows are marked, and not those of all the others.
        if self.values.has_null_keys {
            let mut nulls = RowMask::default();
            self.numbers
                .mark_keys(vector, &mut nulls, |number| !is_valid(number))?;
            for (valid, nulls) in out.iter_mut().zip(nulls) {
                *valid &= !nulls;
            }
        }
        self.numbers.mark_exceptions(vector, out, is_valid);
        let valid: u32 = out.iter().map(|word| word.count_ones()).sum();
        Ok(rows - valid as usize)
    }

    /// Marks the rows of a vector whose codes have their bit set in `wanted`.
    pub(super) fn select_codes(
        &mut self,
        vector: usize,
        wanted: &[u64],
        mask: &mut RowMask,
    ) -> Result<usize, Corrupt> {
        let Some(dictionary) = self.values.dictionary() else {
            return self.select_numbers(vector, wanted, mask);
        };
        let is_wanted = |number| is_valid(wanted, dictionary.code(number) as usize);
        self.numbers.mark(vector, mask, is_wanted)
    }

    /// Marks the rows of a vector whose numbers have their bit set in `wanted`.
    pub(super) fn select_numbers(
        &mut self,
        vector: usize,
        wanted: &[u64],
        mask: &mut RowMask,
    ) -> Result<usize, Corrupt> {
        let is_wanted = |number| is_valid(wanted, number as usize);
        self.numbers.mark(vector, mask, is_wanted)
    }

    /// Of integers, which numbers have a value that passes; that of NULL does not. `None` for other types.
    pub(super) fn numbers_where(&self, passes: impl Fn(i64) -> bool) -> Option<Vec<u64>> {
        self.values.integers_where(passes)
    }

    /// The value of a row, `None` if it is NULL.
    pub(super) fn value(&mut self, row: usize) -> Result<Option<CodecScalar>, Corrupt> {
        let mut numbers = [0; VECTOR_VALUES];
        let vector = row / VECTOR_VALUES;
        self.numbers.spread(vector, &mut numbers, |number| number)?;
        let number = numbers[row % VECTOR_VALUES];
        let value = self.values.entries().scalar(number);
        Ok(value.filter(|_| self.values.is_valid(number)))
    }
}
