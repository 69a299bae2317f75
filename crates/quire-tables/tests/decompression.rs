//! A scan that decodes whole segments, into memory or into the pool, has the rows of one that decodes vectors, and counts what it decodes once.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::array::{ArrayRef, AsArray, BooleanArray, Int64Array, RecordBatch, StringViewArray};
use arrow::compute::concat_batches;
use arrow::datatypes::Int64Type;
use quire_codec::CodecId;
use quire_store::pool::PoolOptions;
use quire_store::{MemDisk, Volume, VolumeOptions};
use quire_tables::{
    ColumnDefinition, ColumnTable, Decompression, Engine, EngineOptions, Predicate, ScanOptions,
    ScanStatistics, ScanStep, SqlType, TableDefinition, ZoneTable,
};

/// A full row group and a part of one.
const ROWS: i64 = 131_072 + 5_000;
const VECTORS: u64 = 128 + 5;
const WINDS: [&str; 4] = ["north", "east", "south", "west"];

/// All columns fit, decoded, into each of the parts of such a cache: none has to go.
const ROOMY_BYTES: usize = 512 << 20;

const MODES: [Decompression; 3] = [
    Decompression::IntoCache,
    Decompression::IntoMemory,
    Decompression::IntoPool,
];

/// Numbers, runs of 500, few texts, texts without repetition of which every ninth is NULL, and booleans; a codec for each, so that all forms
/// occur.
fn definition() -> TableDefinition {
    let column = |name: &str, sql_type, codec| ColumnDefinition {
        compression: Some(codec),
        ..ColumnDefinition::new(name, sql_type)
    };
    TableDefinition::new(
        "t",
        vec![
            column("number", SqlType::BigInt, CodecId::Pfor),
            column("run", SqlType::BigInt, CodecId::Rle),
            column("wind", SqlType::Text, CodecId::Dictionary),
            column("name", SqlType::Text, CodecId::Fsst),
            column("flag", SqlType::Boolean, CodecId::Rle),
        ],
    )
}

fn name(row: i64) -> Option<String> {
    (row % 9 != 0).then(|| format!("customer {}", row * 7919 % 100_003))
}

fn rows() -> RecordBatch {
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values((0..ROWS).map(|row| row * 3))),
        Arc::new(Int64Array::from_iter_values(
            (0..ROWS).map(|row| row / 500 % 7),
        )),
        Arc::new(
            (0..ROWS)
                .map(|row| Some(WINDS[row as usize % 4]))
                .collect::<StringViewArray>(),
        ),
        Arc::new((0..ROWS).map(name).collect::<StringViewArray>()),
        Arc::new(
            (0..ROWS)
                .map(|row| (row % 11 != 0).then_some(row % 3 == 0))
                .collect::<BooleanArray>(),
        ),
    ];
    RecordBatch::try_new(definition().arrow_schema(), columns).unwrap()
}

fn table() -> (Engine, Arc<ColumnTable>) {
    table_in(ROOMY_BYTES, definition())
}

/// The rows in a table, of an engine whose cache has so many bytes.
fn table_in(cache_bytes: usize, definition: TableDefinition) -> (Engine, Arc<ColumnTable>) {
    let options = VolumeOptions {
        cache_bytes,
        ..VolumeOptions::default()
    };
    let volume = Volume::create(Arc::new(MemDisk::new()), options).unwrap();
    let options = EngineOptions {
        pool: PoolOptions {
            budget_bytes: cache_bytes,
            ..PoolOptions::default()
        },
        ..EngineOptions::default()
    };
    let engine = Engine::open_with(volume, options).unwrap();
    create(&engine, definition, &rows());
    let table = newest(&engine);
    (engine, table)
}

fn create(engine: &Engine, definition: TableDefinition, rows: &RecordBatch) {
    let mut transaction = engine.begin().unwrap();
    transaction.create_table(definition).unwrap();
    let mut appender = transaction.appender("t").unwrap();
    appender.append(rows).unwrap();
    appender.finish().unwrap();
    transaction.commit().unwrap();
}

