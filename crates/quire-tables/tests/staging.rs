//! Pages that are written ahead of their commit: who waits for whom, who sees what, what stays when it fails.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use arrow::datatypes::Int64Type;
use quire_kv::{btree::Direction, mvcc::Synchronous, mvcc::TransactionOptions};
use quire_store::{
    BatchWriteError, CATALOG_PAGE, CommitError, Disk, LOG_ROOT_PAGE, MemDisk, OpenMode, PageKind,
    STAGING_PAGE, SimDisk, Volume, VolumeOptions,
};
use quire_tables::row_table::TupleValue;
use quire_tables::{
    AppendOptions, ColumnDefinition, Engine, EngineError, EngineOptions, Insertion, RowScanOptions,
    ScanOptions, ScanRowSource, SequenceDefinition, Snapshot, SqlType, TableAppendError,
    TableDefinition, Transaction, TransactionError, WriteTransaction,
};

/// A page is written when this much is waiting: there are many staged batches.
fn options() -> EngineOptions {
    EngineOptions {
        staging_bytes: 10_000,
        ..EngineOptions::default()
    }
}

fn engine_on(disk: Arc<dyn Disk>) -> Engine {
    let volume = Volume::open_or_create(disk, VolumeOptions::default()).unwrap();
    Engine::open_with(volume, options()).unwrap()
}

fn definition(name: &str) -> TableDefinition {
    let column = ColumnDefinition {
        nullable: false,
        ..ColumnDefinition::new("number", SqlType::BigInt)
    };
    TableDefinition::new(name, vec![column])
}

/// Numbers that no codec makes much smaller.
fn numbers(seed: u64, count: usize) -> Vec<i64> {
    let number = |index: u64| {
        let state = (seed * 1_000_000 + index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)) as i64
    };
    (0..count as u64).map(number).collect()
}

fn try_load(
    transaction: &mut WriteTransaction,
    name: &str,
    values: &[i64],
) -> Result<(), TableAppendError> {
    let options = AppendOptions {
        workers: Some(3),
        row_group_rows: 1_000,
        ..AppendOptions::default()
    };
    let column: ArrayRef = Arc::new(Int64Array::from(values.to_vec()));
    let batch = RecordBatch::try_new(definition(name).arrow_schema(), vec![column]).unwrap();
    let mut appender = transaction.appender_with(name, options).unwrap();
    appender.append(&batch)?;
    appender.finish().map(drop)
}

fn load(engine: &Engine, name: &str, values: &[i64]) -> WriteTransaction {
    let mut transaction = engine.begin().unwrap();
    transaction.create_table(definition(name)).unwrap();
    try_load(&mut transaction, name, values).unwrap();
    transaction
}

fn read(snapshot: &Snapshot, name: &str) -> Vec<i64> {
    let options = ScanOptions {
        projection: vec![0],
        ..ScanOptions::default()
    };
    let scan = snapshot
        .table(name)
        .unwrap()
        .unwrap()
        .scan(options)
        .unwrap();
    let mut reader = scan.reader();
    let mut values = Vec::new();
    while let Some(batch) = reader.next().unwrap() {
        values.extend_from_slice(batch.column(0).as_primitive::<Int64Type>().values());
    }
    values
}

/// A row table beside the column tables, with the column as its key.
fn create_row_table(engine: &Engine) {
    let definition = definition("rows").clustered_by(&[0]);
    let mut transaction = engine.transaction(TransactionOptions::default());
    transaction
        .define(|tables| tables.create_table(definition))
        .unwrap();
    transaction.commit().unwrap();
}

fn insert_row(transaction: &mut Transaction, number: i64) {
    let snapshot = transaction.snapshot();
    let table = snapshot.row_table("rows").unwrap().unwrap();
    let mut writer = transaction.row_writer(table.parts());
    let inserted = writer.insert(&[TupleValue::Integer(number)]).unwrap();
    assert!(matches!(inserted, Insertion::Inserted(_)), "{inserted:?}");
}

fn commit_row(engine: &Engine, number: i64) {
    let mut transaction = engine.transaction(TransactionOptions::default());
    insert_row(&mut transaction, number);
    transaction.commit().unwrap();
}

fn read_rows(engine: &Engine) -> Vec<i64> {
    let table = engine.snapshot().row_table("rows").unwrap().unwrap();
    let options = RowScanOptions {
        projection: vec![0],
        with_row_key: false,
        source: ScanRowSource::all(),
        direction: Direction::Forward,
        batch_rows: 100,
    };
    let mut scan = table.scan(&options).unwrap();
    let mut values = Vec::new();
    while let Some(batch) = scan.next_batch().unwrap() {
        values.extend_from_slice(batch.column(0).as_primitive::<Int64Type>().values());
    }
    values
}

