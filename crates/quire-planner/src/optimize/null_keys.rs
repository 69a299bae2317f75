//! What grouping sets make of keys that are NULL.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::Schema;
use datafusion::common::Result;
use datafusion::physical_plan::aggregates::{PhysicalGroupBy, evaluate_group_by};

/// For each set a row of NULL in the place of each key, and the number of the set behind these.
pub(super) fn null_keys(group_by: &PhysicalGroupBy) -> Result<Vec<Vec<ArrayRef>>> {
    let nulls = group_by.null_expr().to_vec();
    let of_nulls = PhysicalGroupBy::new(nulls.clone(), nulls, group_by.groups().to_vec(), true);
    let options = RecordBatchOptions::new().with_row_count(Some(1));
    let schema = Arc::new(Schema::empty());
    let row = RecordBatch::try_new_with_options(schema, Vec::new(), &options)?;
    evaluate_group_by(&of_nulls, &row)
}
