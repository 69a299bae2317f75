//! The places of subqueries: each operator with the subqueries in its expressions replaced.

use std::sync::Arc;

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, Result, internal_err};
use datafusion::logical_expr::utils::split_conjunction_owned;
use datafusion::logical_expr::{
    Aggregate, Distinct, DistinctOn, Expr, Filter, LogicalPlan, LogicalPlanBuilder, Projection,
    Sort, SortExpr, Values, Window, cast,
};

use super::columns::{self, ColumnSubstitutes, UniqueColumnNames, columns_of, named_as};
use super::rows::WidenedRows;
use super::{has_subqueries, has_subquery, lateral, subquery_of};

/// The operator without subqueries, but for those that are evaluated once. Its inputs have none any more.
pub(super) fn unnest_in(plan: LogicalPlan, names: &UniqueColumnNames) -> Result<LogicalPlan> {
    if let LogicalPlan::Join(join) = plan {
        return match lateral::unnest_condition(join, names)? {
            LogicalPlan::Join(join) => lateral::unnest_lateral(join, names),
            plan => Ok(plan),
        };
    }
    if !has_subqueries(&plan)? {
        return Ok(plan);
    }
    match plan {
        LogicalPlan::Filter(filter) => in_filter(filter, names),
        LogicalPlan::Projection(projection) => in_projection(projection, names),
        LogicalPlan::Aggregate(aggregate) => in_aggregate(aggregate, names),
        LogicalPlan::Window(window) => in_window(window, names),
        LogicalPlan::Sort(sort) => in_order(sort, names),
        LogicalPlan::Values(values) => as_selects(values, names),
        LogicalPlan::Distinct(Distinct::On(distinct)) => in_distinct(distinct, names),
        plan => Ok(plan),
    }
}

/// Conditions without subqueries come first, so that subqueries are asked for few rows.
fn in_filter(filter: Filter, names: &UniqueColumnNames) -> Result<LogicalPlan> {
    let conditions = split_conjunction_owned(filter.predicate);
    let (with, without): (Vec<Expr>, Vec<Expr>) = conditions.into_iter().partition(has_subquery);
    let input = columns::filtered(Arc::unwrap_or_clone(filter.input), without)?;
    let column_count = input.schema().fields().len();
    let mut rows = WidenedRows::new(Arc::new(input), names)?;
    let mut left = Vec::new();
    for condition in with {
        left.extend(rows.restrict(condition)?);
    }
    let own_columns = rows.own_columns();
    let plan = columns::filtered(rows.plan, left)?;
    if plan.schema().fields().len() == column_count {
        Ok(plan)
    } else {
        LogicalPlanBuilder::from(plan).project(own_columns)?.build()
    }
}

fn in_projection(projection: Projection, names: &UniqueColumnNames) -> Result<LogicalPlan> {
    let mut rows = WidenedRows::new(projection.input, names)?;
    let expressions = rows.replace_named(projection.expr)?;
    let plan = Projection::try_new(expressions, Arc::new(rows.plan))?;
    Ok(LogicalPlan::Projection(plan))
}

fn in_aggregate(aggregate: Aggregate, names: &UniqueColumnNames) -> Result<LogicalPlan> {
    let mut rows = WidenedRows::new(aggregate.input, names)?;
    let keys = rows.replace_named(aggregate.group_expr)?;
    let aggregates = rows.replace_named(aggregate.aggr_expr)?;
    let plan = Aggregate::try_new(Arc::new(rows.plan), keys, aggregates)?;
    Ok(LogicalPlan::Aggregate(plan))
}

fn in_window(window: Window, names: &UniqueColumnNames) -> Result<LogicalPlan> {
    let mut rows = WidenedRows::new(window.input, names)?;
    let mut shown = rows.own_columns();
    let call_count = window.window_expr.len();
    let calls = rows.replace_named(window.window_expr)?;
    let plan = LogicalPlan::Window(Window::try_new(calls, Arc::new(rows.plan))?);
    let columns = columns_of(&plan);
    shown.extend(columns[columns.len() - call_count..].iter().cloned());
    LogicalPlanBuilder::from(plan).project(shown)?.build()
}

/// `ORDER BY (SELECT …)` → `ORDER BY` a column that is dropped above.
fn in_order(mut sort: Sort, names: &UniqueColumnNames) -> Result<LogicalPlan> {
    let input = std::mem::take(Arc::make_mut(&mut sort.input));
    match input {
        LogicalPlan::Projection(above) if reads_below(&sort.expr, &above)? => {
            sort_below(sort, above, names)
        }
        input => {
            sort.input = Arc::new(input);
            in_sort(sort, names)
        }
    }
}

