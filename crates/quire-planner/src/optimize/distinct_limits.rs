//! `SELECT DISTINCT a … LIMIT n` of rows that come in the order of `a`.
//!
//! DataFusion hands the limit to the aggregate before the order of its rows is known. If they come in the order of the groups, the aggregate
//! takes the limit for that of `min(b) … ORDER BY 1 LIMIT n`, and fails because it has no direction. Without the limit it gives out its
//! groups as it goes, and the limit above stops it.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;

/// The rule. It comes behind the one that puts rows in order.
#[derive(Debug)]
pub(super) struct DistinctLimits;

impl PhysicalOptimizerRule for DistinctLimits {
    fn name(&self) -> &str {
        "distinct_limits"
    }

    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let plan = plan.transform_up(|node| {
            Ok(match node.downcast_ref::<AggregateExec>() {
                Some(aggregate) if has_no_direction(aggregate) => {
                    Transformed::yes(Arc::new(aggregate.with_new_limit_options(None)) as _)
                }
                _ => Transformed::no(node),
            })
        })?;
        Ok(plan.data)
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn has_no_direction(aggregate: &AggregateExec) -> bool {
    let limit = aggregate.limit_options();
    aggregate.aggr_expr().is_empty()
        && limit.is_some_and(|limit| limit.descending().is_none())
        && !aggregate.is_unordered_unfiltered_group_by_distinct()
}
