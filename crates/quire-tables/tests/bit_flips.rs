//! Any flipped bit of a database file is noticed, or changes nothing; no flip makes the program panic.
//!
//! A sample runs with the other tests, every bit on demand: `make bench-bits`.
#![allow(clippy::unwrap_used)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use arrow::array::{
    ArrayRef, BooleanArray, Decimal128Array, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringViewArray,
};
use quire_store::{MemDisk, OpenMode, Volume, VolumeOptions};
use quire_tables::{ColumnDefinition, Engine, ScanOptions, SqlType, TableDefinition};

const ROWS: i64 = 2500;
const SAMPLED_FLIPS: usize = 3000;
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// The table that is kept in blocks.
const PAX: &str = "pax";

/// Table names with all of their rows.
type Answers = Vec<(String, Vec<RecordBatch>)>;

type Column = (&'static str, SqlType, ArrayRef);

fn is_filled(row: i64, distance: i64) -> bool {
    row % distance != 0
}

/// Columns of shapes that suit different codecs, most of them with NULLs.
fn columns() -> Vec<Column> {
    [integer_columns(), other_columns(), text_columns()].concat()
}

fn integer_columns() -> Vec<Column> {
    let scattered = |row: i64| is_filled(row, 7).then(|| (row * 7919 % 65_521) as i32);
    let sequence: ArrayRef = Arc::new(Int64Array::from_iter_values(0..ROWS));
    let scattered: ArrayRef = Arc::new(Int32Array::from_iter((0..ROWS).map(scattered)));
    let constant: ArrayRef = Arc::new(Int32Array::from_iter_values((0..ROWS).map(|_| 42)));
    let runs = (0..ROWS).map(|row| row / 600 * 1_000_000_007);
    vec![
        ("sequence", SqlType::BigInt, sequence),
        ("scattered", SqlType::Integer, scattered),
        ("constant", SqlType::Integer, constant),
        (
            "runs",
            SqlType::BigInt,
            Arc::new(Int64Array::from_iter_values(runs)),
        ),
    ]
}

fn other_columns() -> Vec<Column> {
    let money = (0..ROWS).map(|row| Some(i128::from(row * 7919 % 1_000_003)));
    let wide = (0..ROWS).map(|row| is_filled(row, 5).then(|| i128::from(row) << 80));
    let doubles = (0..ROWS).map(|row| is_filled(row, 3).then(|| row as f64 / 8.0 + 0.1));
    let flags = (0..ROWS).map(|row| is_filled(row, 13).then_some(row % 3 == 0));
    vec![
        (
            "flag",
            SqlType::Boolean,
            Arc::new(BooleanArray::from_iter(flags)),
        ),
        (
            "number",
            SqlType::Double,
            Arc::new(Float64Array::from_iter(doubles)),
        ),
        (
            "money",
            SqlType::Decimal {
                precision: 12,
                scale: 2,
            },
            decimal(money, 12, 2),
        ),
        (
            "wide",
            SqlType::Decimal {
                precision: 38,
                scale: 0,
            },
            decimal(wide, 38, 0),
        ),
    ]
}

fn text_columns() -> Vec<Column> {
    let name = |row: i64| format!("customer number {}", row * 7919 % 100_003);
    let names = (0..ROWS).map(|row| is_filled(row, 11).then(|| name(row)));
    let winds = (0..ROWS).map(|row| ["north", "east", "south", "west"][row as usize % 4]);
    vec![
        (
            "name",
            SqlType::Text,
            Arc::new(StringViewArray::from_iter(names)),
        ),
        (
            "wind",
            SqlType::Text,
            Arc::new(StringViewArray::from_iter_values(winds)),
        ),
    ]
}

fn decimal(values: impl Iterator<Item = Option<i128>>, precision: u8, scale: i8) -> ArrayRef {
    let array = Decimal128Array::from_iter(values);
    Arc::new(array.with_precision_and_scale(precision, scale).unwrap())
}

/// The bytes of a database with two tables, one that was dropped, and commits after the last checkpoint.
fn database() -> Vec<u8> {
    let disk = Arc::new(MemDisk::new());
    let engine =
        Engine::open(Volume::create(disk.clone(), VolumeOptions::default()).unwrap()).unwrap();
    for name in ["dropped", "kept"] {
        create(&engine, name);
    }
    let mut transaction = engine.begin().unwrap();
    transaction.drop_table("dropped").unwrap();
    transaction.commit().unwrap();
    engine.volume().checkpoint().unwrap();
    create(&engine, "late");
    create(&engine, PAX);
    drop(engine);
    disk.to_bytes()
}

fn create(engine: &Engine, name: &str) {
    let columns = columns();
    let definition =
        |(name, sql_type, _): &(&str, SqlType, ArrayRef)| ColumnDefinition::new(*name, *sql_type);
    let mut table = TableDefinition::new(name, columns.iter().map(definition).collect());
    if name == PAX {
        table = table.in_blocks_of(16 << 10);
    }
    let arrays = columns.into_iter().map(|(_, _, array)| array).collect();
    let batch = RecordBatch::try_new(table.arrow_schema(), arrays).unwrap();
    let mut transaction = engine.begin().unwrap();
    transaction.create_table(table).unwrap();
    let mut appender = transaction.appender(name).unwrap();
    appender.append(&batch).unwrap();
    appender.finish().unwrap();
    transaction.commit().unwrap();
}

/// Opens a database and reads everything in it.
fn answers(bytes: Vec<u8>) -> Result<Answers, Box<dyn std::error::Error>> {
    let volume = Volume::open(Arc::new(MemDisk::from_bytes(bytes)), OpenMode::ReadWrite)?;
    let engine = Engine::open(volume)?;
    let mut answers = Answers::new();
    for table in engine.snapshot().tables()? {
        let projection = (0..table.definition().columns.len()).collect();
        let scan = table.scan(ScanOptions {
            projection,
            ..ScanOptions::default()
        })?;
        let mut reader = scan.reader();
        let mut batches = Vec::new();
        while let Some(batch) = reader.next()? {
            batches.push(batch);
        }
        answers.push((table.definition().name.clone(), batches));
    }
    Ok(answers)
}

/// Whether the flip was noticed; panics when it changed an answer.
fn is_noticed(bytes: &[u8], bit: usize, expected: &Answers) -> bool {
    let mut damaged = bytes.to_vec();
    damaged[bit / 8] ^= 1 << (bit % 8);
    let outcome = catch_unwind(AssertUnwindSafe(|| answers(damaged)));
    match outcome {
        Ok(Err(_)) => true,
        Ok(Ok(found)) => {
            assert!(
                found == *expected,
                "bit {} of byte {} changed an answer",
                bit % 8,
                bit / 8
            );
            false
        }
        Err(_) => panic!("bit {} of byte {} made it panic", bit % 8, bit / 8),
    }
}

/// Flips the given bits, on all threads; returns how many were noticed.
fn flip_all(bytes: &[u8], bits: &[usize]) -> usize {
    let expected = answers(bytes.to_vec()).unwrap();
    assert_eq!(expected.len(), 3);
    let rows = |batches: &[RecordBatch]| batches.iter().map(RecordBatch::num_rows).sum::<usize>();
    assert!(
        expected
            .iter()
            .all(|(_, batches)| rows(batches) == ROWS as usize)
    );
    let (next, noticed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, |count| count.get()) {
            scope.spawn(|| {
                while let Some(bit) = bits.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if is_noticed(bytes, *bit, &expected) {
                        noticed.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    noticed.into_inner()
}

#[test]
fn sampled_bits_are_noticed_or_change_nothing() {
    let bytes = database();
    let mut state = SEED;
    let mut random_bit = || {
        // Steele, Lea, Flood: SplitMix64.
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as usize % (bytes.len() * 8)
    };
    let bits: Vec<usize> = (0..SAMPLED_FLIPS).map(|_| random_bit()).collect();
    let noticed = flip_all(&bytes, &bits);
    println!(
        "{noticed} of {} flips in {} bytes were noticed, the others changed nothing",
        bits.len(),
        bytes.len()
    );
    assert!(noticed > 0);
}

#[test]
#[ignore = "some minutes: `make bench-bits` runs it"]
fn every_bit_is_noticed_or_changes_nothing() {
    let bytes = database();
    let bits: Vec<usize> = (0..bytes.len() * 8).collect();
    let noticed = flip_all(&bytes, &bits);
    println!(
        "{noticed} of {} flips in {} bytes were noticed, the others changed nothing",
        bits.len(),
        bytes.len()
    );
}
