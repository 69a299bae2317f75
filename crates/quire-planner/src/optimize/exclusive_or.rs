//! `k # k` is NULL where `k` is.
//!
//! DataFusion's simplifier strikes out pairs of equal operands of `#`, and asks of none whether it is NULL. Here an expression in
//! which an operand stands twice is asked for only where that operand is not NULL. So is one whose operands may become equal when they
//! are simplified.

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::logical_expr::{BinaryExpr, Expr, LogicalPlan, Operator, when};
use datafusion::optimizer::AnalyzerRule;

use super::own_names::keeping_names;

/// The rule.
#[derive(Debug)]
pub(super) struct ExclusiveOr;

impl AnalyzerRule for ExclusiveOr {
    fn name(&self) -> &str {
        "exclusive_or"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        let plan = plan.transform_up_with_subqueries(|node| keeping_names(node, &guard))?;
        Ok(plan.data)
    }
}

/// Puts the condition around an operator one of whose operands stands on both sides.
pub(super) fn guard(expr: Expr) -> Result<Transformed<Expr>> {
    let Expr::BinaryExpr(BinaryExpr {
        left,
        op: Operator::BitwiseXor,
        right,
    }) = &expr
    else {
        return Ok(Transformed::no(expr));
    };
    let others = operands(right);
    let both = operands(left).into_iter();
    let is_struck = |operand: &&Expr| {
        let mut pairs = others.iter();
        pairs.any(|other| operand == other || !is_column(operand) || !is_column(other))
    };
    let both = both.filter(|operand| is_struck(operand) && !operand.is_volatile());
    let known = both.map(|operand| operand.clone().is_not_null());
    match known.reduce(Expr::and) {
        Some(known) => Ok(Transformed::yes(when(known, expr).end()?)),
        None => Ok(Transformed::no(expr)),
    }
}

/// Nothing else is left of it when it is simplified.
fn is_column(expr: &Expr) -> bool {
    matches!(expr, Expr::Column(_) | Expr::OuterReferenceColumn(..))
}

/// The operands of a chain, through conditions that were put around its parts.
fn operands(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::BinaryExpr(BinaryExpr {
            left,
            op: Operator::BitwiseXor,
            right,
        }) => [operands(left), operands(right)].concat(),
        Expr::Literal(..) => Vec::new(),
        other => vec![other],
    }
}
