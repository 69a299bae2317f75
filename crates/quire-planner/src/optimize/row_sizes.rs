//! About how many bytes the rows of an operator take in memory.

use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::common::Statistics;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};

/// A text, or another value without a fixed size: its place, and some bytes behind it.
const VARIABLE_BYTES: usize = 40;

/// What is known about the rows that `plan` gives.
pub(super) struct RowSizes {
    /// Nothing if not even a guess is known.
    pub(super) row_count: Option<usize>,
    pub(super) row_bytes: usize,
    /// What the types alone tell of a row.
    type_bytes: usize,
}

impl RowSizes {
    pub(super) fn of(plan: &dyn ExecutionPlan) -> Self {
        let known = StatisticsContext::new().compute(plan, &StatisticsArgs::new());
        let row_count = known.as_ref().ok().and_then(|it| row_count(it));
        let by_types = bytes_by_types(&plan.schema());
        let by_values = known.ok().and_then(|it| bytes_by_values(&it));
        Self {
            row_count,
            row_bytes: by_values.map_or(by_types, |bytes| bytes.max(by_types)),
            type_bytes: by_types,
        }
    }

    /// All rows by their number and types, whatever is said of their bytes.
    pub(super) fn bytes_by_types(&self) -> Option<usize> {
        let row_count = self.row_count?;
        Some(row_count.saturating_mul(self.type_bytes))
    }
}

fn row_count(statistics: &Statistics) -> Option<usize> {
    statistics.num_rows.get_value().copied()
}

fn bytes_by_values(statistics: &Statistics) -> Option<usize> {
    let bytes = *statistics.total_byte_size.get_value()?;
    bytes.checked_div(row_count(statistics)?)
}

fn bytes_by_types(schema: &Schema) -> usize {
    let types = schema.fields().iter().map(|field| field.data_type());
    types.map(value_bytes).sum()
}

/// A value of which nothing but its type is known.
pub(super) fn value_bytes(data_type: &DataType) -> usize {
    match data_type {
        DataType::Boolean => 1,
        other => other.primitive_width().unwrap_or(VARIABLE_BYTES),
    }
}
