//! What is known of a row table: its keys, the number of its rows, and the samples of `ANALYZE`.

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use quire_exec::tuple::kept_value_bytes;
use quire_tables::{ColumnSample, RowColumnStatistics, RowTable};

use super::column_profile::ColumnProfile;
use super::profile::{TableProfile, value_bytes};

/// Distinct values of a column of which nothing is known.
const UNKNOWN_DISTINCT: f64 = 200.0;

/// Bytes of a kept value of a table whose statistics cannot be read.
const UNKNOWN_BYTES: f64 = 8.0;

impl TableProfile {
    /// What keys and samples say.
    pub(crate) fn of_rows(table: &RowTable) -> Self {
        // Without them a query is planned worse, but answered.
        let known = table.statistics().ok();
        let row_count = known.as_ref().map_or(0.0, |known| known.row_count);
        let schema = table.arrow_schema();
        let columns = table.definition().visible_columns().zip(schema.fields());
        let columns = columns.map(|((ordinal, _), field)| {
            let column = known.as_ref().and_then(|known| known.column(ordinal));
            let mut profile = match column {
                Some(column) => of_column(table, ordinal, column, field.data_type()),
                None => unknown(field.data_type()),
            };
            profile.distinct_count = profile.distinct_count.min(row_count).max(1.0);
            if let Some(known) = &known {
                profile.kept_bytes = kept_value_bytes(table.layout(), known, ordinal);
            }
            profile.null_count = (profile.null_fraction * row_count) as u64;
            profile
        });
        Self::new(row_count, false, columns.collect(), schema)
    }
}

fn of_column(
    table: &RowTable,
    ordinal: usize,
    column: &RowColumnStatistics,
    data_type: &DataType,
) -> ColumnProfile {
    let profile = match &column.sample {
        Some(sample) => of_sample(table, ordinal, sample, data_type),
        None => unknown(data_type),
    };
    ColumnProfile {
        distinct_count: column.distinct_count,
        null_fraction: column.null_share,
        ..profile
    }
}

fn of_sample(
    table: &RowTable,
    ordinal: usize,
    sample: &ColumnSample,
    data_type: &DataType,
) -> ColumnProfile {
    let read = sample.read_row_count;
    let scalar = |array: Option<ArrayRef>| ScalarValue::try_from_array(&array?, 0).ok();
    let bound = |bound: &Option<_>| scalar(table.scalar_array(ordinal, bound.as_ref()?));
    ColumnProfile {
        distinct_count: UNKNOWN_DISTINCT,
        null_fraction: 0.0,
        null_count: 0,
        min: bound(&sample.zone.min),
        max: bound(&sample.zone.max),
        bounds_are_exact: false,
        value_bytes: value_bytes(data_type, sample.value_bytes, read),
        kept_bytes: UNKNOWN_BYTES,
    }
}

fn unknown(data_type: &DataType) -> ColumnProfile {
    ColumnProfile {
        distinct_count: UNKNOWN_DISTINCT,
        null_fraction: 0.0,
        null_count: 0,
        min: None,
        max: None,
        bounds_are_exact: false,
        value_bytes: value_bytes(data_type, 16, 1),
        kept_bytes: UNKNOWN_BYTES,
    }
}
