//! A table with the rows of a sample in a volume in memory, as the real writers make it.

use std::sync::Arc;
use std::time::Duration;

use arrow_array::RecordBatch;
use quire_kv::mvcc::{MvccOptions, TransactionOptions};
use quire_store::pool::PoolOptions;
use quire_store::{LOG_ROOT_PAGE, MemDisk, OpenMode, Volume, VolumeOptions};
use quire_tables::row_table::{ColumnArray, TupleValue};
use quire_tables::{
    AppendOptions, Engine, EngineOptions, TableDefinition, TableStorage, Transaction, TreeSize,
};

use super::budget::Failure;
use super::clock::AdvisorClock;
use super::stored_columns::{StoredRowGroup, stored_row_groups};

/// By so many rows a load decides how fields are stored (`quire`'s `FILL_ROWS_MIN`).
const FIRST_ROWS: usize = 10_000;
/// Memory of a volume that is to find nothing there: less than a few pages.
const NO_MEMORY_BYTES: usize = 64 << 10;
/// Memory of one that is to find all there.
const ALL_MEMORY_BYTES: usize = 1 << 30;

/// What a reader finds in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PageMemory {
    Nothing,
    Everything,
}

/// What a table takes in its file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StoredSize {
    /// Images of row pages and their dictionaries, or segments and shared dictionaries, in bytes.
    pub(crate) data_bytes: u64,
    /// Everything else: catalog, roots, row groups' metadata, samples of `ANALYZE`, headers of pages, in bytes.
    pub(crate) metadata_bytes: u64,
    /// Row pages; of other tables 0.
    pub(crate) page_count: u64,
    /// The same in memory, in bytes.
    pub(crate) page_memory_bytes: u64,
}

/// A written table.
pub(crate) struct WrittenTable {
    pub(super) file: Vec<u8>,
    pub(super) definition: TableDefinition,
    pub(crate) size: StoredSize,
    /// Row groups; none of a row table.
    pub(crate) row_groups: Vec<StoredRowGroup>,
    /// Time of writing.
    pub(super) write: Duration,
    /// Processor time of writing, by all threads.
    pub(super) write_processor: Duration,
}

fn engine_options(memory_bytes: usize) -> EngineOptions {
    EngineOptions {
        pool: PoolOptions {
            budget_bytes: memory_bytes,
            compression_threads: 0,
            ..PoolOptions::default()
        },
        mvcc: MvccOptions {
            has_background_thread: false,
            // A sample is sorted in memory.
            write_set_bytes: ALL_MEMORY_BYTES,
            ..MvccOptions::default()
        },
        ..EngineOptions::default()
    }
}

/// Writes rows as a table of that definition, and closes its volume.
pub(crate) fn write_table(
    definition: TableDefinition,
    rows: &[RecordBatch],
    clock: &dyn AdvisorClock,
) -> Result<WrittenTable, Failure> {
    let disk = Arc::new(MemDisk::new());
    let volume = Volume::create(disk.clone(), VolumeOptions::default())?;
    let engine = Engine::open_with(volume, engine_options(ALL_MEMORY_BYTES))?;
    let mut transaction = engine.transaction(TransactionOptions::default());
    transaction.define(|tables| tables.create_table(definition.clone()))?;
    transaction.begin_statement();
    let (start, processor_start) = (clock.now(), clock.processor_time());
    if definition.storage == TableStorage::Row {
        fill(&mut transaction, &definition, rows)?;
    } else {
        append(&mut transaction, &definition, rows)?;
    }
    transaction.commit()?;
    engine.checkpoint()?;
    let write = clock.now().saturating_sub(start);
    let write_processor = clock.processor_time().saturating_sub(processor_start);
    let row_groups = stored_row_groups(&engine, &definition.name)?;
    let size = stored_size(&engine, &definition)?;
    let volume = engine.volume().clone();
    drop(engine);
    volume.close()?;
    Ok(WrittenTable {
        file: disk.to_bytes(),
        definition,
        size,
        row_groups,
        write,
        write_processor,
    })
}

fn fill(
    transaction: &mut Transaction,
    definition: &TableDefinition,
    rows: &[RecordBatch],
) -> Result<(), Failure> {
    let table = transaction.snapshot().row_table(&definition.name)?;
    let table = table.ok_or("the table that was just made is not there")?;
    let mut first = Vec::new();
    let mut left = FIRST_ROWS;
    for batch in rows {
        first.push(batch.slice(0, left.min(batch.num_rows())));
        left = left.saturating_sub(batch.num_rows());
    }
    let fill = transaction.begin_fill(&table, &first)?;
    let mut fill = fill.ok_or("the table that was just made cannot be filled")?;
    let mut values = vec![TupleValue::Null; definition.columns.len()];
    for batch in rows {
        let columns = definition.columns.iter().zip(batch.columns());
        let columns = columns.map(|(column, array)| ColumnArray::new(column.sql_type, array));
        let columns: Vec<ColumnArray<'_>> = columns
            .collect::<Option<_>>()
            .ok_or("rows in other types than the table's")?;
        for row in 0..batch.num_rows() {
            for (value, column) in values.iter_mut().zip(&columns) {
                *value = column.value(row);
            }
            fill.insert(&values)?;
        }
        values.fill(TupleValue::Null);
    }
    transaction.finish_fill(fill)?;
    Ok(())
}

fn append(
    transaction: &mut Transaction,
    definition: &TableDefinition,
    rows: &[RecordBatch],
) -> Result<(), Failure> {
    let options = AppendOptions {
        workers: Some(1),
        ..AppendOptions::default()
    };
    let mut appender = transaction
        .tables()?
        .appender_with(&definition.name, options)?;
    for batch in rows {
        appender.append(batch)?;
    }
    appender.finish()?;
    Ok(())
}

fn stored_size(engine: &Engine, definition: &TableDefinition) -> Result<StoredSize, Failure> {
    let snapshot = engine.snapshot();
    let pin = engine.volume().pin();
    let pages = pin.pages().into_iter();
    let file_bytes: u64 = pages
        .filter(|page| *page != LOG_ROOT_PAGE)
        .filter_map(|page| pin.page_bytes(page))
        .sum();
    let mut size = StoredSize::default();
    if let Some(table) = snapshot.table(&definition.name)? {
        let columns = 0..definition.columns.len();
        let statistics = columns.filter_map(|column| table.statistics(column));
        size.data_bytes = statistics.map(|column| column.encoded_bytes).sum();
    } else {
        let trees = snapshot.tree_sizes(&definition.name)?;
        let sum = |part: fn(&TreeSize) -> u64| trees.iter().map(part).sum();
        size.data_bytes = sum(|tree| tree.stored_bytes);
        size.page_count = sum(|tree| tree.page_count);
        size.page_memory_bytes = sum(|tree| tree.page_bytes);
    }
    size.metadata_bytes = file_bytes.saturating_sub(size.data_bytes);
    Ok(size)
}

impl WrittenTable {
    /// Opens the table to read, with so much of it in memory.
    pub(super) fn open(&self, memory: PageMemory) -> Result<Engine, Failure> {
        let memory_bytes = match memory {
            PageMemory::Nothing => NO_MEMORY_BYTES,
            PageMemory::Everything => ALL_MEMORY_BYTES,
        };
        let options = VolumeOptions {
            cache_bytes: memory_bytes,
            ..VolumeOptions::default()
        };
        let disk = Arc::new(MemDisk::from_bytes(self.file.clone()));
        let volume = Volume::open_with(disk, OpenMode::ReadOnly, options)?;
        Ok(Engine::open_with(volume, engine_options(memory_bytes))?)
    }
}
