//! Merges of sorted inputs in place of hash joins.

use std::sync::Arc;

use datafusion::arrow::compute::SortOptions;
use datafusion::common::Result;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::projection::ProjectionExpr;
use datafusion::physical_expr::{LexOrdering, PhysicalExpr, PhysicalSortExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::joins::{HashJoinExec, SortMergeJoinExec};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::sorts::sort::SortExec;

/// The join of inputs of one partition each, which are sorted for it.
pub(super) fn sorted_join(
    join: &HashJoinExec,
    left: Arc<dyn ExecutionPlan>,
    right: Arc<dyn ExecutionPlan>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let (left_keys, right_keys): (Vec<_>, Vec<_>) = join.on().iter().cloned().unzip();
    let children = vec![sorted(left, left_keys), sorted(right, right_keys)];
    let join = join.builder().recompute_properties();
    merge_join(&join.with_new_children(children)?.build()?)
}

fn sorted(
    input: Arc<dyn ExecutionPlan>,
    keys: Vec<Arc<dyn PhysicalExpr>>,
) -> Arc<dyn ExecutionPlan> {
    let order = |key| PhysicalSortExpr::new(key, SortOptions::default());
    match LexOrdering::new(keys.into_iter().map(order)) {
        Some(ordering) => Arc::new(SortExec::new(ordering, input)),
        None => input,
    }
}

/// The join by sorting both sides. What the hash join left out of its rows is left out above.
pub(super) fn merge_join(join: &HashJoinExec) -> Result<Arc<dyn ExecutionPlan>> {
    let merge: Arc<dyn ExecutionPlan> = Arc::new(SortMergeJoinExec::try_new(
        Arc::clone(join.left()),
        Arc::clone(join.right()),
        join.on().to_vec(),
        join.filter().cloned(),
        *join.join_type(),
        vec![SortOptions::default(); join.on().len()],
        join.null_equality(),
    )?);
    match &join.projection {
        Some(columns) => with_columns(merge, columns),
        None => Ok(merge),
    }
}

fn with_columns(
    input: Arc<dyn ExecutionPlan>,
    columns: &[usize],
) -> Result<Arc<dyn ExecutionPlan>> {
    let schema = input.schema();
    let picked = columns.iter().map(|index| {
        let name = schema.field(*index).name();
        ProjectionExpr::new(Arc::new(Column::new(name, *index)), name.clone())
    });
    let picked = picked.collect::<Vec<_>>();
    Ok(Arc::new(ProjectionExec::try_new(picked, input)?))
}
