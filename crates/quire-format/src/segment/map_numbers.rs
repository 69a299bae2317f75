//! The numbers of the rows of a map, a vector at a time, and what follows from them.

use std::cell::OnceCell;
use std::sync::Arc;

use quire_codec::{Corrupt, RowMask, VECTOR_VALUES, mark_rows, vector_rows};

use super::map_exceptions::MapExceptions;
use super::map_image::MapImage;
use super::map_keys::{IntegerKeys, MapKeys, RowNumbers};
use super::map_lead::LeadRuns;
use super::plain::PlainSegment;

/// Up to this length, a run is written with as many values as this.
const SHORT_RUN: usize = 16;

/// The keys that the rows of a reference have.
#[derive(Debug)]
pub(super) struct MapLead {
    pub(super) key_count: usize,
    /// How many keys are codes of the reference.
    pub(super) code_count: usize,
    rows: LeadRows,
}

#[derive(Debug)]
enum LeadRows {
    /// Shared by the maps that have the reference.
    Runs(Arc<LeadRuns>),
    Single(Box<RowNumbers>),
}

impl MapLead {
    /// Finds the keys of a map in its reference. The runs of one reference are looked up once, and kept in `runs`.
    pub(super) fn new(
        image: &MapImage,
        reference: &PlainSegment,
        runs: &OnceCell<Arc<LeadRuns>>,
    ) -> Result<Self, Corrupt> {
        let Some(key_bytes) = image.key_bytes() else {
            return Self::of_codes(reference);
        };
        if let Some(known) = runs.get().filter(|known| known.has_keys(key_bytes)) {
            return Ok(Self::of_runs(Arc::clone(known)));
        }
        let ascending = image.integer_keys()?.unwrap_or_default();
        if let Some(found) = LeadRuns::new(reference, key_bytes, &ascending)? {
            let found = Arc::new(found);
            runs.get_or_init(|| Arc::clone(&found));
            return Ok(Self::of_runs(found));
        }
        let keys = IntegerKeys::new(&ascending);
        let keys = keys.ok_or_else(|| Corrupt::new("map has no keys", 0))?;
        let rows = RowNumbers::new(reference.reopen()?, MapKeys::Integers(keys));
        Ok(Self {
            key_count: ascending.len(),
            code_count: 0,
            rows: LeadRows::Single(Box::new(rows)),
        })
    }

    fn of_codes(reference: &PlainSegment) -> Result<Self, Corrupt> {
        let what = "map of codes has a reference without a dictionary";
        let count = reference.dictionary_len();
        let count = count.ok_or_else(|| Corrupt::new(what, 0))?;
        let rows = RowNumbers::new(reference.reopen()?, MapKeys::Codes(count));
        Ok(Self {
            key_count: count,
            code_count: count,
            rows: LeadRows::Single(Box::new(rows)),
        })
    }

    fn of_runs(runs: Arc<LeadRuns>) -> Self {
        Self {
            key_count: runs.key_count(),
            code_count: 0,
            rows: LeadRows::Runs(runs),
        }
    }
}

/// The numbers of the rows of a map.
#[derive(Debug)]
pub(super) struct MapNumbers {
    row_count: usize,
    lead: MapLead,
    exceptions: MapExceptions,
}

impl MapNumbers {
    pub(super) fn new(row_count: usize, lead: MapLead, exceptions: MapExceptions) -> Self {
        Self {
            row_count,
            lead,
            exceptions,
        }
    }

    /// Writes what `value_of` makes of the number of each row of a vector, and returns the rows; `out` beyond them is arbitrary.
    pub(super) fn spread<T: Copy>(
        &mut self,
        vector: usize,
        out: &mut [T; VECTOR_VALUES],
        value_of: impl Fn(u32) -> T,
    ) -> Result<usize, Corrupt> {
        match &mut self.lead.rows {
            LeadRows::Runs(runs) => {
                let runs = runs.vector(vector)?;
                fill_runs(runs.map(|(number, length)| (value_of(number), length)), out);
            }
            LeadRows::Single(rows) => {
                for (out, &number) in out.iter_mut().zip(rows.vector(vector)?) {
                    *out = value_of(number);
                }
            }
        }
        for (row, number) in self.exceptions.of_vector(vector) {
            if let Some(out) = out.get_mut(row) {
                *out = value_of(number);
            }
        }
        Ok(vector_rows(self.row_count, vector))
    }

    /// Marks the rows of a vector whose number is marked, bits beyond them clear, and returns the rows.
    pub(super) fn mark(
        &mut self,
        vector: usize,
        mask: &mut RowMask,
        is_marked: impl Fn(u32) -> bool,
    ) -> Result<usize, Corrupt> {
        self.mark_keys(vector, mask, &is_marked)?;
        self.mark_exceptions(vector, mask, is_marked);
        Ok(vector_rows(self.row_count, vector))
    }

    /// As [`MapNumbers::mark`], every row being taken for one that has the value of its key.
    pub(super) fn mark_keys(
        &mut self,
        vector: usize,
        mask: &mut RowMask,
        is_marked: impl Fn(u32) -> bool,
    ) -> Result<(), Corrupt> {
        *mask = RowMask::default();
        match &mut self.lead.rows {
            LeadRows::Runs(runs) => {
                let mut row = 0;
                for (number, length) in runs.vector(vector)? {
                    if is_marked(number) {
                        mark_rows(mask, row, length);
                    }
                    row += length;
                }
            }
            LeadRows::Single(rows) => {
                let numbers = rows.vector(vector)?.chunks(64);
                for (word, numbers) in mask.iter_mut().zip(numbers) {
                    let bits = numbers.iter().enumerate();
                    *word = bits.fold(0, |word, (bit, &number)| {
                        word | u64::from(is_marked(number)) << bit
                    });
                }
            }
        }
        Ok(())
    }

    /// Marks the exceptions of a vector whose number is marked, and no other exceptions. Leaves the other rows as they are.
    pub(super) fn mark_exceptions(
        &self,
        vector: usize,
        mask: &mut RowMask,
        is_marked: impl Fn(u32) -> bool,
    ) {
        for (row, number) in self.exceptions.of_vector(vector) {
            if let Some(word) = mask.get_mut(row / 64) {
                *word &= !(1 << (row % 64));
                *word |= u64::from(is_marked(number)) << (row % 64);
            }
        }
    }
}

/// Writes the value of each run as often as it has rows, and arbitrary values behind the last.
fn fill_runs<T: Copy>(runs: impl Iterator<Item = (T, usize)>, out: &mut [T; VECTOR_VALUES]) {
    let mut rest = out.as_mut_slice();
    for (value, length) in runs {
        match rest.first_chunk_mut::<SHORT_RUN>() {
            // Without a loop, whose end nobody can predict. The next run overwrites what is too much.
            Some(start) if length <= SHORT_RUN => start.fill(value),
            _ => rest.iter_mut().take(length).for_each(|out| *out = value),
        }
        rest = rest.get_mut(length..).unwrap_or_default();
    }
}
