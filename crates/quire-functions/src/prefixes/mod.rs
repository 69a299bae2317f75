//! Aggregates of the rows from the start of a partition to some of its rows, where the rows come in the order of their partitions.
//!
//! They are what window frames that begin with their partition ask for: one state grows row by row, and gives a result at each row for
//! `ROWS … CURRENT ROW`, at the end of each peer group for `RANGE`, and at the end of each partition for all of it. A batch may begin and
//! end within any of these: the state goes on with the next batch. What a state is, and how a result is made of it, is the business of
//! each function: it is the arithmetic of its other accumulators.

mod counts;
mod extremes;

use std::ops::Range;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::buffer::NullBuffer;
use datafusion::common::Result;

pub(super) use counts::CountPrefixes;
pub(super) use extremes::{Extreme, extreme_prefixes};

/// Rows of a batch that belong to one partition, or to one peer group of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrefixSegment {
    /// They may be none: what a batch before this one has left open ends here.
    pub rows: Range<usize>,
    /// Whether a partition starts with the first of them.
    pub starts: bool,
    /// Whether the partition or peer group ends with the last of them.
    pub ends: bool,
}

/// Where results are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrefixResults {
    EachRow,
    /// Of the segments that end.
    SegmentEnds,
}

/// An aggregate of the rows of the current partition up to now.
pub trait PrefixAggregate: Send {
    /// Takes in the rows of a batch, `values` having one for each, and gives the results in their order.
    fn advance(
        &mut self,
        values: &ArrayRef,
        segments: &[PrefixSegment],
        wanted: PrefixResults,
    ) -> Result<ArrayRef>;
}

/// The state of such an aggregate, and the results that it has given within a batch.
pub(super) trait PrefixState {
    type Value;

    /// Forgets all rows: a partition starts.
    fn restart(&mut self);

    /// Takes in a value that is not NULL.
    fn add(&mut self, value: Self::Value) -> Result<()>;

    /// Adds the result of the rows so far to the results.
    fn record(&mut self);

    /// Hands out the results.
    fn take_results(&mut self) -> Result<ArrayRef>;
}

/// Takes the values of a batch into a state: `value_at` those of rows that are not NULL.
pub(super) fn advance<S: PrefixState>(
    state: &mut S,
    nulls: Option<&NullBuffer>,
    value_at: impl Fn(usize) -> S::Value,
    segments: &[PrefixSegment],
    wanted: PrefixResults,
) -> Result<ArrayRef> {
    let is_valid = |row| nulls.is_none_or(|nulls| nulls.is_valid(row));
    for segment in segments {
        if segment.starts {
            state.restart();
        }
        for row in segment.rows.clone() {
            if is_valid(row) {
                state.add(value_at(row))?;
            }
            if wanted == PrefixResults::EachRow {
                state.record();
            }
        }
        if wanted == PrefixResults::SegmentEnds && segment.ends {
            state.record();
        }
    }
    state.take_results()
}
