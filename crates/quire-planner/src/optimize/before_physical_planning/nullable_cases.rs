//! `CASE` that is never NULL for the logical plan, and may be NULL for the physical one.
//!
//! In `CASE WHEN 1 BETWEEN a AND b THEN a ELSE 1 END` the first result is none where `a` is NULL: the condition is not true then. The logical
//! plan finds that out by three-valued logic, the physical one only where nothing but `a` is in the condition. An aggregate above compares both
//! schemas and gives up. Here the condition is written so that the logical plan sees no further. Runs before physical planning.

use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::execution::context::ExecutionProps;
use datafusion::logical_expr::physical_planning_context::PhysicalPlanningContext;
use datafusion::logical_expr::{BinaryExpr, Case, Expr, ExprSchemable, Operator, lit};
use datafusion::physical_expr::create_physical_expr;

/// The same values, which may be NULL for both plans or for neither.
pub(super) fn settle(case: Case, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let has_open_results = case.expr.is_none() && {
        let mut results = case.when_then_expr.iter().map(|(_, result)| result);
        results.any(|result| result.nullable(schema).unwrap_or(true))
    };
    let expr = Expr::Case(case.clone());
    // What reads a table has no columns here, and makes none.
    let is_nullable = expr.nullable(schema).unwrap_or(true);
    if !has_open_results || is_nullable || !is_nullable_when_planned(&expr, schema) {
        return Ok(Transformed::no(expr));
    }
    let mut case = case;
    for (condition, _) in &mut case.when_then_expr {
        let tested = std::mem::replace(condition.as_mut(), lit(true));
        let is_true = BinaryExpr::new(
            Box::new(tested),
            Operator::IsNotDistinctFrom,
            Box::new(lit(true)),
        );
        **condition = Expr::BinaryExpr(is_true);
    }
    Ok(Transformed::yes(Expr::Case(case)))
}

/// What cannot be planned here may be NULL.
fn is_nullable_when_planned(expr: &Expr, schema: &DFSchema) -> bool {
    let context = PhysicalPlanningContext::default();
    let planned = create_physical_expr(expr, schema, &ExecutionProps::new(), &context);
    let nullable = planned.and_then(|planned| planned.nullable(schema.as_arrow()));
    nullable.unwrap_or(true)
}
