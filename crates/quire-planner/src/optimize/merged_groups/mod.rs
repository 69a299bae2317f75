//! Final aggregation by merging, for a `GROUP BY` key that the table is clustered by.
//!
//! A partial aggregation over a window of key values emits its groups in key order, one batch after another. If the table is clustered by the key, almost every group
//! is complete in one batch, and the key ranges of the batches of all threads hardly overlap. A hash table would then look up millions of groups that have one partial state each. This
//! operator buffers the batches, merges them by key range, and combines adjacent states with equal keys (G. Graefe, *Query evaluation techniques for large databases*, 1993,
//! §4.1, aggregation of sorted input). It runs in one thread.
//!
//! Clustering is estimated from a few zones, so it is only a hint. If a batch is not sorted, the merge would need too many slices, or memory runs out, all states go to the hash
//! aggregation instead.

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

/// With fewer groups, hash aggregation is fast enough.
const GROUPS_MIN: usize = 1 << 16;

/// Replaces final aggregations whose output does not have to be hash-partitioned by the key.
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

/// Applies [`with_merged`] below an operator that merges or repartitions its input, and so ignores how it is partitioned.
fn below_gathering(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let gathers = plan.is::<CoalescePartitionsExec>()
        || plan.is::<RepartitionExec>()
        || plan.is::<SortPreservingMergeExec>();
    if gathers { over_merged(plan) } else { Ok(None) }
}

/// Replaces the final aggregation below operators that pass any partitioning through; `None` if there is none to replace.
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

/// Replaces a final aggregation and the repartitioning of its input.
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
    // The operators above keep their parallelism.
    let partitions = Partitioning::RoundRobinBatch(repartition.partitioning().partition_count());
    let distributed = RepartitionExec::try_new(Arc::new(merged), partitions)?;
    Ok(Some(Arc::new(distributed)))
}

/// Whether the input appears to be sorted by the key, and there are many groups.
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
