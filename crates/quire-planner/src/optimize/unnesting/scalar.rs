//! Subqueries for one value.

use std::sync::Arc;

use datafusion::common::{Column, JoinType, Result, plan_err};
use datafusion::functions_aggregate::expr_fn::{count, first_value, nth_value};
use datafusion::logical_expr::{
    Expr, FetchType, Limit, LogicalPlan, LogicalPlanBuilder, ScalarUDF, SkipType, Subquery, lit,
    when,
};
use quire_functions::{PackedValue, SingleValue};

use super::super::shared_rows::is_volatile;
use super::row_counts::{always_has_a_row, is_one_row_at_most};
use super::rows::{WidenedRows, plan_of, reads_outer};
use super::{as_subquery, columns};

impl WidenedRows<'_> {
    /// The subquery's value: NULL without a row, an error if there are two.
    pub(super) fn scalar(&mut self, subquery: Subquery) -> Result<Expr> {
        if !reads_outer(&subquery.subquery) {
            return self.own_value(evaluated_once(subquery)?);
        }
        let plan = plan_of(subquery);
        if plan.schema().fields().len() != 1 {
            return plan_err!("A subquery used as an expression has one column");
        }
        let single = match &plan {
            LogicalPlan::Limit(limit) => first_of(limit)?,
            _ => None,
        };
        let plan = single.unwrap_or(plan);
        if is_one_row_at_most(&plan) {
            return self.value_of(&plan);
        }
        let packed = self.value_of(&packed(plan)?)?;
        Ok(ScalarUDF::from(SingleValue::new()).call(vec![packed]))
    }

    /// Equal subqueries have one value (`DefaultPhysicalPlanner` plans them once). Those that call a volatile function have a name each, so that
    /// no two of them are equal.
    fn own_value(&self, value: Expr) -> Result<Expr> {
        match value {
            Expr::ScalarSubquery(subquery) if is_volatile(&subquery.subquery)? => {
                let plan = Arc::unwrap_or_clone(subquery.subquery);
                let plan = LogicalPlanBuilder::from(plan).alias(self.names.next("__value"))?;
                Ok(Expr::ScalarSubquery(as_subquery(plan.build()?)))
            }
            value => Ok(value),
        }
    }

    fn value_of(&mut self, plan: &LogicalPlan) -> Result<Expr> {
        let pulled = self.pull(plan)?;
        let (mut outputs, having) = self.join_one_row(pulled)?;
        let value = outputs.swap_remove(0);
        match having {
            Some(having) => when(having, value).end(),
            None => Ok(value),
        }
    }
}

/// A subquery that reads nothing from outside. Where it may have no row, its value may be NULL whatever its column says, now or when
/// constants have been folded: an outer join makes it say so.
fn evaluated_once(subquery: Subquery) -> Result<Expr> {
    let plan = subquery.subquery.as_ref();
    if always_has_a_row(plan) || is_nullable_in_table(plan, 0) {
        return Ok(Expr::ScalarSubquery(subquery));
    }
    let one_row = LogicalPlanBuilder::empty(true).build()?;
    let plan = Arc::unwrap_or_clone(subquery.subquery);
    let plan = columns::join(one_row, plan, JoinType::Left, Vec::new())?;
    Ok(Expr::ScalarSubquery(as_subquery(plan)))
}

/// Whether the column comes as it is from a table in which it may be NULL.
fn is_nullable_in_table(plan: &LogicalPlan, index: usize) -> bool {
    match plan {
        LogicalPlan::TableScan(scan) => {
            let field = scan.projected_schema.fields().get(index);
            field.is_some_and(|field| field.is_nullable())
        }
        LogicalPlan::Filter(node) => is_nullable_in_table(&node.input, index),
        LogicalPlan::Limit(node) => is_nullable_in_table(&node.input, index),
        LogicalPlan::Sort(node) => is_nullable_in_table(&node.input, index),
        LogicalPlan::SubqueryAlias(node) => is_nullable_in_table(&node.input, index),
        LogicalPlan::Projection(node) => match node.expr.get(index) {
            Some(Expr::Column(column)) => {
                let index = node.input.schema().maybe_index_of_column(column);
                index.is_some_and(|index| is_nullable_in_table(&node.input, index))
            }
            _ => false,
        },
        _ => false,
    }
}

/// The first value and the number of rows. A group of several that no row asks for is no error.
fn packed(plan: LogicalPlan) -> Result<LogicalPlan> {
    let first = first_value(first_column(&plan), Vec::new());
    let aggregates = vec![first, count(lit(1_i64))];
    let plan = aggregated(plan, aggregates)?;
    let columns = columns::columns_of(&plan);
    LogicalPlanBuilder::from(plan)
        .project([ScalarUDF::from(PackedValue::new())
            .call(columns)
            .alias("__packed")])?
        .build()
}

/// `SELECT x … ORDER BY y LIMIT 1` → `SELECT first_value(x ORDER BY y) …`, and with an `OFFSET` the n-th.
fn first_of(limit: &Limit) -> Result<Option<LogicalPlan>> {
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
    let order = columns::each_once(order);
    let taken = match skipped {
        0 => first_value(value, order),
        _ => nth_value(value, skipped.saturating_add(1), order),
    };
    aggregated(input.as_ref().clone(), vec![taken]).map(Some)
}

/// Aggregates over all rows of `plan`.
pub(super) fn aggregated(plan: LogicalPlan, aggregates: Vec<Expr>) -> Result<LogicalPlan> {
    LogicalPlanBuilder::from(plan)
        .aggregate(Vec::<Expr>::new(), aggregates)?
        .build()
}

/// The first column of a plan.
pub(super) fn first_column(plan: &LogicalPlan) -> Expr {
    Expr::Column(Column::from(plan.schema().qualified_field(0)))
}
