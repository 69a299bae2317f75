//! Between which integers the keys of an aggregation lie.

use std::sync::Arc;

use datafusion::common::ScalarValue;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};

use super::exec::DirectAggregateExec;
use crate::scan::VectorAggregateExec;

/// An array has this many places at most: 64 MiB.
const PLACES_MAX: usize = 1 << 24;
/// Fewer places are worth it for few rows, too.
const PLACES_MIN: usize = 1 << 10;

/// The integers from the smallest to the largest key, as far as statistics know them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyRange {
    pub(super) first: i64,
    /// How many integers.
    pub(super) places: usize,
    /// Rows that are aggregated, also in an aggregation below.
    rows: usize,
}

impl KeyRange {
    /// The range of a column of the plan's rows.
    pub(super) fn of(plan: &Arc<dyn ExecutionPlan>, column: usize) -> Option<Self> {
        if plan.is::<RepartitionExec>() || plan.is::<CoalescePartitionsExec>() {
            let children = plan.children();
            let [child] = children.as_slice() else {
                return None;
            };
            return Self::of(child, column);
        }
        if let Some(aggregate) = aggregate_below(plan) {
            let (key, _) = aggregate.group_expr().expr().get(column)?;
            let key = key.downcast_ref::<Column>()?;
            return Self::of(aggregate.input(), key.index());
        }
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

/// The aggregation that the rows of an operator come from.
fn aggregate_below(plan: &Arc<dyn ExecutionPlan>) -> Option<&AggregateExec> {
    if let Some(vectors) = plan.downcast_ref::<VectorAggregateExec>() {
        return Some(vectors.aggregate());
    }
    if let Some(direct) = plan.downcast_ref::<DirectAggregateExec>() {
        return Some(direct.aggregate());
    }
    plan.downcast_ref::<AggregateExec>()
}

fn integer(value: &ScalarValue) -> Option<i64> {
    match value {
        ScalarValue::Int16(value) => value.map(i64::from),
        ScalarValue::Int32(value) | ScalarValue::Date32(value) => value.map(i64::from),
        ScalarValue::Int64(value) => *value,
        _ => None,
    }
}