fn is_marked(engine: &Engine) -> bool {
    engine.volume().pin().contains(STAGING_PAGE)
}

/// Pages but for the root of the log, which comes with the first checkpoint of rows, whenever that is.
fn page_count(engine: &Engine) -> usize {
    let pages = engine.volume().pin().pages();
    pages.iter().filter(|page| **page != LOG_ROOT_PAGE).count()
}

fn no_findings(engine: &Engine) {
    assert!(Engine::check(engine.volume()).is_empty());
    assert!(engine.volume().check().findings.is_empty());
}

#[test]
fn a_load_is_never_there_without_the_rows_committed_before_it() {
    let disk = Arc::new(SimDisk::new(Vec::new()));
    let volume = Volume::create(disk.clone(), VolumeOptions::default()).unwrap();
    let mut options = options();
    options.mvcc.has_background_thread = false;
    let engine = Engine::open_with(volume, options).unwrap();
    create_row_table(&engine);
    let mut transaction = engine.transaction(TransactionOptions {
        synchronous: Synchronous::Off,
        ..TransactionOptions::default()
    });
    insert_row(&mut transaction, 1);
    transaction.commit().unwrap();
    assert_eq!(
        read_rows(&engine_on(copy(&disk))),
        Vec::<i64>::new(),
        "in memory only"
    );
    load(&engine, "loaded", &[5]).commit().unwrap();
    let after = engine_on(copy(&disk));
    assert_eq!(read(&after.snapshot(), "loaded"), [5]);
    assert_eq!(read_rows(&after), [1]);
}

fn copy(disk: &SimDisk) -> Arc<dyn Disk> {
    Arc::new(MemDisk::from_bytes(disk.to_bytes()))
}

#[test]
fn others_commit_while_a_load_is_in_progress() {
    let disk = Arc::new(MemDisk::new());
    let engine = engine_on(disk.clone());
    create_row_table(&engine);
    let values = numbers(1, 20_000);
    let mut transaction = engine.transaction(TransactionOptions::default());
    let tables = transaction.tables().unwrap();
    tables.create_table(definition("t")).unwrap();
    try_load(tables, "t", &values).unwrap();
    assert!(
        is_marked(&engine),
        "20,000 random numbers do not fit the buffer"
    );
    no_findings(&engine);
    commit_row(&engine, 1);
    engine.checkpoint().unwrap();
    engine.volume().clean().unwrap();
    assert!(engine.snapshot().table("t").unwrap().is_none());
    assert_eq!(read(&transaction.snapshot(), "t"), values);
    insert_row(&mut transaction, 2);
    assert_eq!(read_rows(&engine), [1]);
    transaction.commit().unwrap();
    assert!(!is_marked(&engine));
    assert_eq!(read(&engine.snapshot(), "t"), values);
    commit_row(&engine, 3);
    let crashed = disk.to_bytes();
    drop(engine);
    let engine = engine_on(Arc::new(MemDisk::from_bytes(crashed)));
    assert_eq!(read_rows(&engine), [1, 2, 3]);
    assert_eq!(read(&engine.snapshot(), "t"), values);
    no_findings(&engine);
}

#[test]
fn an_abort_gives_everything_back() {
    let disk = Arc::new(MemDisk::new());
    let engine = engine_on(disk.clone());
    load(&engine, "kept", &numbers(1, 3_000)).commit().unwrap();
    engine.clean().unwrap();
    let (pages, bytes) = (page_count(&engine), disk.len().unwrap());
    let mut lengths = Vec::new();
    for seed in 0..4 {
        let transaction = load(&engine, "t", &numbers(seed, 200_000));
        assert!(page_count(&engine) > pages + 100);
        let view = transaction.snapshot();
        drop(transaction);
        assert_eq!(page_count(&engine), pages);
        let options = ScanOptions {
            projection: vec![0],
            ..ScanOptions::default()
        };
        let table = view.table("t").unwrap().unwrap();
        let read = table.scan(options).unwrap().reader().next();
        assert!(read.is_err_and(|error| error.to_string().contains("has ended")));
        lengths.push(disk.len().unwrap());
    }
    no_findings(&engine);
    // Each load has 1.6 MB. What is kept for the log does not grow.
    assert!(
        lengths.iter().all(|length| *length < bytes + (4 << 20)),
        "{lengths:?}"
    );
    assert_eq!(read(&engine.snapshot(), "kept"), numbers(1, 3_000));
}