/// Whether a subquery of the keys reads columns that a projection drops. `SELECT k … ORDER BY (SELECT id)`
fn reads_below(keys: &[SortExpr], above: &Projection) -> Result<bool> {
    let mut is_read = false;
    for key in keys {
        key.expr.apply(|part| {
            let Some(subquery) = subquery_of(part) else {
                return Ok(TreeNodeRecursion::Continue);
            };
            is_read |= subquery.outer_ref_columns.iter().any(|outer| {
                matches!(outer, Expr::OuterReferenceColumn(_, column)
                    if !above.schema.has_column(column) && above.input.schema().has_column(column))
            });
            Ok(TreeNodeRecursion::Continue)
        })?;
    }
    Ok(is_read && !above.expr.iter().any(Expr::is_volatile))
}

/// The rows sorted while they have all their columns.
fn sort_below(sort: Sort, above: Projection, names: &UniqueColumnNames) -> Result<LogicalPlan> {
    let values: Vec<Expr> = above
        .expr
        .iter()
        .map(|expr| expr.clone().unalias())
        .collect();
    let known = ColumnSubstitutes::default().with(&above.schema, &values);
    let mut order = sort.expr;
    for key in &mut order {
        key.expr = known.substitute(std::mem::take(&mut key.expr))?;
    }
    let below = Sort {
        expr: order,
        input: above.input,
        fetch: sort.fetch,
    };
    let sorted = Arc::new(in_sort(below, names)?);
    let plan = Projection::try_new_with_schema(above.expr, sorted, above.schema)?;
    Ok(LogicalPlan::Projection(plan))
}

fn in_sort(sort: Sort, names: &UniqueColumnNames) -> Result<LogicalPlan> {
    let mut rows = WidenedRows::new(sort.input, names)?;
    let own_columns = rows.own_columns();
    let mut shown = own_columns.clone();
    let mut order = sort.expr;
    for key in &mut order {
        let name = names.next("__order");
        let value = rows.replace(std::mem::take(&mut key.expr), false)?;
        shown.push(value.alias(&name));
        key.expr = Expr::Column(Column::new_unqualified(name));
    }
    LogicalPlanBuilder::from(rows.plan)
        .project(shown)?
        .sort_with_limit(order, sort.fetch)?
        .project(own_columns)?
        .build()
}

/// `VALUES ((SELECT …), 1)` → `SELECT (SELECT …), 1`, one for each row.
fn as_selects(values: Values, names: &UniqueColumnNames) -> Result<LogicalPlan> {
    let schema: &DFSchema = &values.schema;
    let rows = values.values.into_iter().map(|row| {
        let mut rows = WidenedRows::new(Arc::new(LogicalPlanBuilder::empty(true).build()?), names)?;
        let mut columns = Vec::with_capacity(row.len());
        for (expression, field) in row.into_iter().zip(schema.fields()) {
            let expression = rows.replace(expression, false)?;
            columns.push(cast(expression, field.data_type().clone()));
        }
        Ok(LogicalPlanBuilder::from(named_as(
            rows.plan, columns, schema,
        )?))
    });
    let mut rows = rows.collect::<Result<Vec<_>>>()?.into_iter();
    let Some(first) = rows.next() else {
        return internal_err!("VALUES without rows");
    };
    rows.try_fold(first, |above, row| above.union(row.build()?))?
        .build()
}

fn in_distinct(distinct: DistinctOn, names: &UniqueColumnNames) -> Result<LogicalPlan> {
    let mut rows = WidenedRows::new(distinct.input, names)?;
    let on = distinct.on_expr.into_iter();
    let on = on.map(|key| rows.replace(key, false));
    let on = on.collect::<Result<Vec<_>>>()?;
    let selected = rows.replace_named(distinct.select_expr)?;
    let order = match distinct.sort_expr {
        Some(mut order) => {
            for key in &mut order {
                key.expr = rows.replace(std::mem::take(&mut key.expr), false)?;
            }
            Some(order)
        }
        None => None,
    };
    let distinct = DistinctOn::try_new(on, selected, order, Arc::new(rows.plan))?;
    Ok(LogicalPlan::Distinct(Distinct::On(distinct)))
}
