//! Subqueries that DataFusion's own rule turns into a cheaper join.

use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Operator};

/// Whether outer columns are read by equalities only, in filters right below the aggregate.
/// Elsewhere DataFusion's rule gives up, or makes a plan that names columns which are not there.
pub(super) fn are_all(subquery: &LogicalPlan) -> Result<bool> {
    let mut plan = subquery;
    loop {
        plan = match plan {
            LogicalPlan::Projection(node) if !reads_outer(&node.expr) => &node.input,
            LogicalPlan::Filter(node) if !reads_outer([&node.predicate]) => &node.input,
            LogicalPlan::Aggregate(node) if !reads_outer(&node.aggr_expr) => {
                return are_in_filters(&node.input);
            }
            _ => return Ok(false),
        };
    }
}

fn are_in_filters(mut plan: &LogicalPlan) -> Result<bool> {
    while let LogicalPlan::Filter(filter) = plan {
        let mut conditions = split_conjunction(&filter.predicate).into_iter();
        if !conditions.all(|condition| !reads_outer([condition]) || is_equality(condition)) {
            return Ok(false);
        }
        plan = &filter.input;
    }
    let mut is_below = false;
    plan.apply_with_subqueries(|node| {
        node.apply_expressions(|expression| {
            is_below |= reads_outer([expression]);
            Ok(TreeNodeRecursion::Continue)
        })
    })?;
    Ok(!is_below)
}

/// `inner = outer`, either way around.
fn is_equality(condition: &Expr) -> bool {
    let is_outer = |side: &Expr| matches!(side, Expr::OuterReferenceColumn(..));
    match condition {
        Expr::BinaryExpr(BinaryExpr {
            left,
            op: Operator::Eq,
            right,
        }) => {
            is_outer(left) && !reads_outer([right.as_ref()])
                || is_outer(right) && !reads_outer([left.as_ref()])
        }
        _ => false,
    }
}

fn reads_outer<'e>(expressions: impl IntoIterator<Item = &'e Expr>) -> bool {
    let mut expressions = expressions.into_iter();
    expressions.any(Expr::contains_outer)
}
