//! A row table of numbered rows, each with a text that follows from its number, and a column table beside it.

use std::ops::Range;
use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch};
use quire_kv::{
    btree::Direction, mvcc::LockWait, mvcc::RowLockMode, mvcc::Synchronous,
    mvcc::TransactionOptions,
};
use quire_store::{Disk, Volume};
use quire_tables::row_table::{TupleValue, Value};
use quire_tables::{
    AppendOptions, BlockCodecId, CatalogKeyPart, ColumnDefinition, Engine, IndexDefinition,
    Insertion, KeyDefinition, ScanRowSource, SqlType, TableDefinition, TableStorage, Transaction,
};
use quire_testkit::rows::{KeyedRow, Row, engine_options, read_rows, volume_options};

/// Name of the row table.
pub const TABLE: &str = "numbered";

/// Name of the column table.
const LOADED: &str = "loaded";

fn key(name: &str, column: usize) -> KeyDefinition {
    let part = CatalogKeyPart {
        column,
        is_descending: false,
    };
    KeyDefinition {
        name: name.to_owned(),
        columns: vec![part],
    }
}

fn column(name: &str, sql_type: SqlType) -> ColumnDefinition {
    ColumnDefinition {
        nullable: false,
        ..ColumnDefinition::new(name, sql_type)
    }
}

/// Of the row table.
pub fn definition(page_codec: BlockCodecId) -> TableDefinition {
    let columns = vec![
        column("number", SqlType::BigInt),
        column("text", SqlType::Text),
    ];
    let mut definition = TableDefinition::new(TABLE, columns);
    definition.storage = TableStorage::Row;
    definition.primary_key = Some(key("numbered_pkey", 0));
    definition.options.page_bytes = 4_096;
    definition.options.page_codec = page_codec;
    definition.indexes = vec![IndexDefinition {
        id: 0,
        key: key("numbered_text", 1),
        is_unique: true,
        is_constraint: true,
    }];
    definition
}

/// Every 16th is as long as a key of an index in a small page may be, about.
fn text(number: u64) -> String {
    let length = if number.is_multiple_of(16) { 400 } else { 40 };
    let repeated = format!("{:x}.", number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut text = format!("{number}:");
    while text.len() < length {
        text.push_str(&repeated);
    }
    text.truncate(length);
    text
}

/// Opens the engine, and makes the tables if they are not there.
pub fn open(disk: Arc<dyn Disk>, seed: u64, has_threads: bool) -> Engine {
    open_stored_as(BlockCodecId::Lz4, disk, seed, has_threads)
}

/// The same with another codec for the pages of the row table.
pub fn open_stored_as(
    codec: BlockCodecId,
    disk: Arc<dyn Disk>,
    seed: u64,
    has_threads: bool,
) -> Engine {
    let volume = Volume::open_or_create(disk, volume_options(seed)).unwrap();
    let engine = Engine::open_with(volume, engine_options(seed, has_threads)).unwrap();
    if engine.snapshot().definition(TABLE).is_none() {
        let mut transaction = engine.transaction(TransactionOptions::default());
        let loaded = TableDefinition::new(LOADED, vec![column("number", SqlType::BigInt)]);
        transaction
            .define(|tables| {
                tables.create_table(definition(codec))?;
                tables.create_table(loaded)
            })
            .unwrap();
        transaction.commit().unwrap();
    }
    engine
}

/// What one transaction does.
#[derive(Clone, Debug, Default)]
pub struct Step {
    /// Numbers of new rows.
    pub inserted: Range<u64>,
    /// Numbers of rows that go.
    pub deleted: Range<u64>,
    /// So many rows are appended to the column table.
    pub loaded_count: u64,
}

/// Commits a transaction.
pub fn commit(engine: &Engine, step: &Step, synchronous: Synchronous) -> Result<(), String> {
    let mut transaction = engine.transaction(TransactionOptions {
        synchronous,
        ..TransactionOptions::default()
    });
    insert(&mut transaction, step.inserted.clone())?;
    if !step.deleted.is_empty() {
        delete(&mut transaction, &step.deleted)?;
    }
    if step.loaded_count > 0 {
        load(&mut transaction, step.loaded_count)?;
    }
    transaction.commit().map_err(|error| error.to_string())
}

fn insert(transaction: &mut Transaction, numbers: Range<u64>) -> Result<(), String> {
    let table = transaction.snapshot().row_table(TABLE).unwrap().unwrap();
    for number in numbers {
        let text = text(number);
        let values = [
            TupleValue::Integer(number as i64),
            TupleValue::Bytes(text.as_bytes()),
        ];
        let inserted = transaction.row_writer(table.parts()).insert(&values);
        let inserted = inserted.map_err(|error| error.to_string())?;
        assert!(matches!(inserted, Insertion::Inserted(_)), "{number}");
    }
    Ok(())
}

fn delete(transaction: &mut Transaction, numbers: &Range<u64>) -> Result<(), String> {
    let table = transaction.snapshot().row_table(TABLE).unwrap().unwrap();
    let all = ScanRowSource::all();
    for (row_key, row) in read_rows(&table, all, Direction::Forward)? {
        if numbers.contains(&number_of(&row)) {
            let mut writer = transaction.row_writer(table.parts());
            let locked = writer.lock(&row_key, RowLockMode::Exclusive, LockWait::Wait);
            locked.map_err(|error| error.to_string())?;
            writer.delete(&row_key).map_err(|error| error.to_string())?;
        }
    }
    Ok(())
}

fn load(transaction: &mut Transaction, count: u64) -> Result<(), String> {
    let definition = TableDefinition::new(LOADED, vec![column("number", SqlType::BigInt)]);
    let numbers = Int64Array::from_iter_values(0..count as i64);
    let batch = RecordBatch::try_new(definition.arrow_schema(), vec![Arc::new(numbers)]);
    let half = transaction.tables().map_err(|error| error.to_string())?;
    let options = AppendOptions {
        workers: Some(1),
        ..AppendOptions::default()
    };
    let appender = half.appender_with(LOADED, options);
    let mut appender = appender.map_err(|error| error.to_string())?;
    let appended = appender.append(&batch.unwrap());
    appended.map_err(|error| error.to_string())?;
    appender.finish().map_err(|error| error.to_string())?;
    Ok(())
}

fn number_of(row: &Row) -> u64 {
    let Value::Integer(number) = row[0] else {
        panic!("{row:?}");
    };
    number as u64
}

/// The numbers that are there; each has its text.
pub fn numbers(engine: &Engine) -> Vec<u64> {
    let table = engine.snapshot().row_table(TABLE).unwrap().unwrap();
    let all = ScanRowSource::all();
    let rows = read_rows(&table, all, Direction::Forward).unwrap();
    let number = |(_, row): &KeyedRow| {
        let number = number_of(row);
        assert_eq!(row[1], Value::Text(text(number).into()), "row {number}");
        number
    };
    rows.iter().map(number).collect()
}

/// How many rows the column table has.
pub fn loaded_count(engine: &Engine) -> u64 {
    let table = engine.snapshot().table(LOADED).unwrap().unwrap();
    table.row_count().unwrap()
}
