//! A scan that decodes whole segments into memory has the rows of one that decodes vectors, and counts what it decodes once.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::array::{ArrayRef, AsArray, BooleanArray, Int64Array, RecordBatch, StringViewArray};
use arrow::compute::concat_batches;
use arrow::datatypes::Int64Type;
use quire_codec::CodecId;
use quire_store::{MemDisk, Volume, VolumeOptions};
use quire_tables::{
    ColumnDefinition, ColumnTable, Decompression, Engine, Predicate, ScanOptions, ScanStatistics,
    ScanStep, SqlType, TableDefinition, ZoneTable,
};

/// A full row group and a part of one.
const ROWS: i64 = 131_072 + 5_000;
const VECTORS: u64 = 128 + 5;
const WINDS: [&str; 4] = ["north", "east", "south", "west"];

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
    let volume = Volume::create(Arc::new(MemDisk::new()), VolumeOptions::default()).unwrap();
    let engine = Engine::open(volume).unwrap();
    let mut transaction = engine.begin().unwrap();
    transaction.create_table(definition()).unwrap();
    let mut appender = transaction.appender("t").unwrap();
    appender.append(&rows()).unwrap();
    appender.finish().unwrap();
    transaction.commit().unwrap();
    let table = engine.snapshot().table("t").unwrap().unwrap();
    (engine, table)
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
    let all = [0, 1, 2, 3, 4];
    let (found, statistics) = read(&table, &all, None, Decompression::IntoMemory);
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

/// A dictionary of 4 values and NULL, in each row group; 500 equal rows that are a run.
#[test]
fn predicates_see_values_rather_than_codes_or_runs() {
    let (_engine, table) = table();
    for (column, text, number, stored_values) in [(2, "south", 0, 2 * 5), (1, "", 6, 3_000)] {
        let stored = Equals::new(column, text, number);
        let (expected, _) = read(&table, &[0], Some(stored.clone()), Decompression::IntoCache);
        assert!(stored.shown.load(Ordering::Relaxed) <= stored_values);
        let values = Equals::new(column, text, number);
        let (found, statistics) = read(
            &table,
            &[0],
            Some(values.clone()),
            Decompression::IntoMemory,
        );
        assert_eq!(values.shown.load(Ordering::Relaxed), ROWS as usize);
        assert_eq!(statistics.vectors_tested, 0);
        assert_eq!(found, expected);
        let passes = |row: &i64| match column {
            2 => WINDS[*row as usize % 4] == text,
            _ => row / 500 % 7 == number,
        };
        let numbers = (0..ROWS).filter(passes).map(|row| row * 3);
        assert_eq!(
            found.column(0).as_primitive::<Int64Type>(),
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
