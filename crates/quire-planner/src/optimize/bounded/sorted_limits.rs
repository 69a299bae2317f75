//! The first rows by some order, when these are many: sorted and cut off.
//!
//! DataFusion keeps the first `n` rows in a heap, which it cannot spill and which costs more than sorting as soon as `n` is large. `OFFSET`
//! counts among these rows.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::sorts::sort::SortExec;

use super::holding::Holding;
use super::row_sizes::RowSizes;

/// From how many rows on sorting all costs less.
const HEAP_ROWS_MAX: usize = 100_000;

/// Replaces heaps that are too large.
#[derive(Debug)]
pub(super) struct SortedLimits(pub(super) Holding);

impl PhysicalOptimizerRule for SortedLimits {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = plan.transform_up(|node| {
            Ok(match self.sorted(&node) {
                Some(sorted) => Transformed::yes(sorted),
                None => Transformed::no(node),
            })
        })?;
        Ok(plan.data)
    }

    fn name(&self) -> &'static str {
        "sorted_limits"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

impl SortedLimits {
    /// A sort of all rows and a limit, in place of a heap that is too large.
    fn sorted(&self, node: &Arc<dyn ExecutionPlan>) -> Option<Arc<dyn ExecutionPlan>> {
        let heap = node.downcast_ref::<SortExec>()?;
        let wanted = heap.fetch()?;
        if wanted <= self.rows_max(heap) {
            return None;
        }
        let sort: Arc<dyn ExecutionPlan> = Arc::new(heap.with_fetch(None));
        Some(if heap.preserve_partitioning() {
            Arc::new(LocalLimitExec::new(sort, wanted))
        } else {
            Arc::new(GlobalLimitExec::new(sort, 0, Some(wanted)))
        })
    }

    fn rows_max(&self, heap: &SortExec) -> usize {
        let row_bytes = RowSizes::of(heap.input().as_ref()).row_bytes;
        // A row of the heap has its sort key beside it.
        let fitting = self.0.operator_bytes() / (2 * row_bytes).max(1);
        HEAP_ROWS_MAX.min(fitting)
    }
}
