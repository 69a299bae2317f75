//! Joins without keys, as hash joins by a key that all rows have.
//!
//! All rows of the build side then have one number, and each row of the probe side meets all of them: nested loops over batches of pairs, with the kinds of
//! joins, filters and marks of joins with keys. A build side that may not fit into memory is DataFusion's, whose nested loops read a part of it at a time.

use std::sync::Arc;

use datafusion::common::{JoinType, NullEquality, Result};
use datafusion::physical_expr::expressions::lit;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::{
    CrossJoinExec, HashJoinExec, NestedLoopJoinExec, PartitionMode,
};

use crate::optimize::row_sizes::RowSizes;

/// Rows of a build side by its estimate.
const BUILD_ROWS_MAX: usize = 1000;
/// Bytes of these, by the estimate. With less memory than this there is no statement.
const BUILD_BYTES_MAX: usize = 4 << 20;

/// The join with a key; nothing for what is no such join, or has a large build side.
pub(super) fn with_common_key(plan: &dyn ExecutionPlan) -> Result<Option<HashJoinExec>> {
    let (left, right, kind, filter, projection) =
        if let Some(join) = plan.downcast_ref::<NestedLoopJoinExec>() {
            let projection = join.projection().as_ref().map(|columns| columns.to_vec());
            let (left, right) = (join.left(), join.right());
            (left, right, *join.join_type(), join.filter(), projection)
        } else if let Some(join) = plan.downcast_ref::<CrossJoinExec>() {
            (join.left(), join.right(), JoinType::Inner, None, None)
        } else {
            return Ok(None);
        };
    let sizes = RowSizes::of(left.as_ref());
    let is_small = sizes
        .row_count
        .is_some_and(|rows| rows <= BUILD_ROWS_MAX && rows * sizes.row_bytes <= BUILD_BYTES_MAX);
    if !is_small {
        return Ok(None);
    }
    let join = HashJoinExec::try_new(
        Arc::clone(left),
        Arc::clone(right),
        vec![(lit(0_i64), lit(0_i64))],
        filter.cloned(),
        &kind,
        projection,
        PartitionMode::CollectLeft,
        NullEquality::NullEqualsNothing,
        false,
    );
    join.map(Some)
}
