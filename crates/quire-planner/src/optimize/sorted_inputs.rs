//! Sorts where an order is asked for that nothing below promises.
//!
//! DataFusion puts sorts where they are needed and then moves them down. Below a join in a branch of UNION ALL it leaves out a key that is constant
//! there, `NULL` in `SELECT a.x, NULL … UNION ALL SELECT y, z … ORDER BY 1, 2`, and then does not know the order of all branches together: the
//! statement is refused. Such an input is sorted once more.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::physical_expr::LexOrdering;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};

use super::new_inputs::with_inputs;

/// The operator over inputs in the orders that it asks for; nothing if they are in these already.
pub(super) fn with_sorts(plan: &Arc<dyn ExecutionPlan>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let (mut inputs, mut is_changed) = (Vec::new(), false);
    for (input, wanted) in plan
        .children()
        .into_iter()
        .zip(plan.required_input_ordering())
    {
        let input = Arc::clone(input);
        let Some(wanted) = wanted.map(|wanted| wanted.into_single()) else {
            inputs.push(input);
            continue;
        };
        let known = input.equivalence_properties();
        if known.ordering_satisfy_requirement(wanted.clone())? {
            inputs.push(input);
            continue;
        }
        is_changed = true;
        // The partitions stay as they are.
        let sort = SortExec::new(LexOrdering::from(wanted), input);
        inputs.push(Arc::new(sort.with_preserve_partitioning(true)));
    }
    if !is_changed {
        return Ok(None);
    }
    Ok(Some(with_inputs(Arc::clone(plan), inputs)?))
}
