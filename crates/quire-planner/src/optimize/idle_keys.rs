//! Keys of orders that decide nothing.
//!
//! A key that comes again is one. DataFusion's operators drop such keys from orders, and count them where they keep the values of the keys:
//! `DISTINCT ON (a) … ORDER BY a, a` and `array_agg(b ORDER BY a, a)` would panic.
//!
//! All keys of a function that takes rows in any order are, as in `var_pop(b ORDER BY a)`. DataFusion hands them to the function with its
//! arguments: it would take them for those, or panic.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{Aggregate, Distinct, DistinctOn, Expr, LogicalPlan, SortExpr};
use datafusion::optimizer::{ApplyOrder, OptimizerConfig, OptimizerRule};

use super::aggregate_orders::is_ordered;
use super::own_names::keeping_names;
use super::unnesting::each_once;

/// The rule for keys that have become the same since types were settled, as `CASE WHEN true THEN a ELSE b END` and `a`.
#[derive(Debug)]
pub(super) struct IdleKeys;

impl OptimizerRule for IdleKeys {
    fn name(&self) -> &str {
        "idle_keys"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(
        &self,
        plan: LogicalPlan,
        _: &dyn OptimizerConfig,
    ) -> Result<Transformed<LogicalPlan>> {
        match plan {
            LogicalPlan::Aggregate(aggregate) => of_aggregates(aggregate),
            other => Ok(Transformed::no(other)),
        }
    }
}

pub(super) fn of_distinct(mut distinct: DistinctOn) -> Transformed<LogicalPlan> {
    distinct.sort_expr = distinct.sort_expr.take().map(each_once);
    Transformed::yes(LogicalPlan::Distinct(Distinct::On(distinct)))
}

pub(super) fn of_aggregates(aggregate: Aggregate) -> Result<Transformed<LogicalPlan>> {
    let has_idle = aggregate.aggr_expr.iter().any(has_idle_keys);
    let plan = LogicalPlan::Aggregate(aggregate);
    if has_idle {
        keeping_names(plan, &|part| Ok(of_call(part)))?.map_data(LogicalPlan::recompute_schema)
    } else {
        Ok(Transformed::no(plan))
    }
}

fn has_idle_keys(expression: &Expr) -> bool {
    let has_idle = |part: &Expr| match part {
        Expr::AggregateFunction(call) => needed(call).len() < call.params.order_by.len(),
        _ => false,
    };
    expression.exists(|part| Ok(has_idle(part))).unwrap_or(true)
}

/// The keys of a call that decide something.
fn needed(call: &AggregateFunction) -> Vec<SortExpr> {
    if is_ordered(&call.func) {
        each_once(call.params.order_by.clone())
    } else {
        Vec::new()
    }
}

fn of_call(part: Expr) -> Transformed<Expr> {
    match part {
        Expr::AggregateFunction(mut call) => {
            call.params.order_by = needed(&call);
            Transformed::yes(Expr::AggregateFunction(call))
        }
        other => Transformed::no(other),
    }
}
