//! Groups found in a hash table of packed keys.
//!
//! DataFusion has a table for one integer, one for one text and one for several columns. [`quire_vector::GroupTable`] serves all:
//! the keys of a batch are packed into words, column by column, and hashed, looked up and compared as such. What is computed for the groups is DataFusion's.
//! Aggregates of distinct values (`count(DISTINCT x)`) are two aggregations of DataFusion's, of which one operator takes the place.
//!
//! DataFusion sorts groups that do not fit into memory by their keys and merges sorted files; here they are split by a hash, as are the sides of a join.

mod distinct_exec;
mod distinct_states;
mod exec;
mod hashed_states;
mod key_table;
mod streamed;
mod whole;

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;

pub(super) use exec::HashedGroups;
pub(super) use hashed_states::{HashedStates, Taken, TakenGroups};

use distinct_exec::{DistinctAggregateExec, DistinctGroups};
use exec::HashedAggregateExec;

use super::own_rule::OwnRule;
use super::switches::is_on;

/// Puts the operator in the place of aggregations.
pub(super) fn rule() -> OwnRule {
    OwnRule::of_operators("hashed_groups", |plan| Ok(hashed(plan)))
        .switched(|options| options.hashed_groups)
}

/// Puts one operator in the place of an aggregation of distinct rows and of that which finds them.
pub(super) fn rule_of_distinct() -> OwnRule {
    let distinct = |plan: &Arc<dyn ExecutionPlan>| {
        let groups = plan.downcast_ref::<AggregateExec>();
        let groups = groups.and_then(DistinctGroups::new);
        Ok(groups.map(|groups| Arc::new(DistinctAggregateExec::new(groups)) as _))
    };
    OwnRule::of_operators("distinct_groups", distinct).switched(|options| options.hashed_groups)
}

/// What takes the place of an aggregation that a running operator has made, unless the options say that it stays.
pub(super) fn hashed_where_on(
    plan: Arc<dyn ExecutionPlan>,
    options: &ConfigOptions,
) -> Result<Arc<dyn ExecutionPlan>> {
    let is_on = is_on(options, |ours| ours.hashed_groups);
    let replaced = is_on.then(|| hashed(&plan)).flatten();
    Ok(replaced.unwrap_or(plan))
}

/// What takes the place of an aggregation; `None` if it stays.
fn hashed(plan: &Arc<dyn ExecutionPlan>) -> Option<Arc<dyn ExecutionPlan>> {
    let groups = HashedGroups::new(plan.downcast_ref()?)?;
    Some(Arc::new(HashedAggregateExec::new(groups)))
}

#[cfg(test)]
mod tests;
