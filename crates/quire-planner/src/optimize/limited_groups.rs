//! Groups of which only the first ones are kept, since `ORDER BY … LIMIT` wants no more.
//!
//! DataFusion's rule follows the key of the order down to the aggregate by its name. An item that is called like a column that it is computed from
//! is taken for that column: of `SELECT -id AS id FROM t GROUP BY id ORDER BY 1 LIMIT 2` the groups of the two smallest values of `id` were kept. Here
//! the key is followed by its place, and where that leads elsewhere, all groups are kept.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;

/// A sort of all groups, in place of one below which they are limited by another order.
pub(super) fn without_wrong_limits(
    plan: &Arc<dyn ExecutionPlan>,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let sort = plan.downcast_ref::<SortExec>();
    match sort.filter(|sort| sort.fetch().is_some() && limits_wrong_groups(sort)) {
        Some(_) => Ok(Some(without_limits(Arc::clone(plan))?)),
        None => Ok(None),
    }
}

/// Whether groups below the sort are limited by another order than its own.
fn limits_wrong_groups(sort: &SortExec) -> bool {
    let key = sort.expr().first().expr.downcast_ref::<Column>();
    let mut key = key.map(Column::index);
    let mut node = sort.input();
    loop {
        if let Some(aggregate) = node.downcast_ref::<AggregateExec>() {
            let groups = aggregate.group_expr().num_group_exprs();
            // Of groups without aggregates the key decides, and otherwise the only aggregate, `min` or `max`.
            let is_right = match key {
                Some(key) if aggregate.aggr_expr().is_empty() => key < groups,
                Some(key) => key >= groups,
                None => false,
            };
            return has_ordered_limit(aggregate) && !is_right;
        }
        if let Some(projection) = node.downcast_ref::<ProjectionExec>() {
            let source = key.and_then(|key| projection.expr().get(key));
            let column = source.and_then(|source| source.expr.downcast_ref::<Column>());
            key = column.map(Column::index);
        }
        match node.children().as_slice() {
            [input] => node = input,
            [] => return false,
            // Which of them the key comes from is not followed.
            _ => return true,
        }
    }
}

fn has_ordered_limit(aggregate: &AggregateExec) -> bool {
    let limit = aggregate.limit_options();
    limit.is_some_and(|limit| limit.descending().is_some())
}

fn without_limits(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let plan = plan.transform_up(|node| {
        let aggregate = node.downcast_ref::<AggregateExec>();
        Ok(match aggregate.filter(|it| has_ordered_limit(it)) {
            Some(aggregate) => {
                let all = aggregate.with_new_limit_options(None);
                Transformed::yes(Arc::new(all) as _)
            }
            None => Transformed::no(node),
        })
    })?;
    Ok(plan.data)
}
