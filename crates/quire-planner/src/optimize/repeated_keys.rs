//! A key that comes again decides nothing.
//!
//! DataFusion's operators drop such keys from orders, and count them where they keep the values of the keys: `DISTINCT ON (a) … ORDER BY a, a` and
//! `array_agg(b ORDER BY a, a)` would panic.

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::{Aggregate, Distinct, DistinctOn, Expr, LogicalPlan, SortExpr};

use super::own_names::keeping_names;
use super::unnesting::each_once;

pub(super) fn of_distinct(mut distinct: DistinctOn) -> Transformed<LogicalPlan> {
    distinct.sort_expr = distinct.sort_expr.take().map(each_once);
    Transformed::yes(LogicalPlan::Distinct(Distinct::On(distinct)))
}

pub(super) fn of_aggregates(aggregate: Aggregate) -> Result<Transformed<LogicalPlan>> {
    let is_repeated = aggregate.aggr_expr.iter().any(has_repeated);
    let plan = LogicalPlan::Aggregate(aggregate);
    if is_repeated {
        keeping_names(plan, &|part| Ok(of_call(part)))?.map_data(LogicalPlan::recompute_schema)
    } else {
        Ok(Transformed::no(plan))
    }
}

fn has_repeated(expression: &Expr) -> bool {
    let is_repeated = |part: &Expr| match part {
        Expr::AggregateFunction(call) => repeats(&call.params.order_by),
        _ => false,
    };
    expression
        .exists(|part| Ok(is_repeated(part)))
        .unwrap_or(true)
}

fn repeats(keys: &[SortExpr]) -> bool {
    let mut later = keys.iter().enumerate();
    later.any(|(place, key)| keys[..place].iter().any(|known| known.expr == key.expr))
}

fn of_call(part: Expr) -> Transformed<Expr> {
    match part {
        Expr::AggregateFunction(mut call) if repeats(&call.params.order_by) => {
            call.params.order_by = each_once(call.params.order_by);
            Transformed::yes(Expr::AggregateFunction(call))
        }
        other => Transformed::no(other),
    }
}
