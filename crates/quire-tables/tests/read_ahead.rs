//! Scans read ahead: fewer requests to the disk for the same rows, and none that are not needed.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use arrow::array::{ArrayRef, AsArray, BooleanArray, Int64Array, RecordBatch};
use arrow::datatypes::Int64Type;
use quire_kv::mvcc::TransactionOptions;
use quire_store::disk::{DiskCall, HookedDisk};
use quire_store::pool::PoolOptions;
use quire_store::{Disk, MemDisk, Volume, VolumeOptions};
use quire_tables::{
    AppendOptions, ColumnDefinition, Engine, EngineOptions, Predicate, ScanOptions, ScanStatistics,
    SharedTableScan, SqlType, TableDefinition, ZoneTable,
};

const COLUMNS: usize = 8;
const ROW_GROUPS: i64 = 64;
const ROW_GROUP_ROWS: i64 = 4_000;

/// No codec makes these much smaller (SplitMix64): a segment has some 32 KB. The first column is ascending, for zones.
fn value(row: i64, column: usize) -> i64 {
    if column == 0 {
        return row;
    }
    let seed = (row * COLUMNS as i64 + column as i64).cast_unsigned();
    let mut mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)).cast_signed()
}

fn loaded() -> Arc<MemDisk> {
    loaded_with(ROW_GROUPS)
}

/// A file with a table of so many row groups, written in one load.
fn loaded_with(row_groups: i64) -> Arc<MemDisk> {
    let disk = Arc::new(MemDisk::new());
    let volume = Volume::open_or_create(Arc::clone(&disk) as _, VolumeOptions::default()).unwrap();
    let options = EngineOptions {
        staging_bytes: 32 << 20,
        ..EngineOptions::default()
    };
    let engine = Engine::open_with(volume, options).unwrap();
    let mut transaction = engine.transaction(TransactionOptions::default());
    let columns = (0..COLUMNS).map(|column| ColumnDefinition {
        nullable: false,
        ..ColumnDefinition::new(format!("c{column}"), SqlType::BigInt)
    });
    let table = TableDefinition::new("t", columns.collect());
    transaction
        .define(|tables| tables.create_table(table))
        .unwrap();
    let definition = transaction.snapshot().definition("t").cloned().unwrap();
    assert!(transaction.lock_to_append(&definition).unwrap());
    let options = AppendOptions {
        workers: Some(2),
        row_group_rows: ROW_GROUP_ROWS as usize,
        ..AppendOptions::default()
    };
    let half = transaction.tables().unwrap();
    let mut appender = half.appender_with("t", options).unwrap();
    for first in (0..row_groups).map(|row_group| row_group * ROW_GROUP_ROWS) {
        let column = |column| {
            let values = (first..first + ROW_GROUP_ROWS).map(|row| value(row, column));
            Arc::new(Int64Array::from_iter_values(values)) as ArrayRef
        };
        let columns = (0..COLUMNS).map(column).collect();
        let batch = RecordBatch::try_new(definition.arrow_schema(), columns).unwrap();
        appender.append(&batch).unwrap();
    }
    appender.finish().unwrap();
    transaction.commit().unwrap();
    drop(engine);
    disk
}

/// The same file with a new engine, whose reads of the disk are counted.
fn reopened(disk: &Arc<MemDisk>, cache_bytes: usize) -> (Engine, Arc<AtomicU64>) {
    let reads = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&reads);
    let count = move |call| {
        if call == DiskCall::Read {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    };
    let disk = HookedDisk::new(SharedDisk(Arc::clone(disk)), count);
    let options = VolumeOptions {
        cache_bytes,
        ..VolumeOptions::default()
    };
    let volume = Volume::open_or_create(Arc::new(disk), options).unwrap();
    let options = EngineOptions {
        pool: PoolOptions {
            budget_bytes: cache_bytes,
            ..PoolOptions::default()
        },
        ..EngineOptions::default()
    };
    (Engine::open_with(volume, options).unwrap(), reads)
}

/// A disk that outlives its volume.
struct SharedDisk(Arc<MemDisk>);

impl Disk for SharedDisk {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> std::io::Result<()> {
        self.0.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> std::io::Result<()> {
        self.0.write_at(bytes, offset)
    }

    fn sync(&self) -> std::io::Result<()> {
        self.0.sync()
    }

    fn len(&self) -> std::io::Result<u64> {
        self.0.len()
    }

    fn set_len(&self, bytes: u64) -> std::io::Result<()> {
        self.0.set_len(bytes)
    }

