//! What a plan says of the number of its rows before it runs.

use datafusion::logical_expr::LogicalPlan;

/// Whether there is a row in any case: aggregates without groups make one of all, `SELECT` without tables has one.
pub(super) fn always_has_a_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        LogicalPlan::EmptyRelation(empty) => empty.produce_one_row,
        LogicalPlan::Projection(node) => always_has_a_row(&node.input),
        LogicalPlan::SubqueryAlias(node) => always_has_a_row(&node.input),
        LogicalPlan::Sort(node) => always_has_a_row(&node.input),
        _ => false,
    }
}

/// Whether there cannot be two rows.
pub(super) fn is_one_row_at_most(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Projection(node) => is_one_row_at_most(&node.input),
        LogicalPlan::Filter(node) => is_one_row_at_most(&node.input),
        LogicalPlan::SubqueryAlias(node) => is_one_row_at_most(&node.input),
        LogicalPlan::Sort(node) => is_one_row_at_most(&node.input),
        plan => always_has_a_row(plan),
    }
}
