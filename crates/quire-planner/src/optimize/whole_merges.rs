//! Merges of partitions by the whole order that these have.
//!
//! `SELECT * FROM (SELECT a, b FROM t ORDER BY a LIMIT 10) x ORDER BY a, b`: DataFusion moves the outer sort down into the sort of each
//! partition, and leaves the merge above them to compare `a` alone. The merge promises all that is known of one partition, `a, b`, which is
//! then not so.

use std::sync::Arc;

use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};

/// The merge by the order of its input, if that says more than the merge compares.
pub(super) fn whole_merge(plan: &Arc<dyn ExecutionPlan>) -> Option<Arc<dyn ExecutionPlan>> {
    let merge = plan.downcast_ref::<SortPreservingMergeExec>()?;
    let order = merge.input().output_ordering()?;
    let says_more = order.len() > merge.expr().len() && order.starts_with(merge.expr());
    let input = Arc::clone(merge.input());
    says_more.then(|| {
        let whole = SortPreservingMergeExec::new(order.clone(), input);
        Arc::new(whole.with_fetch(merge.fetch())) as _
    })
}
