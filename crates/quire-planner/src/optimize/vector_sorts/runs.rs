//! Partitions whose rows are in order, and their merge.

use std::cmp::Ordering;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::compute::{SortOptions, concat_batches, interleave_record_batch};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::{Result, internal_err};
use datafusion::physical_expr::LexOrdering;
use quire_vector::{SortWords, sorted_rows};

use super::keys::{KeyBounds, KeyComparison, pack};

/// The rows of a partition, and their keys.
pub(super) struct KeyedRows {
    batch: RecordBatch,
    keys: Vec<ArrayRef>,
    bounds: Vec<KeyBounds>,
}

impl KeyedRows {
    pub(super) fn new(
        schema: &SchemaRef,
        batches: &[RecordBatch],
        order: &LexOrdering,
    ) -> Result<Self> {
        let batch = concat_batches(schema, batches)?;
        let keys = order.iter().map(|key| {
            let values = key.expr.evaluate(&batch)?;
            values.into_array(batch.num_rows())
        });
        let keys: Vec<ArrayRef> = keys.collect::<Result<_>>()?;
        let bounds = keys.iter().map(KeyBounds::of).collect::<Result<_>>()?;
        Ok(Self {
            batch,
            keys,
            bounds,
        })
    }

    pub(super) fn bounds(&self) -> &[KeyBounds] {
        &self.bounds
    }

    /// The rows in their order. `bounds` are those of all partitions.
    pub(super) fn sorted(self, options: &[SortOptions], bounds: &[KeyBounds]) -> Result<SortedRun> {
        let row_count = self.batch.num_rows();
        if u32::try_from(row_count).is_err() {
            return internal_err!("a sort has {row_count} rows in a partition");
        }
        let mut words = SortWords::new(row_count);
        let packed = pack(&self.keys, options, bounds, &mut words)?;
        let rest = self.keys[packed..].to_vec();
        let comparison = KeyComparison::new(&rest, &rest, &options[packed..])?;
        let compare = |one: u32, other: u32| comparison.compare(one, other);
        let compare: Option<&dyn Fn(u32, u32) -> Ordering> = if comparison.is_empty() {
            None
        } else {
            Some(&compare)
        };
        let order = sorted_rows(row_count, words.words(), compare);
        Ok(SortedRun {
            batch: self.batch,
            words,
            rest,
            order,
        })
    }
}

/// A partition in order.
pub(super) struct SortedRun {
    batch: RecordBatch,
    words: SortWords,
    /// The keys that the words do not tell apart.
    rest: Vec<ArrayRef>,
    /// Its rows, the first one first.
    order: Vec<u32>,
}

/// The rows of all partitions in their order: each is a partition and a row of it.
pub(super) struct MergedRuns {
    runs: Arc<Vec<SortedRun>>,
    /// How many rows of each run have been merged.
    merged: Vec<usize>,
    /// Between two partitions, for rows whose words are the same.
    comparisons: Vec<Vec<KeyComparison>>,
}

impl MergedRuns {
    pub(super) fn new(runs: Vec<SortedRun>, options: &[SortOptions]) -> Result<Self> {
        let between = |one: &SortedRun| {
            let rest = &options[options.len() - one.rest.len()..];
            let others = runs.iter();
            let comparisons = others.map(|other| KeyComparison::new(&one.rest, &other.rest, rest));
            comparisons.collect::<Result<Vec<_>>>()
        };
        let comparisons = runs.iter().map(between).collect::<Result<_>>()?;
        Ok(Self {
            merged: vec![0; runs.len()],
            runs: Arc::new(runs),
            comparisons,
        })
    }

    pub(super) fn runs(&self) -> &Arc<Vec<SortedRun>> {
        &self.runs
    }

    /// The next rows, at most so many; none at the end.
    pub(super) fn next(&mut self, row_count_max: usize) -> Vec<(usize, usize)> {
        let mut rows = Vec::new();
        while rows.len() < row_count_max
            && let Some(run) = self.least()
        {
            rows.push((run, self.runs[run].order[self.merged[run]] as usize));
            self.merged[run] += 1;
        }
        rows
    }

    /// The run whose next row comes first; of equal ones the first.
    fn least(&self) -> Option<usize> {
        let runs = 0..self.runs.len();
        let unread = runs.filter(|run| self.merged[*run] < self.runs[*run].order.len());
        unread.reduce(|least, run| match self.compare(least, run) {
            Ordering::Greater => run,
            _ => least,
        })
    }

    fn compare(&self, one: usize, other: usize) -> Ordering {
        let next = |run: usize| self.runs[run].order[self.merged[run]];
        let (row, other_row) = (next(one), next(other));
        let words = self.runs[one].words.words().iter();
        let mut words = words.zip(self.runs[other].words.words());
        let differing = words.find_map(|(word, other)| {
            let order = word[row as usize].cmp(&other[other_row as usize]);
            order.is_ne().then_some(order)
        });
        differing.unwrap_or_else(|| self.comparisons[one][other].compare(row, other_row))
    }
}

/// The rows as a batch.
pub(super) fn gathered(runs: &[SortedRun], rows: &[(usize, usize)]) -> Result<RecordBatch> {
    let batches: Vec<&RecordBatch> = runs.iter().map(|run| &run.batch).collect();
    Ok(interleave_record_batch(&batches, rows)?)
}