#[test]
fn a_crash_leaves_pages_that_the_next_start_frees() {
    let disk = Arc::new(MemDisk::new());
    let engine = engine_on(disk.clone());
    load(&engine, "kept", &numbers(1, 5_000)).commit().unwrap();
    let pages = page_count(&engine);
    let transaction = load(&engine, "t", &numbers(2, 30_000));
    let crashed = disk.to_bytes();
    drop(transaction);

    let disk = Arc::new(MemDisk::from_bytes(crashed));
    let reader = Volume::open(disk.clone(), OpenMode::ReadOnly).unwrap();
    let reader = Engine::open(reader).unwrap();
    assert!(is_marked(&reader), "who only reads changes nothing");
    assert!(page_count(&reader) > pages);
    assert!(
        Engine::check(reader.volume()).is_empty(),
        "marked pages are no finding"
    );
    assert_eq!(read(&reader.snapshot(), "kept"), numbers(1, 5_000));
    drop(reader);
    let engine = engine_on(disk);
    assert!(!is_marked(&engine));
    assert_eq!(page_count(&engine), pages);
    no_findings(&engine);
    assert_eq!(read(&engine.snapshot(), "kept"), numbers(1, 5_000));
}

#[test]
fn a_sweep_spares_the_log_and_what_is_below_the_mark() {
    let disk = Arc::new(MemDisk::new());
    let engine = engine_on(disk.clone());
    create_row_table(&engine);
    load(&engine, "kept", &numbers(1, 5_000)).commit().unwrap();
    let batch = engine.volume().begin().unwrap();
    let stray = batch.write(PageKind::Segment, b"nobody's").unwrap();
    batch.commit().unwrap();
    let transaction = load(&engine, "t", &numbers(2, 30_000));
    commit_row(&engine, 1);
    let crashed = disk.to_bytes();
    drop((transaction, engine));
    let engine = engine_on(Arc::new(MemDisk::from_bytes(crashed)));
    assert_eq!(read_rows(&engine), [1]);
    assert_eq!(&*engine.volume().read(stray).unwrap(), b"nobody's");
    let findings = Engine::check(engine.volume());
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].page, Some(stray));
}

#[test]
fn what_cannot_be_swept_waits_until_it_can() {
    let disk = Arc::new(MemDisk::new());
    let engine = engine_on(disk.clone());
    load(&engine, "broken", &numbers(1, 5_000))
        .commit()
        .unwrap();
    let root = engine.volume().pin().pages().into_iter().find(|page| {
        page.get() > CATALOG_PAGE.get()
            && engine.volume().pin().kind(*page).unwrap() == PageKind::Table
    });
    let batch = engine.volume().begin().unwrap();
    batch
        .replace(root.unwrap(), PageKind::Table, b"not a root")
        .unwrap();
    batch.commit().unwrap();
    let transaction = load(&engine, "t", &numbers(2, 30_000));
    let crashed = disk.to_bytes();
    drop((transaction, engine));

    let engine = engine_on(Arc::new(MemDisk::from_bytes(crashed)));
    assert!(is_marked(&engine), "what the table refers to is not known");
    let staged = page_count(&engine);
    load(&engine, "new", &numbers(3, 30_000)).commit().unwrap();
    drop(load(&engine, "aborted", &numbers(4, 30_000)));
    assert!(is_marked(&engine));
    assert!(page_count(&engine) > staged);
    let mut transaction = engine.begin().unwrap();
    transaction.drop_table("broken").unwrap();
    transaction.commit().unwrap();
    drop(engine.begin().unwrap());
    assert!(!is_marked(&engine));
    assert_eq!(read(&engine.snapshot(), "new"), numbers(3, 30_000));
    // What the damaged table had is below the mark.
    let findings = Engine::check(engine.volume());
    assert!(
        findings
            .iter()
            .all(|finding| finding.invariant == "live_pages_are_referenced")
    );
    let mut transaction = engine.begin().unwrap();
    transaction.drop_table("new").unwrap();
    transaction.commit().unwrap();
    assert_eq!(page_count(&engine), 1 + findings.len());
}

