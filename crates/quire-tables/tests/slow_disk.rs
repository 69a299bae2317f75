//! Who waits for whom while the disk takes its time.
#![allow(clippy::unwrap_used)]

use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use quire_format::staging_mark::StagingMark;
use quire_kv::mvcc::TransactionOptions;
use quire_store::disk::{DiskCall, HookedDisk};
use quire_store::{MemDisk, PageKind, STAGING_PAGE, Volume, VolumeOptions};
use quire_tables::row_table::TupleValue;
use quire_tables::{
    AppendOptions, ColumnDefinition, Engine, EngineOptions, Insertion, SqlType, TableDefinition,
    Transaction,
};

/// Long enough for who need not wait, on a busy machine.
const ANSWER_WAIT: Duration = Duration::from_secs(30);

/// Where syncs wait until they are let through.
#[derive(Default)]
struct SyncGate {
    gate: Mutex<Gate>,
    changed: Condvar,
}

#[derive(Default)]
struct Gate {
    is_closed: bool,
    waiting: usize,
}

impl SyncGate {
    fn close(&self) {
        self.gate.lock().unwrap().is_closed = true;
    }

    fn open(&self) {
        self.gate.lock().unwrap().is_closed = false;
        self.changed.notify_all();
    }

    /// Waits until somebody syncs.
    fn is_reached(&self) -> bool {
        let gate = self.gate.lock().unwrap();
        let wait = |gate: &mut Gate| gate.waiting == 0;
        let waited = self.changed.wait_timeout_while(gate, ANSWER_WAIT, wait);
        !waited.unwrap().1.timed_out()
    }

    /// Waits while it is closed.
    fn pass(&self) {
        let mut gate = self.gate.lock().unwrap();
        gate.waiting += 1;
        self.changed.notify_all();
        let mut gate = self
            .changed
            .wait_while(gate, |gate| gate.is_closed)
            .unwrap();
        gate.waiting -= 1;
    }
}

/// An engine on a disk in memory whose syncs go through the gate.
fn engine_behind(gate: &Arc<SyncGate>, options: VolumeOptions) -> Engine {
    let gate = Arc::clone(gate);
    let wait = move |call| {
        if call == DiskCall::Sync {
            gate.pass();
        }
    };
    let disk = Arc::new(HookedDisk::new(MemDisk::new(), wait));
    let volume = Volume::open_or_create(disk, options).unwrap();
    let options = EngineOptions {
        staging_bytes: 10_000,
        ..EngineOptions::default()
    };
    Engine::open_with(volume, options).unwrap()
}

/// One row table and some column tables, each of a number.
fn create_tables(engine: &Engine) {
    let mut transaction = engine.transaction(TransactionOptions::default());
    for name in ["rows", "one", "two"] {
        let column = ColumnDefinition {
            nullable: false,
            ..ColumnDefinition::new("number", SqlType::BigInt)
        };
        let mut table = TableDefinition::new(name, vec![column]);
        if name == "rows" {
            table = table.clustered_by(&[0]);
        }
        transaction
            .define(|tables| tables.create_table(table))
            .unwrap();
    }
    transaction.commit().unwrap();
}

fn insert(transaction: &mut Transaction, number: i64) {
    let table = transaction.snapshot().row_table("rows").unwrap().unwrap();
    let mut writer = transaction.row_writer(table.parts());
    let inserted = writer.insert(&[TupleValue::Integer(number)]).unwrap();
    assert!(matches!(inserted, Insertion::Inserted(_)), "{inserted:?}");
}

/// Appends numbers that no codec makes much smaller.
fn append(transaction: &mut Transaction, table: &str, count: i64) {
    let definition = transaction.snapshot().definition(table).cloned().unwrap();
    assert!(transaction.lock_to_append(&definition).unwrap());
    let numbers = (0..count).map(|it| it.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed()));
    let column: ArrayRef = Arc::new(Int64Array::from_iter_values(numbers));
    let batch = RecordBatch::try_new(definition.arrow_schema(), vec![column]).unwrap();
    let options = AppendOptions {
        workers: Some(1),
        row_group_rows: 1_000,
        ..AppendOptions::default()
    };
    let half = transaction.tables().unwrap();
    let mut appender = half.appender_with(table, options).unwrap();
    appender.append(&batch).unwrap();
    appender.finish().unwrap();
}

fn row_count(engine: &Engine, table: &str) -> u64 {
    let table = engine.snapshot().table(table).unwrap().unwrap();
    table.row_count().unwrap()
}

