//! Subqueries of a grouped query that read columns which it is not grouped by.
//!
//! The planner refuses such columns in the query itself, and finds in a subquery's plan later that nothing gives them. Here they are
//! refused as PostgreSQL does it. Runs when a statement has been planned, before its types are settled.

use datafusion::common::Result;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan};
use quire_error::Error;

/// Refuses subqueries that read them; `members` is what the members of a row's subquery are called as a table.
pub fn check_grouped_columns(plan: &LogicalPlan, members: &str) -> Result<()> {
    plan.apply_with_subqueries(|node| {
        if let [input] = node.inputs().as_slice()
            && let Some(aggregate) = aggregate_below(input)
        {
            node.apply_subqueries(|subquery| {
                check(subquery, aggregate, members)?;
                Ok(TreeNodeRecursion::Continue)
            })?;
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(())
}

/// The aggregate whose rows a plan has, if it is one of a grouped query.
pub(super) fn aggregate_below(plan: &LogicalPlan) -> Option<&Aggregate> {
    match plan {
        LogicalPlan::Aggregate(aggregate) => Some(aggregate),
        LogicalPlan::Filter(filter) => aggregate_below(&filter.input),
        LogicalPlan::Window(window) => aggregate_below(&window.input),
        _ => None,
    }
}

fn check(subquery: &LogicalPlan, aggregate: &Aggregate, members: &str) -> Result<()> {
    let rows = aggregate.input.schema();
    for expr in subquery.all_out_ref_exprs() {
        let Expr::OuterReferenceColumn(_, column) = &expr else {
            continue;
        };
        if !rows.has_column(column) || aggregate.schema.has_column(column) {
            continue;
        }
        // A row that is looked for stands in the query itself.
        let text = if reads_members(subquery, members)? {
            format!(
                "column \"{column}\" must appear in the GROUP BY clause or be used in an aggregate function"
            )
        } else {
            format!("subquery uses ungrouped column \"{column}\" from outer query")
        };
        return Err(Error::new("42803", text).into());
    }
    Ok(())
}

fn reads_members(subquery: &LogicalPlan, members: &str) -> Result<bool> {
    let mut found = false;
    subquery.apply_with_subqueries(|node| {
        if let LogicalPlan::SubqueryAlias(alias) = node {
            found |= alias.alias.table() == members;
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}
