//! Subqueries in expressions, in the forms that DataFusion can plan.
//!
//! 1. A scalar subquery that reads the row around it must be an aggregate there; [`single`] makes one of every other.
//! 2. `EXISTS`, `IN`, and comparisons with `ANY` and `ALL` can stand in conditions only, and there `NOT IN` beside `OR` takes
//!    NULL for a difference; [`tests_of_rows`] and [`quantified`] make scalar subqueries of them.
//! 3. `ORDER BY` and `VALUES` take no subquery: the first gets a column that has its values, the second becomes `SELECT`s.
//!
//! Runs before types are settled.

mod quantified;
mod single;
mod tests_of_rows;

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, Result, internal_err};
use datafusion::logical_expr::expr::{InSubquery, SetComparison, SetQuantifier};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{
    BinaryExpr, Expr, Filter, LogicalPlan, LogicalPlanBuilder, Operator, Sort, Subquery, Values,
    cast,
};
use datafusion::optimizer::AnalyzerRule;

/// The rule.
#[derive(Debug)]
pub(super) struct SubqueryValues;

impl AnalyzerRule for SubqueryValues {
    fn name(&self) -> &str {
        "subquery_values"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        Ok(plan.transform_up_with_subqueries(replace_in_node)?.data)
    }
}

fn replace_in_node(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    if !has_subqueries(&plan)? {
        return Ok(Transformed::no(plan));
    }
    match plan {
        LogicalPlan::Filter(filter) => {
            let schema = filter.input.schema();
            let predicate = condition(filter.predicate, schema)?;
            let filter = Filter::try_new(predicate, filter.input)?;
            Ok(Transformed::yes(LogicalPlan::Filter(filter)))
        }
        LogicalPlan::Projection(_) | LogicalPlan::Aggregate(_) => in_values(plan),
        LogicalPlan::Sort(sort) => in_order(sort).map(Transformed::yes),
        LogicalPlan::Values(values) => as_selects(values).map(Transformed::yes),
        plan => Ok(Transformed::no(plan)),
    }
}

