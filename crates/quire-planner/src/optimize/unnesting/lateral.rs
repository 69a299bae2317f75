//! `LATERAL` and joins whose conditions have subqueries.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{ExprSchema, JoinType, Result, not_impl_err};
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, Join, LogicalPlan, LogicalPlanBuilder, when};

use super::super::shared_rows::SharedPlan;
use super::columns::{
    self, ColumnSubstitutes, OuterColumn, UniqueColumnNames, named_as, outer_columns,
};
use super::domain::CorrelationDomain;
use super::pull::{Pull, conditions_of};
use super::rows::WidenedRows;
use super::{has_subquery, places};

/// A join whose right side reads columns of the left one, as a join that does not.
pub(super) fn unnest_lateral(mut join: Join, names: &UniqueColumnNames) -> Result<LogicalPlan> {
    let pull = Pull {
        outer: &join.left,
        names,
    };
    if !pull.depends(&join.right)? {
        return Ok(LogicalPlan::Join(join));
    }
    join.left = SharedPlan::if_volatile(join.left)?;
    let pull = Pull {
        outer: &join.left,
        names,
    };
    let pulled = pull.pull(&join.right)?;
    let mut rows = WidenedRows::new(Arc::clone(&join.left), names)?;
    let left = rows.own_columns();
    let is_left = match join.join_type {
        JoinType::Inner => false,
        JoinType::Left => true,
        other => return not_impl_err!("LATERAL in a {other} join"),
    };
    let known = |right: &[Expr]| ColumnSubstitutes::default().with(join.right.schema(), right);
    if pulled.having.is_some() || pulled.is_outer_row_alone() {
        let (right, having) = rows.join_one_row(pulled)?;
        let written = known(&right).substitute_all(&conditions_of(&join))?;
        let conditions: Vec<Expr> = having.into_iter().chain(written).collect();
        let (plan, right) = match (is_left, conjunction(conditions.clone())) {
            (true, Some(condition)) => {
                let values = right.into_iter();
                let values = values.map(|value| when(condition.clone(), value).end());
                (rows.plan, values.collect::<Result<Vec<_>>>()?)
            }
            (true, None) => (rows.plan, right),
            (false, _) => (columns::filtered(rows.plan, conditions)?, right),
        };
        return named_as(plan, [left, right].concat(), &join.schema);
    }
    let pulled = if is_left {
        pull.with_own_outputs(pulled)?
    } else {
        pulled
    };
    let pulled = pulled.renamed(join.left.schema(), names)?;
    let right = rows.resolve_all(pulled.outputs)?;
    let mut conditions = rows.resolve_all(pulled.conditions)?;
    conditions.extend(known(&right).substitute_all(&conditions_of(&join))?);
    rows.join(pulled.plan, join.join_type, conditions)?;
    named_as(rows.plan, [left, right].concat(), &join.schema)
}

/// A join with subqueries in its condition.
pub(super) fn unnest_condition(join: Join, names: &UniqueColumnNames) -> Result<LogicalPlan> {
    let conditions = conditions_of(&join);
    if !conditions.iter().any(has_subquery) {
        return Ok(LogicalPlan::Join(join));
    }
    if join.join_type == JoinType::Inner {
        let (with, without): (Vec<Expr>, Vec<Expr>) =
            conditions.into_iter().partition(has_subquery);
        let (left, right) = (join.left.as_ref().clone(), join.right.as_ref().clone());
        let joined = columns::join(left, right, JoinType::Inner, without)?;
        return places::unnest_in(columns::filtered(joined, with)?, names);
    }
    outer_join(join, conditions, names)
}

/// Subqueries that read one side are values of that side. For one that reads both, the side that is not preserved gets the
/// values of the other side's columns that are read, all with all.
fn outer_join(
    mut join: Join,
    conditions: Vec<Expr>,
    names: &UniqueColumnNames,
) -> Result<LogicalPlan> {
    join.left = SharedPlan::if_volatile(join.left)?;
    join.right = SharedPlan::if_volatile(join.right)?;
    let mut left = WidenedRows::new(Arc::clone(&join.left), names)?;
    let mut right = WidenedRows::new(Arc::clone(&join.right), names)?;
    let mut replaced = Vec::with_capacity(conditions.len());
    let mut of_both = Vec::new();
    for condition in conditions {
        let reads_left = reads(&condition, &join.left)?;
        let reads_right = reads(&condition, &join.right)?;
        match (reads_left, reads_right) {
            _ if !has_subquery(&condition) => replaced.push(condition),
            (_, false) => replaced.push(left.replace(condition, false)?),
            (false, true) => replaced.push(right.replace(condition, false)?),
            (true, true) => of_both.push(condition),
        }
    }
    let (mut left_plan, mut right_plan) = (left.plan, right.plan);
    if !of_both.is_empty() {
        let (preserved, other) = match join.join_type {
            JoinType::Left | JoinType::LeftSemi | JoinType::LeftAnti => {
                (&join.left, &mut right_plan)
            }
            JoinType::Right | JoinType::RightSemi | JoinType::RightAnti => {
                (&join.right, &mut left_plan)
            }
            other => {
                return not_impl_err!(
                    "a subquery that reads both sides of a {other} join in its ON"
                );
            }
        };
        let (plan, more) = beside_values(preserved, std::mem::take(other), of_both, names)?;
        *other = plan;
        replaced.extend(more);
    }
    let plan = columns::join(left_plan, right_plan, join.join_type, replaced)?;
    let columns = join.schema.columns().into_iter().map(Expr::Column);
    LogicalPlanBuilder::from(plan).project(columns)?.build()
}

