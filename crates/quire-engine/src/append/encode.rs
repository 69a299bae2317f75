//! One row group into segments and metadata pages.

use std::sync::Arc;

use quire_codec::{EncodeError, correlated};
use quire_format::distinct_sketch::DistinctSketch;
use quire_format::row_group::{ColumnChunk, RowGroup};
use quire_format::segment::{Choice, ChooseOptions, SegmentInput, choose_and_encode};
use quire_format::table_root::RowGroupPointer;
use quire_store::PageKind;

use super::column_values::ColumnValues;
use super::cutter::RowGroupRows;
use super::references::references;
use super::statistics::statistics;
use crate::definition::{ColumnDefinition, TableDefinition};
use crate::error::AppendError;
use crate::pages::TransactionPages;

/// Size of a column beside its reference, in per cent of what it takes alone, above which it stays alone: whoever
/// reads it reads the reference too.
const REFERENCE_PERCENT_MAX: usize = 85;

/// Encodes the row groups of one append.
pub(super) struct Encoder {
    pub(super) definition: Arc<TableDefinition>,
    pages: Arc<TransactionPages>,
}

/// A column of a row group, not yet written.
struct Encoded {
    choice: Choice,
    segment: Vec<u8>,
    /// The column whose values are to be added.
    reference: Option<usize>,
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
        let input = input_of(&values, rows);
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
        let alone = Encoded {
            choice,
            segment,
            reference: None,
        };
        let encoded = match self.reference_of(rows, index) {
            Some(reference) => self
                .following(rows, reference, &input, alone)
                .map_err(|error| encode_error(column, error))?,
            None => alone,
        };
        let (choice, segment) = (encoded.choice, encoded.segment);
        let chunk = ColumnChunk {
            physical_type: column.sql_type.physical_type(),
            codec: choice.codec,
            pages: self.pages.write(PageKind::Segment, &segment)?,
            encoded_bytes: segment.len() as u64,
            raw_bytes: choice.raw_bytes as u64,
            estimated_bytes: choice.estimated_bytes as u64,
            runner_up: choice.runner_up.map(|(codec, bytes)| (codec, bytes as u64)),
            reference: encoded.reference,
            zone: statistics.zone,
            group_zones: statistics.group_zones,
        };
        Ok(EncodedColumn {
            chunk,
            sketch: statistics.sketch,
        })
    }

    fn reference_of(&self, rows: &RowGroupRows, index: usize) -> Option<usize> {
        let references = || references(&self.definition, rows);
        rows.references.get_or_init(references)[index]
    }

    /// The column as differences from `reference` if that is smaller by much, else as it is alone. The runner-up of
    /// differences is the column alone.
    fn following(
        &self,
        rows: &RowGroupRows,
        reference: usize,
        input: &SegmentInput<'_>,
        alone: Encoded,
    ) -> Result<Encoded, EncodeError> {
        let sql_type = self.definition.columns[reference].sql_type;
        let followed = ColumnValues::collect(sql_type, &rows.batches, reference);
        let differences = followed.and_then(|followed| {
            assert!(followed.validity.is_none(), "a reference has no NULLs");
            correlated::differences(&input.values, &followed.values())
        });
        let Some(differences) = differences else {
            return Ok(alone);
        };
        let input = SegmentInput {
            values: differences.values(),
            validity: input.validity,
        };
        let (mut choice, segment) = choose_and_encode(&input, &ChooseOptions::default())?;
        if segment.len() * 100 > alone.segment.len() * REFERENCE_PERCENT_MAX {
            return Ok(alone);
        }
        choice.runner_up = Some((alone.choice.codec, alone.segment.len()));
        Ok(Encoded {
            choice,
            segment,
            reference: Some(reference),
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

fn input_of<'v>(values: &'v ColumnValues, rows: &RowGroupRows) -> SegmentInput<'v> {
    let input = SegmentInput {
        values: values.values(),
        validity: values.validity.as_deref(),
    };
    let (found, expected) = (input.values.len(), rows.row_count);
    assert_eq!(found, expected, "a column has the rows of its row group");
    input
}

fn encode_error(column: &ColumnDefinition, what: impl ToString) -> AppendError {
    AppendError::Encode {
        column: column.name.clone(),
        what: what.to_string(),
    }
}
