//! What a column costs that only the rows read which pass a filter, by how many of each vector do.
//!
//! `cargo run --release -p quire-tables --example late_columns`: ns for each vector of 1,024 rows, the best of several scans by one reader with everything in memory,
//! less what the scan takes without the column. The filter is a range of stored integers that `rows` rows of each vector are in, at scattered places.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Instant;

use arrow::array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int32Array, Int64Array,
    RecordBatch, StringViewArray,
};
use arrow::compute::kernels::cmp;
use quire_codec::CodecId;
use quire_store::{MemDisk, Volume, VolumeOptions};
use quire_tables::{
    ColumnDefinition, ColumnTable, Engine, Predicate, ROW_GROUP_ROWS, ScanOptions, SqlType,
    StoredTest, StoredTests, TableDefinition, ZoneTable,
};

const VECTORS: i64 = 2 * (ROW_GROUP_ROWS / 1024) as i64;
const ROUNDS: usize = 30;
const COUNTS: [i64; 8] = [1, 2, 4, 8, 16, 64, 256, 1024];

fn noise(row: i64) -> i64 {
    let mixed = (row as u64 ^ 0x5851_f42d_4c95_7f2d).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20) as i64
}

fn text(row: i64) -> String {
    const WORDS: [&str; 8] = [
        "quickly",
        "final",
        "deposits",
        "above",
        "the",
        "carefully",
        "ironic",
        "packages",
    ];
    let words = (0..3 + noise(row) % 5).map(|word| WORDS[noise(row * 8 + word) as usize % 8]);
    let mut text: Vec<String> = words.map(str::to_owned).collect();
    text.push(format!("{:x}", noise(row) & 0xfff));
    text.join(" ")
}

