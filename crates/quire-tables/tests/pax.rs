//! Tables whose segments are in blocks: how long blocks are, what reading a row reads, what else is as in column tables.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringViewArray};
use arrow::compute::concat_batches;
use quire_store::disk::{DiskCall, HookedDisk};
use quire_store::{Disk, MemDisk, OpenMode, PageKind, Volume, VolumeOptions};
use quire_tables::{
    AppendOptions, ColumnDefinition, ColumnTable, DefinitionError, Engine, ROW_GROUP_ROWS,
    RowGroup, ScanOptions, SqlType, TableDefinition,
};

const BLOCK_BYTES: usize = 64 << 10;

fn definition() -> TableDefinition {
    let columns = vec![
        ColumnDefinition::new("id", SqlType::BigInt),
        ColumnDefinition::new("noise", SqlType::BigInt),
        ColumnDefinition::new("kind", SqlType::Integer),
        // Follows the first.
        ColumnDefinition::new("later", SqlType::BigInt),
        ColumnDefinition::new("note", SqlType::Text),
    ];
    TableDefinition::new("t", columns)
}

fn noise(row: i64) -> i64 {
    row.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed())
        .rotate_left(29)
        .wrapping_mul(0x2545_f491_4f6c_dd1d)
}

fn rows(from: i64, count: i64) -> RecordBatch {
    let range = || from..from + count;
    let note = |row: i64| (row % 11 > 0).then(|| format!("note {:x}", noise(row) >> 40));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values(
            range().map(|row| noise(row) >> 30),
        )),
        Arc::new(Int64Array::from_iter_values(range().map(noise))),
        Arc::new(
            range()
                .map(|row| (row % 7 > 0).then_some((row % 5) as i32))
                .collect::<Int32Array>(),
        ),
        Arc::new(Int64Array::from_iter_values(
            range().map(|row| (noise(row) >> 30) + row % 4),
        )),
        Arc::new(range().map(note).collect::<StringViewArray>()),
    ];
    RecordBatch::try_new(definition().arrow_schema(), columns).unwrap()
}

fn engine() -> Engine {
    Engine::open(Volume::create(Arc::new(MemDisk::new()), VolumeOptions::default()).unwrap())
        .unwrap()
}

fn options(workers: usize) -> AppendOptions {
    AppendOptions {
        workers: Some(workers),
        ..AppendOptions::default()
    }
}

fn append(engine: &Engine, batches: &[RecordBatch], options: AppendOptions) {
    let mut transaction = engine.begin().unwrap();
    let mut appender = transaction.appender_with("t", options).unwrap();
    for batch in batches {
        appender.append(batch).unwrap();
    }
    appender.finish().unwrap();
    transaction.commit().unwrap();
}

fn create(engine: &Engine, definition: TableDefinition) {
    let mut transaction = engine.begin().unwrap();
    transaction.create_table(definition).unwrap();
    transaction.commit().unwrap();
}

fn loaded(definition: TableDefinition, batches: &[RecordBatch], workers: usize) -> Engine {
    let engine = engine();
    create(&engine, definition);
    append(&engine, batches, options(workers));
    engine
}

fn table(engine: &Engine) -> Arc<ColumnTable> {
    engine.snapshot().table("t").unwrap().unwrap()
}

fn row_groups(engine: &Engine) -> Vec<Arc<RowGroup>> {
    let table = table(engine);
    let indexes = 0..table.row_group_count();
    indexes
        .map(|index| table.row_group(index).unwrap())
        .collect()
}

fn all_rows(engine: &Engine) -> RecordBatch {
    let options = ScanOptions {
        projection: (0..5).collect(),
        ..ScanOptions::default()
    };
    let scan = table(engine).scan(options).unwrap();
    let mut reader = scan.reader();
    let mut batches = Vec::new();
    while let Some(batch) = reader.next().unwrap() {
        batches.push(batch);
    }
    concat_batches(scan.schema(), &batches).unwrap()
}

/// Batches of 1,000 rows.
fn batches(count: i64) -> Vec<RecordBatch> {
    let starts = (0..count).step_by(1_000);
    starts
        .map(|from| rows(from, (count - from).min(1_000)))
        .collect()
}

fn joined(batches: &[RecordBatch]) -> RecordBatch {
    concat_batches(&definition().arrow_schema(), batches).unwrap()
}

