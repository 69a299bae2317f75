//! `OFFSET` counts rows in the order below it.
//!
//! DataFusion puts the sort of `SELECT * FROM (… ORDER BY a OFFSET 1) ORDER BY a DESC` below the limit, so that other rows would be left out. Where the
//! orders agree it leaves one sort, and lets it keep as many rows as the limit gives, without those that are passed over before. A
//! limit with an offset gets [`FixedOrder`] above it, below which no sort goes, and no number of rows. It goes below a select list that leaves
//! out the keys of the order.

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::physical_expr_common::sort_expr::OrderingRequirements;
use datafusion::physical_plan::limit::GlobalLimitExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::scalar_subquery::ScalarSubqueryExec;
use datafusion::physical_plan::{ExecutionPlan, ExecutionPlanProperties};

use super::new_inputs::with_inputs;
use super::passed_rows::{PassedRows, RowPassing};
use super::promises::Unpromised;

/// The plan with limits that no sort goes below. No sort can come to be above the plan's own limit, if that is its outermost operator, but for the
/// select list and scalar subqueries.
pub(super) fn fixed_offsets(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let below_main = if plan.is::<ProjectionExec>() || plan.is::<ScalarSubqueryExec>() {
        fixed_offsets
    } else if is_offset(&plan) {
        fixed
    } else {
        return fixed(plan);
    };
    let inputs = plan.children().into_iter().map(Arc::clone).enumerate();
    let inputs = inputs.map(|(number, input)| match number {
        0 => below_main(input),
        // Of a scalar subquery.
        _ => fixed(input),
    });
    let inputs = inputs.collect::<Result<_>>()?;
    let plan = with_inputs(plan, inputs)?;
    match limit_of_hidden_order(&plan) {
        Some(limit) => below_select_list(limit, limit.input(), &Ok),
        None => Ok(plan),
    }
}

fn is_offset(plan: &Arc<dyn ExecutionPlan>) -> bool {
    plan.downcast_ref::<GlobalLimitExec>()
        .is_some_and(|limit| limit.skip() > 0)
}

fn fixed(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let fix = |limit| FixedOrder.over(limit);
    let fixed = plan.transform_up(|node| {
        if let Some(limit) = limit_of_hidden_order(&node) {
            let plan = below_select_list(limit, limit.input(), &fix)?;
            return Ok(Transformed::yes(plan));
        }
        Ok(if is_offset(&node) {
            Transformed::yes(fix(node)?)
        } else {
            Transformed::no(node)
        })
    })?;
    Ok(fixed.data)
}

/// The operator as a limit with an offset of rows whose order its select list leaves out, as that of
/// `SELECT DISTINCT ON (a) b … ORDER BY a OFFSET 1` does. Nobody would ask for such an order, and the sort would go.
fn limit_of_hidden_order(plan: &Arc<dyn ExecutionPlan>) -> Option<&GlobalLimitExec> {
    let limit = plan.downcast_ref::<GlobalLimitExec>();
    let limit = limit.filter(|limit| limit.skip() > 0)?;
    let mut input = limit.input();
    while let Some(below) = row_by_row(input) {
        if input.output_ordering().is_none() && below.output_ordering().is_some() {
            return Some(limit);
        }
        input = below;
    }
    None
}

/// Puts the limit, as `fix` makes it, below the operators that make one row of each.
fn below_select_list(
    limit: &GlobalLimitExec,
    input: &Arc<dyn ExecutionPlan>,
    fix: &dyn Fn(Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let Some(below) = row_by_row(input) else {
        let input = Arc::clone(input);
        let limit = GlobalLimitExec::new(input, limit.skip(), limit.fetch());
        return fix(Arc::new(limit));
    };
    let below = below_select_list(limit, below, fix)?;
    with_inputs(Arc::clone(input), vec![below])
}

/// The input of an operator that makes one row of each, in their order.
fn row_by_row(plan: &Arc<dyn ExecutionPlan>) -> Option<&Arc<dyn ExecutionPlan>> {
    let is_select_list = plan.is::<ProjectionExec>() || plan.is::<Unpromised>();
    let input = plan.children().into_iter().next();
    input.filter(|_| is_select_list)
}

/// Rows in the order in which they come. The order below is asked for here; that it is kept for those above, nobody is to know.
#[derive(Debug)]
struct FixedOrder;

impl RowPassing for FixedOrder {
    const NAME: &'static str = "FixedOrder";
    const WANTS_PARTITIONS: bool = false;

    fn over(&self, input: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
        let properties = Arc::clone(input.properties());
        Ok(Arc::new(PassedRows::new(input, Self, properties)))
    }

    fn required_order(&self, input: &Arc<dyn ExecutionPlan>) -> Option<OrderingRequirements> {
        let order = input.output_ordering();
        order.cloned().map(OrderingRequirements::from)
    }
}
