//! Tables without a primary key: no two rows ever have the same number.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use quire_kv::{btree::Direction, mvcc::LockWait, mvcc::RowLockMode, mvcc::TransactionOptions};
use quire_store::{MemDisk, OpenMode, Volume};
use quire_tables::row_table::TupleValue;
use quire_tables::{
    ColumnDefinition, Engine, Insertion, RowScanOptions, ScanRowSource, SqlType, TableDefinition,
    TableStorage, Transaction,
};

fn open(disk: &Arc<MemDisk>) -> Engine {
    Engine::open(Volume::open(disk.clone(), OpenMode::ReadWrite).unwrap()).unwrap()
}

fn insert(transaction: &mut Transaction, value: i64) {
    let table = transaction.snapshot().row_table("t").unwrap().unwrap();
    let mut writer = transaction.row_writer(table.parts());
    let inserted = writer.insert(&[TupleValue::Integer(value)]).unwrap();
    assert!(matches!(inserted, Insertion::Inserted(_)));
}

/// Keys and values of the rows that a transaction sees.
fn rows(transaction: &Transaction) -> Vec<(Vec<u8>, i64)> {
    let table = transaction.snapshot().row_table("t").unwrap().unwrap();
    let options = RowScanOptions {
        projection: vec![0],
        with_row_key: true,
        source: ScanRowSource::all(),
        direction: Direction::Forward,
        batch_rows: 100,
    };
    let mut scan = table.scan(&options).unwrap();
    let mut rows = Vec::new();
    while let Some(batch) = scan.next_batch().unwrap() {
        let values = batch.column(0).as_primitive::<Int64Type>();
        let keys = batch.column(1).as_binary_view();
        rows.extend((0..batch.num_rows()).map(|row| (keys.value(row).to_vec(), values.value(row))));
    }
    rows
}

/// The first insert after a start looks for the greatest number, in a transaction that has deleted that row, and is rolled back or
/// not.
#[test]
fn numbers_of_rows_that_a_transaction_has_deleted_are_taken() {
    for commits in [false, true] {
        let disk = Arc::new(MemDisk::new());
        Volume::create(disk.clone(), Default::default()).unwrap();
        let engine = open(&disk);
        let mut definition =
            TableDefinition::new("t", vec![ColumnDefinition::new("value", SqlType::BigInt)]);
        definition.storage = TableStorage::Row;
        let mut transaction = engine.transaction(TransactionOptions::default());
        transaction
            .define(|tables| tables.create_table(definition))
            .unwrap();
        (0..4).for_each(|value| insert(&mut transaction, value));
        transaction.commit().unwrap();
        drop(engine);

        let engine = open(&disk);
        let mut transaction = engine.transaction(TransactionOptions::default());
        let table = transaction.snapshot().row_table("t").unwrap().unwrap();
        for (key, _) in &rows(&transaction)[2..] {
            let mut writer = transaction.row_writer(table.parts());
            writer
                .lock(key, RowLockMode::Exclusive, LockWait::Wait)
                .unwrap();
            writer.delete(key).unwrap();
        }
        insert(&mut transaction, 10);
        let mut expected = vec![0, 1, 2, 3, 11, 12];
        if commits {
            transaction.commit().unwrap();
            expected = vec![0, 1, 10, 11, 12];
        } else {
            drop(transaction);
        }
        let mut transaction = engine.transaction(TransactionOptions::default());
        insert(&mut transaction, 11);
        insert(&mut transaction, 12);
        transaction.commit().unwrap();
        let after = engine.transaction(TransactionOptions::default());
        let values: Vec<i64> = rows(&after).into_iter().map(|(_, value)| value).collect();
        assert_eq!(values, expected);
    }
}
