//! One row group into segments and metadata pages.

use std::sync::Arc;

use quire_codec::EncodeError;
use quire_format::distinct_sketch::DistinctSketch;
use quire_format::row_group::{ColumnChunk, RowGroup};
use quire_format::segment::{ChooseOptions, SegmentInput, choose_and_encode};
use quire_format::table_root::RowGroupPointer;
use quire_store::PageKind;

use super::column_values::ColumnValues;
use super::cutter::RowGroupRows;
use super::statistics::statistics;
use crate::definition::{ColumnDefinition, TableDefinition};
use crate::error::AppendError;
use crate::pages::TransactionPages;

/// Encodes the row groups of one append.
pub(super) struct Encoder {
    pub(super) definition: Arc<TableDefinition>,
    pages: Arc<TransactionPages>,
}

/// A column of a row group, written.
pub(super) struct EncodedColumn {
    chunk: ColumnChunk,
    sketch: DistinctSketch,
}

/// A row group, written.
pub(super) struct EncodedRowGroup {
    pub(super) pointer: RowGroupPointer,
    pub(super) row_group: Arc<RowGroup>,
    /// One per column.
    pub(super) sketches: Vec<DistinctSketch>,
}

impl Encoder {
    pub(super) fn new(definition: Arc<TableDefinition>, pages: Arc<TransactionPages>) -> Self {
        Encoder { definition, pages }
    }

    /// Encodes and writes all columns of a row group, then its metadata.
    pub(super) fn encode_row_group(
        &self,
        rows: &RowGroupRows,
    ) -> Result<EncodedRowGroup, AppendError> {
        let columns = 0..self.definition.columns.len();
        let columns = columns.map(|column| self.encode_column(rows, column));
        self.write_row_group(rows.row_count, columns.collect::<Result<Vec<_>, _>>()?)
    }

    /// Encodes and writes one column of a row group.
    pub(super) fn encode_column(
        &self,
        rows: &RowGroupRows,
        index: usize,
    ) -> Result<EncodedColumn, AppendError> {
        let column = &self.definition.columns[index];
        let values = ColumnValues::collect(column.sql_type, &rows.batches, index)
            .ok_or_else(|| encode_error(column, "its text passes 4 GiB in one row group"))?;
        let statistics = statistics(&values, column.sql_type.is_text());
        let input = SegmentInput {
            values: values.values(),
            validity: values.validity.as_deref(),
        };
        assert_eq!(
            input.values.len(),
            rows.row_count,
            "a column has the rows of its row group"
        );
        let options = ChooseOptions {
            forced: column.compression,
            ..ChooseOptions::default()
        };
        let (choice, segment) = match choose_and_encode(&input, &options) {
            // Not every row group of a column declared constant need be.
            Err(EncodeError::NotConstant) => choose_and_encode(
                &input,
                &ChooseOptions {
                    forced: None,
                    ..options
                },
            ),
            result => result,
        }
        .map_err(|error| encode_error(column, error))?;
        let chunk = ColumnChunk {
            physical_type: column.sql_type.physical_type(),
            codec: choice.codec,
            pages: self.pages.write(PageKind::Segment, &segment)?,
            encoded_bytes: segment.len() as u64,
            raw_bytes: choice.raw_bytes as u64,
            estimated_bytes: choice.estimated_bytes as u64,
            runner_up: choice.runner_up.map(|(codec, bytes)| (codec, bytes as u64)),
            zone: statistics.zone,
            group_zones: statistics.group_zones,
        };
        Ok(EncodedColumn {
            chunk,
            sketch: statistics.sketch,
        })
    }

    /// Writes the metadata of a row group whose columns are written.
    pub(super) fn write_row_group(
        &self,
        row_count: usize,
        columns: Vec<EncodedColumn>,
    ) -> Result<EncodedRowGroup, AppendError> {
        let (columns, sketches) = columns
            .into_iter()
            .map(|column| (column.chunk, column.sketch))
            .unzip();
        let row_group = RowGroup {
            row_count: row_count as u64,
            columns,
        };
        let pages = self.pages.write(PageKind::RowGroup, &row_group.encode())?;
        let pointer = RowGroupPointer {
            row_count: row_group.row_count,
            pages,
        };
        Ok(EncodedRowGroup {
            pointer,
            row_group: Arc::new(row_group),
            sketches,
        })
    }
}

fn encode_error(column: &ColumnDefinition, what: impl ToString) -> AppendError {
    AppendError::Encode {
        column: column.name.clone(),
        what: what.to_string(),
    }
}
