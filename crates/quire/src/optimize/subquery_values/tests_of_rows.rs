//! `EXISTS` and `IN` as values.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, ExprSchema, Result, ScalarValue};
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::{
    Expr, FetchType, LogicalPlan, LogicalPlanBuilder, SkipType, lit, when,
};

use super::{aggregated, first_column};

/// `EXISTS (SELECT …)` → `(SELECT count(*) …) > 0`
pub(super) fn exists(exists: &Exists) -> Result<Expr> {
    let plan = exists.subquery.subquery.as_ref().clone();
    let found = match exists.subquery.outer_ref_columns.is_empty() {
        true => rows_of(LogicalPlanBuilder::from(plan).limit(0, Some(1))?.build()?)?,
        false => rows_of(any_rows(plan)?)?,
    };
    Ok(match exists.negated {
        true => found.eq(lit(0_i64)),
        false => found.gt(lit(0_i64)),
    })
}

/// The plan without what changes neither whether there is a row nor which the columns are.
fn any_rows(plan: LogicalPlan) -> Result<LogicalPlan> {
    match plan {
        LogicalPlan::Sort(sort) if sort.fetch.is_none() => {
            any_rows(Arc::unwrap_or_clone(sort.input))
        }
        LogicalPlan::Limit(limit) => {
            let takes_first = matches!(limit.get_skip_type()?, SkipType::Literal(0))
                && matches!(limit.get_fetch_type()?, FetchType::Literal(Some(1..)));
            match takes_first {
                true => any_rows(Arc::unwrap_or_clone(limit.input)),
                false => Ok(LogicalPlan::Limit(limit)),
            }
        }
        plan => Ok(plan),
    }
}

fn rows_of(plan: LogicalPlan) -> Result<Expr> {
    let counted = aggregated(plan, vec![count(lit(1_i64))], |mut columns| {
        Ok(columns.swap_remove(0))
    })?;
    Ok(Expr::ScalarSubquery(counted))
}

/// `x IN (SELECT y …)` is true if there is a row with `y = x`; else NULL if there is one with NULL, or `x` is NULL and there is any
/// row; else false.
pub(super) fn membership(found: InSubquery, schema: &DFSchema) -> Result<Expr> {
    let InSubquery {
        expr,
        subquery,
        negated,
    } = found;
    let plan = subquery.subquery.as_ref().clone();
    if plan.schema().fields().len() != 1 {
        return Ok(Expr::InSubquery(InSubquery::new(expr, subquery, negated)));
    }
    let member = first_column(&plan);
    let looked_for = outer_reference(expr.as_ref().clone(), schema)?;
    let filtered = |condition: Expr| {
        LogicalPlanBuilder::from(plan.clone())
            .filter(condition)?
            .build()
    };
    let is_there = rows_of(filtered(member.clone().eq(looked_for))?)?.gt(lit(0_i64));
    let has_null = rows_of(filtered(member.is_null())?)?.gt(lit(0_i64));
    let has_rows = rows_of(plan.clone())?.gt(lit(0_i64));
    let unknown = Expr::Literal(ScalarValue::Boolean(None), None);
    when(is_there, lit(!negated))
        .when(has_null.or(expr.is_null().and(has_rows)), unknown)
        .otherwise(lit(negated))
}

fn outer_reference(expression: Expr, schema: &DFSchema) -> Result<Expr> {
    let replaced = expression.transform_up(|part| match part {
        Expr::Column(column) => {
            let field = Arc::clone(schema.field_from_column(&column)?);
            Ok(Transformed::yes(Expr::OuterReferenceColumn(field, column)))
        }
        other => Ok(Transformed::no(other)),
    })?;
    Ok(replaced.data)
}