/// `other` with the values of `preserved` that the conditions read, and with those of their subqueries; and the conditions over
/// that, with the equalities that find the preserved row.
fn beside_values(
    preserved: &LogicalPlan,
    other: LogicalPlan,
    conditions: Vec<Expr>,
    names: &UniqueColumnNames,
) -> Result<(LogicalPlan, Vec<Expr>)> {
    let outward = conditions.into_iter();
    let outward = outward.map(|condition| as_seen_from(condition, preserved));
    let outward = outward.collect::<Result<Vec<_>>>()?;
    let mut read: Vec<OuterColumn> = Vec::new();
    for condition in &outward {
        for expression in all_expressions(condition)? {
            for column in outer_columns([&expression], preserved.schema())? {
                if !read.contains(&column) {
                    read.push(column);
                }
            }
        }
    }
    let domain = CorrelationDomain::of(preserved, read, names)?;
    let both = columns::join(domain.plan.clone(), other, JoinType::Inner, Vec::new())?;
    let mut rows = WidenedRows::new(Arc::new(both), names)?;
    let mut replaced = Vec::with_capacity(outward.len());
    for condition in outward {
        let condition = resolve_everywhere(condition, &domain)?;
        replaced.push(rows.replace(condition, false)?);
    }
    let (plan, columns) = columns::computed(rows.plan, replaced, names)?;
    let mut conditions: Vec<Expr> = columns.into_iter().map(Expr::Column).collect();
    let back = WidenedRows::new(Arc::new(preserved.clone()), names)?;
    for key in domain.keys() {
        conditions.push(back.resolve(key.condition())?);
    }
    Ok((plan, conditions))
}

/// `condition` with the columns of `plan` as outer ones.
fn as_seen_from(condition: Expr, plan: &LogicalPlan) -> Result<Expr> {
    let schema = plan.schema();
    let replaced = condition.transform_up(|part| match part {
        Expr::Column(column) if schema.has_column(&column) => {
            let field = Arc::clone(schema.field_from_column(&column)?);
            Ok(Transformed::yes(Expr::OuterReferenceColumn(field, column)))
        }
        other => Ok(Transformed::no(other)),
    })?;
    Ok(replaced.data)
}

/// The domain's columns in an expression, and as outer columns in its subqueries.
fn resolve_everywhere(condition: Expr, domain: &CorrelationDomain) -> Result<Expr> {
    let inward = |expression: Expr| -> Result<Expr> {
        let resolved = domain.resolve(expression)?;
        as_seen_from(resolved, &domain.plan)
    };
    let condition = map_subqueries(condition, &inward)?;
    domain.resolve(condition)
}

/// `expression` with every expression in its subqueries changed.
fn map_subqueries(expression: Expr, change: &impl Fn(Expr) -> Result<Expr>) -> Result<Expr> {
    let change_plan = |plan: Arc<LogicalPlan>| -> Result<LogicalPlan> {
        let plan = Arc::unwrap_or_clone(plan);
        let changed = plan.transform_up(|node| {
            node.map_expressions(|expression| change(expression).map(Transformed::yes))
        })?;
        Ok(changed.data)
    };
    let mapped = expression.transform_up(|part| {
        let subquery = |plan| {
            Ok::<_, datafusion::common::DataFusionError>(super::as_subquery(change_plan(plan)?))
        };
        Ok(Transformed::yes(match part {
            Expr::ScalarSubquery(found) => Expr::ScalarSubquery(subquery(found.subquery)?),
            Expr::Exists(mut exists) => {
                exists.subquery = subquery(exists.subquery.subquery)?;
                Expr::Exists(exists)
            }
            Expr::InSubquery(mut found) => {
                found.subquery = subquery(found.subquery.subquery)?;
                Expr::InSubquery(found)
            }
            Expr::SetComparison(mut found) => {
                found.subquery = subquery(found.subquery.subquery)?;
                Expr::SetComparison(found)
            }
            other => other,
        }))
    })?;
    Ok(mapped.data)
}

/// An expression and all that its subqueries have.
fn all_expressions(expression: &Expr) -> Result<Vec<Expr>> {
    let all = std::cell::RefCell::new(vec![expression.clone()]);
    map_subqueries(expression.clone(), &|part| {
        all.borrow_mut().push(part.clone());
        Ok(part)
    })?;
    Ok(all.into_inner())
}

/// Whether an expression reads columns of `plan`, also from within its subqueries.
fn reads(expression: &Expr, plan: &LogicalPlan) -> Result<bool> {
    let schema = plan.schema();
    let own = expression.column_refs();
    if own.iter().any(|column| schema.has_column(column)) {
        return Ok(true);
    }
    let all = all_expressions(expression)?;
    Ok(!outer_columns(&all, schema)?.is_empty())
}
