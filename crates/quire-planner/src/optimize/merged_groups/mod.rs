//! Groups of a key in whose order the table lies: their states are merged, and not looked up.
//!
//! A partial aggregation by a window of the key's values hands on states in the order of the keys, batch by batch. In a table that lies in that order nearly every group
//! is in one batch, and the batches of all threads follow each other. A final aggregation in a hash table would find millions of groups of one state each. Here the batches are kept
//! until the last one is there, then merged in slices as long as keys of no other batch lie in between, and states of equal keys, which are
//! neighbours then, put together (G. Graefe, *Query evaluation techniques for large databases*, 1993, §4.1: aggregation of sorted rows). It runs in one
//! thread, at a tenth of a hash table's cost.
//!
//! That the table lies in order is guessed from few zones. If batches are not in order, or have too many slices, they go to the hash table after all.

mod exec;
mod ordered_groups;
mod runs;

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::{ExecutionPlan, Partitioning, replace_children_if_necessary};

use exec::{MergedAggregateExec, MergedGroups};

use super::hashed_groups::HashedGroups;
use super::own_rule::OwnRule;
use super::promises::Unpromised;
use crate::scan::VectorAggregateExec;

/// Fewer groups are found fast enough in a hash table.
const GROUPS_MIN: usize = 1 << 16;

/// Puts the operator in the place of final aggregations of which nobody above needs to have the groups distributed by their keys.
pub(super) fn rule() -> OwnRule {
    OwnRule::of_plans("merged_groups", |plan| {
        // The root's partitions are read one after the other.
        let plan = with_merged(&plan)?.unwrap_or(plan);
        let plan = plan.transform_up(|node| {
            Ok(match below_gathering(&node)? {
                Some(merged) => Transformed::yes(merged),
                None => Transformed::no(node),
            })
        })?;
        Ok(plan.data)
    })
    .switched(|options| options.hashed_groups)
}

/// The operator below one that gathers or distributes rows anew, whatever partitions they come in.
fn below_gathering(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let gathers = plan.is::<CoalescePartitionsExec>()
        || plan.is::<RepartitionExec>()
        || plan.is::<SortPreservingMergeExec>();
    if gathers { over_merged(plan) } else { Ok(None) }
}

/// The same operators over this one, in place of those over a final aggregation; nothing if there is none that it can stand for.
fn with_merged(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let aggregate = plan.downcast_ref::<AggregateExec>();
    if let Some(aggregate) = aggregate.filter(|it| *it.mode() != AggregateMode::Partial) {
        return merged(aggregate);
    }
    let takes_any_partitions = aggregate.is_some()
        || plan.is::<FilterExec>()
        || plan.is::<ProjectionExec>()
        || plan.is::<SortExec>()
        || plan.is::<Unpromised>();
    if takes_any_partitions {
        over_merged(plan)
    } else {
        Ok(None)
    }
}

/// An operator over what [`with_merged`] makes of its only input.
fn over_merged(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    match plan.children().as_slice() {
        [input] => {
            let merged = with_merged(input)?;
            let over = |input| replace_children_if_necessary(Arc::clone(plan), vec![input]);
            merged.map(over).transpose()
        }
        _ => Ok(None),
    }
}

/// The operator in place of a final aggregation and of what distributes its input.
fn merged(aggregate: &AggregateExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(repartition) = aggregate.input().downcast_ref::<RepartitionExec>() else {
        return Ok(None);
    };
    let states = repartition.input();
    if *aggregate.mode() != AggregateMode::FinalPartitioned || !is_worth_while(aggregate, states) {
        return Ok(None);
    }
    let gathered = Arc::new(CoalescePartitionsExec::new(Arc::clone(states)));
    let last = AggregateExec::try_new(
        AggregateMode::Final,
        aggregate.group_expr().clone(),
        aggregate.aggr_expr().to_vec(),
        aggregate.filter_expr().to_vec(),
        gathered,
        aggregate.input_schema(),
    )?;
    let is_same = last.schema() == aggregate.schema();
    let Some(groups) = HashedGroups::new(&last).filter(|_| is_same) else {
        return Ok(None);
    };
    let merged = MergedAggregateExec::new(MergedGroups { groups });
    // What is above goes on in as many threads as before.
    let partitions = Partitioning::RoundRobinBatch(repartition.partitioning().partition_count());
    let distributed = RepartitionExec::try_new(Arc::new(merged), partitions)?;
    Ok(Some(Arc::new(distributed)))
}

/// Whether states seem to be in the order of the key, and groups are many.
fn is_worth_while(aggregate: &AggregateExec, states: &Arc<dyn ExecutionPlan>) -> bool {
    let has_integer_key = aggregate.group_expr().is_single()
        && aggregate.group_expr().expr().len() == 1
        && aggregate.limit_options().is_none()
        && matches!(
            states.schema().field(0).data_type(),
            DataType::Int16 | DataType::Int32 | DataType::Int64
        );
    let vectors = states.downcast_ref::<VectorAggregateExec>();
    let Some(vectors) = vectors.filter(|_| has_integer_key) else {
        return false;
    };
    let statistics = StatisticsContext::new().compute(states.as_ref(), &StatisticsArgs::new());
    let groups = statistics
        .ok()
        .and_then(|known| known.num_rows.get_value().copied());
    groups.is_some_and(|groups| groups >= GROUPS_MIN) && vectors.stand_in.seems_in_order()
}
