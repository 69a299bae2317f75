//! What all accumulators of groups do alike: which rows they take, and how single rows become states.

use datafusion::arrow::array::{Array, ArrayRef, BooleanArray};
use datafusion::common::Result;
use datafusion::logical_expr::{EmitTo, GroupsAccumulator};

/// Whether `FILTER (WHERE …)` takes a row: a condition that is NULL does not.
pub(crate) fn passes(filter: Option<&BooleanArray>, row: usize) -> bool {
    filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row))
}

/// The states of rows of which each is a group by itself; `empty` has seen nothing yet. Hash aggregation hands them on when it finds that
/// grouping does not make its input smaller.
pub(crate) fn states_of_rows(
    mut empty: impl GroupsAccumulator,
    values: &[ArrayRef],
    filter: Option<&BooleanArray>,
) -> Result<Vec<ArrayRef>> {
    let row_count = values.first().map_or(0, |values| values.len());
    let group_indices: Vec<usize> = (0..row_count).collect();
    empty.update_batch(values, &group_indices, filter, row_count)?;
    empty.state(EmitTo::All)
}
