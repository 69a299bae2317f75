//! Sorted runs of partial states, and their merge.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::buffer::ScalarBuffer;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type};
use datafusion::common::Result;

/// With fewer rows in a slice, on average, the merge is slower than a hash table.
const SLICE_ROWS_MIN: usize = 64;

/// Batches of states, each sorted by the key, which is the first column.
#[derive(Default)]
pub(super) struct KeyRuns {
    runs: Vec<KeyRun>,
    row_count: usize,
}

struct KeyRun {
    batch: RecordBatch,
    keys: ScalarBuffer<i64>,
}

/// The rows of a run that come next in key order.
struct RunSlice {
    run: usize,
    start: usize,
    end: usize,
}

/// The values of a key column; `None` if it has NULLs.
pub(super) fn integer_keys(keys: &ArrayRef) -> Result<Option<ScalarBuffer<i64>>> {
    if keys.null_count() > 0 {
        return Ok(None);
    }
    let keys = cast(keys, &DataType::Int64)?;
    Ok(Some(keys.as_primitive::<Int64Type>().values().clone()))
}

impl KeyRuns {
    /// Adds a batch; returns it if it is not sorted.
    pub(super) fn add(&mut self, batch: RecordBatch) -> Result<Option<RecordBatch>> {
        let keys = integer_keys(batch.column(0))?;
        let Some(keys) = keys.filter(|keys| keys.is_sorted()) else {
            return Ok(Some(batch));
        };
        if !keys.is_empty() {
            self.row_count += keys.len();
            self.runs.push(KeyRun { batch, keys });
        }
        Ok(None)
    }

    /// Whether the merge needs few slices.
    pub(super) fn are_few_slices(&self) -> bool {
        let slices_max = self.runs.len() + self.row_count / SLICE_ROWS_MIN;
        self.slices().nth(slices_max).is_none()
    }

    /// The batches, in any order.
    pub(super) fn into_batches(self) -> impl Iterator<Item = RecordBatch> {
        self.runs.into_iter().map(|run| run.batch)
    }

    /// All rows in key order, slice by slice.
    pub(super) fn into_slices(self) -> impl Iterator<Item = RecordBatch> {
        let slices: Vec<RunSlice> = self.slices().collect();
        slices.into_iter().map(move |slice| {
            let batch = &self.runs[slice.run].batch;
            batch.slice(slice.start, slice.end - slice.start)
        })
    }

    /// In turn, the rows of the run with the smallest key, up to the smallest key of the other runs.
    fn slices(&self) -> impl Iterator<Item = RunSlice> {
        let heads = self.runs.iter().enumerate();
        let heads = heads.map(|(run, one)| Reverse((one.keys[0], run, 0)));
        let mut heads: BinaryHeap<_> = heads.collect();
        std::iter::from_fn(move || {
            let Reverse((_, run, start)) = heads.pop()?;
            let keys = &self.runs[run].keys;
            let limit = heads.peek().map(|Reverse((key, ..))| *key);
            let end = match limit {
                Some(limit) => start + keys[start..].partition_point(|key| *key <= limit),
                None => keys.len(),
            };
            if let Some(next) = keys.get(end) {
                heads.push(Reverse((*next, run, end)));
            }
            Some(RunSlice { run, start, end })
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use datafusion::arrow::array::Int32Array;
    use datafusion::arrow::datatypes::{Field, Schema};

    use super::*;

    fn batch(keys: Vec<Option<i32>>) -> RecordBatch {
        let schema = Schema::new(vec![Field::new("k", DataType::Int32, true)]);
        RecordBatch::try_new(Arc::new(schema), vec![Arc::new(Int32Array::from(keys))]).unwrap()
    }

    fn runs(all: &[&[i32]]) -> KeyRuns {
        let mut runs = KeyRuns::default();
        for keys in all {
            let keys = keys.iter().copied().map(Some).collect();
            assert!(runs.add(batch(keys)).unwrap().is_none());
        }
        runs
    }

    fn slices(runs: KeyRuns) -> Vec<Vec<i64>> {
        let slices = runs.into_slices();
        let keys = slices.map(|slice| integer_keys(slice.column(0)).unwrap().unwrap().to_vec());
        keys.collect()
    }

    #[test]
    fn slices_are_in_order_whatever_the_order_of_the_runs() {
        let found = slices(runs(&[&[7, 9, 9], &[], &[1, 2, 5], &[5, 6]]));
        assert_eq!(found, [vec![1, 2, 5], vec![5, 6], vec![7, 9, 9]]);
        let found = slices(runs(&[&[1, 2, 3, 10, 11], &[4, 5, 11, 20]]));
        let expected = [vec![1, 2, 3], vec![4, 5], vec![10, 11], vec![11, 20]];
        assert_eq!(found, expected);
        assert!(slices(KeyRuns::default()).is_empty());
    }

    #[test]
    fn batches_in_no_order_are_given_back() {
        let mut runs = KeyRuns::default();
        for keys in [vec![Some(2), Some(1)], vec![Some(1), None], vec![None]] {
            assert_eq!(runs.add(batch(keys.clone())).unwrap(), Some(batch(keys)));
        }
        assert!(
            runs.add(batch(vec![Some(i32::MIN), Some(i32::MAX)]))
                .unwrap()
                .is_none()
        );
        assert_eq!(runs.into_batches().count(), 1);
    }

    #[test]
    fn keys_that_alternate_are_too_many_slices() {
        let even: Vec<i32> = (0..1000).map(|key| 2 * key).collect();
        let odd: Vec<i32> = (0..1000).map(|key| 2 * key + 1).collect();
        assert!(!runs(&[&even, &odd]).are_few_slices());
        let behind: Vec<i32> = (1000..2000).map(|key| 2 * key).collect();
        assert!(runs(&[&behind, &even]).are_few_slices());
    }
}
