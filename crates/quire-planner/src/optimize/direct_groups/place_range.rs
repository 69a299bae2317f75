//! Between which integers the keys of an aggregation lie.

use std::sync::Arc;

use datafusion::common::ScalarValue;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};

/// An array has this many places at most: 64 MiB.
const PLACES_MAX: usize = 1 << 24;
/// Fewer places are worth it for few rows, too.
const PLACES_MIN: usize = 1 << 10;

/// The integers from the smallest to the largest key, as far as statistics know them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlaceRange {
    pub(super) first: i64,
    /// How many integers.
    pub(super) places: usize,
    /// Rows that are aggregated, also in an aggregation below.
    rows: usize,
}

impl PlaceRange {
    /// The range of a column of the plan's rows, by its statistics.
    pub(super) fn of(plan: &Arc<dyn ExecutionPlan>, column: usize) -> Option<Self> {
        let statistics = StatisticsContext::new().compute(plan.as_ref(), &StatisticsArgs::new());
        let statistics = statistics.ok()?;
        let known = statistics.column_statistics.get(column)?;
        let first = integer(known.min_value.get_value()?)?;
        let last = integer(known.max_value.get_value()?)?;
        let places = usize::try_from(last.checked_sub(first)?)
            .ok()?
            .checked_add(1)?;
        Some(Self {
            first,
            places,
            rows: *statistics.num_rows.get_value()?,
        })
    }

    /// Whether an array of all places is not much larger than a hash table of the keys may be.
    pub(super) fn is_dense(&self) -> bool {
        self.places <= self.rows.clamp(PLACES_MIN, PLACES_MAX)
    }
}

fn integer(value: &ScalarValue) -> Option<i64> {
    match value {
        ScalarValue::Int16(value) => value.map(i64::from),
        ScalarValue::Int32(value) | ScalarValue::Date32(value) => value.map(i64::from),
        ScalarValue::Int64(value) => *value,
        _ => None,
    }
}
