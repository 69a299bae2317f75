//! Row tables whose pages are compressed with a dictionary: it stays and goes with its table, whatever happens meanwhile.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use quire_kv::{btree::Direction, mvcc::TransactionOptions};
use quire_store::{
    DICTIONARY_LIST_PAGE, MemDisk, OpenMode, PageKind, STAGING_PAGE, Volume, VolumeOptions,
};
use quire_tables::row_table::TupleValue;
use quire_tables::{
    AppendOptions, BlockCodecId, ColumnDefinition, Engine, EngineOptions, RowScanOptions,
    ScanRowSource, SqlType, TableDefinition, Transaction,
};

/// Nothing happens in the background: whoever compresses a leaf trains.
fn options() -> EngineOptions {
    let mut options = EngineOptions {
        staging_bytes: 10_000,
        ..EngineOptions::default()
    };
    options.pool.compression_threads = 0;
    options.mvcc.has_background_thread = false;
    options
}

fn open(bytes: Vec<u8>, mode: OpenMode) -> Engine {
    let disk = Arc::new(MemDisk::from_bytes(bytes));
    let volume = Volume::open_with(disk, mode, VolumeOptions::default()).unwrap();
    Engine::open_with(volume, options()).unwrap()
}

fn text(row: u64) -> String {
    let word = |at: u64| {
        let mixed = (row * 8 + at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let word = (mixed % 700 + 17).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        format!("{word:x}").split_off(6)
    };
    (0..8).map(word).collect::<Vec<_>>().join(" ")
}

fn create_table(transaction: &mut Transaction) {
    let column = |name: &str, sql_type| ColumnDefinition {
        nullable: false,
        ..ColumnDefinition::new(name, sql_type)
    };
    let columns = vec![
        column("id", SqlType::BigInt),
        column("remark", SqlType::Text),
    ];
    let mut definition = TableDefinition::new("remarks", columns).clustered_by(&[0]);
    definition.options.page_bytes = 4_096;
    definition.options.page_codec = BlockCodecId::Zstd;
    transaction
        .define(|tables| tables.create_table(definition))
        .unwrap();
}

fn insert(engine: &Engine, rows: std::ops::Range<u64>) {
    let mut transaction = engine.transaction(TransactionOptions::default());
    let snapshot = transaction.snapshot();
    let table = snapshot.row_table("remarks").unwrap().unwrap();
    let mut writer = transaction.row_writer(table.parts());
    for row in rows {
        let text = text(row);
        let values = [
            TupleValue::Integer(row as i64),
            TupleValue::Bytes(text.as_bytes()),
        ];
        writer.insert(&values).unwrap();
    }
    transaction.commit().unwrap();
}

fn remarks(engine: &Engine) -> Vec<String> {
    let table = engine.snapshot().row_table("remarks").unwrap().unwrap();
    let options = RowScanOptions {
        projection: vec![1],
        with_row_key: false,
        source: ScanRowSource::all(),
        direction: Direction::Forward,
        batch_rows: 1_000,
    };
    let mut scan = table.scan(&options).unwrap();
    let mut values = Vec::new();
    while let Some(batch) = scan.next_batch().unwrap() {
        let column = batch.column(0).as_string_view();
        values.extend(column.iter().map(|value| value.unwrap().to_owned()));
    }
    values
}

fn dictionary_count(engine: &Engine) -> usize {
    let pin = engine.volume().pin();
    let is_one = |page: &_| pin.kind(*page).unwrap() == PageKind::Dictionary;
    pin.pages().iter().filter(|page| is_one(page)).count()
}

fn no_findings(engine: &Engine) {
    assert_eq!(Engine::check(engine.volume()), []);
    assert_eq!(engine.check_rows(), []);
    assert!(engine.volume().check().findings.is_empty());
}

/// A database with that many rows of which the later pages have a dictionary, and the bytes of its file.
fn filled(rows: u64) -> (Engine, Arc<MemDisk>) {
    let disk = Arc::new(MemDisk::new());
    let volume = Volume::create(disk.clone(), VolumeOptions::default()).unwrap();
    let engine = Engine::open_with(volume, options()).unwrap();
    let mut transaction = engine.transaction(TransactionOptions::default());
    create_table(&mut transaction);
    transaction.commit().unwrap();
    for start in (0..rows).step_by(1_000) {
        insert(&engine, start..start + 1_000);
        engine.checkpoint().unwrap();
    }
    (engine, disk)
}

#[test]
fn a_dictionary_is_of_its_table() {
    const ROWS: u64 = 12_000;
    let expected: Vec<String> = (0..ROWS).map(text).collect();
    let (engine, disk) = filled(ROWS);
    assert_eq!(dictionary_count(&engine), 1);
    no_findings(&engine);
    // As a crash would leave it, to read and to write.
    for mode in [OpenMode::ReadOnly, OpenMode::ReadWrite] {
        let again = open(disk.to_bytes(), mode);
        assert_eq!(remarks(&again), expected);
        no_findings(&again);
    }
    drop(engine);
    let engine = open(disk.to_bytes(), OpenMode::ReadWrite);
    insert(&engine, ROWS..ROWS + 1_000);
    engine.checkpoint().unwrap();
    assert_eq!(dictionary_count(&engine), 1);
}

#[test]
fn a_sweep_leaves_dictionaries_and_the_end_of_a_table_takes_them() {
    let (engine, disk) = filled(8_000);
    assert_eq!(dictionary_count(&engine), 1);
    let expected: Vec<String> = (0..8_000).map(text).collect();
    // A load that is cut off by a crash.
    let column = ColumnDefinition::new("number", SqlType::BigInt);
    let definition = TableDefinition::new("loaded", vec![column]);
    let mut load = engine.begin().unwrap();
    load.create_table(definition.clone()).unwrap();
    let noise = (1..20_000_u64).map(|at| {
        let mixed = at.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ (mixed >> 27)) as i64
    });
    let noise: ArrayRef = Arc::new(Int64Array::from_iter_values(noise));
    let batch = RecordBatch::try_new(definition.arrow_schema(), vec![noise]).unwrap();
    let options = AppendOptions {
        row_group_rows: 1_000,
        ..AppendOptions::default()
    };
    let mut appender = load.appender_with("loaded", options).unwrap();
    appender.append(&batch).unwrap();
    appender.finish().unwrap();
    assert!(engine.volume().pin().contains(STAGING_PAGE));
    let crashed = disk.to_bytes();
    drop((load, engine));

    let engine = open(crashed, OpenMode::ReadWrite);
    assert!(!engine.volume().pin().contains(STAGING_PAGE), "swept");
    assert_eq!(dictionary_count(&engine), 1);
    assert_eq!(remarks(&engine), expected);
    no_findings(&engine);

    let mut transaction = engine.transaction(TransactionOptions::default());
    transaction.drop_table("remarks").unwrap();
    transaction.commit().unwrap();
    engine.checkpoint().unwrap();
    assert_eq!(dictionary_count(&engine), 0);
    assert!(engine.volume().pin().contains(DICTIONARY_LIST_PAGE));
    no_findings(&engine);
}

/// Who frees the pages of a dropped table after a restart does not know how they were compressed.
#[test]
fn a_table_that_was_dropped_before_a_restart_takes_its_dictionaries_along() {
    let (engine, disk) = filled(8_000);
    assert_eq!(dictionary_count(&engine), 1);
    let mut transaction = engine.transaction(TransactionOptions::default());
    transaction.drop_table("remarks").unwrap();
    transaction.commit().unwrap();
    let engine = open(disk.to_bytes(), OpenMode::ReadWrite);
    assert_eq!(dictionary_count(&engine), 1);
    no_findings(&engine);
    engine.checkpoint().unwrap();
    assert_eq!(dictionary_count(&engine), 0);
    // The catalog forgets the trees of the table.
    let mut transaction = engine.transaction(TransactionOptions::default());
    create_table(&mut transaction);
    transaction.commit().unwrap();
    no_findings(&engine);
}
