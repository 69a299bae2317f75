//! Groups of which the first ones in an order are asked for, as in `SELECT k, min(v) FROM t GROUP BY k ORDER BY 2 LIMIT 1`.
//!
//! DataFusion's rule has the aggregate keep no more groups than that. It finds a group by comparing keys as machines compare floats, where
//! NaN equals nothing: each row with it is a group, and one that is to make place is not found. Groups by floats are all kept.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, LimitOptions};

/// What DataFusion calls its rule.
pub(super) const NAME: &str = "LimitAggregation";

/// DataFusion's rule, without what it does to groups by floats.
pub(super) fn optimize(
    rule: &dyn PhysicalOptimizerRule,
    plan: Arc<dyn ExecutionPlan>,
    config: &ConfigOptions,
) -> Result<Arc<dyn ExecutionPlan>> {
    let plan = rule.optimize(plan, config)?;
    plan.transform_up(with_all_groups).data()
}

fn with_all_groups(node: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
    let kept = match node.downcast_ref::<AggregateExec>() {
        Some(aggregate) if keeps_leading(aggregate) && has_float_keys(aggregate)? => {
            aggregate.with_new_limit_options(None)
        }
        _ => return Ok(Transformed::no(node)),
    };
    Ok(Transformed::yes(Arc::new(kept)))
}

fn keeps_leading(aggregate: &AggregateExec) -> bool {
    let limit = aggregate.limit_options();
    limit.is_some_and(|limit: LimitOptions| limit.descending().is_some())
}

fn has_float_keys(aggregate: &AggregateExec) -> Result<bool> {
    let schema = aggregate.input().schema();
    for (key, _) in aggregate.group_expr().expr() {
        if key.data_type(&schema)?.is_floating() {
            return Ok(true);
        }
    }
    Ok(false)
}
