//! Joins that forget which columns of their right side are constant.
//!
//! DataFusion's joins promise of their output what is constant on the left side, and lose it of the right one. A sort by such a column is put
//! below the join, where it is found to be needless and left out; above the join nobody knows the order any more, and the plan is refused: so
//! are plans of such a sort itself, when the sides of the join have been swapped. And
//! when the sides of a join are swapped, a column becomes constant that a window above has been planned to sort by.

use std::sync::Arc;

use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};

use super::physical_joins::PhysicalJoin;

/// Of which inputs an operator needs or makes an order that may be asked of a join's side with constants.
pub(super) fn sorted_by_lost(node: &Arc<dyn ExecutionPlan>) -> Vec<bool> {
    let is_sort = node.is::<SortExec>();
    let orders = node.required_input_ordering();
    let inputs = node.children().into_iter().zip(orders);
    inputs
        .map(|(input, order)| (is_sort || order.is_some()) && has_lost(input))
        .collect()
}

/// Whether there is such a join among the operators that pass on the order of their inputs, or what is constant of them. The sides of a
/// join may still be swapped, and which of them has its order kept.
fn has_lost(node: &Arc<dyn ExecutionPlan>) -> bool {
    if is_join_with_constants(node) {
        return true;
    }
    let passes_constants = is_join(node) || node.is::<AggregateExec>();
    let inputs = node
        .children()
        .into_iter()
        .zip(node.maintains_input_order());
    let mut sorted = inputs.filter(|(_, keeps_order)| passes_constants || *keeps_order);
    sorted.any(|(input, _)| has_lost(input))
}

fn is_join(node: &Arc<dyn ExecutionPlan>) -> bool {
    PhysicalJoin::of(node.as_ref()).is_some()
}

fn is_join_with_constants(node: &Arc<dyn ExecutionPlan>) -> bool {
    is_join(node)
        && node.children().into_iter().any(|side| {
            let constants = side.equivalence_properties().constants();
            !constants.is_empty()
        })
}