#[test]
fn blocks_are_about_as_long_as_they_are_to_be() {
    let given = batches(60_000);
    for block_bytes in [16 << 10, BLOCK_BYTES, 250_000] {
        let engine = loaded(definition().in_blocks_of(block_bytes), &given, 2);
        assert_eq!(all_rows(&engine), joined(&given));
        let row_groups = row_groups(&engine);
        assert!(row_groups.len() >= 4, "{} row groups", row_groups.len());
        let (last, whole) = row_groups.split_last().unwrap();
        // The second is the first whose rows are those of a block before it.
        for (index, row_group) in whole.iter().enumerate() {
            let bytes = row_group.encoded_bytes() as usize;
            // A sample of the first tells little of dictionaries; whole vectors are up to one shorter than a block.
            let vector_bytes = bytes / (row_group.row_count as usize).div_ceil(1024);
            let least = if index == 0 {
                block_bytes / 2
            } else {
                block_bytes * 9 / 10
            };
            assert!(
                bytes + vector_bytes > least && bytes < block_bytes * 11 / 10,
                "row group {index}: a block of {bytes} bytes, not {block_bytes}"
            );
            // A vector may be longer than a block.
            let rows = row_group.row_count;
            assert!(
                rows < 1024 || rows % 1024 == 0,
                "{rows} rows: whole vectors"
            );
        }
        assert!(last.encoded_bytes() <= block_bytes as u64 * 11 / 10);
        assert_eq!(Engine::check(engine.volume()), Vec::new());
    }
}

#[test]
fn the_segments_of_a_row_group_are_one_page() {
    let engine = loaded(definition().in_blocks_of(BLOCK_BYTES), &batches(20_000), 1);
    let pin = engine.volume().pin();
    let segments = pin.pages().into_iter();
    let segments = segments.filter(|&page| pin.kind(page).unwrap() == PageKind::Segment);
    let row_groups = row_groups(&engine);
    assert_eq!(segments.count(), row_groups.len());
    for row_group in &row_groups {
        let [page] = row_group.block.as_slice() else {
            panic!("{} pages", row_group.block.len());
        };
        let length = pin.payload_bytes(*page).unwrap();
        assert_eq!(u64::from(length), row_group.encoded_bytes());
        assert!(row_group.columns.iter().all(|chunk| chunk.pages.is_empty()));
    }
    let follower = row_groups[0].columns[3].relation;
    assert!(follower.is_some(), "relations stay within a block");
}

/// A row takes one read of a block, whichever columns are asked for; a column table reads the segments of those.
#[test]
fn a_block_is_read_once_for_all_columns() {
    let given = batches(3_000);
    let read = |definition: TableDefinition, projection: Vec<usize>| {
        let engine = loaded(definition, &given, 1);
        let row_groups = row_groups(&engine);
        assert_eq!(row_groups.len(), 1);
        let options = ScanOptions {
            projection,
            ..ScanOptions::default()
        };
        let scan = table(&engine).scan(options).unwrap();
        let mut reader = scan.reader();
        while reader.next().unwrap().is_some() {}
        (scan.statistics().bytes_read, Arc::clone(&row_groups[0]))
    };
    for projection in [vec![1], vec![4, 0], (0..5).collect()] {
        let (bytes, row_group) = read(definition().in_blocks_of(1 << 20), projection.clone());
        assert_eq!(bytes, row_group.encoded_bytes(), "{projection:?}");
        let (bytes, row_group) = read(definition(), projection.clone());
        let chunks = projection
            .iter()
            .map(|&column| row_group.columns[column].encoded_bytes);
        assert_eq!(bytes, chunks.sum::<u64>(), "{projection:?}");
    }
}

#[test]
fn what_a_table_becomes_does_not_depend_on_the_workers() {
    let given = batches(70_000);
    let shape = |workers| {
        let engine = loaded(definition().in_blocks_of(BLOCK_BYTES), &given, workers);
        let of = |row_group: &Arc<RowGroup>| (row_group.row_count, row_group.encoded_bytes());
        row_groups(&engine).iter().map(of).collect::<Vec<_>>()
    };
    let alone = shape(1);
    assert!(alone.len() > 16, "{} row groups", alone.len());
    assert_eq!(shape(2), alone);
    assert_eq!(shape(7), alone);
}

#[test]
fn small_appends_fill_the_last_block() {
    let engine = engine();
    create(&engine, definition().in_blocks_of(BLOCK_BYTES));
    let mut given = Vec::new();
    for from in (0..12_000).step_by(150) {
        given.push(rows(from, 150));
        append(&engine, &given[given.len() - 1..], options(1));
    }
    assert_eq!(all_rows(&engine), joined(&given));
    let row_groups = row_groups(&engine);
    let bytes: u64 = row_groups
        .iter()
        .map(|row_group| row_group.encoded_bytes())
        .sum();
    let least = bytes as usize / BLOCK_BYTES;
    // Full ones, and at most one of every power of two.
    assert!(
        row_groups.len() <= 2 * least + 8,
        "{} row groups for {bytes} bytes",
        row_groups.len()
    );
    assert_eq!(Engine::check(engine.volume()), Vec::new());
}

