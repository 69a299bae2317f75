//! `IS [NOT] TRUE`, `FALSE` and `UNKNOWN` as the comparisons that DataFusion's physical planner makes of them.
//!
//! It takes `x IS TRUE` for `x IS NOT DISTINCT FROM true`, which it thinks may be NULL, while the logical plan knows that
//! `x IS TRUE` is not. An aggregate above compares both schemas and gives up. So the comparison is written before physical planning.

use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, lit};

/// The comparison that a test is.
pub(super) fn comparison(test: Expr) -> Transformed<Expr> {
    let (operand, operator, value) = match test {
        Expr::IsTrue(operand) => (operand, Operator::IsNotDistinctFrom, true),
        Expr::IsNotTrue(operand) => (operand, Operator::IsDistinctFrom, true),
        Expr::IsFalse(operand) => (operand, Operator::IsNotDistinctFrom, false),
        Expr::IsNotFalse(operand) => (operand, Operator::IsDistinctFrom, false),
        Expr::IsUnknown(operand) => return Transformed::yes(Expr::IsNull(operand)),
        Expr::IsNotUnknown(operand) => return Transformed::yes(Expr::IsNotNull(operand)),
        other => return Transformed::no(other),
    };
    let comparison = BinaryExpr::new(operand, operator, Box::new(lit(value)));
    Transformed::yes(Expr::BinaryExpr(comparison))
}
