//! A sample of a column, sorted in two ways (§6.2.10).

use super::word::{Integer, UnsignedWord};

/// Values of a sample, the paper's s = 64K.
const SAMPLE_VALUES: usize = 1 << 16;
/// Neighbours sampled together, so that their differences are those of the column.
const RUN_VALUES: usize = 128;

/// At most 65,536 values in runs of 128 neighbours spread evenly over a column, and the differences within the
/// runs.
#[derive(Clone, Debug)]
pub struct SuperScalarSample<T: Integer> {
    /// Values of the column.
    column_count: usize,
    /// Ascending.
    values: Vec<T>,
    /// Differences, ascending as signed numbers, each with its sign bit flipped.
    differences: Vec<T::Bits>,
}

impl<T: Integer> SuperScalarSample<T> {
    /// Takes and sorts the sample: O(s log s).
    pub fn take(column: &[T]) -> Self {
        let run_count = column.len().div_ceil(RUN_VALUES);
        let runs_max = SAMPLE_VALUES / RUN_VALUES;
        let taken = run_count.min(runs_max);
        let mut values = Vec::with_capacity(taken * RUN_VALUES);
        let mut differences = Vec::with_capacity(taken * RUN_VALUES);
        for run in 0..taken {
            let start = run * run_count / taken * RUN_VALUES;
            let run = &column[start..column.len().min(start + RUN_VALUES)];
            values.extend_from_slice(run);
            differences.extend(run.windows(2).map(|pair| {
                let difference = pair[1].bits().minus(pair[0].bits());
                difference.flip_sign()
            }));
        }
        values.sort_unstable();
        differences.sort_unstable();
        Self {
            column_count: column.len(),
            values,
            differences,
        }
    }

    pub(super) fn column_count(&self) -> usize {
        self.column_count
    }

    pub(super) fn values(&self) -> &[T] {
        &self.values
    }

    pub(super) fn differences(&self) -> &[T::Bits] {
        &self.differences
    }

    /// Values with their numbers in the sample, the most frequent first, then ascending. Unless the sample is
    /// the whole column, those it has only once are left out.
    pub(super) fn histogram(&self) -> Vec<(T, usize)> {
        let equal = self.values.chunk_by(|one, other| one == other);
        let mut buckets: Vec<(T, usize)> = equal
            .filter_map(|bucket| Some((*bucket.first()?, bucket.len())))
            .collect();
        buckets.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        if self.values.len() < self.column_count {
            let repeated = buckets.partition_point(|(_, count)| *count > 1);
            buckets.truncate(repeated.max(1));
        }
        buckets
    }
}