fn has_subqueries(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply_expressions(|expression| {
        found |= expression.exists(|part| {
            Ok(matches!(
                part,
                Expr::ScalarSubquery(_)
                    | Expr::Exists(_)
                    | Expr::InSubquery(_)
                    | Expr::SetComparison(_)
            ))
        })?;
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

fn in_values(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let schema = merge_schema(&plan.inputs());
    let names = NamePreserver::new_for_projection();
    plan.map_expressions(|expression| {
        let name = names.save(&expression);
        Ok(Transformed::yes(name.restore(value(expression, &schema)?)))
    })?
    .map_data(LogicalPlan::recompute_schema)
}

/// `ORDER BY (SELECT …)` → `ORDER BY` a column that is dropped above.
fn in_order(sort: Sort) -> Result<LogicalPlan> {
    let schema = Arc::clone(sort.input.schema());
    let columns = || schema.columns().into_iter().map(Expr::Column);
    let mut computed: Vec<Expr> = columns().collect();
    let mut order = sort.expr;
    for (position, key) in order.iter_mut().enumerate() {
        let name = format!("__order_{position}");
        let key_value = value(std::mem::take(&mut key.expr), &schema)?;
        computed.push(key_value.alias(&name));
        key.expr = Expr::Column(Column::new_unqualified(name));
    }
    LogicalPlanBuilder::from(Arc::unwrap_or_clone(sort.input))
        .project(computed)?
        .sort_with_limit(order, sort.fetch)?
        .project(columns())?
        .build()
}

/// `VALUES ((SELECT …), 1)` → `SELECT (SELECT …), 1`, one for each row.
fn as_selects(values: Values) -> Result<LogicalPlan> {
    let fields = values.schema.fields().clone();
    let rows = values.values.into_iter().map(|row| {
        let columns = row.into_iter().zip(&fields).map(|(expression, field)| {
            let expression = value(expression, &DFSchema::empty())?;
            Ok(cast(expression, field.data_type().clone()).alias(field.name()))
        });
        let columns = columns.collect::<Result<Vec<Expr>>>()?;
        LogicalPlanBuilder::empty(true).project(columns)
    });
    let mut rows = rows.collect::<Result<Vec<_>>>()?.into_iter();
    let Some(first) = rows.next() else {
        return internal_err!("VALUES without rows");
    };
    rows.try_fold(first, |above, row| above.union(row.build()?))?
        .build()
}

/// A condition whose rows are those for which it is true. What DataFusion makes a join of stays.
fn condition(expression: Expr, schema: &DFSchema) -> Result<Expr> {
    match expression {
        Expr::BinaryExpr(BinaryExpr {
            left,
            op: op @ (Operator::And | Operator::Or),
            right,
        }) => {
            let (left, right) = match op {
                Operator::And => (condition(*left, schema)?, condition(*right, schema)?),
                _ => (alternative(*left, schema)?, alternative(*right, schema)?),
            };
            Ok(Expr::BinaryExpr(BinaryExpr::new(
                Box::new(left),
                op,
                Box::new(right),
            )))
        }
        Expr::Not(inner) => match as_membership(*inner) {
            Ok(InSubquery {
                expr,
                subquery,
                negated,
            }) => membership_stays(expr, subquery, !negated, schema),
            Err(inner @ Expr::Exists(_)) => Ok(Expr::Not(Box::new(inner))),
            Err(inner) => value(Expr::Not(Box::new(inner)), schema),
        },
        Expr::Exists(_) => Ok(expression),
        other => match as_membership(other) {
            Ok(found) => membership_stays(found.expr, found.subquery, found.negated, schema),
            Err(other) => value(other, schema),
        },
    }
}

/// One side of an `OR`: only what cannot be NULL, or for which NULL is as good as false, may stay.
fn alternative(expression: Expr, schema: &DFSchema) -> Result<Expr> {
    match &expression {
        Expr::Exists(_) | Expr::InSubquery(InSubquery { negated: false, .. }) => Ok(expression),
        Expr::BinaryExpr(BinaryExpr {
            op: Operator::And | Operator::Or,
            ..
        }) => {
            let Expr::BinaryExpr(BinaryExpr { left, op, right }) = expression else {
                return Ok(expression);
            };
            Ok(Expr::BinaryExpr(BinaryExpr::new(
                Box::new(alternative(*left, schema)?),
                op,
                Box::new(alternative(*right, schema)?),
            )))
        }
        _ => value(expression, schema),
    }
}

/// `IN`, or what is the same: `= ANY`, and `<> ALL` for `NOT IN`.
fn as_membership(expression: Expr) -> std::result::Result<InSubquery, Expr> {
    match expression {
        Expr::InSubquery(found) => Ok(found),
        Expr::SetComparison(SetComparison {
            expr,
            subquery,
            op: op @ (Operator::Eq | Operator::NotEq),
            quantifier,
        }) if (op == Operator::Eq) == (quantifier == SetQuantifier::Any) => Ok(InSubquery {
            expr,
            subquery,
            negated: op == Operator::NotEq,
        }),
        other => Err(other),
    }
}

/// A join finds the members. That of `NOT IN` with a subquery that reads the row around it would not see NULLs.
fn membership_stays(
    expr: Box<Expr>,
    subquery: Subquery,
    negated: bool,
    schema: &DFSchema,
) -> Result<Expr> {
    let found = Expr::InSubquery(InSubquery {
        expr,
        subquery,
        negated,
    });
    match &found {
        Expr::InSubquery(InSubquery { subquery, .. })
            if negated && !subquery.outer_ref_columns.is_empty() =>
        {
            value(found, schema)
        }
        _ => Ok(found),
    }
}

/// `expression` with a scalar subquery of one row in place of every other kind.
fn value(expression: Expr, schema: &DFSchema) -> Result<Expr> {
    let replaced = expression.transform_up(|part| match part {
        Expr::ScalarSubquery(subquery) => single::value(subquery).map(Transformed::yes),
        Expr::Exists(exists) => tests_of_rows::exists(&exists).map(Transformed::yes),
        other => match as_membership(other) {
            Ok(found) => tests_of_rows::membership(found, schema).map(Transformed::yes),
            Err(Expr::SetComparison(found)) => quantified::comparison(found).map(Transformed::yes),
            Err(other) => Ok(Transformed::no(other)),
        },
    })?;
    Ok(replaced.data)
}

/// A subquery of one row with one value, computed from aggregates of the rows of `plan`.
fn aggregated(
    plan: LogicalPlan,
    aggregates: Vec<Expr>,
    compute: impl FnOnce(Vec<Expr>) -> Result<Expr>,
) -> Result<Subquery> {
    let builder = LogicalPlanBuilder::from(plan).aggregate(Vec::<Expr>::new(), aggregates)?;
    let columns = builder.schema().columns().into_iter().map(Expr::Column);
    let computed = compute(columns.collect())?;
    let plan = builder.project([computed])?.build()?;
    Ok(Subquery {
        outer_ref_columns: plan.all_out_ref_exprs(),
        subquery: Arc::new(plan),
        spans: Default::default(),
    })
}

/// The first column of a plan.
fn first_column(plan: &LogicalPlan) -> Expr {
    Expr::Column(Column::from(plan.schema().qualified_field(0)))
}
