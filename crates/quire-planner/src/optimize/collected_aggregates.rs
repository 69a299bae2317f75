//! Aggregates whose rows have to be collected first ([`CollectedRows`]): with an order that another one of the same node does not
//! share, statistics of distinct values, and texts in an order.
//!
//! Runs once types are settled and floats are compared by their keys.

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{Aggregate, Expr, ExprSchemable, LogicalPlan, SortExpr};
use quire_functions::{CollectedRows, STATISTICS};

use super::own_names::keeping_names;

pub(super) fn collect(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let LogicalPlan::Aggregate(aggregate) = &plan else {
        return Ok(Transformed::no(plan));
    };
    let others = orders_of_their_own(aggregate)?;
    let schema = Arc::clone(aggregate.input.schema());
    keeping_names(plan, &|part| {
        Ok(match part {
            Expr::AggregateFunction(call)
                if (has_order(&call) && others.contains(&call.params.order_by))
                    || (call.params.distinct && STATISTICS.contains(&call.func.name()))
                    || orders_texts(&call, &schema) =>
            {
                Transformed::yes(Expr::AggregateFunction(CollectedRows::around(call)))
            }
            other => Transformed::no(other),
        })
    })
}

/// Whether the call lists texts, or anything by texts, in an order. DataFusion keeps the texts of each group in blocks of 8 KiB, however
/// few they are, several times over.
fn orders_texts(call: &AggregateFunction, schema: &DFSchema) -> bool {
    let params = &call.params;
    let is_view = |expr: &Expr| {
        let found = expr.get_type(schema);
        found.is_ok_and(|found| matches!(found, DataType::Utf8View | DataType::BinaryView))
    };
    ["array_agg", "string_agg"].contains(&call.func.name())
        && !params.order_by.is_empty()
        && (params.args.iter().any(is_view) || params.order_by.iter().any(|key| is_view(&key.expr)))
}

/// Whether rows must come in the order of the call.
fn has_order(call: &AggregateFunction) -> bool {
    call.func.order_sensitivity().hard_requires() && !call.params.order_by.is_empty()
}

/// The orders of aggregates that rows sorted for those before them do not have.
fn orders_of_their_own(aggregate: &Aggregate) -> Result<Vec<Vec<SortExpr>>> {
    let mut shared: Vec<SortExpr> = Vec::new();
    let mut others = Vec::new();
    for expr in &aggregate.aggr_expr {
        expr.apply(|part| {
            if let Expr::AggregateFunction(call) = part
                && has_order(call)
            {
                let order = &call.params.order_by;
                if order.starts_with(&shared) {
                    shared.clone_from(order);
                } else if !shared.starts_with(order) {
                    others.push(order.clone());
                }
            }
            Ok(TreeNodeRecursion::Continue)
        })?;
    }
    Ok(others)
}
