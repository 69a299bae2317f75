//! What some rows of a row table say of its columns: `ANALYZE`.
//!
//! Up to [`SAMPLE_LEAVES`] leaves are read, at equal distances in the order of the keys. Neighbours are often alike, so only every
//! [`STRIDE`]-th row of a leaf counts for distinct values. Their number in the whole table follows from those that were met, and
//! those that were met once: P. Haas, J. Naughton, S. Seshadri, L. Stokes, *Sampling-Based Estimation of the Number of
//! Distinct Values of an Attribute* (VLDB 1995), the estimator Duj1.

use std::collections::HashMap;

use arrow_array::RecordBatch;
use quire_codec::RowGroupValues;
use quire_format::column_sample::ColumnSample;
use quire_format::distinct_sketch::{hash_bytes, hash_f64, hash_u64, hash_u128};
use quire_format::zone::ZoneBounds;
use quire_kv::btree::Direction;
use quire_kv::progress::StatementWork;

use crate::append::column_values::ColumnValues;
use crate::append::statistics::statistics;
use crate::error::RowScanError;
use crate::rows::{RowScanOptions, RowTable, ScanRowSource};
use crate::types::SqlType;

/// Leaves that are read of a table that has many.
const SAMPLE_LEAVES: usize = 2048;

/// Rows that are read of each of them, at most.
const LEAF_ROWS: usize = 128;

/// Of the rows of a sampled leaf, one of so many counts for distinct values.
const STRIDE: usize = 4;

/// Tables with no more rows are read from end to end.
const WHOLE_ROWS: u64 = 65_536;

const BATCH_ROWS: usize = 8192;

/// Reads some rows, or all of a small table, and says what they say. `work` is told of its pages.
pub(crate) fn take(
    table: &RowTable,
    work: Option<&StatementWork>,
) -> Result<Vec<(usize, ColumnSample)>, RowScanError> {
    let mut reading = Reading::new(work);
    let leaves = table.leaves_by(SAMPLE_LEAVES, &mut |leaf_bytes, all_bytes| {
        reading.note_counted(leaf_bytes, all_bytes);
    })?;
    let row_count = leaves.entries.round() as u64;
    let mut sample = TableSample::new(table);
    let is_whole = row_count <= WHOLE_ROWS;
    if is_whole {
        reading.begin_rows(row_count, reading.counted_bytes);
        sample.read_all(table, &mut reading)?;
    } else {
        let parts = table.divided(&ScanRowSource::all(), SAMPLE_LEAVES)?;
        let part_count = parts.len() as u64;
        reading.begin_rows(part_count, part_count * leaves.page_bytes as u64);
        sample.read_parts(table, parts, &mut reading)?;
    }
    let read_row_count = sample.row_count;
    let row_count = if is_whole {
        read_row_count
    } else {
        row_count.max(read_row_count)
    };
    let finish = |column: SampledColumn| (column.ordinal, column.finish(row_count, read_row_count));
    Ok(sample.columns.into_iter().map(finish).collect())
}

/// What was read of a table.
struct TableSample {
    columns: Vec<SampledColumn>,
    row_count: u64,
}

impl TableSample {
    fn new(table: &RowTable) -> Self {
        let columns = table.definition().visible_columns();
        let columns = columns.map(|(ordinal, column)| SampledColumn::new(ordinal, column.sql_type));
        Self {
            columns: columns.collect(),
            row_count: 0,
        }
    }

    fn read_all(
        &mut self,
        table: &RowTable,
        reading: &mut Reading<'_>,
    ) -> Result<(), RowScanError> {
        let all = ScanRowSource::all();
        let mut scan = table.scan(&options(table, all, BATCH_ROWS))?;
        while let Some(batch) = scan.next_batch()? {
            self.add(&batch, 1);
            let rows = batch.num_rows() as u64;
            reading.note_rows(rows, rows)?;
        }
        Ok(())
    }