/// Name, type, codec and values.
type ExampleColumn = (&'static str, SqlType, CodecId, ArrayRef);

fn rows() -> impl Iterator<Item = i64> {
    0..VECTORS * 1024
}

fn numbers() -> Vec<ExampleColumn> {
    let decimals =
        Decimal128Array::from_iter_values(rows().map(|row| i128::from(noise(row) % 10_000_000)));
    let decimals = decimals.with_precision_and_scale(12, 2).unwrap();
    let integers = Int32Array::from_iter_values(rows().map(|row| (noise(row) % 1000) as i32));
    let wide = Int64Array::from_iter_values(rows().map(|row| noise(row) % 100_000));
    let growing = Int64Array::from_iter_values(rows().map(|row| row * 9 + noise(row) % 9));
    let days = Date32Array::from_iter_values(rows().map(|row| (noise(row) % 150).pow(2) as i32));
    let doubles =
        Float64Array::from_iter_values(rows().map(|row| (noise(row) % 100_000) as f64 / 100.0));
    let decimal = SqlType::Decimal {
        precision: 12,
        scale: 2,
    };
    let pfor = CodecId::Pfor;
    vec![
        ("pfor INTEGER", SqlType::Integer, pfor, Arc::new(integers)),
        ("pfor BIGINT", SqlType::BigInt, pfor, Arc::new(wide)),
        ("pfor DECIMAL(12,2)", decimal, pfor, Arc::new(decimals)),
        (
            "pfor_delta BIGINT",
            SqlType::BigInt,
            CodecId::PforDelta,
            Arc::new(growing),
        ),
        (
            "dictionary DATE",
            SqlType::Date,
            CodecId::Dictionary,
            Arc::new(days),
        ),
        (
            "alp DOUBLE PRECISION",
            SqlType::Double,
            CodecId::Alp,
            Arc::new(doubles),
        ),
    ]
}

fn strings() -> Vec<ExampleColumn> {
    let texts = || {
        Arc::new(
            rows()
                .map(|row| Some(text(row)))
                .collect::<StringViewArray>(),
        )
    };
    let city = |row: i64| Some(format!("city of {}", noise(row) % 3000));
    vec![
        (
            "dictionary TEXT",
            SqlType::Text,
            CodecId::Dictionary,
            Arc::new(rows().map(city).collect::<StringViewArray>()),
        ),
        ("plain TEXT", SqlType::Text, CodecId::Plain, texts()),
        ("fsst TEXT", SqlType::Text, CodecId::Fsst, texts()),
        ("phrases TEXT", SqlType::Text, CodecId::Phrases, texts()),
        ("words TEXT", SqlType::Text, CodecId::Words, texts()),
        ("zstd TEXT", SqlType::Text, CodecId::Zstd, texts()),
    ]
}

/// `pick` is less than this: so many rows of each vector.
struct Picked(i64);

impl Predicate for Picked {
    fn columns(&self) -> &[usize] {
        &[0]
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<BooleanArray, String> {
        let bound = Int64Array::new_scalar(self.0);
        cmp::lt(batch.column(0), &bound).map_err(|error| error.to_string())
    }

    fn prune(&self, _: &ZoneTable) -> Option<Vec<bool>> {
        None
    }

    fn is_deterministic(&self) -> bool {
        true
    }

    fn stored_tests(&self) -> Option<Arc<StoredTests>> {
        let test = StoredTest::Range {
            column: 0,
            range: i64::MIN..=self.0 - 1,
        };
        Some(Arc::new(StoredTests {
            tests: vec![test],
            is_complete: true,
        }))
    }
}

fn loaded(columns: &[(&'static str, SqlType, CodecId, ArrayRef)]) -> Arc<ColumnTable> {
    let volume = Volume::create(Arc::new(MemDisk::new()), VolumeOptions::default()).unwrap();
    let engine = Engine::open(volume).unwrap();
    let pick = Int64Array::from_iter_values((0..VECTORS * 1024).map(|row| row * 421 % 1024));
    let mut definitions = vec![ColumnDefinition {
        compression: Some(CodecId::Pfor),
        ..ColumnDefinition::new("pick", SqlType::BigInt)
    }];
    let mut arrays: Vec<ArrayRef> = vec![Arc::new(pick)];
    for (name, sql_type, codec, array) in columns {
        definitions.push(ColumnDefinition {
            compression: Some(*codec),
            ..ColumnDefinition::new(*name, *sql_type)
        });
        arrays.push(Arc::clone(array));
    }
    let definition = TableDefinition::new("t", definitions);
    let batch = RecordBatch::try_new(definition.arrow_schema(), arrays).unwrap();
    let mut transaction = engine.begin().unwrap();
    transaction.create_table(definition).unwrap();
    let mut appender = transaction.appender("t").unwrap();
    appender.append(&batch).unwrap();
    appender.finish().unwrap();
    transaction.commit().unwrap();
    engine.snapshot().table("t").unwrap().unwrap()
}

/// Nanoseconds a vector of the fastest of several scans.
fn scanned(table: &Arc<ColumnTable>, projection: &[usize], count: i64) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        let options = ScanOptions {
            projection: projection.to_vec(),
            predicates: vec![Arc::new(Picked(count))],
            ..ScanOptions::default()
        };
        let start = Instant::now();
        let scan = table.scan(options).unwrap();
        let mut reader = scan.reader();
        let mut rows = 0;
        while let Some(batch) = reader.next().unwrap() {
            rows += batch.num_rows() as i64;
        }
        least = least.min(start.elapsed().as_nanos() as f64 / VECTORS as f64);
        assert_eq!(rows, count * VECTORS);
    }
    least
}

fn main() {
    let columns = [numbers(), strings()].concat();
    let table = loaded(&columns);
    let heads = COUNTS.map(|count| count.to_string()).join(" | ");
    println!("| rows of a vector | {heads} |");
    println!("|---|{}", "---|".repeat(COUNTS.len()));
    for (place, (name, ..)) in columns.iter().enumerate() {
        let times = COUNTS.map(|count| {
            let alone = scanned(&table, &[], count);
            format!("{:.0}", scanned(&table, &[place + 1], count) - alone)
        });
        println!("| {name} | {} |", times.join(" | "));
    }
}