fn newest(engine: &Engine) -> Arc<ColumnTable> {
    engine.snapshot().table("t").unwrap().unwrap()
}

fn read(
    table: &Arc<ColumnTable>,
    projection: &[usize],
    predicate: Option<Arc<dyn Predicate>>,
    decompression: Decompression,
) -> (RecordBatch, ScanStatistics) {
    let options = ScanOptions {
        projection: projection.to_vec(),
        predicates: predicate.into_iter().collect(),
        decompression,
        ..ScanOptions::default()
    };
    let scan = table.scan(options).unwrap();
    let mut reader = scan.reader();
    let mut batches = Vec::new();
    while let Some(batch) = reader.next().unwrap() {
        batches.push(batch);
    }
    let rows = concat_batches(scan.schema(), &batches).unwrap();
    (rows, scan.statistics())
}

/// Keeps the rows that have a text, or a number. Counts the values that it is shown.
struct Equals {
    column: usize,
    text: &'static str,
    number: i64,
    shown: AtomicUsize,
}

impl Equals {
    fn new(column: usize, text: &'static str, number: i64) -> Arc<Self> {
        Arc::new(Self {
            column,
            text,
            number,
            shown: AtomicUsize::new(0),
        })
    }
}

impl Predicate for Equals {
    fn columns(&self) -> &[usize] {
        std::slice::from_ref(&self.column)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanArray, String> {
        self.shown.fetch_add(batch.num_rows(), Ordering::Relaxed);
        let column = batch.column(0);
        Ok(match column.as_string_view_opt() {
            Some(texts) => texts
                .iter()
                .map(|text| Some(text == Some(self.text)))
                .collect(),
            None => {
                let numbers = column.as_primitive::<Int64Type>();
                numbers
                    .iter()
                    .map(|number| Some(number == Some(self.number)))
                    .collect()
            }
        })
    }

    fn prune(&self, _: &ZoneTable) -> Option<Vec<bool>> {
        None
    }

    fn is_deterministic(&self) -> bool {
        true
    }
}

#[test]
fn each_value_is_decoded_once() {
    let (_engine, table) = table();
    for row_group in 0..2 {
        let columns = &table.row_group(row_group).unwrap().columns;
        let codecs: Vec<CodecId> = columns.iter().map(|column| column.codec).collect();
        let wanted = definition()
            .columns
            .into_iter()
            .map(|column| column.compression.unwrap());
        assert_eq!(codecs, wanted.collect::<Vec<_>>());
    }
    let (found, statistics) = read(&table, &ALL, None, Decompression::IntoMemory);
    assert_eq!(found, rows());
    assert_eq!(statistics.vectors_decoded, 5 * VECTORS);
    let winds: usize = (0..ROWS).map(|row| WINDS[row as usize % 4].len()).sum();
    let names: usize = (0..ROWS).filter_map(name).map(|name| name.len()).sum();
    // Two numbers of eight bytes, two lengths of four, and a byte for a boolean.
    let expected = (8 + 8 + 4 + 4 + 1) * ROWS as usize + winds + names;
    assert_eq!(statistics.decoded_bytes, expected as u64);
    assert!(statistics.decode_ns > 0);
}

#[test]
fn a_column_of_which_one_row_is_needed_is_decoded_as_a_whole() {
    let (_engine, table) = table();
    let one = Equals::new(0, "", 3 * 70_000);
    let predicate = || Some(Arc::clone(&one) as Arc<dyn Predicate>);
    let expected = rows().project(&[3]).unwrap().slice(70_000, 1);
    let (found, into_cache) = read(&table, &[3], predicate(), Decompression::IntoCache);
    assert_eq!(found, expected);
    assert_eq!(into_cache.vectors_decoded, VECTORS + 1);
    let (found, into_memory) = read(&table, &[3], predicate(), Decompression::IntoMemory);
    assert_eq!(found, expected);
    // The second row group has no row that passes; its names are not opened.
    assert_eq!(into_memory.vectors_decoded, VECTORS + 128);
}

const ALL: [usize; 5] = [0, 1, 2, 3, 4];

/// Columns of the two row groups.
const SEGMENTS: u64 = 2 * 5;

#[test]
fn what_is_in_the_pool_is_neither_read_nor_decoded() {
    let (_engine, table) = table();
    let (found, first) = read(&table, &ALL, None, Decompression::IntoPool);
    assert_eq!(found, rows());
    assert_eq!((first.pool_hits, first.pool_misses), (0, SEGMENTS));
    let (_, into_memory) = read(&table, &ALL, None, Decompression::IntoMemory);
    assert_eq!(first.vectors_decoded, into_memory.vectors_decoded);
    assert_eq!(first.decoded_bytes, into_memory.decoded_bytes);
    let of_memory = (into_memory.pool_hits, into_memory.pool_misses);
    assert_eq!(of_memory, (0, 0));
    let (found, second) = read(&table, &ALL, None, Decompression::IntoPool);
    assert_eq!(found, rows());
    assert_eq!((second.pool_hits, second.pool_misses), (SEGMENTS, 0));
    assert_eq!((second.bytes_read, second.disk_bytes), (0, 0));
    assert_eq!(second.disk_requests, 0);
    assert_eq!((second.vectors_decoded, second.decoded_bytes), (0, 0));
    assert_eq!(second.rows, ROWS as u64);
}

#[test]
fn only_columns_that_are_not_in_the_pool_are_read() {
    let (_engine, table) = table();
    let stored_bytes = |column: usize| -> u64 {
        let row_groups = (0..2).map(|index| table.row_group(index).unwrap());
        let bytes = row_groups.map(|row_group| row_group.columns[column].encoded_bytes);
        bytes.sum()
    };
    read(&table, &[0, 3], None, Decompression::IntoPool);
    let (found, statistics) = read(&table, &[4, 0, 3], None, Decompression::IntoPool);
    assert_eq!(found, rows().project(&[4, 0, 3]).unwrap());
    assert_eq!((statistics.pool_hits, statistics.pool_misses), (4, 2));
    assert_eq!(statistics.bytes_read, stored_bytes(4));
    assert_eq!(
        statistics.decoded_bytes, ROWS as u64,
        "a byte for a boolean"
    );
    // Between the two segments of the column others may lie that are read along.
    assert!(statistics.disk_requests > 0);
}

/// The stored pages of one mode, then the values of another: one takes the place of the other.
#[test]
fn stored_pages_leave_the_cache_when_their_values_come() {
    let (engine, table) = table();
    let cached_bytes = || engine.volume().stats().cache_bytes;
    read(&table, &ALL, None, Decompression::IntoCache);
    let (_, warm) = read(&table, &ALL, None, Decompression::IntoCache);
    assert_eq!(warm.disk_bytes, 0);
    let before = cached_bytes();
    let (_, pooled) = read(&table, &ALL, None, Decompression::IntoPool);
    assert_eq!(
        pooled.disk_bytes, 0,
        "stored pages that are there are decoded"
    );
    let added = cached_bytes() + warm.bytes_read - before;
    // Besides the values: validity, what is rounded up, and the entries of the cache.
    let most = pooled.decoded_bytes + 100_000;
    assert!((pooled.decoded_bytes..most).contains(&added), "{added}");
    let (found, cold) = read(&table, &ALL, None, Decompression::IntoCache);
    assert_eq!(found, rows());
    assert!(cold.disk_bytes >= warm.bytes_read, "stored pages are gone");
}

#[test]
fn a_small_pool_keeps_to_its_budget_and_rows_are_right() {
    for cache_bytes in [0, 600_000, 3 << 20] {
        let (engine, table) = table_in(cache_bytes, definition());
        let mut hits = 0;
        for round in 0..12 {
            let projection = &ALL[round % 4..=round % 4 + 1];
            let mode = MODES[round % 3];
            let (found, statistics) = read(&table, projection, None, mode);
            assert_eq!(found, rows().project(projection).unwrap());
            let cached_bytes = engine.volume().stats().cache_bytes;
            assert!(cached_bytes <= cache_bytes as u64, "{cached_bytes}");
            let (_, again) = read(&table, &[4], None, Decompression::IntoPool);
            let columns = statistics.pool_hits + statistics.pool_misses;
            let expected = if mode == Decompression::IntoPool {
                4
            } else {
                0
            };
            assert_eq!(columns, expected);
            hits += again.pool_hits;
        }
        // A boolean column fits into the larger ones.
        assert_eq!(hits > 0, cache_bytes > 0, "{cache_bytes}");
    }
}

/// Each column of a row group is decoded by one reader.
#[test]
fn readers_of_a_scan_share_what_one_of_them_decodes() {
    let (_engine, table) = table();
    for round in 0..3 {
        let options = ScanOptions {
            projection: ALL.to_vec(),
            readers: 4,
            decompression: Decompression::IntoPool,
            ..ScanOptions::default()
        };
        let scan = table.scan(options).unwrap();
        let rows_of_all: usize = std::thread::scope(|scope| {
            let readers: Vec<_> = (0..4).map(|_| scan.reader()).collect();
            let threads: Vec<_> = readers
                .into_iter()
                .map(|mut reader| {
                    scope.spawn(move || {
                        let mut count = 0;
                        while let Some(batch) = reader.next().unwrap() {
                            count += batch.num_rows();
                        }
                        count
                    })
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .sum()
        });
        assert_eq!(rows_of_all, ROWS as usize);
        let statistics = scan.statistics();
        let decoded = if round == 0 { SEGMENTS } else { 0 };
        assert_eq!(statistics.pool_misses, decoded);
        assert_eq!(statistics.vectors_decoded, decoded / SEGMENTS * 5 * VECTORS);
    }
}

#[test]
fn scans_at_the_same_time_have_the_same_rows() {
    for cache_bytes in [3 << 20, ROOMY_BYTES] {
        let (engine, table) = table_in(cache_bytes, definition());
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let (table, expected) = (&table, rows());
                scope.spawn(move || {
                    for round in 0..4 {
                        let projection = &ALL[(thread + round) % 3..];
                        let (found, _) = read(table, projection, None, Decompression::IntoPool);
                        assert_eq!(found, expected.project(projection).unwrap());
                    }
                });
            }
        });
        assert!(engine.volume().stats().cache_bytes <= cache_bytes as u64);
    }
}

