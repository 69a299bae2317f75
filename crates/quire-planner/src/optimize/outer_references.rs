//! What an expression of a subquery reads of the query around it.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::Expr;
use quire_functions::OuterAggregate;

/// Whether an expression stands for an aggregate of a query around.
pub(super) fn is_outer_aggregate(part: &Expr) -> bool {
    matches!(part, Expr::ScalarFunction(call) if call.func.inner().is::<OuterAggregate>())
}

/// An expression of a subquery as the query around it would have it.
pub(super) fn of_rows(expr: Expr) -> Result<Expr> {
    let own = expr.transform_up(|part| {
        Ok(match part {
            Expr::OuterReferenceColumn(_, column) => Transformed::yes(Expr::Column(column)),
            other => Transformed::no(other),
        })
    })?;
    Ok(own.data)
}
