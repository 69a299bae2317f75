//! Expressions that DataFusion's physical planner understands otherwise than the logical plan does, written so that both mean the same.
//!
//! One walk over the expressions of a plan, before it is planned: [`guarded_operands`], [`boolean_tests`], [`nullable_cases`],
//! [`computed_lists`].

mod boolean_tests;
mod computed_lists;
mod guarded_operands;
mod nullable_cases;

use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::utils::merge_schema;
use datafusion::logical_expr::{Expr, LogicalPlan};

use super::own_names::{keeping_names, map_named};
use super::union_names::nullable_as_branches;

/// The plan without such expressions.
pub(super) fn spelled_out(plan: LogicalPlan) -> Result<LogicalPlan> {
    let plan = plan.transform_up_with_subqueries(|node| {
        let schema = merge_schema(&node.inputs());
        let node = guarded(node, &schema)?;
        let node = node.transform_data(|node| {
            keeping_names(node, &|part| match part {
                Expr::Case(case) => nullable_cases::settle(case, &schema),
                Expr::InList(list) => Ok(computed_lists::looked_at_by_row(list)),
                part => Ok(boolean_tests::comparison(part)),
            })
        })?;
        // Also where an input has changed.
        node.map_data(|node| match node {
            LogicalPlan::Union(union) => Ok(nullable_as_branches(union)?.data),
            node => node.recompute_schema(),
        })
    })?;
    Ok(plan.data)
}

fn guarded(node: LogicalPlan, schema: &DFSchema) -> Result<Transformed<LogicalPlan>> {
    let null_is_false = match node {
        // It has only filters that cannot fail, and reads columns that are not in the schema.
        LogicalPlan::TableScan(_) => return Ok(Transformed::no(node)),
        LogicalPlan::Filter(_) => true,
        _ => false,
    };
    map_named(node, &|expr| {
        guarded_operands::guard(expr, schema, null_is_false)
    })
}
