//! `IS [NOT] TRUE`, `FALSE` and `UNKNOWN` as the comparisons that DataFusion's physical planner makes of them.
//!
//! It takes `x IS TRUE` for `x IS NOT DISTINCT FROM true`, which it thinks may be NULL, while the logical plan knows that
//! `x IS TRUE` is not. An aggregate above compares both schemas and gives up. So the comparison is written before physical planning.
//! In the same walk: [`nullable_cases`] and [`computed_lists`].

use datafusion::common::Result;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Operator, lit};

use super::computed_lists;
use super::nullable_cases;
use super::own_names::keeping_names;
use super::union_names::nullable_as_branches;

/// The plan without such tests.
pub(super) fn spelled_out(plan: LogicalPlan) -> Result<LogicalPlan> {
    let plan = plan.transform_up_with_subqueries(|node| {
        let schema = merge_schema(&node.inputs());
        let node = keeping_names(node, &|part| match part {
            Expr::Case(case) => nullable_cases::settle(case, &schema),
            Expr::InList(list) => Ok(computed_lists::looked_at_by_row(list)),
            part => Ok(comparison(part)),
        })?;
        // Also where an input has changed.
        node.map_data(|node| match node {
            LogicalPlan::Union(union) => Ok(nullable_as_branches(union)?.data),
            node => node.recompute_schema(),
        })
    })?;
    Ok(plan.data)
}

fn comparison(test: Expr) -> Transformed<Expr> {
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
