//! Groups of one integer key that lie close together: the key is the place in an array that says which group it is.
//!
//! DataFusion finds the group of a row in a hash table. Where statistics say that there are not many more possible keys than rows, an array with
//! a place for each possible key needs no hash, no comparison and no growth. Rows in the order of their keys, as those of a partial aggregation
//! over a table in that order, use neighbouring places. What is computed for the groups is DataFusion's.

mod exec;
mod key_places;
mod place_range;

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ExecutionPlan, InputOrderMode};

use exec::{DirectAggregateExec, DirectGroups};
use place_range::PlaceRange;

use super::aggregate_states::state_bytes;
use crate::scan::{AggregateStandIn, VectorAggregateExec};

/// What takes the place of an aggregation; `None` if it stays.
pub(super) fn direct(plan: &Arc<dyn ExecutionPlan>) -> Option<Arc<dyn ExecutionPlan>> {
    let aggregate = plan.downcast_ref::<AggregateExec>()?;
    let column = key_column(aggregate)?;
    let aggregates = aggregate.aggr_expr();
    let state_bytes = aggregates.iter().map(|one| state_bytes(one));
    let state_bytes = state_bytes.sum::<Option<usize>>()?;
    let range = key_range_of(aggregate.input(), column).filter(PlaceRange::is_dense)?;
    Some(Arc::new(DirectAggregateExec::new(DirectGroups {
        aggregate: aggregate.clone(),
        range,
        state_bytes,
    })))
}

/// The column of the input that is the only key of an aggregation, if it may be a place in an array.
fn key_column(aggregate: &AggregateExec) -> Option<usize> {
    let group_by = aggregate.group_expr();
    let is_plain = group_by.is_single()
        && !group_by.has_grouping_set()
        && *aggregate.mode() != AggregateMode::PartialReduce
        && aggregate.filter_expr().iter().all(Option::is_none)
        && aggregate.limit_options().is_none()
        && aggregate.dynamic_expressions_produced().is_empty()
        && *aggregate.input_order_mode() == InputOrderMode::Linear;
    let [(key, _)] = group_by.expr() else {
        return None;
    };
    let column = key.downcast_ref::<Column>().filter(|_| is_plain)?;
    let schema = aggregate.input().schema();
    let data_type = schema.field(column.index()).data_type();
    matches!(
        data_type,
        DataType::Int16 | DataType::Int32 | DataType::Int64 | DataType::Date32
    )
    .then(|| column.index())
}

/// The range of a column of the plan's rows. Aggregations and repartitions pass keys on as they are.
fn key_range_of(plan: &Arc<dyn ExecutionPlan>, column: usize) -> Option<PlaceRange> {
    if plan.is::<RepartitionExec>() || plan.is::<CoalescePartitionsExec>() {
        let children = plan.children();
        let [child] = children.as_slice() else {
            return None;
        };
        return key_range_of(child, column);
    }
    if let Some(aggregate) = aggregate_below(plan) {
        let (key, _) = aggregate.group_expr().expr().get(column)?;
        let key = key.downcast_ref::<Column>()?;
        return key_range_of(aggregate.input(), key.index());
    }
    PlaceRange::of(plan, column)
}

/// The aggregation that the rows of an operator come from.
fn aggregate_below(plan: &Arc<dyn ExecutionPlan>) -> Option<&AggregateExec> {
    if let Some(vectors) = plan.downcast_ref::<VectorAggregateExec>() {
        return Some(vectors.stand_in.aggregate());
    }
    if let Some(direct) = plan.downcast_ref::<DirectAggregateExec>() {
        return Some(direct.stand_in.aggregate());
    }
    plan.downcast_ref::<AggregateExec>()
}
