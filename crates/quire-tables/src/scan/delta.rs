//! A reader in a range of the delta: rows of a row table with the columns and predicates of the scan.

use std::collections::BTreeSet;

use arrow_array::{BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_schema::SchemaRef;
use arrow_select::filter::filter_record_batch;
use quire_kv::btree::Direction;

use super::SharedTableScan;
use super::piece::ScanPiece;
use crate::error::ScanError;
use crate::rows::{RowScan, RowScanOptions, RowTable, ScanRowSource};

/// Fewer rows than this are read by one reader.
const PART_ROWS: u64 = 16 * 1024;

/// Ranges of the delta for up to that many readers.
pub(super) fn parts(delta: &RowTable, readers: usize) -> Result<Vec<ScanRowSource>, ScanError> {
    let all = ScanRowSource::all();
    if readers == 1 {
        return Ok(vec![all]);
    }
    let useful = delta.estimate(&all)?.div_ceil(PART_ROWS).max(1);
    let count = usize::try_from(useful).map_or(readers, |useful| useful.min(readers));
    Ok(delta.divided(&all, count)?)
}

/// The rows of one range.
pub(super) struct DeltaReader {
    rows: RowScan,
    /// Columns of the batches, as indices into the table, the number of columns for the key of the row.
    columns: Vec<usize>,
}

impl DeltaReader {
    pub(super) fn new(scan: &SharedTableScan, source: ScanRowSource) -> Result<Self, ScanError> {
        let Some(delta) = scan.table.delta() else {
            let table = scan.table.definition().name.clone();
            let what = "it has no delta".to_owned();
            return Err(ScanError::Batch { table, what });
        };
        let predicates = scan.options.predicates.iter();
        let read = predicates.flat_map(|predicate| predicate.columns());
        let columns: BTreeSet<usize> = read.chain(&scan.options.projection).copied().collect();
        let row_key = scan.table.definition().columns.len();
        let columns: Vec<usize> = columns.into_iter().collect();
        let rows = delta.scan(&RowScanOptions {
            projection: columns
                .iter()
                .copied()
                .filter(|one| *one != row_key)
                .collect(),
            with_row_key: columns.last() == Some(&row_key),
            source,
            direction: Direction::Forward,
            batch_rows: scan.options.batch_rows,
        })?;
        Ok(Self { rows, columns })
    }

    /// The next rows that satisfy the predicates.
    pub(super) fn next_batch(&mut self, scan: &SharedTableScan) -> Result<ScanPiece, ScanError> {
        if scan.limit_reached() {
            return Ok(ScanPiece::End);
        }
        let Some(mut batch) = self.rows.next_batch()? else {
            return Ok(ScanPiece::End);
        };
        scan.note_read(batch.num_rows() as u64, 0);
        let predicates = scan.options.predicates.iter();
        for (predicate, schema) in predicates.zip(&scan.predicate_schemas) {
            let shown = self.project(scan, &batch, predicate.columns(), schema)?;
            let kept = predicate.evaluate(&shown).map_err(ScanError::Predicate)?;
            batch = filtered(scan, &batch, &kept)?;
            if batch.num_rows() == 0 {
                return Ok(ScanPiece::Nothing);
            }
        }
        let count = scan.reserve_rows(batch.num_rows());
        let batch = batch.slice(0, count);
        if count == 0 {
            return Ok(ScanPiece::Nothing);
        }
        let projection = &scan.options.projection;
        let batch = self.project(scan, &batch, projection, &scan.schema)?;
        Ok(ScanPiece::Rows(batch))
    }

    /// Some columns of a batch.
    fn project(
        &self,
        scan: &SharedTableScan,
        batch: &RecordBatch,
        columns: &[usize],
        schema: &SchemaRef,
    ) -> Result<RecordBatch, ScanError> {
        let place = |column: &usize| self.columns.binary_search(column).ok();
        let arrays = columns.iter().filter_map(place);
        let arrays = arrays.map(|place| batch.column(place).clone()).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(schema.clone(), arrays, &options)
            .map_err(|error| failed(scan, &error))
    }
}

fn filtered(
    scan: &SharedTableScan,
    batch: &RecordBatch,
    kept: &BooleanArray,
) -> Result<RecordBatch, ScanError> {
    if kept.len() != batch.num_rows() {
        let what = "predicate returned a wrong number of rows".to_owned();
        return Err(ScanError::Predicate(what));
    }
    filter_record_batch(batch, kept).map_err(|error| failed(scan, &error))
}

fn failed(scan: &SharedTableScan, error: &arrow_schema::ArrowError) -> ScanError {
    ScanError::Batch {
        table: scan.table.definition().name.clone(),
        what: error.to_string(),
    }
}