#[test]
fn a_row_longer_than_a_block_is_a_block_of_several_pages() {
    let long = |length: usize| {
        // No codec makes it shorter to speak of.
        let text = (0..length as i64 / 8).map(|at| format!("{:08x}", noise(at) as u32));
        text.collect::<String>()
    };
    let text =
        StringViewArray::from_iter_values([long(9 << 20), "short".to_owned(), long(1 << 20)]);
    let columns: Vec<ArrayRef> = rows(0, 3).columns()[..4].to_vec();
    let columns = [columns, vec![Arc::new(text) as ArrayRef]].concat();
    let given = RecordBatch::try_new(definition().arrow_schema(), columns).unwrap();
    let engine = loaded(
        definition().in_blocks_of(BLOCK_BYTES),
        std::slice::from_ref(&given),
        1,
    );
    assert_eq!(all_rows(&engine), given);
    let row_groups = row_groups(&engine);
    assert!(row_groups.iter().any(|row_group| row_group.block.len() > 1));
    assert_eq!(Engine::check(engine.volume()), Vec::new());
    // Several pages, because blocks are to be long.
    let given = batches(130_000);
    let engine = loaded(definition().in_blocks_of(16 << 20), &given, 2);
    assert_eq!(all_rows(&engine), joined(&given));
    assert_eq!(
        table(&engine).row_group_count(),
        1,
        "{ROW_GROUP_ROWS} rows at most"
    );
}

/// Row groups with and without blocks are in one table; row-group pages say which is which.
#[test]
fn a_column_table_becomes_a_pax_table_row_group_by_row_group() {
    let disk = Arc::new(MemDisk::new());
    let volume = Volume::create(disk.clone(), VolumeOptions::default()).unwrap();
    let engine = Engine::open(volume).unwrap();
    create(&engine, definition());
    let given = batches(40_000);
    let small = AppendOptions {
        row_group_rows: 10_000,
        ..options(1)
    };
    append(&engine, &given[..20], small.clone());
    let mut transaction = engine.begin().unwrap();
    transaction
        .alter_table("t", definition().in_blocks_of(BLOCK_BYTES))
        .unwrap();
    transaction.commit().unwrap();
    append(&engine, &given[20..], small);
    drop(engine);
    let engine = Engine::open(Volume::open(disk, OpenMode::ReadWrite).unwrap()).unwrap();
    assert_eq!(all_rows(&engine), joined(&given));
    let with_block: Vec<bool> = row_groups(&engine)
        .iter()
        .map(|one| one.has_block())
        .collect();
    assert_eq!(with_block[..2], [false, false]);
    assert!(with_block.len() > 3 && with_block[2..].iter().all(|has| *has));
    assert_eq!(
        table(&engine).definition().options.block_bytes,
        Some(BLOCK_BYTES)
    );
    assert_eq!(Engine::check(engine.volume()), Vec::new());
}

#[test]
fn pages_of_blocks_are_freed_with_their_table() {
    let engine = loaded(definition().in_blocks_of(BLOCK_BYTES), &batches(20_000), 2);
    let pages = || engine.volume().pin().pages();
    let before = pages().len();
    append(&engine, &batches(20_000), options(2));
    assert!(pages().len() > before);
    let mut transaction = engine.begin().unwrap();
    transaction.drop_table("t").unwrap();
    transaction.commit().unwrap();
    let pin = engine.volume().pin();
    let left = pin.pages().into_iter();
    let left = left.filter(|&page| pin.kind(page).unwrap() == PageKind::Segment);
    assert_eq!(left.count(), 0);
}

#[test]
fn blocks_are_of_column_tables_and_within_bounds() {
    let refused = |definition: TableDefinition| {
        let engine = engine();
        let mut transaction = engine.begin().unwrap();
        transaction
            .create_table(definition)
            .unwrap_err()
            .to_string()
    };
    for block_bytes in [0, 16_383, (16 << 20) + 1] {
        let what = refused(definition().in_blocks_of(block_bytes));
        assert!(what.contains(&block_bytes.to_string()), "{what}");
    }
    let mut rows = definition();
    rows.columns[0].nullable = false;
    let mut rows = rows.clustered_by(&[0]);
    rows.options.block_bytes = Some(BLOCK_BYTES);
    assert!(matches!(
        rows.validate(),
        Err(DefinitionError::NeedsColumnTable { .. })
    ));
}

/// Each block is read once, whatever the number of its columns, although no cache keeps it.
#[test]
fn a_check_reads_each_block_once() {
    let reads = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&reads);
    let count = move |call| {
        if call == DiskCall::Read {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    };
    let disk: Arc<dyn Disk> = Arc::new(HookedDisk::new(MemDisk::new(), count));
    let volume = Volume::create(Arc::clone(&disk), VolumeOptions::default()).unwrap();
    let engine = Engine::open(volume).unwrap();
    create(&engine, definition().in_blocks_of(BLOCK_BYTES));
    append(&engine, &batches(40_000), options(2));
    let row_groups = row_groups(&engine).len() as u64;
    assert!(row_groups > 5, "{row_groups}");
    drop(engine);
    let options = VolumeOptions {
        cache_bytes: 16 << 10,
        ..VolumeOptions::default()
    };
    let volume = Volume::open_or_create(disk, options).unwrap();
    let before = reads.load(Ordering::Relaxed);
    assert_eq!(Engine::check(&volume), []);
    let reads = reads.load(Ordering::Relaxed) - before;
    // The metadata of a row group, its block, and the catalog and what else there is once.
    assert!(
        reads <= 2 * row_groups + 12,
        "{reads} reads of {row_groups} row groups with {} columns",
        definition().columns.len()
    );
}