    /// Reads the first rows of each part.
    fn read_parts(
        &mut self,
        table: &RowTable,
        parts: Vec<ScanRowSource>,
        reading: &mut Reading<'_>,
    ) -> Result<(), RowScanError> {
        for part in parts {
            let rows_before = self.row_count;
            let mut scan = table.scan(&options(table, part, LEAF_ROWS))?;
            if let Some(batch) = scan.next_batch()? {
                self.add(&batch, STRIDE);
            }
            reading.note_rows(1, self.row_count - rows_before)?;
        }
        Ok(())
    }

    fn add(&mut self, batch: &RecordBatch, stride: usize) {
        self.row_count += batch.num_rows() as u64;
        for (position, column) in self.columns.iter_mut().enumerate() {
            column.add(batch, position, stride);
        }
    }
}

/// Tells how far the reading of samples has come. Leaves are read twice: first to count the rows of the table, then for their values.
struct Reading<'w> {
    work: Option<&'w StatementWork>,
    counted_bytes: u64,
    /// What is left of the second time: steps, and bytes.
    steps_left: u64,
    bytes_left: u64,
}

impl<'w> Reading<'w> {
    fn new(work: Option<&'w StatementWork>) -> Self {
        Self {
            work,
            counted_bytes: 0,
            steps_left: 0,
            bytes_left: 0,
        }
    }

    fn note_counted(&mut self, leaf_bytes: u64, all_bytes: u64) {
        let Some(work) = self.work else { return };
        if self.counted_bytes == 0 {
            work.foresee_left(2 * all_bytes);
        }
        self.counted_bytes += leaf_bytes;
        work.note_read(0, leaf_bytes);
    }

    fn begin_rows(&mut self, steps: u64, bytes: u64) {
        (self.steps_left, self.bytes_left) = (steps, bytes);
        if let Some(work) = self.work {
            work.foresee_left(bytes);
        }
    }

    /// Fails when the statement is to end.
    fn note_rows(&mut self, steps: u64, rows: u64) -> Result<(), RowScanError> {
        let Some(work) = self.work else {
            return Ok(());
        };
        let steps = steps.min(self.steps_left);
        let bytes = self.bytes_left * steps / self.steps_left.max(1);
        self.steps_left -= steps;
        self.bytes_left -= bytes;
        work.note_read(rows, bytes);
        Ok(work.check()?)
    }
}

fn options(table: &RowTable, source: ScanRowSource, batch_rows: usize) -> RowScanOptions {
    RowScanOptions {
        projection: (0..table.arrow_schema().fields().len()).collect(),
        with_row_key: false,
        source,
        direction: Direction::Forward,
        batch_rows,
    }
}

/// What was read of a column.
struct SampledColumn {
    ordinal: usize,
    sql_type: SqlType,
    zone: ZoneBounds,
    /// Values that are not NULL, of those in `zone`.
    value_count: u64,
    value_bytes: u64,
    /// Hash → how often it was met.
    met: HashMap<u64, u32>,
    met_count: u64,
}

impl SampledColumn {
    fn new(ordinal: usize, sql_type: SqlType) -> Self {
        Self {
            ordinal,
            sql_type,
            zone: ZoneBounds::default(),
            value_count: 0,
            value_bytes: 0,
            met: HashMap::new(),
            met_count: 0,
        }
    }

