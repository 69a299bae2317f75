//! What the order of joins depends on besides the tables.

use std::collections::HashSet;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::{Expr, LogicalPlan, Projection};
use quire_functions::{ExecutorChoice, PlannerCosts, QuireOptions};

/// Of the session and of the whole plan.
pub(super) struct OrderSettings {
    pub(super) costs: PlannerCosts,
    /// Whether the tuple engine may run the plan, if it can.
    pub(super) may_be_tuples: bool,
    /// Columns that some node reads or gives: others are gone by the time the plan runs.
    asked: HashSet<Column>,
}

impl OrderSettings {
    pub(super) fn of(plan: &LogicalPlan, options: &ConfigOptions) -> Result<Self> {
        let executor = options.extensions.get::<QuireOptions>();
        let executor = executor.map_or(ExecutorChoice::Cheaper, QuireOptions::executor);
        Ok(Self {
            costs: PlannerCosts::of(options),
            may_be_tuples: executor != ExecutorChoice::Batches,
            asked: asked_columns(plan)?,
        })
    }

    /// Whether a column of an input is kept and passed on.
    pub(super) fn is_asked(&self, column: &Column) -> bool {
        self.asked.contains(column)
    }
}

fn asked_columns(plan: &LogicalPlan) -> Result<HashSet<Column>> {
    let mut asked: HashSet<Column> = plan.schema().columns().into_iter().collect();
    plan.apply_with_subqueries(|node| {
        match node {
            // What only the filter of a scan reads stays there.
            LogicalPlan::TableScan(_) => return Ok(TreeNodeRecursion::Continue),
            LogicalPlan::Filter(filter)
                if matches!(filter.input.as_ref(), LogicalPlan::TableScan(_)) =>
            {
                return Ok(TreeNodeRecursion::Continue);
            }
            // It gives the columns of a join their former order: it stands above each join that was ordered, and reads none by itself.
            LogicalPlan::Projection(projection) if only_orders_columns(projection) => {
                return Ok(TreeNodeRecursion::Continue);
            }
            // All columns are passed on, perhaps by other names.
            LogicalPlan::SubqueryAlias(_) | LogicalPlan::Union(_) | LogicalPlan::Distinct(_) => {
                let inputs = node.inputs().into_iter();
                asked.extend(inputs.flat_map(|input| input.schema().columns()));
            }
            _ => {}
        }
        node.apply_expressions(|expression| {
            expression.apply(|part| {
                if let Expr::Column(column) = part
                    && !asked.contains(column)
                {
                    asked.insert(column.clone());
                }
                Ok(TreeNodeRecursion::Continue)
            })
        })
    })?;
    Ok(asked)
}

fn only_orders_columns(projection: &Projection) -> bool {
    matches!(projection.input.as_ref(), LogicalPlan::Join(_))
        && projection.expr.iter().all(|it| it.try_as_col().is_some())
}

/// Whether there is anything to order.
pub(super) fn has_join(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply_with_subqueries(|node| {
        found |= matches!(node, LogicalPlan::Join(_));
        Ok(if found {
            TreeNodeRecursion::Stop
        } else {
            TreeNodeRecursion::Continue
        })
    })?;
    Ok(found)
}
