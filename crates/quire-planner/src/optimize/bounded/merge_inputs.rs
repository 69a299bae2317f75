//! What merge joins sort: batches of their own.
//!
//! A sort counts all buffers that a batch refers to, for each batch: those of a whole row group above a scan, and those of all batches that
//! were sorted above a merge. It then finds no memory for a single batch, though its rows are few. Merges run where memory is scarce, so
//! that their sorts read copies.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::joins::SortMergeJoinExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{ExecutionPlan, replace_children_if_necessary};

use super::copied_rows::CopiedRows;

/// Puts [`CopiedRows`] below the sorts of merge joins.
#[derive(Debug)]
pub(super) struct MergeInputs;

impl PhysicalOptimizerRule for MergeInputs {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = plan.transform_up(|node| {
            if !node.is::<SortMergeJoinExec>() {
                return Ok(Transformed::no(node));
            }
            let inputs = node.children().into_iter().map(copying_sort);
            let inputs = inputs.collect::<Result<_>>()?;
            Ok(Transformed::yes(replace_children_if_necessary(
                node, inputs,
            )?))
        })?;
        Ok(plan.data)
    }

    fn name(&self) -> &'static str {
        "merge_inputs"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The sort with copies as its input; another input of a merge as it is, which holds no rows.
fn copying_sort(input: &Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let input = Arc::clone(input);
    if !input.is::<SortExec>() {
        return Ok(input);
    }
    let sorted = input.children().into_iter().map(|rows| {
        let copied = CopiedRows::new(Arc::clone(rows), rows.schema(), false)?;
        Ok(Arc::new(copied) as Arc<dyn ExecutionPlan>)
    });
    let sorted = sorted.collect::<Result<_>>()?;
    replace_children_if_necessary(input, sorted)
}
