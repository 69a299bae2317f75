//! Window functions along rows that come sorted by partition keys and order keys.
//!
//! DataFusion evaluates each partition by itself, and a running frame row by row: a slice of the arguments, a call of the accumulator and a
//! scalar for each. Here the places where partitions and peer groups begin are found once for a batch, by comparing neighbouring rows of
//! whole columns, and each function goes along the batch in one loop. Its state goes on with the next batch, so a running frame needs no
//! row twice. Only rows whose result is not known yet are kept: those of the current partition below a function of whole partitions, and of the
//! current peer group below one whose frame ends with it.
//!
//! A function without such a state ([`calls`]) is computed by DataFusion, of the rows of a partition as soon as they are complete. Where they may not fit into
//! memory and DataFusion's operator needs only some of them at a time, as `lag` does, the window stays with that.

mod calls;
mod exec;
mod held_rows;
mod ranks;
mod results;
mod rows;
mod spans;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use datafusion::common::Result;
use datafusion::physical_expr::window::WindowExpr;
use datafusion::physical_plan::windows::{BoundedWindowAggExec, WindowAggExec};
use datafusion::physical_plan::{ExecutionPlan, InputOrderMode};

pub(super) use exec::SortedWindowsExec;

use calls::WindowCall;

use super::bounded::{Holding, is_large};

/// What takes the place of a window; `None` if it stays.
pub(super) fn sorted_windows(
    plan: &Arc<dyn ExecutionPlan>,
    holding: Holding,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(functions) = functions_along_rows(plan) else {
        return Ok(None);
    };
    let Some(input) = plan.children().into_iter().next() else {
        return Ok(None);
    };
    let schema = input.schema();
    let calls = functions
        .iter()
        .map(|function| WindowCall::of(function, &schema));
    let calls = calls.collect::<Result<Vec<_>>>()?;
    let streams = plan.is::<BoundedWindowAggExec>();
    if streams && calls.iter().any(WindowCall::keeps_partitions) && is_large(input, holding) {
        return Ok(None);
    }
    let windows = SortedWindowsExec::new(Arc::clone(plan), functions, calls);
    Ok(windows.map(|windows| Arc::new(windows) as _))
}

/// The functions of a window whose input has each partition together, if they have the same keys.
fn functions_along_rows(plan: &Arc<dyn ExecutionPlan>) -> Option<&[Arc<dyn WindowExpr>]> {
    let (functions, sorted_keys) = if let Some(window) = plan.downcast_ref::<WindowAggExec>() {
        (window.window_expr(), window.partition_by_sort_keys())
    } else {
        let window = plan.downcast_ref::<BoundedWindowAggExec>()?;
        let is_sorted = window.input_order_mode == InputOrderMode::Sorted;
        if !is_sorted || window.state_observer().is_some() {
            return None;
        }
        (window.window_expr(), window.partition_by_sort_keys())
    };
    let first = functions.first()?;
    let is_sorted = sorted_keys.is_ok_and(|keys| keys.len() == first.partition_by().len());
    let have_same_keys = functions.iter().all(|function| {
        function.partition_by() == first.partition_by() && function.order_by() == first.order_by()
    });
    (is_sorted && have_same_keys).then_some(functions)
}
