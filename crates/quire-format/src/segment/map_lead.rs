//! A reference that stores runs, as the numbers of the keys of its maps: looked up once per run, for all maps that have it.

use quire_codec::{Corrupt, vector_count};

use super::map_keys::{IntegerKeys, not_in_the_map};
use super::plain::PlainSegment;

/// The runs of a reference without NULLs.
#[derive(Debug)]
pub(super) struct LeadRuns {
    /// The keys as maps store them.
    key_bytes: Box<[u8]>,
    key_count: usize,
    /// First run of each vector, and the number of all runs.
    first_runs: Vec<u32>,
    /// The number of the key of each run.
    numbers: Vec<u32>,
    /// Rows of each run, those of a vector adding up to its rows.
    lengths: Vec<u16>,
}

impl LeadRuns {
    /// The runs of `reference` by these keys; `None` if it stores no runs of integers, or has NULLs.
    pub(super) fn new(
        reference: &PlainSegment,
        key_bytes: &[u8],
        ascending: &[i64],
    ) -> Result<Option<Self>, Corrupt> {
        if !reference.stores_runs() || reference.null_count() > 0 {
            return Ok(None);
        }
        let mut reference = reference.reopen()?;
        let mut keys = KeyFinder::new(ascending);
        let mut runs = Self {
            key_bytes: key_bytes.into(),
            key_count: ascending.len(),
            first_runs: vec![0],
            numbers: Vec::with_capacity(ascending.len()),
            lengths: Vec::with_capacity(ascending.len()),
        };
        let mut stranger = None;
        for vector in 0..vector_count(reference.row_count()) {
            reference.for_each_run(vector, |key, length| match keys.number(key) {
                Some(number) => {
                    runs.numbers.push(number);
                    runs.lengths.push(length as u16);
                }
                None => stranger = Some(key),
            })?;
            runs.first_runs.push(runs.numbers.len() as u32);
        }
        match stranger {
            Some(key) => Err(not_in_the_map(key)),
            None => Ok(Some(runs)),
        }
    }

    /// Whether these are the runs by those keys.
    pub(super) fn has_keys(&self, key_bytes: &[u8]) -> bool {
        *self.key_bytes == *key_bytes
    }

    pub(super) fn key_count(&self) -> usize {
        self.key_count
    }

    /// The number, below that of the keys, and the rows of each run of a vector.
    pub(super) fn vector(
        &self,
        vector: usize,
    ) -> Result<impl Iterator<Item = (u32, usize)>, Corrupt> {
        let runs = self.first_runs.get(vector..).and_then(|rest| {
            let runs = *rest.first()? as usize..*rest.get(1)? as usize;
            self.numbers.get(runs.clone()).zip(self.lengths.get(runs))
        });
        let missing = || Corrupt::new("vector is beyond the segment", 0);
        let (numbers, lengths) = runs.ok_or_else(missing)?;
        let lengths = lengths.iter().map(|&length| usize::from(length));
        Ok(numbers.iter().copied().zip(lengths))
    }
}

/// Finds keys that mostly ascend.
struct KeyFinder<'a> {
    ascending: &'a [i64],
    /// The number found last.
    last: usize,
    /// Made for the first key that is neither the last one nor that behind it.
    table: Option<IntegerKeys>,
}

impl<'a> KeyFinder<'a> {
    fn new(ascending: &'a [i64]) -> Self {
        Self {
            ascending,
            last: 0,
            table: None,
        }
    }

    fn number(&mut self, key: i64) -> Option<u32> {
        for near in [self.last, self.last + 1] {
            if self.ascending.get(near) == Some(&key) {
                self.last = near;
                return Some(near as u32);
            }
        }
        let table = match self.table.take() {
            Some(table) => table,
            None => IntegerKeys::new(self.ascending)?,
        };
        let number = table.number(key);
        self.table = Some(table);
        self.last = number? as usize;
        number
    }
}