fn is_marked(engine: &Engine) -> bool {
    engine.volume().pin().contains(STAGING_PAGE)
}

/// Rows and tables that are committed together are seen together, but nobody waits for their sync to see what was there before.
#[test]
fn who_reads_does_not_wait_for_the_sync_of_rows_with_tables() {
    let gate = Arc::new(SyncGate::default());
    let engine = engine_behind(&gate, VolumeOptions::default());
    create_tables(&engine);
    let mut transaction = engine.transaction(TransactionOptions::default());
    insert(&mut transaction, 1);
    append(&mut transaction, "one", 3_000);
    gate.close();
    let (told, seen) = channel();
    let answer = std::thread::scope(|scope| {
        let committed = scope.spawn(|| transaction.commit().unwrap());
        assert!(gate.is_reached());
        scope.spawn(|| told.send(row_count(&engine, "one")));
        let answer = seen.recv_timeout(ANSWER_WAIT);
        gate.open();
        committed.join().unwrap();
        answer
    });
    assert_eq!(answer, Ok(0));
    assert_eq!(row_count(&engine, "one"), 3_000);
}

/// What one sweeps keeps nobody from beginning, and is not what the others have.
#[test]
fn others_begin_while_one_sweeps() {
    let gate = Arc::new(SyncGate::default());
    let engine = engine_behind(&gate, VolumeOptions::default());
    create_tables(&engine);
    let volume = engine.volume();
    let first_page = volume.next_page().unwrap();
    let batch = volume.begin().unwrap();
    let mark = StagingMark { first_page }.encode();
    batch
        .replace(STAGING_PAGE, PageKind::Staging, &mark)
        .unwrap();
    let stray = batch.write(PageKind::Segment, b"left behind").unwrap();
    batch.commit().unwrap();
    let mut transaction = engine.transaction(TransactionOptions::default());
    insert(&mut transaction, 1);
    transaction.commit().unwrap();
    gate.close();
    let (told, begun) = channel();
    let begun = std::thread::scope(|scope| {
        let sweeps = scope.spawn(|| {
            let mut transaction = engine.transaction(TransactionOptions::default());
            append(&mut transaction, "one", 3_000);
            transaction.commit().unwrap();
        });
        assert!(gate.is_reached(), "a sweep is preceded by a checkpoint");
        let begins = scope.spawn(|| {
            let mut transaction = engine.transaction(TransactionOptions::default());
            transaction.tables().unwrap();
            told.send(()).unwrap();
            append(&mut transaction, "two", 3_000);
            transaction.commit().unwrap();
        });
        let begun = begun.recv_timeout(ANSWER_WAIT);
        gate.open();
        sweeps.join().unwrap();
        begins.join().unwrap();
        begun
    });
    assert_eq!(begun, Ok(()));
    assert!(!volume.pin().contains(stray) && !is_marked(&engine));
    assert_eq!(row_count(&engine, "one"), 3_000);
    assert_eq!(row_count(&engine, "two"), 3_000);
    assert_eq!(Engine::check(volume), Vec::new());
}

/// One that ends does not wait, with the volume's turn, for another that needs the turn to clean.
#[test]
fn ends_of_loads_and_cleaning_do_not_wait_for_each_other() {
    const ROUNDS: usize = 60;
    let gate = Arc::new(SyncGate::default());
    let options = VolumeOptions {
        checkpoint_log_bytes: 1,
        clean_dead_percent: 1,
        ..VolumeOptions::default()
    };
    let engine = engine_behind(&gate, options);
    create_tables(&engine);
    let (told, ended) = channel();
    let loads = |table: &'static str, is_kept: fn(usize) -> bool| {
        let (engine, told) = (engine.clone(), told.clone());
        std::thread::spawn(move || {
            for round in 0..ROUNDS {
                let mut transaction = engine.transaction(TransactionOptions::default());
                append(&mut transaction, table, 30_000);
                if is_kept(round) {
                    transaction.commit().unwrap();
                }
            }
            told.send(()).unwrap();
        });
    };
    loads("one", |_| true);
    loads("two", |round| round % 7 == 0);
    for _ in 0..2 {
        assert_eq!(ended.recv_timeout(4 * ANSWER_WAIT), Ok(()));
    }
    assert!(!is_marked(&engine));
    assert_eq!(row_count(&engine, "one"), 30_000 * ROUNDS as u64);
    assert_eq!(Engine::check(engine.volume()), Vec::new());
}
