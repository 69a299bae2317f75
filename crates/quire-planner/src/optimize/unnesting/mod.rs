//! Subqueries as joins: every subquery that reads the rows around it is unnested.
//!
//! A subquery in an expression, and a `LATERAL` one, is a *dependent join*: for each outer row the subquery is evaluated with the
//! row's values. This rule replaces all of them by ordinary joins, after T. Neumann and A. Kemper, "Unnesting Arbitrary
//! Queries" (BTW 2015), and T. Neumann, "Improving Unnesting of Complex Queries" (BTW 2025):
//!
//! 1. What depends on the outer row is pulled up through the subquery ([`pull`]). A condition becomes a join condition. An
//!    equality binds an inner expression to an outer one, and passes aggregates (as a group key), windows (as a partition
//!    key), `DISTINCT` and `LIMIT` as well.
//! 2. Where an operator lets nothing through, its input is joined with the *domain* ([`domain`]): the distinct values of the outer
//!    columns that are read below. From there on, the values are columns like others, and bound to the outer row by equalities
//!    in which NULL equals NULL.
//! 3. The outer rows are joined with the result ([`rows`]): for a value by a left join ([`scalar`]), for `EXISTS`, `IN`, `ANY` and `ALL`
//!    by a semi, anti or mark join ([`membership`]), for `LATERAL` by the join that is written ([`lateral`]).
//!
//! Inner subqueries come first. What they read further out stays in the joins that they become, and is pulled up with them
//! when the subquery around them is unnested.
//!
//! A subquery that reads nothing from outside and has one value stays: it is evaluated once. The rule runs when types are settled.

mod columns;
mod domain;
mod lateral;
mod membership;
mod places;
mod pull;
mod quantified;
mod row_counts;
mod rows;
mod scalar;

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison};
use datafusion::logical_expr::{Expr, LogicalPlan, Subquery};
use datafusion::optimizer::AnalyzerRule;

use super::shared_rows::is_volatile;
use columns::UniqueColumnNames;
pub(super) use columns::{columns_of, each_once, named_as};

/// The rule.
#[derive(Debug)]
pub(super) struct Unnesting;

impl AnalyzerRule for Unnesting {
    fn name(&self) -> &str {
        "unnesting"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        if !has_subquery_anywhere(&plan)? {
            return Ok(plan);
        }
        let unnested = unnest(plan, &UniqueColumnNames::default())?;
        Ok(unnested.transform_up(without_wrapper)?.data)
    }
}

/// Whether a plan has a subquery, in an expression or behind LATERAL.
pub(super) fn has_subquery_anywhere(plan: &LogicalPlan) -> Result<bool> {
    plan.exists(|node| Ok(matches!(node, LogicalPlan::Subquery(_)) || has_subqueries(node)?))
}

/// Whether an expression of the node has a subquery.
fn has_subqueries(node: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    node.apply_expressions(|expression| {
        found |= has_subquery(expression);
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

fn has_subquery(expression: &Expr) -> bool {
    let is_subquery = |part: &Expr| Ok(subquery_of(part).is_some());
    expression.exists(is_subquery).unwrap_or(true)
}

/// Whether the expression, or the plan of a subquery in it, calls a function that has another value at each call. `Expr::is_volatile` does
/// not look into plans.
fn is_volatile_with_subqueries(expression: &Expr) -> Result<bool> {
    let calls_one = |part: &Expr| {
        subquery_of(part).map_or(Ok(false), |subquery| is_volatile(&subquery.subquery))
    };
    Ok(expression.is_volatile() || expression.exists(calls_one)?)
}

/// The subquery that an expression is, or compares with.
fn subquery_of(expression: &Expr) -> Option<&Subquery> {
    match expression {
        Expr::ScalarSubquery(subquery)
        | Expr::Exists(Exists { subquery, .. })
        | Expr::InSubquery(InSubquery { subquery, .. })
        | Expr::SetComparison(SetComparison { subquery, .. }) => Some(subquery),
        _ => None,
    }
}

/// Unnests from the leaves up, and inner subqueries before outer ones.
fn unnest(plan: LogicalPlan, names: &UniqueColumnNames) -> Result<LogicalPlan> {
    let mut is_new_schema = false;
    let plan = plan.map_children(|child| {
        let before = Arc::clone(child.schema());
        let child = unnest(child, names)?;
        is_new_schema |= before != *child.schema();
        Ok(Transformed::yes(child))
    })?;
    let plan = plan.data.map_subqueries(|subquery| match subquery {
        LogicalPlan::Subquery(subquery) => {
            let plan = unnest(Arc::unwrap_or_clone(subquery.subquery), names)?;
            let subquery = as_subquery(plan);
            Ok(Transformed::yes(LogicalPlan::Subquery(subquery)))
        }
        other => internal_err!("a subquery is called {}", other.display()),
    })?;
    let plan = if is_new_schema {
        plan.data.recompute_schema()?
    } else {
        plan.data
    };
    places::unnest_in(plan, names)
}

/// The plan as a subquery.
fn as_subquery(plan: LogicalPlan) -> Subquery {
    Subquery {
        outer_ref_columns: plan.all_out_ref_exprs(),
        subquery: Arc::new(plan),
        spans: Default::default(),
    }
}

/// What the planner puts around a `LATERAL` subquery, for which no operator exists.
fn without_wrapper(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    Ok(match plan {
        LogicalPlan::Subquery(subquery) => {
            Transformed::yes(Arc::unwrap_or_clone(subquery.subquery))
        }
        plan => Transformed::no(plan),
    })
}
