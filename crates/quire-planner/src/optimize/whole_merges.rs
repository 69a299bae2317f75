//! Merges of partitions by the whole order that these have.
//!
//! `SELECT * FROM (SELECT a, b FROM t ORDER BY a LIMIT 10) x ORDER BY a, b`: DataFusion moves the outer sort down into the sort of each
//! partition, and leaves the merge above them to compare `a` alone. The merge promises all that is known of one partition, `a, b`, which is
//! then not so.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};

/// The rule. It comes behind the one that moves sorts.
#[derive(Debug)]
pub(super) struct WholeMerges;

impl PhysicalOptimizerRule for WholeMerges {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = plan.transform_up(|node| {
            let merge = node.downcast_ref::<SortPreservingMergeExec>();
            Ok(match merge.and_then(whole_merge) {
                Some(whole) => Transformed::yes(Arc::new(whole) as _),
                None => Transformed::no(node),
            })
        })?;
        Ok(plan.data)
    }

    fn name(&self) -> &'static str {
        "whole_merges"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The merge by the order of its input, if that says more than the merge compares.
fn whole_merge(merge: &SortPreservingMergeExec) -> Option<SortPreservingMergeExec> {
    let order = merge.input().output_ordering()?;
    let says_more = order.len() > merge.expr().len() && order.starts_with(merge.expr());
    let input = Arc::clone(merge.input());
    says_more.then(|| SortPreservingMergeExec::new(order.clone(), input).with_fetch(merge.fetch()))
}
