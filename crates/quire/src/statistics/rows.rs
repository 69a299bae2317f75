//! What is known of a row table: its keys, the number of its rows, and the samples of `ANALYZE`.

use std::collections::BTreeSet;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use quire_engine::{ColumnSample, RowTable};

use super::profile::{ColumnProfile, TableProfile, value_bytes};

/// Distinct values of a column of which nothing is known.
const UNKNOWN_DISTINCT: f64 = 200.0;

/// Share of distinct values from which on a column is believed to get new ones with new rows.
const GROWING_SHARE: f64 = 0.1;

impl TableProfile {
    /// What keys and samples say. The number of rows is that of today; shares are those of the sample.
    pub(crate) fn of_rows(table: &RowTable, samples: &[(usize, ColumnSample)]) -> Self {
        let row_count = table.row_count_estimate().unwrap_or_default() as f64;
        let unique = unique_columns(table);
        let schema = table.arrow_schema();
        let columns = table.definition().visible_columns().zip(schema.fields());
        let columns = columns.map(|((ordinal, _), field)| {
            let sample = samples.iter().find(|(known, _)| *known == ordinal);
            let mut profile = match sample {
                Some((_, sample)) => of_sample(table, ordinal, sample, field.data_type()),
                None => unknown(field.data_type()),
            };
            let sampled_rows = sample.map_or(row_count, |(_, sample)| sample.row_count as f64);
            if unique.contains(&ordinal) {
                profile.distinct_count = row_count;
            } else if profile.distinct_count > sampled_rows * GROWING_SHARE {
                profile.distinct_count *= row_count / sampled_rows.max(1.0);
            }
            profile.distinct_count = profile.distinct_count.min(row_count).max(1.0);
            profile.null_count = (profile.null_fraction * row_count) as u64;
            profile
        });
        Self::new(row_count, false, columns.collect(), schema)
    }
}

/// Columns that have another value in each row.
fn unique_columns(table: &RowTable) -> BTreeSet<usize> {
    let definition = table.definition();
    let indexes = definition.indexes.iter().filter(|index| index.is_unique);
    let keys = definition
        .primary_key
        .iter()
        .chain(indexes.map(|index| &index.key));
    keys.filter_map(|key| match key.columns.as_slice() {
        [part] => Some(part.column),
        _ => None,
    })
    .collect()
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
        distinct_count: sample.distinct_estimate as f64,
        null_fraction: match read {
            0 => 0.0,
            _ => sample.zone.null_count as f64 / read as f64,
        },
        null_count: 0,
        min: bound(&sample.zone.min),
        max: bound(&sample.zone.max),
        bounds_are_exact: false,
        value_bytes: value_bytes(data_type, sample.value_bytes, read),
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
    }
}
