//! The dependent join, pushed down to where the outer values are not needed any more.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{
    Expr, Join, JoinType, LogicalPlan, LogicalPlanBuilder, SubqueryAlias,
};

/// A plan with the outer values as columns beside its own.
pub(super) struct Attached {
    pub(super) plan: LogicalPlan,
    /// Outer column → the column that has its value in `plan`.
    pub(super) values: Vec<(Column, Column)>,
}

impl Attached {
    /// `expression` with references to outer columns replaced by the columns of this plan.
    pub(super) fn resolve(&self, expression: Expr) -> Result<Expr> {
        let resolved = expression.transform_up(|part| {
            if let Expr::OuterReferenceColumn(_, column) = &part
                && let Some((_, value)) = self.values.iter().find(|(outer, _)| outer == column)
            {
                return Ok(Transformed::yes(Expr::Column(value.clone())));
            }
            Ok(Transformed::no(part))
        })?;
        Ok(resolved.data)
    }

    /// The columns with the outer values.
    pub(super) fn value_columns(&self) -> impl Iterator<Item = Expr> + '_ {
        self.values
            .iter()
            .map(|(_, value)| Expr::Column(value.clone()))
    }
}

/// Joins each row of `plan` with each of the outer rows that it goes with; `None` where the way
/// down is blocked by an operator that mixes rows.
pub(super) fn attach(plan: &LogicalPlan, outer: &Attached) -> Result<Option<Attached>> {
    if !has_outer_references(plan, outer)? {
        return cross_join(plan, outer).map(Some);
    }
    match plan {
        LogicalPlan::Filter(filter) => {
            let Some(input) = attach(&filter.input, outer)? else {
                return Ok(None);
            };
            let predicate = input.resolve(filter.predicate.clone())?;
            let plan = LogicalPlanBuilder::from(input.plan)
                .filter(predicate)?
                .build()?;
            Ok(Some(Attached {
                plan,
                values: input.values,
            }))
        }
        LogicalPlan::Projection(projection) => {
            let Some(input) = attach(&projection.input, outer)? else {
                return Ok(None);
            };
            let mut expressions = Vec::with_capacity(projection.expr.len());
            for expression in &projection.expr {
                expressions.push(input.resolve(expression.clone())?);
            }
            expressions.extend(input.value_columns());
            let plan = LogicalPlanBuilder::from(input.plan)
                .project(expressions)?
                .build()?;
            Ok(Some(Attached {
                plan,
                values: input.values,
            }))
        }
        LogicalPlan::SubqueryAlias(alias) => attach_alias(alias, outer),
        LogicalPlan::Join(join) if join.join_type == JoinType::Inner => attach_join(join, outer),
        _ => Ok(None),
    }
}

fn cross_join(plan: &LogicalPlan, outer: &Attached) -> Result<Attached> {
    let plan = LogicalPlanBuilder::from(outer.plan.clone())
        .cross_join(plan.clone())?
        .build()?;
    Ok(Attached {
        plan,
        values: outer.values.clone(),
    })
}

/// The values are called by the alias too.
fn attach_alias(alias: &SubqueryAlias, outer: &Attached) -> Result<Option<Attached>> {
    let Some(input) = attach(&alias.input, outer)? else {
        return Ok(None);
    };
    let renamed = |column: &Column| Column::new(Some(alias.alias.clone()), column.name.clone());
    let values = input.values.iter();
    let values = values.map(|(outer, value)| (outer.clone(), renamed(value)));
    Ok(Some(Attached {
        values: values.collect(),
        plan: LogicalPlanBuilder::from(input.plan)
            .alias(alias.alias.clone())?
            .build()?,
    }))
}

/// The values are needed on one side at most, or in the condition.
fn attach_join(join: &Join, outer: &Attached) -> Result<Option<Attached>> {
    let is_right = has_outer_references(&join.right, outer)?;
    if is_right && has_outer_references(&join.left, outer)? {
        return Ok(None);
    }
    let side = if is_right { &join.right } else { &join.left };
    let Some(attached) = attach(side, outer)? else {
        return Ok(None);
    };
    let resolve = |expression: &Expr| attached.resolve(expression.clone());
    let mut on = Vec::with_capacity(join.on.len());
    for (left, right) in &join.on {
        on.push((resolve(left)?, resolve(right)?));
    }
    let filter = join.filter.as_ref().map(resolve).transpose()?;
    let with_values = Arc::new(attached.plan);
    let (left, right) = if is_right {
        (Arc::clone(&join.left), with_values)
    } else {
        (with_values, Arc::clone(&join.right))
    };
    let plan = LogicalPlan::Join(Join::try_new(
        left,
        right,
        on,
        filter,
        join.join_type,
        join.join_constraint,
        join.null_equality,
        join.null_aware,
    )?);
    Ok(Some(Attached {
        plan,
        values: attached.values,
    }))
}

/// Whether an expression of `plan` or below reads an outer column.
fn has_outer_references(plan: &LogicalPlan, outer: &Attached) -> Result<bool> {
    plan.exists(|node| {
        let mut found = false;
        node.apply_expressions(|expression| {
            found |= expression.exists(|part| {
                Ok(match part {
                    Expr::OuterReferenceColumn(_, column) => {
                        outer.values.iter().any(|(value, _)| value == column)
                    }
                    // What a subquery reads is not looked at: it is taken to read them.
                    Expr::ScalarSubquery(subquery) => !subquery.outer_ref_columns.is_empty(),
                    _ => false,
                })
            })?;
            Ok(datafusion::common::tree_node::TreeNodeRecursion::Continue)
        })?;
        Ok(found)
    })
}
