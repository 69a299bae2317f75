//! Scalar subqueries that read the row around them and are no aggregates.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::functions_aggregate::expr_fn::{count, first_value, nth_value};
use datafusion::logical_expr::{
    Expr, FetchType, Limit, LogicalPlan, ScalarUDF, SkipType, Subquery, lit,
};

use super::{aggregated, first_column};
use crate::functions::{PackedValue, SingleValue};

/// What the subquery's column is called: not as one that DataFusion adds to it, for the join.
const VALUE: &str = "__value";

/// The subquery's value, from a subquery that DataFusion can plan.
pub(super) fn value(mut subquery: Subquery) -> Result<Expr> {
    let has_one_column = subquery.subquery.schema().fields().len() == 1;
    if subquery.outer_ref_columns.is_empty() || !has_one_column || is_one_row(&subquery.subquery) {
        return Ok(Expr::ScalarSubquery(subquery));
    }
    let plan = Arc::unwrap_or_clone(subquery.subquery);
    if let LogicalPlan::Limit(limit) = &plan {
        subquery = match first_of(limit)? {
            Some(first) => first,
            None => Subquery {
                subquery: Arc::new(plan),
                ..subquery
            },
        };
        return Ok(Expr::ScalarSubquery(subquery));
    }
    // Without LIMIT the order says nothing.
    let plan = match plan {
        LogicalPlan::Sort(sort) => Arc::unwrap_or_clone(sort.input),
        plan => plan,
    };
    let aggregates = vec![
        first_value(first_column(&plan), Vec::new()),
        count(lit(1_i64)),
    ];
    let packed = aggregated(plan, aggregates, |columns| {
        Ok(ScalarUDF::from(PackedValue::new())
            .call(columns)
            .alias(VALUE))
    })?;
    Ok(ScalarUDF::from(SingleValue::new()).call(vec![Expr::ScalarSubquery(packed)]))
}

/// Whether aggregates without groups make one row of all.
fn is_one_row(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        LogicalPlan::Projection(node) => is_one_row(&node.input),
        LogicalPlan::Filter(node) => is_one_row(&node.input),
        LogicalPlan::SubqueryAlias(node) => is_one_row(&node.input),
        LogicalPlan::Sort(node) => is_one_row(&node.input),
        _ => false,
    }
}

/// `SELECT x … ORDER BY y LIMIT 1` → `SELECT first_value(x ORDER BY y) …`, and with an `OFFSET` the n-th.
fn first_of(limit: &Limit) -> Result<Option<Subquery>> {
    let (SkipType::Literal(skipped), FetchType::Literal(Some(1))) =
        (limit.get_skip_type()?, limit.get_fetch_type()?)
    else {
        return Ok(None);
    };
    let Ok(skipped) = i64::try_from(skipped) else {
        return Ok(None);
    };
    let (value, order, input) = match limit.input.as_ref() {
        LogicalPlan::Sort(sort) => (first_column(&sort.input), sort.expr.clone(), &sort.input),
        LogicalPlan::Projection(projection) => match projection.input.as_ref() {
            LogicalPlan::Sort(sort) => {
                let value = projection.expr[0].clone().unalias();
                (value, sort.expr.clone(), &sort.input)
            }
            _ => (first_column(&limit.input), Vec::new(), &limit.input),
        },
        _ => (first_column(&limit.input), Vec::new(), &limit.input),
    };
    let taken = match skipped {
        0 => first_value(value, order),
        _ => nth_value(value, skipped.saturating_add(1), order),
    };
    let aggregates = vec![taken];
    let first = aggregated(input.as_ref().clone(), aggregates, |mut columns| {
        Ok(columns.swap_remove(0).alias(VALUE))
    })?;
    Ok(Some(first))
}
