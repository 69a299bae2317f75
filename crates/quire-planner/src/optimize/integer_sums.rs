//! Which integers a `sum` adds up, as PostgreSQL counts their width.
//!
//! DataFusion reads every whole number as 64 bits, so that `sum(a * 2)` or `sum(CASE … THEN 1 ELSE 0 END)` looks like the sum of BIGINTs,
//! whose result is a decimal. PostgreSQL reads small numbers as 32 bits. Here a sum whose columns and numbers all fit 32 bits
//! ([`small_integers`](super::small_integers)) is told to be a BIGINT. Runs before types are settled, because afterwards a written cast and
//! an added one look alike, and before they are checked: `#` knows integers only.

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::WindowFunctionDefinition;
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{AggregateUDF, Expr, LogicalPlan};

use quire_functions::CheckedSum;

use super::small_integers::Operands;

pub(super) fn narrow_all_sums(plan: LogicalPlan) -> Result<LogicalPlan> {
    let mut is_changed = false;
    let narrowed = plan.transform_up_with_subqueries(|node| {
        let node = narrow_sums(node)?;
        is_changed |= node.transformed;
        // What is above must know.
        if is_changed {
            node.map_data(LogicalPlan::recompute_schema)
        } else {
            Ok(node)
        }
    })?;
    Ok(narrowed.data)
}

fn narrow_sums(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    if !has_sums(&plan)? {
        return Ok(Transformed::no(plan));
    }
    let schema = merge_schema(&plan.inputs());
    let inputs: Vec<LogicalPlan> = plan.inputs().into_iter().cloned().collect();
    let operands = Operands {
        schema: &schema,
        inputs: inputs.iter().collect(),
    };
    plan.map_expressions(|expr| expr.transform_up(|part| Ok(narrowed(part, &operands))))
}

fn has_sums(plan: &LogicalPlan) -> Result<bool> {
    let mut found = false;
    plan.apply_expressions(|expr| {
        found |= expr.exists(|part| Ok(wide_sum(part).is_some()))?;
        Ok(TreeNodeRecursion::Continue)
    })?;
    Ok(found)
}

/// The sum as one of small integers, if it is.
pub(super) fn narrow_sum(expr: Expr, schema: &DFSchema) -> Transformed<Expr> {
    let inputs = Vec::new();
    narrowed(expr, &Operands { schema, inputs })
}

fn narrowed(mut expr: Expr, operands: &Operands<'_>) -> Transformed<Expr> {
    let is_small = wide_sum(&expr).is_some_and(|summed| operands.fit_32_bits(summed));
    if !is_small {
        return Transformed::no(expr);
    }
    let function = match &mut expr {
        Expr::AggregateFunction(call) => &mut call.func,
        Expr::WindowFunction(call) => match &mut call.fun {
            WindowFunctionDefinition::AggregateUDF(function) => function,
            WindowFunctionDefinition::WindowUDF(_) => return Transformed::no(expr),
        },
        _ => return Transformed::no(expr),
    };
    *function = Arc::new(AggregateUDF::from(CheckedSum::of_small()));
    Transformed::yes(expr)
}

/// What a sum of integers of any width adds up.
fn wide_sum(expr: &Expr) -> Option<&Expr> {
    let (function, arguments) = match expr {
        Expr::AggregateFunction(call) => (&call.func, &call.params.args),
        Expr::WindowFunction(call) => match &call.fun {
            WindowFunctionDefinition::AggregateUDF(function) => (function, &call.params.args),
            WindowFunctionDefinition::WindowUDF(_) => return None,
        },
        _ => return None,
    };
    let is_wide = function.inner().is::<CheckedSum>() && **function == CheckedSum::wide().into();
    arguments.first().filter(|_| is_wide)
}