    fn name(&self) -> String {
        self.0.name()
    }
}

/// Reads all rows with some readers on threads of their own; returns them sorted, and what the scan did.
fn scan(engine: &Engine, options: ScanOptions) -> (Vec<Vec<i64>>, ScanStatistics) {
    let table = engine.snapshot().table("t").unwrap().unwrap();
    let readers = options.readers;
    let scan = table.scan(options).unwrap();
    let rows = rows_of(&scan, readers);
    (rows, scan.statistics())
}

fn rows_of(scan: &Arc<SharedTableScan>, readers: usize) -> Vec<Vec<i64>> {
    let mut rows = Vec::new();
    std::thread::scope(|scope| {
        let threads = (0..readers).map(|_| {
            let mut reader = scan.reader();
            scope.spawn(move || {
                let mut rows = Vec::new();
                while let Some(batch) = reader.next().unwrap() {
                    for row in 0..batch.num_rows() {
                        let columns = batch.columns().iter();
                        let cells = columns.map(|one| one.as_primitive::<Int64Type>().value(row));
                        rows.push(cells.collect::<Vec<i64>>());
                    }
                }
                rows
            })
        });
        let threads: Vec<_> = threads.collect();
        for thread in threads {
            rows.extend(thread.join().unwrap());
        }
    });
    rows.sort_unstable();
    rows
}

fn expected(columns: &[usize], is_wanted: impl Fn(i64) -> bool) -> Vec<Vec<i64>> {
    let rows = (0..ROW_GROUPS * ROW_GROUP_ROWS).filter(|row| is_wanted(*row));
    let row = |row| columns.iter().map(|&column| value(row, column)).collect();
    let mut rows: Vec<Vec<i64>> = rows.map(row).collect();
    rows.sort_unstable();
    rows
}

fn reading(columns: &[usize], readers: usize, read_ahead_bytes: u64) -> ScanOptions {
    ScanOptions {
        projection: columns.to_vec(),
        readers,
        read_ahead_bytes,
        ..ScanOptions::default()
    }
}

/// Rows whose first column is not below a bound; zones say so for whole groups.
struct NotBelow {
    bound: i64,
    /// How often zones have been asked.
    prunes: AtomicU64,
}

impl NotBelow {
    fn new(bound: i64) -> Arc<Self> {
        let prunes = AtomicU64::new(0);
        Arc::new(Self { bound, prunes })
    }
}

impl Predicate for NotBelow {
    fn columns(&self) -> &[usize] {
        &[0]
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanArray, String> {
        let values = batch.column(0).as_primitive::<Int64Type>();
        Ok(values
            .iter()
            .map(|value| value.map(|value| value >= self.bound))
            .collect())
    }

    fn prune(&self, zones: &ZoneTable) -> Option<Vec<bool>> {
        self.prunes.fetch_add(1, Ordering::Relaxed);
        let bounds = zones.max(0)?;
        let bounds = bounds.as_primitive::<Int64Type>();
        Some(
            (0..bounds.len())
                .map(|group| bounds.value(group) >= self.bound)
                .collect(),
        )
    }

    fn is_deterministic(&self) -> bool {
        true
    }
}

#[test]
fn a_column_comes_with_few_requests() {
    let disk = loaded();
    for readers in [1, 2, 5] {
        let (engine, reads) = reopened(&disk, 64 << 20);
        let before = reads.load(Ordering::Relaxed);
        let (rows, statistics) = scan(&engine, reading(&[0, 3], readers, 32 << 20));
        assert_eq!(rows, expected(&[0, 3], |_| true));
        let requests = reads.load(Ordering::Relaxed) - before;
        // The root of the table is read by its snapshot.
        assert!(
            (statistics.disk_requests..statistics.disk_requests + 4).contains(&requests),
            "{requests} requests, {statistics:?}"
        );
        let pages = 3 * ROW_GROUPS as u64;
        assert!(
            requests < pages / 6,
            "{requests} requests for {pages} pages"
        );
        assert!(
            statistics.disk_bytes >= statistics.bytes_read,
            "{statistics:?}"
        );
        assert!(
            statistics.disk_bytes < 2 * statistics.bytes_read + (1 << 20),
            "{statistics:?}"
        );
        // What is in the cache by now needs no disk.
        let (_, again) = scan(&engine, reading(&[0, 3], readers, 32 << 20));
        assert_eq!((again.disk_requests, again.io_wait_ns), (0, 0), "{again:?}");
    }
}

#[test]
fn without_reading_ahead_each_page_is_a_request() {
    let (engine, _) = reopened(&loaded(), 64 << 20);
    let (rows, statistics) = scan(&engine, reading(&[2], 2, 0));
    assert_eq!(rows, expected(&[2], |_| true));
    assert!(
        statistics.disk_requests >= 2 * ROW_GROUPS as u64,
        "{statistics:?}"
    );
    assert!(
        statistics.io_wait_ns > 0 && statistics.decode_ns > 0,
        "{statistics:?}"
    );
    let decoded_bytes = 8 * ROW_GROUPS * ROW_GROUP_ROWS;
    assert_eq!(statistics.decoded_bytes, decoded_bytes as u64);
}

/// A quarter of the row groups is read, and no page of the others but their metadata.
#[test]
fn what_zones_exclude_is_not_read_ahead() {
    let disk = loaded();
    let bound = ROW_GROUPS * ROW_GROUP_ROWS / 4 * 3;
    let (engine, _) = reopened(&disk, 64 << 20);
    let (_, whole) = scan(&engine, reading(&[0, 5], 2, 32 << 20));
    let (engine, _) = reopened(&disk, 64 << 20);
    let options = ScanOptions {
        predicates: vec![NotBelow::new(bound)],
        ..reading(&[0, 5], 2, 32 << 20)
    };
    let (rows, some) = scan(&engine, options);
    assert_eq!(rows, expected(&[0, 5], |row| row >= bound));
    assert!(some.bytes_read * 3 < whole.bytes_read, "{some:?}");
    assert!(
        some.disk_bytes * 2 < whole.disk_bytes,
        "{some:?} beside {whole:?}"
    );
}

/// The cache holds less than what a scan would like to have on its way: it gets its rows all the same.
#[test]
fn a_small_cache_bounds_what_is_read_ahead() {
    let (engine, _) = reopened(&loaded(), 2 << 20);
    let columns: Vec<usize> = (0..COLUMNS).collect();
    let (rows, statistics) = scan(&engine, reading(&columns, 3, 32 << 20));
    assert_eq!(rows, expected(&columns, |_| true));
    assert!(
        statistics.disk_bytes < 2 * statistics.bytes_read,
        "{statistics:?}"
    );
}

/// A scan that is left after its first rows leaves nothing on its way.
#[test]
fn a_scan_that_is_left_holds_nothing() {
    let (engine, reads) = reopened(&loaded(), 64 << 20);
    let table = engine.snapshot().table("t").unwrap().unwrap();
    for _ in 0..20 {
        let scan = table.scan(reading(&[1, 4], 2, 32 << 20)).unwrap();
        let mut reader = scan.reader();
        assert!(reader.next().unwrap().is_some());
    }
    drop(table);
    drop(engine);
    let closed = reads.load(Ordering::Relaxed);
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_eq!(
        reads.load(Ordering::Relaxed),
        closed,
        "the disk is not used any more"
    );
}

/// A plan keeps its scans while its statement runs: one whose readers have ended leaves what all scans may hold to others.
#[test]
fn a_scan_without_readers_holds_nothing() {
    // An eighth of this is less than what one scan would hold.
    let (engine, _) = reopened(&loaded(), 4 << 20);
    let table = engine.snapshot().table("t").unwrap().unwrap();
    let kept: Vec<_> = (0..4)
        .map(|_| {
            let scan = table.scan(reading(&[6, 7], 1, 32 << 20)).unwrap();
            let mut reader = scan.reader();
            for _ in 0..4 {
                assert!(reader.next().unwrap().is_some());
            }
            drop(reader);
            scan
        })
        .collect();
    let (rows, statistics) = scan(&engine, reading(&[1], 1, 32 << 20));
    assert_eq!(rows, expected(&[1], |_| true));
    assert!(
        statistics.disk_requests < ROW_GROUPS as u64,
        "{statistics:?}"
    );
    // A scan whose readers have ended goes on with a further one.
    let mut rest = kept[0].reader();
    let mut row_count = 0;
    while let Some(batch) = rest.next().unwrap() {
        row_count += batch.num_rows() as i64;
    }
    assert!(row_count > 0 && row_count < ROW_GROUPS * ROW_GROUP_ROWS);
}

/// Rows whose column has a value that none has. No zone says so.
struct Equals {
    column: [usize; 1],
    value: i64,
}

impl Predicate for Equals {
    fn columns(&self) -> &[usize] {
        &self.column
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanArray, String> {
        let values = batch.column(0).as_primitive::<Int64Type>();
        Ok(values
            .iter()
            .map(|value| value.map(|value| value == self.value))
            .collect())
    }

    fn prune(&self, _zones: &ZoneTable) -> Option<Vec<bool>> {
        None
    }

    fn is_deterministic(&self) -> bool {
        true
    }
}

/// Of a query's scans the later ones are read when others have ended. What their readers will need first is asked for as they are opened.
#[test]
fn a_scan_that_is_opened_reads_before_its_reader_comes() {
    let (engine, reads) = reopened(&loaded(), 128 << 20);
    // With metadata in memory and nothing else.
    scan(&engine, reading(&[], 1, 0));
    let before = reads.load(Ordering::Relaxed);
    let table = engine.snapshot().table("t").unwrap().unwrap();
    let scans = [[2, 5], [3, 6]].map(|columns| {
        let scan = table.scan(reading(&columns, 2, 32 << 20)).unwrap();
        (scan, columns)
    });
    let deadline = Instant::now() + Duration::from_secs(60);
    // A request for each column: 2 MiB of row groups lie beside each other.
    while reads.load(Ordering::Relaxed) < before + 4 {
        assert!(Instant::now() < deadline, "nothing is read ahead");
        std::thread::yield_now();
    }
    for (scan, columns) in &scans {
        assert_eq!(rows_of(scan, 2), expected(columns, |_| true));
    }
}

/// Reading ahead costs a scan whose pages are in memory nothing: no request, and no zone is asked twice, wherever its first row group is.
#[test]
fn a_scan_in_memory_asks_zones_once() {
    let disk = loaded();
    let bound = ROW_GROUPS * ROW_GROUP_ROWS / 4 * 3;
    for columns_before in [&[0, 5][..], &[]] {
        let (engine, _) = reopened(&disk, 64 << 20);
        scan(&engine, reading(columns_before, 1, 0));
        let filtered = |predicate: &Arc<NotBelow>| ScanOptions {
            predicates: vec![Arc::clone(predicate) as _],
            ..reading(&[0, 5], 1, 32 << 20)
        };
        scan(&engine, filtered(&NotBelow::new(bound)));
        let predicate = NotBelow::new(bound);
        let (rows, statistics) = scan(&engine, filtered(&predicate));
        assert_eq!(rows, expected(&[0, 5], |row| row >= bound));
        assert_eq!(statistics.disk_requests, 0, "{statistics:?}");
        let groups = statistics.groups_pruned + statistics.groups_scanned;
        assert_eq!(groups, ROW_GROUPS as u64);
        let prunes = predicate.prunes.load(Ordering::Relaxed);
        assert_eq!(prunes, ROW_GROUPS as u64, "{columns_before:?}");
    }
}

/// The columns of a single row group lie beside each other: its metadata, the column of the filter, and the others together.
#[test]
fn the_columns_of_the_first_row_group_are_asked_for_together() {
    let disk = loaded_with(1);
    let columns: Vec<usize> = (0..COLUMNS).collect();
    for (has_filter, requests_max) in [(false, 2), (true, 3)] {
        let (engine, _) = reopened(&disk, 64 << 20);
        let options = ScanOptions {
            predicates: if has_filter {
                vec![NotBelow::new(0)]
            } else {
                Vec::new()
            },
            ..reading(&columns, 1, 32 << 20)
        };
        let (rows, statistics) = scan(&engine, options);
        let expected: Vec<Vec<i64>> = (0..ROW_GROUP_ROWS)
            .map(|row| columns.iter().map(|&column| value(row, column)).collect())
            .collect();
        assert_eq!(rows, expected);
        assert!(
            statistics.disk_requests <= requests_max,
            "{statistics:?}, {requests_max} wanted"
        );
    }
}

#[test]
fn only_the_filter_s_columns_are_read_ahead_when_no_row_passes() {
    let (engine, _) = reopened(&loaded(), 64 << 20);
    let nothing = Equals {
        column: [3],
        value: 1,
    };
    let options = ScanOptions {
        predicates: vec![Arc::new(nothing)],
        ..reading(&[1, 2, 3, 4, 5], 2, 32 << 20)
    };
    let (rows, statistics) = scan(&engine, options);
    assert_eq!(rows, expected(&[], |_| false));
    // One column of eight bytes a row, and some metadata.
    let column_bytes = (8 * ROW_GROUPS * ROW_GROUP_ROWS) as u64;
    assert!(
        statistics.disk_bytes < column_bytes * 3 / 2,
        "{statistics:?}"
    );
}

/// The first rows of a table need its first row group and no other.
#[test]
fn a_limit_reads_no_row_group_in_vain() {
    let (engine, _) = reopened(&loaded(), 64 << 20);
    let options = ScanOptions {
        limit: Some(10),
        ..reading(&[1, 2], 1, 32 << 20)
    };
    let (rows, statistics) = scan(&engine, options);
    assert_eq!(rows.len(), 10);
    let row_group_bytes = (2 * 8 * ROW_GROUP_ROWS) as u64;
    assert!(
        statistics.disk_bytes < row_group_bytes * 3,
        "{statistics:?}"
    );
}