#[test]
fn a_full_disk_in_the_middle_of_a_load_takes_nothing() {
    // 2 MB; the file has up to one to spare.
    let values = numbers(2, 250_000);
    for spare_bytes in (0..700_000).step_by(41_000) {
        let disk = Arc::new(SimDisk::new(Vec::new()));
        let engine = engine_on(disk.clone());
        load(&engine, "kept", &numbers(1, 5_000)).commit().unwrap();
        engine.volume().checkpoint().unwrap();
        let pages = page_count(&engine);
        disk.set_quota(Some(disk.len().unwrap() + spare_bytes));
        for _ in 0..3 {
            let mut transaction = engine.begin().unwrap();
            transaction.create_table(definition("t")).unwrap();
            let loaded = try_load(&mut transaction, "t", &values);
            let error = match loaded {
                Ok(()) => transaction.commit().unwrap_err().to_string(),
                Err(error) => {
                    drop(transaction);
                    error.to_string()
                }
            };
            assert!(
                error.contains("no space left") || error.contains("batch"),
                "{error}"
            );
            assert_eq!(page_count(&engine), pages, "{spare_bytes} bytes to spare");
            assert!(!is_marked(&engine));
        }
        no_findings(&engine);
        let mut transaction = engine.begin().unwrap();
        transaction.drop_table("kept").unwrap();
        transaction.commit().unwrap();
        disk.set_quota(None);
        load(&engine, "t", &values).commit().unwrap();
        assert_eq!(read(&engine.snapshot(), "t"), values);
        no_findings(&engine);
    }
}

#[test]
fn a_failure_of_who_ends_the_commit_aborts() {
    let engine = engine_on(Arc::new(MemDisk::new()));
    let transaction = load(&engine, "t", &numbers(2, 30_000));
    let error = transaction
        .commit_by(|_| -> Result<(), _> { Err(CommitError::Write(BatchWriteError::BatchFailed)) })
        .unwrap_err();
    let TransactionError::Commit(CommitError::Write(BatchWriteError::BatchFailed)) = error else {
        panic!("{error}");
    };
    assert_eq!(page_count(&engine), 0);
    create_row_table(&engine);
    commit_row(&engine, 1);
    assert!(engine.snapshot().table("t").unwrap().is_none());
    let transaction = load(&engine, "t", &numbers(2, 30_000));
    transaction.commit().unwrap();
    assert_eq!(read(&engine.snapshot(), "t"), numbers(2, 30_000));
    assert_eq!(read_rows(&engine), [1]);
    no_findings(&engine);
}

#[test]
fn pages_of_others_are_covered_once_the_mark_is_written() {
    let disk = Arc::new(MemDisk::new());
    let engine = engine_on(disk.clone());
    let mut transaction = engine.begin().unwrap();
    let page = engine.volume().allocate_page().unwrap();
    transaction.mark_staging().unwrap();
    transaction.mark_staging().unwrap();
    let batch = engine.volume().begin().unwrap();
    batch
        .put(page, PageKind::Segment, b"a page of another")
        .unwrap();
    batch.commit().unwrap();
    let crashed = disk.to_bytes();
    let after = engine_on(Arc::new(MemDisk::from_bytes(crashed)));
    assert_eq!(page_count(&after), 0);
    // A commit that changes no table frees the mark all the same.
    transaction.commit_by(|batch| batch.commit()).unwrap();
    assert_eq!(engine.volume().pin().pages(), [page]);
}

#[test]
fn a_page_is_freed_once_and_pages_of_the_transaction_too() {
    let engine = engine_on(Arc::new(MemDisk::new()));
    let values = numbers(1, 5_000);
    let mut transaction = load(&engine, "t", &values[..2_500]);
    // The row group that is not full is read back from the staged pages and written again.
    try_load(&mut transaction, "t", &values[2_500..]).unwrap();
    assert_eq!(read(&transaction.snapshot(), "t"), values);
    transaction.create_table(definition("gone")).unwrap();
    try_load(&mut transaction, "gone", &values).unwrap();
    transaction.drop_table("gone").unwrap();
    transaction.commit().unwrap();
    no_findings(&engine);
    assert_eq!(read(&engine.snapshot(), "t"), values);
}

#[test]
fn a_volume_that_takes_no_writes_begins_no_transaction() {
    let disk = Arc::new(MemDisk::new());
    load(&engine_on(disk.clone()), "t", &[1, 2])
        .commit()
        .unwrap();
    let volume = Volume::open(disk, OpenMode::ReadOnly).unwrap();
    let engine = Engine::open(volume).unwrap();
    let error = engine.begin().err().unwrap();
    let TransactionError::Engine(EngineError::Write(BatchWriteError::ReadOnly { .. })) = error
    else {
        panic!("{error}");
    };
}

