//! What sorts read in plans with merge joins: batches of their own.
//!
//! A sort counts all buffers that a batch refers to, for each batch: those of a whole row group above a scan, those of all batches that
//! were sorted above a merge, and those of all groups above an aggregation. It then finds no memory for a single batch, though its rows are
//! few. Merge joins run where memory is scarce and several sorts share it, so that sorts beside them read copies.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_plan::joins::SortMergeJoinExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{ExecutionPlan, replace_children_if_necessary};

use super::own_batches::own_batches;

/// The plan with [`OwnBatches`](super::OwnBatches) below its sorts, if it has merge joins.
pub(super) fn copied_sort_inputs(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    if !plan.exists(|node| Ok(node.is::<SortMergeJoinExec>()))? {
        return Ok(plan);
    }
    let plan = plan.transform_up(|node| match node.downcast_ref::<SortExec>() {
        Some(sort) => {
            let rows = Arc::clone(sort.input());
            let schema = rows.schema();
            let copied = own_batches(rows, schema, false)?;
            let sort = replace_children_if_necessary(node, vec![copied])?;
            Ok(Transformed::yes(sort))
        }
        None => Ok(Transformed::no(node)),
    })?;
    Ok(plan.data)
}
