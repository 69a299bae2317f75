//! Aggregates whose values are known before any row is read, unless DataFusion's rule would take those of another query for them.
//!
//! Below an aggregate with FILTER the rule finds that it must look at rows, and goes on to the next aggregate below: that of a subquery, whose
//! value is then the outer one's. A plan with such a pair is left as it is.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::TreeNode;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateInputMode};

/// What DataFusion calls its rule.
pub(super) const NAME: &str = "aggregate_statistics";

/// DataFusion's rule, with what it does not see.
pub(super) fn optimize(
    rule: &dyn PhysicalOptimizerRule,
    plan: Arc<dyn ExecutionPlan>,
    config: &ConfigOptions,
) -> Result<Arc<dyn ExecutionPlan>> {
    if has_filtered_groups(&plan)? {
        Ok(plan)
    } else {
        rule.optimize(plan, config)
    }
}

/// Whether a global aggregate is computed in two steps, the first of which is not of all rows.
fn has_filtered_groups(plan: &Arc<dyn ExecutionPlan>) -> Result<bool> {
    plan.exists(|node| {
        let last = node.downcast_ref::<AggregateExec>().filter(|last| {
            last.mode().input_mode() == AggregateInputMode::Partial && last.group_expr().is_empty()
        });
        Ok(last.is_some_and(|last| !is_of_all_rows(first_step(last.input()))))
    })
}

fn is_of_all_rows(first: Option<&AggregateExec>) -> bool {
    first.is_none_or(|first| first.filter_expr().iter().all(Option::is_none))
}

/// The step whose results the last one puts together.
fn first_step(mut input: &Arc<dyn ExecutionPlan>) -> Option<&AggregateExec> {
    loop {
        if let Some(aggregate) = input.downcast_ref::<AggregateExec>() {
            return Some(aggregate);
        }
        match input.children().as_slice() {
            [child] => input = child,
            _ => return None,
        }
    }
}
