//! Loads of different tables that run side by side, and crashes while they do.
#![allow(clippy::unwrap_used)]

use std::sync::{Arc, Barrier, Mutex};

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::datatypes::Int64Type;
use quire_kv::mvcc::TransactionOptions;
use quire_store::disk::CrashImages;
use quire_store::{Disk, MemDisk, STAGING_PAGE, SimDisk, Volume, VolumeOptions};
use quire_tables::{
    AppendOptions, ColumnDefinition, Engine, EngineOptions, ScanOptions, SqlType, TableDefinition,
    Transaction,
};

const LOADERS: usize = 3;
const LOADS: usize = 5;
const ROWS: i64 = 1_500;

/// Pages are staged many times in one load.
fn engine_on(disk: Arc<dyn Disk>) -> Engine {
    let volume = Volume::open_or_create(disk, VolumeOptions::default()).unwrap();
    let options = EngineOptions {
        staging_bytes: 4_000,
        ..EngineOptions::default()
    };
    Engine::open_with(volume, options).unwrap()
}

/// Each loader has two tables, which get the same rows in one transaction.
fn table_of(loader: usize, side: usize) -> String {
    format!("t{loader}{side}")
}

fn create_tables(engine: &Engine) {
    let mut transaction = engine.begin().unwrap();
    for loader in 0..LOADERS {
        for side in 0..2 {
            let column = ColumnDefinition::new("number", SqlType::BigInt);
            let table = TableDefinition::new(table_of(loader, side), vec![column]);
            transaction.create_table(table).unwrap();
        }
    }
    transaction.commit().unwrap();
}

/// Numbers that no codec makes much smaller; those of different loads differ.
fn numbers(loader: usize, load: usize) -> Vec<i64> {
    let first = (loader * 1_000 + load) as i64 * ROWS;
    let mixed = |number: i64| {
        let state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed());
        state ^ (state >> 31)
    };
    (first..first + ROWS).map(mixed).collect()
}

fn append(transaction: &mut Transaction, table: &str, numbers: Vec<i64>) {
    let definition = transaction.snapshot().definition(table).cloned().unwrap();
    assert!(transaction.lock_to_append(&definition).unwrap());
    let options = AppendOptions {
        workers: Some(2),
        row_group_rows: 400,
        ..AppendOptions::default()
    };
    let half = transaction.tables().unwrap();
    let mut appender = half.appender_with(table, options).unwrap();
    let column: ArrayRef = Arc::new(Int64Array::from(numbers));
    let batch = RecordBatch::try_new(definition.arrow_schema(), vec![column]).unwrap();
    appender.append(&batch).unwrap();
    appender.finish().unwrap();
}

fn read(engine: &Engine, table: &str) -> Vec<i64> {
    let table = engine.snapshot().table(table).unwrap().unwrap();
    let options = ScanOptions {
        projection: vec![0],
        ..ScanOptions::default()
    };
    let mut reader = table.scan(options).unwrap().reader();
    let mut found = Vec::new();
    while let Some(batch) = reader.next().unwrap() {
        found.extend_from_slice(batch.column(0).as_primitive::<Int64Type>().values());
    }
    found
}

fn is_clean(engine: &Engine) {
    assert_eq!(Engine::check(engine.volume()), Vec::new());
    assert!(engine.volume().check().findings.is_empty());
}

/// What one loader has in its tables: that of its first loads, in both alike.
fn loads_in(engine: &Engine, loader: usize) -> usize {
    let sides = [0, 1].map(|side| read(engine, &table_of(loader, side)));
    assert_eq!(sides[0], sides[1], "loader {loader}");
    let count = sides[0].len() / ROWS as usize;
    let expected = (0..count).flat_map(|load| numbers(loader, load));
    assert_eq!(sides[0], expected.collect::<Vec<_>>(), "loader {loader}");
    count
}

/// All loaders run; whenever one has committed, `note` is told. Every other load is tried twice, and taken back the first time.
fn load_side_by_side(engine: &Engine, note: &(impl Fn(usize) + Sync)) {
    let begin = Barrier::new(LOADERS);
    std::thread::scope(|scope| {
        for loader in 0..LOADERS {
            let begin = &begin;
            scope.spawn(move || {
                for load in 0..LOADS {
                    // Together, so that they end together.
                    begin.wait();
                    for is_kept in [false, true] {
                        if !is_kept && load % 2 == 0 {
                            continue;
                        }
                        let mut transaction = engine.transaction(TransactionOptions::default());
                        for side in 0..2 {
                            let rows = numbers(loader, load);
                            append(&mut transaction, &table_of(loader, side), rows);
                        }
                        if is_kept {
                            transaction.commit().unwrap();
                            note(loader);
                        }
                    }
                }
            });
        }
    });
}

#[test]
fn loads_that_end_together_leave_no_mark() {
    for _ in 0..5 {
        let engine = engine_on(Arc::new(MemDisk::new()));
        create_tables(&engine);
        load_side_by_side(&engine, &|_| {});
        assert!(!engine.volume().pin().contains(STAGING_PAGE));
        for loader in 0..LOADERS {
            assert_eq!(loads_in(&engine, loader), LOADS);
        }
        is_clean(&engine);
    }
}

#[test]
fn a_crash_loses_no_load_that_was_acknowledged_and_keeps_no_half_of_one() {
    let disk = Arc::new(SimDisk::recording(Vec::new()));
    let engine = engine_on(disk.clone());
    create_tables(&engine);
    let created = disk.journal_len();
    let acknowledged = Mutex::new(Vec::new());
    load_side_by_side(&engine, &|loader| {
        // The order of these is not that of the commits: what the disk had done by now was done before.
        let at = disk.journal_len();
        acknowledged.lock().unwrap().push((at, loader));
    });
    drop(engine);
    let acknowledged = acknowledged.into_inner().unwrap();
    let journal = disk.journal();
    let mut crashes = CrashImages::new(Vec::new(), &journal);
    let mut was_staged = 0;
    while crashes.advance() {
        let position = crashes.position();
        if position < created || position % 3 > 0 {
            continue;
        }
        let image = Arc::new(MemDisk::from_bytes(crashes.image(position as u64)));
        let volume = Volume::open_or_create(image.clone(), VolumeOptions::default()).unwrap();
        was_staged += u32::from(volume.pin().contains(STAGING_PAGE));
        drop(volume);
        let engine = engine_on(image);
        assert!(!engine.volume().pin().contains(STAGING_PAGE), "{position}");
        for loader in 0..LOADERS {
            let told = acknowledged.iter();
            let told = told.filter(|(at, by)| *at <= position && *by == loader);
            let found = loads_in(&engine, loader);
            assert!(found >= told.count(), "{position}: loader {loader}");
        }
        is_clean(&engine);
    }
    assert!(was_staged > 10, "{was_staged}");
}
