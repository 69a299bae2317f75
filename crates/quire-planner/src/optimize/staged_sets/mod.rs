//! Aggregations over grouping sets in two stages: rows by all keys, and the sets from these groups.
//!
//! `GROUP BY ROLLUP (a, b, c)` has four sets. DataFusion puts each row into the groups of all of them. But the groups of `(a, b, c)` have all that those
//! of `(a, b)` need, and there are fewer of them than rows. So a partial aggregation by all keys comes first, as a plain `GROUP BY a, b, c` has it,
//! with what else is done for such a one; its states are merged for each set, those of a smaller one where that has all keys ([`cascade`]).
//!
//! The states of an aggregate must have a bound: lists of values would be kept once more.

mod cascade;
mod exec;
mod merging;

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::TreeNode;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode, PhysicalGroupBy};
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::{ExecutionPlan, InputOrderMode};

use exec::{StagedSets, StagedSetsExec};
use merging::merging;

use super::aggregate_states::state_bytes;
use super::shared_subplans::SharedSubplanExec;

/// The two stages; `None` if an operator stays as it is.
pub(super) fn staged(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let aggregate = plan.downcast_ref::<AggregateExec>();
    let Some(aggregate) = aggregate.filter(|it| has_stages(it)) else {
        return Ok(None);
    };
    let nothing = Arc::new(EmptyExec::new(aggregate.schema()));
    if merging(aggregate, nothing)?.schema() != aggregate.schema() {
        return Ok(None);
    }
    let groups = AggregateExec::try_new(
        AggregateMode::Partial,
        PhysicalGroupBy::new_single(aggregate.group_expr().expr().to_vec()),
        aggregate.aggr_expr().to_vec(),
        aggregate.filter_expr().to_vec(),
        Arc::clone(aggregate.input()),
        aggregate.input_schema(),
    )?;
    Ok(Some(Arc::new(StagedSetsExec::new(StagedSets {
        aggregate: aggregate.clone(),
        groups: Arc::new(groups),
    }))))
}

/// Whether the plan, or a subplan that is computed once, has such stages. Two hold more than one: without memory for both, the statement is planned again.
pub fn has_staged_sets(plan: &Arc<dyn ExecutionPlan>) -> Result<bool> {
    plan.exists(|node| match node.downcast_ref::<SharedSubplanExec>() {
        Some(shared) => has_staged_sets(shared.plan()),
        None => Ok(node.is::<StagedSetsExec>()),
    })
}

fn has_stages(aggregate: &AggregateExec) -> bool {
    let group_by = aggregate.group_expr();
    *aggregate.mode() == AggregateMode::Partial
        && group_by.has_grouping_set()
        && group_by.groups().len() > 1
        && !group_by.expr().is_empty()
        && *aggregate.input_order_mode() == InputOrderMode::Linear
        && aggregate.limit_options().is_none()
        && aggregate
            .aggr_expr()
            .iter()
            .all(|one| state_bytes(one).is_some())
}
