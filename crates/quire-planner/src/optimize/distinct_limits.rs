//! `SELECT DISTINCT a … LIMIT n` of rows that come in the order of `a`.
//!
//! DataFusion hands the limit to the aggregate before the order of its rows is known. If they come in the order of the groups, the aggregate
//! takes the limit for that of `min(b) … ORDER BY 1 LIMIT n`, and fails because it has no direction. Without the limit it gives out its
//! groups as it goes, and the limit above stops it.

use std::sync::Arc;

use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;

/// The aggregate without a limit that it takes for another one.
pub(super) fn without_undirected_limit(
    plan: &Arc<dyn ExecutionPlan>,
) -> Option<Arc<dyn ExecutionPlan>> {
    let aggregate = plan.downcast_ref::<AggregateExec>();
    let aggregate = aggregate.filter(|aggregate| has_no_direction(aggregate))?;
    Some(Arc::new(aggregate.with_new_limit_options(None)))
}

fn has_no_direction(aggregate: &AggregateExec) -> bool {
    let limit = aggregate.limit_options();
    aggregate.aggr_expr().is_empty()
        && limit.is_some_and(|limit| limit.descending().is_none())
        && !aggregate.is_unordered_unfiltered_group_by_distinct()
}
