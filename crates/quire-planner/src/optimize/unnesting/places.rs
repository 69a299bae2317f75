//! The places of subqueries: each operator with the subqueries in its expressions replaced.

use std::sync::Arc;

use datafusion::common::{Column, DFSchema, Result, internal_err};
use datafusion::logical_expr::utils::split_conjunction_owned;
use datafusion::logical_expr::{
    Aggregate, Distinct, DistinctOn, Expr, Filter, LogicalPlan, LogicalPlanBuilder, Projection,
    Sort, Values, Window, cast,
};

use super::columns::{self, Names, columns_of, named_as};
use super::rows::Rows;
use super::{has_subqueries, has_subquery, lateral};

/// The operator without subqueries, but for those that are evaluated once. Its inputs have none any more.
pub(super) fn unnest_in(plan: LogicalPlan, names: &Names) -> Result<LogicalPlan> {
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
fn in_filter(filter: Filter, names: &Names) -> Result<LogicalPlan> {
    let conditions = split_conjunction_owned(filter.predicate);
    let (with, without): (Vec<Expr>, Vec<Expr>) = conditions.into_iter().partition(has_subquery);
    let input = columns::filtered(Arc::unwrap_or_clone(filter.input), without)?;
    let column_count = input.schema().fields().len();
    let mut rows = Rows::new(Arc::new(input), names)?;
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

fn in_projection(projection: Projection, names: &Names) -> Result<LogicalPlan> {
    let mut rows = Rows::new(projection.input, names)?;
    let expressions = rows.replace_named(projection.expr)?;
    let plan = Projection::try_new(expressions, Arc::new(rows.plan))?;
    Ok(LogicalPlan::Projection(plan))
}

fn in_aggregate(aggregate: Aggregate, names: &Names) -> Result<LogicalPlan> {
    let mut rows = Rows::new(aggregate.input, names)?;
    let keys = rows.replace_named(aggregate.group_expr)?;
    let aggregates = rows.replace_named(aggregate.aggr_expr)?;
    let plan = Aggregate::try_new(Arc::new(rows.plan), keys, aggregates)?;
    Ok(LogicalPlan::Aggregate(plan))
}

fn in_window(window: Window, names: &Names) -> Result<LogicalPlan> {
    let mut rows = Rows::new(window.input, names)?;
    let mut shown = rows.own_columns();
    let call_count = window.window_expr.len();
    let calls = rows.replace_named(window.window_expr)?;
    let plan = LogicalPlan::Window(Window::try_new(calls, Arc::new(rows.plan))?);
    let columns = columns_of(&plan);
    shown.extend(columns[columns.len() - call_count..].iter().cloned());
    LogicalPlanBuilder::from(plan).project(shown)?.build()
}

/// `ORDER BY (SELECT …)` → `ORDER BY` a column that is dropped above.
fn in_order(sort: Sort, names: &Names) -> Result<LogicalPlan> {
    let mut rows = Rows::new(sort.input, names)?;
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
fn as_selects(values: Values, names: &Names) -> Result<LogicalPlan> {
    let schema: &DFSchema = &values.schema;
    let rows = values.values.into_iter().map(|row| {
        let mut rows = Rows::new(Arc::new(LogicalPlanBuilder::empty(true).build()?), names)?;
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

fn in_distinct(distinct: DistinctOn, names: &Names) -> Result<LogicalPlan> {
    let mut rows = Rows::new(distinct.input, names)?;
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
