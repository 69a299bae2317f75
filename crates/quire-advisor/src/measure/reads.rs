//! Scans and reads of single rows, through the real readers.

use std::sync::Arc;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use quire_kv::btree::Direction;
use quire_tables::{ColumnTable, Predicate, RowScanOptions, RowTable, ScanOptions, ScanRowSource};

use super::budget::Failure;
use super::key_predicate::{KeyPredicate, ProbeValue};
use super::written_table::{PageMemory, WrittenTable};
use crate::sampled_table::SampledTable;

/// Single rows that are read in one round.
const POINT_READS: usize = 100;
const BATCH_ROWS: usize = 8192;

/// The key of one row, as a scan takes it.
type SingleKey = Arc<[Box<[u8]>]>;

/// A table that is read, and the rows that are looked for.
pub(super) enum TableReads {
    Rows {
        table: Arc<RowTable>,
        keys: Vec<SingleKey>,
    },
    Columns {
        table: Arc<ColumnTable>,
        keys: Vec<Arc<dyn Predicate>>,
    },
}

impl TableReads {
    /// Opens the table with nothing in memory, or everything.
    pub(super) fn open(
        written: &WrittenTable,
        sample: &SampledTable,
        memory: PageMemory,
    ) -> Result<Self, Failure> {
        let engine = written.open(memory)?;
        let snapshot = engine.snapshot();
        let name = &written.definition.name;
        if let Some(table) = snapshot.table(name)? {
            let keys = column_keys(sample);
            return Ok(Self::Columns { table, keys });
        }
        let table = snapshot.row_table(name)?;
        let table = table.ok_or("the table that was written is not there")?;
        let keys = row_keys(&table)?;
        Ok(Self::Rows { table, keys })
    }

    /// How many single rows are looked for.
    pub(super) fn point_count(&self) -> usize {
        match self {
            Self::Rows { keys, .. } => keys.len(),
            Self::Columns { keys, .. } => keys.len(),
        }
    }

    /// Reads these columns of all rows. Returns the number of rows.
    pub(super) fn scan(&self, columns: &[usize]) -> Result<u64, Failure> {
        match self {
            Self::Rows { table, .. } => scan_rows(table, columns, ScanRowSource::all()),
            Self::Columns { table, .. } => scan_columns(table, columns, Vec::new()),
        }
    }

    /// Reads all columns of one row, or of several with the same key. Returns their number.
    pub(super) fn point(&self, number: usize) -> Result<u64, Failure> {
        match self {
            Self::Rows { table, keys } => {
                let columns: Vec<usize> = (0..table.arrow_schema().fields().len()).collect();
                scan_rows(
                    table,
                    &columns,
                    ScanRowSource::Keys(Arc::clone(&keys[number])),
                )
            }
            Self::Columns { table, keys } => {
                let columns: Vec<usize> = (0..table.arrow_schema().fields().len()).collect();
                scan_columns(table, &columns, vec![Arc::clone(&keys[number])])
            }
        }
    }
}

fn scan_rows(table: &RowTable, columns: &[usize], source: ScanRowSource) -> Result<u64, Failure> {
    let mut scan = table.scan(&RowScanOptions {
        projection: columns.to_vec(),
        with_row_key: false,
        source,
        direction: Direction::Forward,
        batch_rows: BATCH_ROWS,
    })?;
    let mut rows = 0;
    while let Some(batch) = scan.next_batch()? {
        rows += batch.num_rows() as u64;
    }
    Ok(rows)
}

fn scan_columns(
    table: &Arc<ColumnTable>,
    columns: &[usize],
    predicates: Vec<Arc<dyn Predicate>>,
) -> Result<u64, Failure> {
    let limit = (!predicates.is_empty()).then_some(1);
    let scan = table.scan(ScanOptions {
        projection: columns.to_vec(),
        predicates,
        limit,
        ..ScanOptions::default()
    })?;
    let mut reader = scan.reader();
    let mut rows = 0;
    while let Some(batch) = reader.next()? {
        rows += batch.num_rows() as u64;
    }
    Ok(rows)
}

/// Places from all over `count` things, in a scattered order, none twice.
fn scattered(count: usize) -> impl Iterator<Item = usize> {
    let taken = count.min(POINT_READS);
    // A prime step comes to every place unless it divides their number.
    let step = if taken.is_multiple_of(61) { 1 } else { 61 };
    (0..taken).map(move |number| (number * step % taken) * count / taken)
}

fn row_keys(table: &RowTable) -> Result<Vec<SingleKey>, Failure> {
    let mut scan = table.scan(&RowScanOptions {
        projection: Vec::new(),
        with_row_key: true,
        source: ScanRowSource::all(),
        direction: Direction::Forward,
        batch_rows: BATCH_ROWS,
    })?;
    let mut all: Vec<Box<[u8]>> = Vec::new();
    while let Some(batch) = scan.next_batch()? {
        let keys = batch.columns().last().ok_or("a scan without keys")?;
        let keys = keys.as_binary_view();
        all.extend((0..keys.len()).map(|row| keys.value(row).into()));
    }
    let one = |place: usize| Arc::from([all[place].clone()]);
    Ok(scattered(all.len()).map(one).collect())
}

/// Values of the primary key; without one, of the column with the most distinct values.
fn column_keys(sample: &SampledTable) -> Vec<Arc<dyn Predicate>> {
    let columns = match sample.primary_key.as_slice() {
        [] => vec![sample.most_distinct_column()],
        key => key.to_vec(),
    };
    let rows: Vec<Vec<ProbeValue>> = columns
        .iter()
        .map(|column| sample.values(*column).map(ProbeValue::new).collect())
        .collect();
    let key = |row: usize| {
        let parts = columns.iter().zip(&rows).map(|(&column, values)| {
            let sql_type = sample.columns[column].sql_type;
            (column, sql_type, values[row].clone())
        });
        let key: Arc<dyn Predicate> = Arc::new(KeyPredicate::new(parts.collect()));
        key
    };
    scattered(sample.sampled_rows() as usize).map(key).collect()
}
