//! Which rows of the build side have matches, over all partitions of the probe side.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use datafusion::arrow::array::Array;
use datafusion::arrow::buffer::NullBuffer;
use quire_vector::{NO_KEY, RowLists};

/// A bit for each row of the build side, or for each number of a key.
pub(super) struct MatchedRows {
    words: Vec<AtomicU64>,
    /// Without a filter all rows with a key match, or none: their number is marked in place of them.
    are_numbers: bool,
    /// Partitions of the probe side that have not ended.
    probing: AtomicUsize,
    /// Whether the probe side has rows, and whether it has NULL as a key: what `NOT IN` asks.
    has_probe_rows: AtomicBool,
    has_probe_null: AtomicBool,
}

impl MatchedRows {
    pub(super) fn new(bit_count: usize, are_numbers: bool, partition_count: usize) -> Self {
        let words = bit_count.div_ceil(64);
        Self {
            words: (0..words).map(|_| AtomicU64::new(0)).collect(),
            are_numbers,
            probing: AtomicUsize::new(partition_count),
            has_probe_rows: AtomicBool::new(false),
            has_probe_null: AtomicBool::new(false),
        }
    }

    pub(super) fn allocated_bytes(&self) -> usize {
        self.words.capacity() * size_of::<AtomicU64>()
    }

    pub(super) fn are_numbers(&self) -> bool {
        self.are_numbers
    }

    /// Marks some rows, or the numbers of some keys.
    pub(super) fn mark(&self, marked: &[u32]) {
        for bit in marked.iter().filter(|bit| **bit != NO_KEY) {
            let (word, bit) = (&self.words[*bit as usize / 64], 1 << (bit % 64));
            // Most have been marked before: a load leaves the cache line with all threads.
            if word.load(Ordering::Relaxed) & bit == 0 {
                word.fetch_or(bit, Ordering::Relaxed);
            }
        }
    }

    /// Takes into account that the probe side has rows, with these keys.
    pub(super) fn note_probe_keys(&self, keys: &dyn Array) {
        if !keys.is_empty() {
            self.has_probe_rows.store(true, Ordering::Relaxed);
        }
        if keys.null_count() > 0 {
            self.has_probe_null.store(true, Ordering::Relaxed);
        }
    }

    /// Of the rows without match, those whose key is known not to be on the probe side: `NOT IN` is true of them. All partitions of the probe side have
    /// ended. Without rows there, it is true of NULL, too; with NULL there, of nothing.
    pub(super) fn known_absent(
        &self,
        mut unmatched: Vec<u32>,
        keys: Option<&NullBuffer>,
    ) -> Vec<u32> {
        if self.has_probe_null.load(Ordering::Relaxed) {
            unmatched.clear();
        }
        if let Some(keys) = keys.filter(|_| self.has_probe_rows.load(Ordering::Relaxed)) {
            unmatched.retain(|row| keys.is_valid(*row as usize));
        }
        unmatched
    }

    /// Says that one partition of the probe side has ended. Returns whether it was the last one, which sees all marks.
    pub(super) fn ended(&self) -> bool {
        self.probing.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// The rows, of `row_count`, that are marked, or those that are not.
    pub(super) fn rows(&self, lists: &RowLists, row_count: usize, are_marked: bool) -> Vec<u32> {
        let is_marked = |words: &[u64], row: u32| words[row as usize / 64] >> (row % 64) & 1 != 0;
        let marks: Vec<u64> = self
            .words
            .iter()
            .map(|word| word.load(Ordering::Relaxed))
            .collect();
        let of_rows = if self.are_numbers {
            let mut of_rows = vec![0; row_count.div_ceil(64)];
            let numbers = (0..64 * marks.len() as u32).filter(|number| is_marked(&marks, *number));
            for row in numbers.flat_map(|number| lists.rows_of(number)) {
                of_rows[row as usize / 64] |= 1 << (row % 64);
            }
            of_rows
        } else {
            marks
        };
        let rows = 0..row_count as u32;
        rows.filter(|row| is_marked(&of_rows, *row) == are_marked)
            .collect()
    }
}
