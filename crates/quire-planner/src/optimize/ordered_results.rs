//! Rows of a statement in its order, also where a select list is evaluated above the sort.
//!
//! DataFusion asks for the order of a statement at the outermost sort. An operator above it that computes gets the rows of the sort spread over
//! all threads, and the batches of the result come as they are ready: `SELECT v, nextval('s') FROM t ORDER BY v LIMIT 25000`, where
//! [`super::late_values`] evaluates the function above the sort. Here the outermost operators read sorted rows as they come.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::physical_expr::Partitioning;
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};

use super::new_inputs::{main_input, with_main_input};

/// The plan whose outermost operators do not spread rows that are in order.
pub(super) fn ordered_results(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    if let Some(sorted) = spread_rows(&plan) {
        return Ok(Arc::clone(sorted));
    }
    let Some(input) = main_input(&plan) else {
        return Ok(plan);
    };
    // Partitions that are put together have an order again once there is one of them.
    let keeps_order =
        plan.maintains_input_order().first() == Some(&true) || plan.is::<CoalescePartitionsExec>();
    if !keeps_order {
        return Ok(plan);
    }
    let ordered = ordered_results(Arc::clone(input))?;
    if Arc::ptr_eq(&ordered, input) {
        return Ok(plan);
    }
    with_main_input(plan, ordered)
}

/// Rows in order, of one partition, that the operator hands out in turn.
fn spread_rows(plan: &Arc<dyn ExecutionPlan>) -> Option<&Arc<dyn ExecutionPlan>> {
    let spread = plan.downcast_ref::<RepartitionExec>()?;
    let is_in_turn = matches!(spread.partitioning(), Partitioning::RoundRobinBatch(_));
    let input = spread.input();
    let is_sorted = input.output_ordering().is_some();
    (is_in_turn && is_sorted && input.output_partitioning().partition_count() == 1).then_some(input)
}
