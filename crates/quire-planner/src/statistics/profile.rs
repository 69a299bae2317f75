//! Sizes and value distributions of a table, or of what a filter leaves of it.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{DataType, Schema};
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, ScalarValue, Statistics};
use datafusion::logical_expr::Expr;
use quire_tables::{ColumnTable, distinct_drawn};

use super::column_profile::ColumnProfile;
use super::selectivity::{narrowed, selectivity};

/// Bytes of the key of a row as an element of an Arrow array.
const ROW_KEY_BYTES: f64 = 16.0;

/// Rows and columns, by position and by name.
#[derive(Debug, Clone)]
pub struct TableProfile {
    pub(crate) row_count: f64,
    /// Whether `row_count` and the bounds are counted, not guessed.
    is_exact: bool,
    columns: Vec<ColumnProfile>,
    positions: Arc<HashMap<String, usize>>,
}

impl TableProfile {
    /// `columns` are those of the schema, in its order.
    pub(super) fn new(
        row_count: f64,
        is_exact: bool,
        columns: Vec<ColumnProfile>,
        schema: &Schema,
    ) -> Self {
        let names = schema.fields().iter().map(|field| field.name().clone());
        Self {
            row_count,
            is_exact,
            columns,
            positions: Arc::new(names.zip(0..).collect()),
        }
    }

    /// What the table's own statistics say. Of a table with changes they are those of its row groups.
    pub(crate) fn of_table(table: &ColumnTable) -> Self {
        let schema = table.arrow_schema();
        let stored = table.stored_row_count();
        // What cannot be read is found by the scan.
        let is_exact = !table.is_changed().unwrap_or(true);
        let rows = if is_exact {
            stored
        } else {
            table.row_count_estimate().unwrap_or(stored)
        };
        let column = |(index, field): (usize, &Arc<datafusion::arrow::datatypes::Field>)| {
            column_profile(table, index, field.data_type(), stored)
        };
        let columns = schema.fields().iter().enumerate().map(column).collect();
        Self::new(rows as f64, is_exact, columns, schema)
    }

    /// The column called `name`.
    pub(crate) fn column(&self, name: &str) -> Option<&ColumnProfile> {
        self.columns.get(*self.positions.get(name)?)
    }

    /// What the conjunction of `filters` leaves.
    pub(crate) fn filtered(&self, filters: &[Expr]) -> Self {
        let kept = selectivity(filters, &|column| self.column(&column.name));
        let row_count = (self.row_count * kept).max(1.0).min(self.row_count);
        let positions = &self.positions;
        let mut columns = self.columns.clone();
        for (name, index) in positions.iter() {
            let column = &mut columns[*index];
            let left = narrowed(filters, name, column);
            column.distinct_count = distinct_drawn(left, self.row_count, row_count);
            column.null_count = (column.null_fraction * row_count) as u64;
            column.bounds_are_exact = false;
        }
        Self {
            row_count,
            is_exact: false,
            columns,
            positions: Arc::clone(positions),
        }
    }

    /// Bytes of the rows with only these columns, as Arrow arrays.
    pub(crate) fn bytes_of(&self, projection: &[usize]) -> Precision<usize> {
        let row_bytes: f64 = projection
            .iter()
            .map(|index| {
                let column = self.columns.get(*index);
                column.map_or(ROW_KEY_BYTES, |column| column.value_bytes)
            })
            .sum();
        Precision::Inexact((self.row_count * row_bytes) as usize)
    }

    /// The same as DataFusion's operators want it. Of columns of `schema` that the table does not have nothing is known.
    pub(crate) fn to_statistics(&self, schema: &Schema) -> Statistics {
        let rows = self.row_count as usize;
        let count = |value: usize| {
            if self.is_exact {
                Precision::Exact(value)
            } else {
                Precision::Inexact(value)
            }
        };
        let column_statistics = self
            .columns
            .iter()
            .zip(schema.fields())
            .map(|(column, field)| {
                // MIN and MAX are answered from exact bounds; a float's may hide a NaN.
                let is_exact =
                    self.is_exact && column.bounds_are_exact && !field.data_type().is_floating();
                let bound = |value: &Option<ScalarValue>| match value {
                    Some(value) if is_exact => Precision::Exact(value.clone()),
                    Some(value) => Precision::Inexact(value.clone()),
                    None => Precision::Absent,
                };
                ColumnStatistics {
                    null_count: count(column.null_count as usize),
                    min_value: bound(&column.min),
                    max_value: bound(&column.max),
                    sum_value: Precision::Absent,
                    distinct_count: Precision::Inexact(column.distinct_count as usize),
                    byte_size: Precision::Inexact((column.value_bytes * self.row_count) as usize),
                }
            });
        let mut column_statistics: Vec<ColumnStatistics> = column_statistics.collect();
        column_statistics.resize_with(schema.fields().len(), ColumnStatistics::new_unknown);
        Statistics {
            num_rows: count(rows),
            total_byte_size: Precision::Absent,
            column_statistics,
        }
    }
}

fn column_profile(
    table: &ColumnTable,
    index: usize,
    data_type: &DataType,
    rows: u64,
) -> ColumnProfile {
    let Some(known) = table.statistics(index) else {
        return ColumnProfile {
            distinct_count: rows as f64,
            null_fraction: 0.0,
            null_count: 0,
            min: None,
            max: None,
            bounds_are_exact: false,
            value_bytes: 8.0,
            kept_bytes: 8.0,
        };
    };
    let scalar = |array: Option<ArrayRef>| ScalarValue::try_from_array(&array?, 0).ok();
    let bound = |value: &Option<_>| scalar(table.scalar_array(index, value.as_ref()?));
    let value_bytes = value_bytes(data_type, known.raw_bytes, rows);
    ColumnProfile {
        distinct_count: (known.distinct_estimate as f64).max(1.0),
        null_fraction: if rows == 0 {
            0.0
        } else {
            known.null_count as f64 / rows as f64
        },
        null_count: known.null_count,
        min: bound(&known.min),
        max: bound(&known.max),
        bounds_are_exact: known.min_exact && known.max_exact,
        value_bytes,
        kept_bytes: value_bytes,
    }
}

pub(super) fn value_bytes(data_type: &DataType, raw_bytes: u64, rows: u64) -> f64 {
    /// A string view refers to its text with this many bytes, which hold short text themselves.
    const VIEW_BYTES: f64 = 16.0;
    let average = if rows == 0 {
        0.0
    } else {
        raw_bytes as f64 / rows as f64
    };
    match data_type.primitive_width() {
        Some(bytes) => bytes as f64,
        None if matches!(data_type, DataType::Boolean) => 0.125,
        None if average <= 12.0 => VIEW_BYTES,
        None => VIEW_BYTES + average,
    }
}
