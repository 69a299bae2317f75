//! Repartitions that may spill have one input partition.
//!
//! DataFusion's repartition keeps spilled batches of an output in files that several threads write. A thread that finds the file of another one in use
//! opens a second one, and the reader waits for more of the first, although what it waits for is in the second. Meanwhile the writers wait for the
//! reader to take what is in memory, and nobody goes on. With one writer there is one file at a time.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ExecutionPlan, replace_children_if_necessary};

use super::holding::Holding;

/// A repartition of one partition in place of one of several, where memory is known to be short.
pub(super) fn single_writer(
    plan: &Arc<dyn ExecutionPlan>,
    holding: Holding,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(repartition) = plan.downcast_ref::<RepartitionExec>() else {
        return Ok(None);
    };
    let input = repartition.input();
    let is_shared = input.properties().partitioning.partition_count() > 1;
    // Where order is kept each input has files of its own.
    if matches!(holding, Holding::Within(_)) || !is_shared || repartition.preserve_order() {
        return Ok(None);
    }
    let whole = Arc::new(CoalescePartitionsExec::new(Arc::clone(input)));
    replace_children_if_necessary(Arc::clone(plan), vec![whole]).map(Some)
}
