//! Joins of more rows than memory has room for, by operators that spill.
//!
//! Which side a hash table is built of has been decided before; if it is expected to be too large, the join becomes a hybrid one, which splits
//! both sides if it has to. Where nothing is known, or too little was expected, the statement fails to get memory before its first row, and is
//! planned again with all joins as hybrid ones. Should that fail, too, as it does where more rows than fit have the same key, joins become merges
//! of sorted inputs (`planning::second_try`). Sorting and distribution are added by the rules behind this one.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::TreeNode;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::HashJoinExec;

use super::holding::Holding;
use crate::optimize::hybrid_joins::HybridHashJoinExec;
use crate::optimize::merge_joins::merge_join;
use crate::optimize::row_sizes::RowSizes;
use crate::optimize::shared_subplans::SharedSubplanExec;
use crate::optimize::vector_joins::VectorHashJoinExec;

/// What finds a row in a hash table.
const ENTRY_BYTES: usize = 24;

/// A join that spills in place of a hash join that is too large.
pub(super) fn spilling_join(
    plan: &Arc<dyn ExecutionPlan>,
    holding: Holding,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let join = plan.downcast_ref::<HashJoinExec>();
    let Some(join) = join.filter(|join| can_spill(join) && is_too_large(join, holding)) else {
        return Ok(None);
    };
    match holding.build_side_bytes() {
        Some(bytes) => {
            let hybrid = HybridHashJoinExec::of(join, bytes)?;
            Ok(hybrid.map(|hybrid| Arc::new(hybrid) as _))
        }
        None => merge_join(join).map(Some),
    }
}

fn is_too_large(join: &HashJoinExec, holding: Holding) -> bool {
    if matches!(holding, Holding::Parts(_) | Holding::Nothing) {
        return true;
    }
    let build = RowSizes::of(join.left().as_ref());
    let bytes = build
        .row_count
        .map(|rows| rows.saturating_mul(build.row_bytes + ENTRY_BYTES));
    bytes.is_some_and(|bytes| bytes > holding.operator_bytes())
}

/// Whether other joins mean the same. NOT IN over values that may be NULL is more than a join.
fn can_spill(join: &HashJoinExec) -> bool {
    !join.null_aware && !join.on().is_empty()
}

/// Whether the plan, or a subplan that is computed once, has hash joins that others could stand for.
pub fn has_hash_joins(plan: &Arc<dyn ExecutionPlan>) -> Result<bool> {
    plan.exists(|node| match node.downcast_ref::<SharedSubplanExec>() {
        Some(shared) => has_hash_joins(shared.plan()),
        None => {
            let hash = node.downcast_ref::<HashJoinExec>();
            let vector = node.downcast_ref::<VectorHashJoinExec>();
            let hash = hash.or(vector.map(VectorHashJoinExec::join));
            Ok(hash.is_some_and(can_spill) || node.is::<HybridHashJoinExec>())
        }
    })
}