    fn add(&mut self, batch: &RecordBatch, position: usize, stride: usize) {
        let batches = std::slice::from_ref(batch);
        let Some(column) = ColumnValues::collect(self.sql_type, batches, position) else {
            return;
        };
        let zone = statistics(&column, self.sql_type.is_text()).zone;
        let value_count = batch.num_rows() as u64 - zone.null_count;
        self.zone.merge(self.value_count, &zone, value_count);
        self.value_count += value_count;
        let validity = column.validity.as_deref();
        let is_valid =
            |row: &usize| validity.is_none_or(|words| words[row / 64] >> (row % 64) & 1 == 1);
        let rows = (0..batch.num_rows()).step_by(stride).filter(is_valid);
        for hash in rows.map(|row| hash_of(&column.values(), row)) {
            *self.met.entry(hash).or_default() += 1;
            self.met_count += 1;
        }
        let width_bytes = self.sql_type.physical_type().value_bytes();
        self.value_bytes += match (column.values(), width_bytes) {
            (RowGroupValues::Bytes(values), _) => values.data.len() as u64,
            (values, width_bytes) => (values.len() * width_bytes.unwrap_or(0)) as u64,
        };
    }

    fn finish(self, row_count: u64, read_row_count: u64) -> ColumnSample {
        let all = match read_row_count {
            0 => 0,
            // Of all rows, so many are not NULL.
            read => {
                (u128::from(row_count) * u128::from(self.value_count) / u128::from(read)) as u64
            }
        };
        let once = self.met.values().filter(|&&count| count == 1).count() as u64;
        let distinct = self.met.len() as u64;
        ColumnSample {
            row_count,
            read_row_count,
            physical_type: self.sql_type.physical_type(),
            value_bytes: self.value_bytes,
            distinct_estimate: distinct_in_all(distinct, once, self.met_count, all),
            zone: self.zone,
        }
    }
}

/// Distinct values of `all` values, when `drawn` of them had `distinct` different ones, of which `once` were met once: the estimator Duj1
/// (P. Haas et al., VLDB 1995).
#[must_use]
pub fn distinct_in_all(distinct: u64, once: u64, drawn: u64, all: u64) -> u64 {
    if drawn == 0 || drawn >= all {
        return distinct;
    }
    let (drawn, distinct, once) = (drawn as f64, distinct as f64, once as f64);
    let missed = once * (1.0 - drawn / all as f64);
    let estimate = drawn * distinct / (drawn - missed).max(1.0);
    (estimate as u64).clamp(distinct as u64, all)
}

fn hash_of(values: &RowGroupValues<'_>, row: usize) -> u64 {
    match values {
        RowGroupValues::Bool(values) => hash_u64(u64::from(values[row])),
        RowGroupValues::Int16(values) => hash_u64(values[row] as u64),
        RowGroupValues::Int32(values) => hash_u64(values[row] as u64),
        RowGroupValues::Int64(values) => hash_u64(values[row] as u64),
        RowGroupValues::Int128(values) => hash_u128(values[row] as u128),
        RowGroupValues::Float32(values) => hash_f64(f64::from(values[row])),
        RowGroupValues::Float64(values) => hash_f64(values[row]),
        RowGroupValues::Bytes(values) => hash_bytes(values.get(row)),
    }
}

#[cfg(test)]
mod tests {
    use super::distinct_in_all;

    #[test]
    fn an_estimate_lies_between_what_was_met_and_what_there_is() {
        // All rows were drawn.
        assert_eq!(distinct_in_all(7, 2, 100, 100), 7);
        // Nothing was met twice: likely a key.
        assert_eq!(distinct_in_all(1000, 1000, 1000, 1_000_000), 1_000_000);
        // Nothing was met once: likely all there is.
        assert_eq!(distinct_in_all(25, 0, 1000, 1_000_000), 25);
        assert_eq!(distinct_in_all(0, 0, 0, 50), 0);
    }

    #[test]
    fn of_values_that_are_equally_frequent_the_number_is_found() {
        // 1,000,000 rows with 20,000 values, 30,000 rows drawn: a value is met by a Poisson distribution of mean 1.5.
        let (values, mean) = (20_000.0_f64, 1.5_f64);
        let distinct = values * (1.0 - (-mean).exp());
        let once = values * mean * (-mean).exp();
        let estimate = distinct_in_all(distinct as u64, once as u64, 30_000, 1_000_000);
        assert!((18_000..=23_000).contains(&estimate), "{estimate}");
    }
}
