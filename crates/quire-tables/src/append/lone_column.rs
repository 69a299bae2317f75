//! One column of a row group whose other columns are stored already.

use arrow_array::RecordBatch;
use quire_format::distinct_sketch::DistinctSketch;
use quire_format::row_group::ColumnChunk;
use quire_format::segment::ChooseOptions;

use super::column_values::ColumnValues;
use super::cutter::RowGroupRows;
use super::encode::{encode_alone, encode_error, input_of, unwritten_chunk};
use super::statistics::statistics;
use crate::definition::ColumnDefinition;
use crate::error::TableAppendError;

/// A column of a row group, encoded by itself and not yet written.
#[derive(Clone)]
pub(crate) struct LoneColumn {
    /// Without pages and without relation.
    pub(crate) chunk: ColumnChunk,
    pub(crate) segment: Vec<u8>,
    pub(crate) sketch: DistinctSketch,
}

/// Encodes the only column of `batches`, which are the rows of a row group and have values that `column` can hold.
///
/// # Errors
/// Its text passes 4 GiB, or the codec that the user asked for cannot hold the values.
pub(crate) fn encode_lone_column(
    column: &ColumnDefinition,
    batches: Vec<RecordBatch>,
) -> Result<LoneColumn, TableAppendError> {
    let rows = RowGroupRows::alone(batches);
    let values = ColumnValues::collect(column.sql_type, &rows.batches, 0)
        .ok_or_else(|| encode_error(column, "its text passes 4 GiB in one row group"))?;
    let statistics = statistics(&values, column.sql_type.is_text());
    let input = input_of(&values, &rows);
    let encoded = encode_alone(column, &rows, 0, ChooseOptions::default(), &input)
        .map_err(|error| encode_error(column, error))?;
    Ok(LoneColumn {
        chunk: unwritten_chunk(column, &encoded, statistics.zone, statistics.group_zones),
        segment: encoded.segment,
        sketch: statistics.sketch,
    })
}