#[test]
fn going_back_to_a_savepoint_brings_back_what_was_dropped() {
    let engine = engine_on(Arc::new(MemDisk::new()));
    let values = numbers(1, 5_000);
    load(&engine, "old", &values).commit().unwrap();
    for count in [10, 5_000] {
        let mut transaction = engine.transaction(TransactionOptions::default());
        let tables = transaction.tables().unwrap();
        tables.create_table(definition("new")).unwrap();
        try_load(tables, "new", &values[..count]).unwrap();
        let savepoint = transaction.savepoint();
        let tables = transaction.tables().unwrap();
        tables.drop_table("old").unwrap();
        tables.drop_table("new").unwrap();
        tables.create_table(definition("gone")).unwrap();
        try_load(tables, "gone", &values[..count]).unwrap();
        transaction.roll_back_to(&savepoint);
        assert_eq!(read(&transaction.snapshot(), "new"), values[..count]);
        transaction.commit().unwrap();
        no_findings(&engine);
        assert_eq!(read(&engine.snapshot(), "old"), values);
        assert_eq!(read(&engine.snapshot(), "new"), values[..count]);
        let mut transaction = engine.begin().unwrap();
        transaction.drop_table("new").unwrap();
        transaction.commit().unwrap();
        no_findings(&engine);
    }
}

/// Values of a sequence are committed by themselves, also into a tree that is rolled back.
#[test]
fn the_number_of_a_tree_that_was_rolled_back_is_not_given_again() {
    let disk = Arc::new(MemDisk::new());
    let engine = engine_on(disk.clone());
    let mut transaction = engine.transaction(TransactionOptions::default());
    let sequence = SequenceDefinition::ascending("s", SqlType::BigInt).unwrap();
    transaction
        .define(|tables| tables.create_sequence(sequence))
        .unwrap();
    let snapshot = transaction.snapshot();
    let value = snapshot.next_value(&snapshot.sequence("s").unwrap());
    assert_eq!(value.unwrap(), 1);
    drop((transaction, snapshot));
    let crashed = disk.to_bytes();
    {
        let disk = Arc::new(MemDisk::from_bytes(crashed));
        let engine = engine_on(disk.clone());
        create_row_table(&engine);
        commit_row(&engine, 1);
        let engine = engine_on(Arc::new(MemDisk::from_bytes(disk.to_bytes())));
        assert_eq!(read_rows(&engine), [1]);
        assert_eq!(engine.check_rows(), []);
    }
    create_row_table(&engine);
    commit_row(&engine, 1);
    let engine = engine_on(Arc::new(MemDisk::from_bytes(disk.to_bytes())));
    assert_eq!(read_rows(&engine), [1]);
}

/// A transaction that has made a table is rolled back, a flush follows that is no checkpoint or cannot free the table's trees, and
/// the machine crashes.
#[test]
fn trees_that_were_rolled_back_reach_the_file_with_a_mark_or_not_at_all() {
    for is_read in [false, true] {
        let disk = Arc::new(SimDisk::new(Vec::new()));
        let mut options = options();
        options.pool.budget_bytes = 32 << 10;
        options.pool.compression_threads = 0;
        options.mvcc.write_set_bytes = 300;
        options.mvcc.has_background_thread = false;
        let volume = Volume::create(disk.clone(), VolumeOptions::default()).unwrap();
        let engine = Engine::open_with(volume, options).unwrap();
        create_row_table(&engine);
        engine.checkpoint().unwrap();
        let mut given_up = engine.transaction(TransactionOptions::default());
        given_up
            .define(|tables| tables.create_table(definition("given up").clustered_by(&[0])))
            .unwrap();
        let reader = is_read.then(|| engine.snapshot());
        drop(given_up);
        assert_eq!(is_marked(&engine), is_read);
        // Too many for memory: pages are flushed while they are applied.
        let mut many = engine.transaction(TransactionOptions::default());
        (0..4_000).for_each(|number| insert_row(&mut many, number));
        many.commit().unwrap();
        no_findings(&engine_on(copy(&disk)));
        engine.checkpoint().unwrap();
        no_findings(&engine_on(copy(&disk)));
        drop(reader);
        // The next write transaction finds the mark, and that nobody needs it.
        drop(engine.begin().unwrap());
        assert!(!is_marked(&engine));
        no_findings(&engine);
        assert_eq!(read_rows(&engine).len(), 4_000);
    }
}
