//! The first rows by some order, when these are many: sorted and cut off.
//!
//! DataFusion keeps the first `n` rows in a heap, which it cannot spill and which costs more than sorting as soon as `n` is large. `OFFSET`
//! counts among these rows.

use std::sync::Arc;

use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::sorts::sort::SortExec;

use super::holding::Holding;
use crate::optimize::row_sizes::RowSizes;

/// From how many rows on sorting all costs less.
const HEAP_ROWS_MAX: usize = 100_000;
/// Heaps of this size are kept however little memory there is: a sort of all rows takes more.
const SMALL_HEAP_BYTES: usize = 1 << 20;

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
    let heap_bytes = holding.operator_bytes().max(SMALL_HEAP_BYTES);
    let fitting = heap_bytes / (2 * row_bytes).max(1);
    HEAP_ROWS_MAX.min(fitting)
}
