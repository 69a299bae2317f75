//! The first rows by some order, when these are many: sorted and cut off.
//!
//! DataFusion keeps the first `n` rows in a heap, which it cannot spill and which costs more than sorting as soon as `n` is large. `OFFSET`
//! counts among these rows.

use std::sync::Arc;

use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::sorts::sort::SortExec;

use super::holding::Holding;
use super::row_sizes::RowSizes;

/// From how many rows on sorting all costs less.
const HEAP_ROWS_MAX: usize = 100_000;

/// A sort of all rows and a limit, in place of a heap that is too large.
pub(super) fn sorted_limit(
    plan: &Arc<dyn ExecutionPlan>,
    holding: Holding,
) -> Option<Arc<dyn ExecutionPlan>> {
    let heap = plan.downcast_ref::<SortExec>()?;
    let wanted = heap.fetch()?;
    if wanted <= rows_max(heap, holding) {
        return None;
    }
    let sort: Arc<dyn ExecutionPlan> = Arc::new(heap.with_fetch(None));
    Some(if heap.preserve_partitioning() {
        Arc::new(LocalLimitExec::new(sort, wanted))
    } else {
        Arc::new(GlobalLimitExec::new(sort, 0, Some(wanted)))
    })
}

fn rows_max(heap: &SortExec, holding: Holding) -> usize {
    let row_bytes = RowSizes::of(heap.input().as_ref()).row_bytes;
    // A row of the heap has its sort key beside it.
    let fitting = holding.operator_bytes() / (2 * row_bytes).max(1);
    HEAP_ROWS_MAX.min(fitting)
}