/// Blocks of PAX tables are found by their columns, whichever have been needed.
#[test]
fn columns_of_blocks_are_pooled_one_by_one() {
    for cache_bytes in [3 << 20, ROOMY_BYTES] {
        let (_engine, table) = table_in(cache_bytes, definition().in_blocks_of(1 << 20));
        assert!(table.row_group(0).unwrap().has_block());
        for projection in [&[2][..], &[0, 2], &[4, 3, 2, 1, 0], &[4, 3, 2, 1, 0]] {
            let (found, statistics) = read(&table, projection, None, Decompression::IntoPool);
            assert_eq!(found, rows().project(projection).unwrap());
            if cache_bytes == ROOMY_BYTES && projection.len() == 2 {
                let row_groups = table.row_group_count() as u64;
                let counted = (statistics.pool_hits, statistics.pool_misses);
                assert_eq!(counted, (row_groups, row_groups));
            }
        }
        let (_, last) = read(&table, &ALL, None, Decompression::IntoPool);
        assert_eq!(last.disk_bytes == 0, cache_bytes == ROOMY_BYTES);
    }
}

/// Of a dropped table, of one that was written again under its name, and of pages that cleaning has moved.
#[test]
fn the_pool_has_nothing_of_what_is_gone() {
    let (engine, before) = table();
    let old = engine.snapshot();
    read(&before, &ALL, None, Decompression::IntoPool);
    let reversed = |rows: &RecordBatch| {
        let backwards = arrow::array::UInt32Array::from_iter_values((0..ROWS as u32).rev());
        arrow::compute::take_record_batch(rows, &backwards).unwrap()
    };
    let mut transaction = engine.begin().unwrap();
    transaction.drop_table("t").unwrap();
    transaction.commit().unwrap();
    create(&engine, definition(), &reversed(&rows()));
    for _ in 0..2 {
        let (found, _) = read(&newest(&engine), &ALL, None, Decompression::IntoPool);
        assert_eq!(found, reversed(&rows()));
    }
    // A snapshot of before still has its rows, and its values in the pool.
    let (found, statistics) = read(&before, &ALL, None, Decompression::IntoPool);
    assert_eq!(found, rows());
    assert_eq!(statistics.pool_misses, 0);
    let with_both = engine.volume().stats().cache_bytes;
    drop((old, before));
    engine.clean().unwrap();
    engine.clean().unwrap();
    let after = engine.volume().stats().cache_bytes;
    assert!(after < with_both, "{after} of {with_both} bytes");
    for _ in 0..2 {
        let (found, _) = read(&newest(&engine), &ALL, None, Decompression::IntoPool);
        assert_eq!(found, reversed(&rows()));
    }
}

