//! A column table with changes, and the naive twin of it: rows in a vector.

use std::sync::Arc;

use arrow::array::{Array, AsArray, Int64Array, RecordBatch, StringViewArray};
use arrow::datatypes::Int64Type;
use quire_kv::{mvcc::LockWait, mvcc::RowLockMode, mvcc::TransactionOptions};
use quire_store::{Disk, MemDisk, OpenMode, Volume, VolumeOptions};
use quire_tables::row_table::TupleValue;
use quire_tables::{
    AppendOptions, ColumnDefinition, ColumnTable, Decompression, Engine, Insertion, ScanOptions,
    SqlType, TableDefinition, Transaction,
};

/// A number and a text.
pub type Row = (i64, Option<String>);

pub const TABLE: &str = "t";

/// xorshift: the same on every run.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit
    }
}

pub fn definition() -> TableDefinition {
    let columns = vec![
        ColumnDefinition::new("number", SqlType::BigInt),
        ColumnDefinition::new("text", SqlType::Text),
    ];
    TableDefinition::new(TABLE, columns)
}

/// A table without rows.
pub fn engine_on(disk: &Arc<impl Disk + 'static>) -> Engine {
    engine_of(disk, definition())
}

/// A table of another definition, without rows.
pub fn engine_of(disk: &Arc<impl Disk + 'static>, definition: TableDefinition) -> Engine {
    let volume = Volume::create(disk.clone(), VolumeOptions::default()).unwrap();
    let engine = Engine::open(volume).unwrap();
    let mut transaction = engine.begin().unwrap();
    transaction.create_table(definition).unwrap();
    transaction.commit().unwrap();
    engine
}

pub fn reopened(disk: &Arc<MemDisk>) -> Engine {
    let volume = Volume::open(disk.clone(), OpenMode::ReadWrite).unwrap();
    Engine::open(volume).unwrap()
}

pub fn transaction(engine: &Engine) -> Transaction {
    engine.transaction(TransactionOptions::default())
}

pub fn batch_of(rows: &[Row]) -> RecordBatch {
    let numbers = Int64Array::from_iter_values(rows.iter().map(|row| row.0));
    let texts: StringViewArray = rows.iter().map(|row| row.1.as_deref()).collect();
    let schema = definition().arrow_schema();
    RecordBatch::try_new(schema, vec![Arc::new(numbers), Arc::new(texts)]).unwrap()
}

/// Appends row groups of at most so many rows.
pub fn append(transaction: &mut Transaction, rows: &[Row], row_group_rows: usize) {
    let options = AppendOptions {
        workers: Some(1),
        row_group_rows,
        ..AppendOptions::default()
    };
    let tables = transaction.tables().unwrap();
    let mut appender = tables.appender_with(TABLE, options).unwrap();
    appender.append(&batch_of(rows)).unwrap();
    appender.finish().unwrap();
    transaction.begin_statement();
}

pub fn table(transaction: &Transaction) -> Arc<ColumnTable> {
    transaction.snapshot().table(TABLE).unwrap().unwrap()
}

/// The table, with trees for changes.
pub fn changeable(transaction: &mut Transaction) -> Arc<ColumnTable> {
    if table(transaction).delta().is_none() {
        assert!(transaction.prepare_changes(TABLE).unwrap());
    }
    table(transaction)
}

/// Keys and rows, by three readers one after the other.
pub fn keyed_rows(table: &Arc<ColumnTable>) -> Vec<(Vec<u8>, Row)> {
    decoded_rows(table, Decompression::IntoCache)
}

fn decoded_rows(table: &Arc<ColumnTable>, decompression: Decompression) -> Vec<(Vec<u8>, Row)> {
    let options = ScanOptions {
        projection: vec![2, 1, 0],
        readers: 3,
        decompression,
        ..ScanOptions::default()
    };
    let scan = table.scan(options).unwrap();
    let mut found = Vec::new();
    for mut reader in [scan.reader(), scan.reader(), scan.reader()] {
        while let Some(batch) = reader.next().unwrap() {
            let keys = batch.column(0).as_binary_view();
            let texts = batch.column(1).as_string_view();
            let numbers = batch.column(2).as_primitive::<Int64Type>();
            for row in 0..batch.num_rows() {
                let text = texts.is_valid(row).then(|| texts.value(row).to_owned());
                found.push((keys.value(row).to_vec(), (numbers.value(row), text)));
            }
        }
    }
    found
}

/// All rows, sorted. By how many there are stored they come from the pool, which they are decoded into, or not.
pub fn rows_of(table: &Arc<ColumnTable>) -> Vec<Row> {
    let decompression = match table.stored_row_count() % 2 {
        0 => Decompression::IntoPool,
        _ => Decompression::IntoCache,
    };
    let keyed = decoded_rows(table, decompression).into_iter();
    let mut rows: Vec<Row> = keyed.map(|(_, row)| row).collect();
    rows.sort();
    rows
}

fn values(row: &Row) -> [TupleValue<'_>; 2] {
    let text = row.1.as_deref();
    let text = text.map_or(TupleValue::Null, |text| TupleValue::Bytes(text.as_bytes()));
    [TupleValue::Integer(row.0), text]
}

pub fn insert(transaction: &mut Transaction, table: &ColumnTable, row: &Row) {
    let mut writer = transaction.row_writer(table.delta().unwrap().parts());
    let inserted = writer.insert(&values(row)).unwrap();
    assert!(matches!(inserted, Insertion::Inserted(_)));
}

/// Changes or deletes the row with that key. Whether it was as the statement has seen it.
pub fn change(
    transaction: &mut Transaction,
    table: &ColumnTable,
    key: &[u8],
    row: Option<&Row>,
) -> bool {
    let mut writer = transaction.row_writer(table.delta().unwrap().parts());
    let locked = writer.lock(key, RowLockMode::Exclusive, LockWait::Wait);
    if locked.unwrap() != Some(true) {
        return false;
    }
    match row {
        Some(row) => drop(writer.update(key, &values(row)).unwrap()),
        None => drop(writer.delete(key).unwrap()),
    }
    true
}
