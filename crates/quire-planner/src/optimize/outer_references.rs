//! Outer references: columns and aggregates of an enclosing query that a subquery reads.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::Expr;
use quire_functions::OuterAggregate;

/// Whether an expression is the placeholder for an aggregate of an enclosing query.
pub(super) fn is_outer_aggregate(part: &Expr) -> bool {
    matches!(part, Expr::ScalarFunction(call) if call.func.inner().is::<OuterAggregate>())
}

/// Turns outer references of a subquery's expression into plain columns, so that the enclosing query can evaluate it.
pub(super) fn without_outer_references(expr: Expr) -> Result<Expr> {
    let local = expr.transform_up(|part| {
        Ok(match part {
            Expr::OuterReferenceColumn(_, column) => Transformed::yes(Expr::Column(column)),
            other => Transformed::no(other),
        })
    })?;
    Ok(local.data)
}
