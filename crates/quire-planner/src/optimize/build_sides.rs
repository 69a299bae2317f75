//! Hash joins build their table from the side that is expected to be smaller.
//!
//! DataFusion compares the bytes that the statistics of both sides say, and those of a join's result are far from what it makes: TPC-DS's Q37 built a table of
//! 1.4 million keys to look 14 rows up in it. Rows and the widths of their types are compared here, and a side is exchanged only where the other one is
//! clearly smaller.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::HashJoinExec;

use crate::optimize::row_sizes::RowSizes;

/// How many times as large the build side must be for the sides to be exchanged: estimates are as wrong as that.
const TIMES_LARGER: usize = 2;

/// The join with its smaller side as the build side, if that is the other one. Before anything is placed below joins for them.
pub(super) fn smaller_build_side(
    plan: &Arc<dyn ExecutionPlan>,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(join) = plan.downcast_ref::<HashJoinExec>() else {
        return Ok(None);
    };
    if !join.join_type().supports_swap() || join.null_aware {
        return Ok(None);
    }
    let bytes_of = |side: &Arc<dyn ExecutionPlan>| RowSizes::of(&**side).bytes_by_types();
    let (Some(build_bytes), Some(probe_bytes)) = (bytes_of(join.left()), bytes_of(join.right()))
    else {
        return Ok(None);
    };
    if build_bytes / TIMES_LARGER <= probe_bytes {
        return Ok(None);
    }
    join.swap_inputs(*join.partition_mode()).map(Some)
}
