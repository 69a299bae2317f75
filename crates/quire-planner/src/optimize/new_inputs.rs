//! Operators over other inputs.

use std::sync::Arc;

use datafusion::common::{Result, internal_err};
use datafusion::physical_plan::execution_plan::ChildrenPropertiesMode;
use datafusion::physical_plan::scalar_subquery::ScalarSubqueryExec;
use datafusion::physical_plan::{ExecutionPlan, ReplaceChildrenOptions};

/// The operator over these inputs. What it promises of its rows is found anew, because the inputs may promise something else.
pub(super) fn with_inputs(
    plan: Arc<dyn ExecutionPlan>,
    inputs: Vec<Arc<dyn ExecutionPlan>>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
    plan.replace_children(inputs, options)
}

/// The input that the rows of the operator come from: its only one, or the one beside the scalar subqueries of a statement.
pub(super) fn main_input(plan: &Arc<dyn ExecutionPlan>) -> Option<&Arc<dyn ExecutionPlan>> {
    let inputs = plan.children();
    let has_main_input = inputs.len() == 1 || plan.is::<ScalarSubqueryExec>();
    inputs.into_iter().next().filter(|_| has_main_input)
}

/// The operator over another [`main_input`].
pub(super) fn with_main_input(
    plan: Arc<dyn ExecutionPlan>,
    input: Arc<dyn ExecutionPlan>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let mut inputs: Vec<_> = plan.children().into_iter().map(Arc::clone).collect();
    match inputs.first_mut() {
        Some(first) => *first = input,
        None => return internal_err!("{} has no input", plan.name()),
    }
    with_inputs(plan, inputs)
}