/// A dictionary of 4 values and NULL, in each row group; 500 equal rows that are a run.
#[test]
fn predicates_see_values_rather_than_codes_or_runs() {
    let (_engine, table) = table();
    for (column, text, number, stored_values) in [(2, "south", 0, 2 * 5), (1, "", 6, 3_000)] {
        let stored = Equals::new(column, text, number);
        let (expected, _) = read(&table, &[0], Some(stored.clone()), Decompression::IntoCache);
        assert!(stored.shown.load(Ordering::Relaxed) <= stored_values);
        for mode in [Decompression::IntoMemory, Decompression::IntoPool] {
            let values = Equals::new(column, text, number);
            let (found, statistics) = read(&table, &[0], Some(values.clone()), mode);
            assert_eq!(values.shown.load(Ordering::Relaxed), ROWS as usize);
            assert_eq!(statistics.vectors_tested, 0);
            assert_eq!(found, expected);
        }
        let passes = |row: &i64| match column {
            2 => WINDS[*row as usize % 4] == text,
            _ => row / 500 % 7 == number,
        };
        let numbers = (0..ROWS).filter(passes).map(|row| row * 3);
        assert_eq!(
            expected.column(0).as_primitive::<Int64Type>(),
            &Int64Array::from_iter_values(numbers)
        );
    }
}

/// Who computes on vectors gets the integers, and finds no codes.
#[test]
fn vector_groups_have_integers_and_no_codes() {
    let (_engine, table) = table();
    let options = ScanOptions {
        projection: vec![0],
        decompression: Decompression::IntoMemory,
        ..ScanOptions::default()
    };
    let scan = table.scan(options).unwrap();
    let mut reader = scan.reader();
    let mut found = Vec::new();
    loop {
        match reader.step().unwrap() {
            ScanStep::Group(mut group) => {
                assert!(group.dictionary(2, 1_000).unwrap().is_none());
                for chunk in group.chunks() {
                    let mut values = [0; 1024];
                    assert!(group.codes(2, &chunk, &mut values).is_err());
                    group.integers(0, &chunk, &mut values).unwrap();
                    let rows: u32 = chunk.mask().iter().map(|word| word.count_ones()).sum();
                    found.extend_from_slice(&values[..rows as usize]);
                }
            }
            ScanStep::Rows(batch) => assert_eq!(batch.num_rows(), 0),
            ScanStep::Nothing => {}
            ScanStep::End => break,
        }
    }
    assert_eq!(found, (0..ROWS).map(|row| row * 3).collect::<Vec<_>>());
}
