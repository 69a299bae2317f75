//! Sorts where an order is asked for that nothing below promises.
//!
//! DataFusion puts sorts where they are needed and then moves them down. Below a join in a branch of UNION ALL it leaves out a key that is constant
//! there, `NULL` in `SELECT a.x, NULL … UNION ALL SELECT y, z … ORDER BY 1, 2`, and then does not know the order of all branches together: the
//! statement is refused. Such an input is sorted once more.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_expr::LexOrdering;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::ChildrenPropertiesMode;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties, ReplaceChildrenOptions};

/// The rule. It comes behind those that move sorts.
#[derive(Debug)]
pub(super) struct SortedInputs;

impl PhysicalOptimizerRule for SortedInputs {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        Ok(plan.transform_up(with_sorts)?.data)
    }

    fn name(&self) -> &'static str {
        "sorted_inputs"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

fn with_sorts(plan: Arc<dyn ExecutionPlan>) -> Result<Transformed<Arc<dyn ExecutionPlan>>> {
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
        return Ok(Transformed::no(plan));
    }
    let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
    Ok(Transformed::yes(plan.replace_children(inputs, options)?))
}
