//! The values that a map leads to, by number and by code.

use std::cell::OnceCell;

use quire_codec::{Corrupt, RowMask, VECTOR_VALUES};

use super::entries::SegmentEntries;
use super::map_dictionary::MapDictionary;
use super::plain::PlainSegment;
use super::validity::{all_rows, is_valid};

/// The values of the keys, of NULL if the reference has any, and of the exceptions.
#[derive(Debug)]
pub(super) struct MapValues {
    entries: SegmentEntries,
    /// Which are not NULL, a bit for each; `None` when all are.
    valid: Option<Vec<u64>>,
    /// Whether a key leads to NULL, or NULL does.
    pub(super) has_null_keys: bool,
    /// So many values have their number for a code, whether they repeat or not.
    kept: usize,
    /// Made when it is first needed: many columns are read by number alone.
    dictionary: OnceCell<Option<MapDictionary>>,
}

impl MapValues {
    /// Decodes the values of the keys and of the exceptions. If all of the latter are NULL, they are one value.
    pub(super) fn decode(
        mut keyed: PlainSegment,
        mut others: Option<PlainSegment>,
        kept: usize,
    ) -> Result<Self, Corrupt> {
        let mut entries = SegmentEntries::new(keyed.physical_type());
        entries.append(&mut keyed)?;
        let first = entries.len();
        let mut has_nulls = keyed.null_count() > 0;
        if let Some(others) = &mut others {
            has_nulls |= others.null_count() > 0;
            if are_null(others) {
                entries.push_null()?;
            } else {
                entries.append(others)?;
            }
        }
        let mut valid = vec![u64::MAX; entries.len().div_ceil(64)];
        clear_nulls(&keyed, 0, &mut valid)?;
        match others {
            Some(others) if are_null(&others) => clear_bits(1, first, &mut valid),
            Some(others) => clear_nulls(&others, first, &mut valid)?,
            None => {}
        }
        Ok(Self {
            entries,
            valid: has_nulls.then_some(valid),
            has_null_keys: keyed.null_count() > 0,
            kept,
            dictionary: OnceCell::new(),
        })
    }

    pub(super) fn entries(&self) -> &SegmentEntries {
        &self.entries
    }

    pub(super) fn has_nulls(&self) -> bool {
        self.valid.is_some()
    }

    /// Whether a number stands for a value rather than NULL.
    pub(super) fn is_valid(&self, number: u32) -> bool {
        let valid = self.valid.as_deref();
        valid.is_none_or(|valid| is_valid(valid, number as usize))
    }

    /// Of integers, which numbers pass, as [`SegmentEntries::integers_where`]; NULL does not.
    pub(super) fn integers_where(&self, passes: impl Fn(i64) -> bool) -> Option<Vec<u64>> {
        let mut wanted = self.entries.integers_where(passes)?;
        for (wanted, valid) in wanted.iter_mut().zip(self.valid.iter().flatten()) {
            *wanted &= valid;
        }
        Some(wanted)
    }

    /// The codes, if they are not the numbers.
    pub(super) fn dictionary(&self) -> Option<&MapDictionary> {
        let dictionary = self
            .dictionary
            .get_or_init(|| MapDictionary::new(&self.entries, self.valid.as_deref(), self.kept));
        dictionary.as_ref()
    }

    /// The values by code.
    pub(super) fn by_code(&self) -> &SegmentEntries {
        let dictionary = self.dictionary();
        dictionary.map_or(&self.entries, |dictionary| &dictionary.values)
    }

    /// Whether a code stands for a value rather than NULL.
    pub(super) fn is_valid_code(&self, code: u32) -> bool {
        match self.dictionary() {
            Some(dictionary) => dictionary.is_valid(code),
            None => (code as usize) < self.entries.len() && self.is_valid(code),
        }
    }
}

/// Whether all values of a segment, which may have none, are NULL.
pub(super) fn are_null(segment: &PlainSegment) -> bool {
    segment.null_count() == segment.row_count()
}

/// Clears the bits of the rows of a segment that are NULL, the first row having the bit `first`.
fn clear_nulls(segment: &PlainSegment, first: usize, valid: &mut [u64]) -> Result<(), Corrupt> {
    if segment.null_count() == 0 {
        return Ok(());
    }
    let mut words = RowMask::default();
    for vector in 0..segment.vector_count() {
        segment.validity(vector, &mut words)?;
        let rows = all_rows(segment.vector_rows(vector));
        let start = first + vector * VECTOR_VALUES;
        for ((word, rows), at) in words.iter().zip(rows).zip((start..).step_by(64)) {
            clear_bits(!word & rows, at, valid);
        }
    }
    Ok(())
}

/// Clears the bits that are set in `bits`, the lowest of which stands for the bit `at`.
fn clear_bits(bits: u64, at: usize, valid: &mut [u64]) {
    let wide = u128::from(bits) << (at % 64);
    let parts = [wide as u64, (wide >> 64) as u64];
    for (word, part) in valid.iter_mut().skip(at / 64).zip(parts) {
        *word &= !part;
    }
}
