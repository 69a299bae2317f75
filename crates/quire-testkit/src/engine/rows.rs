//! The rows of the tables: made, appended and read back.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::{Array, AsArray, Int64Array, RecordBatch, StringViewArray};
use arrow::datatypes::Int64Type;
use quire_kv::btree::Direction;
use quire_tables::row_table::TupleValue;
use quire_tables::{
    ColumnDefinition, Insertion, RowScanOptions, ScanOptions, ScanRowSource, Snapshot, SqlType,
    TableDefinition, Transaction,
};

use crate::random::TestRandom;

/// A row: a number and a text.
pub type Row = (i64, Option<String>);

/// All tables by name, with their rows.
pub type Tables = BTreeMap<String, Vec<Row>>;

/// What a volume holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EngineContents {
    /// The column tables.
    pub tables: Tables,
    /// Rows of the row table; they have the numbers from 1.
    pub row_count: u64,
}

/// Every table has these two columns.
pub(crate) fn definition(name: &str) -> TableDefinition {
    let column = |name: &str, sql_type, nullable| ColumnDefinition {
        nullable,
        ..ColumnDefinition::new(name, sql_type)
    };
    let columns = vec![
        column("number", SqlType::BigInt, false),
        column("text", SqlType::Text, true),
    ];
    TableDefinition::new(name, columns)
}

/// The row table beside them.
const ROW_TABLE: &str = "rows";

fn row_definition() -> TableDefinition {
    definition(ROW_TABLE).clustered_by(&[0])
}

/// Adds a row to the row table, which is made if it is not there.
pub(super) fn insert_row(transaction: &mut Transaction, number: u64) -> Result<(), String> {
    if transaction.snapshot().definition(ROW_TABLE).is_none() {
        let created = transaction.define(|tables| tables.create_table(row_definition()));
        created.map_err(|error| error.to_string())?;
    }
    let table = transaction.snapshot().row_table(ROW_TABLE);
    let table = table.map_err(|error| error.to_string())?;
    let table = table.ok_or("the row table is not there")?;
    let text = format!("row {number}");
    let values = [
        TupleValue::Integer(number as i64),
        TupleValue::Bytes(text.as_bytes()),
    ];
    let inserted = transaction.row_writer(table.parts()).insert(&values);
    match inserted.map_err(|error| error.to_string())? {
        Insertion::Inserted(_) => Ok(()),
        Insertion::Conflict(_) => Err(format!("row {number} is there before it was inserted")),
    }
}

pub(crate) fn random_rows(random: &mut TestRandom) -> Vec<Row> {
    let bound = [3, 40, 400][random.below(3) as usize];
    let count = 1 + random.below(bound);
    let base = random.below(1_000_000) as i64;
    (0..count as i64)
        .map(|row| {
            let text = match random.below(5) {
                0 => None,
                1 => Some(String::new()),
                _ => Some(format!("text {} of row {row}", random.below(50))),
            };
            (base + row * 3, text)
        })
        .collect()
}

/// Different words of [`repeated_words`].
const REPEATED_WORDS: usize = 48;

/// Rows of a row group of [`repeated_words`]: each word comes four times, so that a dictionary is much smaller than the strings.
pub(super) const REPEATED_WORDS_ROWS: usize = 4 * REPEATED_WORDS;

/// Long words that come again and again, so that row groups share their dictionary; one of two sets.
pub(super) fn repeated_words(random: &mut TestRandom) -> Vec<Row> {
    let mut letters = TestRandom::new(random.below(2));
    let mut word = || -> String {
        let letter = |byte: u8| char::from(b'0' + byte % 64);
        letters.bytes(200).into_iter().map(letter).collect()
    };
    let words: Vec<String> = (0..REPEATED_WORDS).map(|_| word()).collect();
    let base = random.below(1_000_000) as i64;
    let count = REPEATED_WORDS_ROWS + random.below(2 * REPEATED_WORDS_ROWS as u64) as usize;
    (0..count)
        .map(|row| {
            (
                base + row as i64 * 3,
                Some(words[row % REPEATED_WORDS].clone()),
            )
        })
        .collect()
}

pub(crate) fn batch(rows: &[Row]) -> Result<RecordBatch, String> {
    let numbers = Int64Array::from_iter_values(rows.iter().map(|row| row.0));
    let texts: StringViewArray = rows.iter().map(|row| row.1.as_deref()).collect();
    RecordBatch::try_new(
        definition("").arrow_schema(),
        vec![Arc::new(numbers), Arc::new(texts)],
    )
    .map_err(|error| error.to_string())
}

/// All rows of all tables.
///
/// # Errors
/// The message of the engine.
pub(crate) fn read_tables(snapshot: &Snapshot) -> Result<Tables, String> {
    let mut tables = Tables::new();
    for table in snapshot.tables().map_err(|error| error.to_string())? {
        let options = ScanOptions {
            projection: vec![0, 1],
            ..ScanOptions::default()
        };
        let scan = table.scan(options).map_err(|error| error.to_string())?;
        let mut reader = scan.reader();
        let mut rows = Vec::new();
        while let Some(batch) = reader.next().map_err(|error| error.to_string())? {
            let numbers = batch.column(0).as_primitive::<Int64Type>();
            let texts = batch.column(1).as_string_view();
            for row in 0..batch.num_rows() {
                let text = texts.is_valid(row).then(|| texts.value(row).to_owned());
                rows.push((numbers.value(row), text));
            }
        }
        tables.insert(table.definition().name.clone(), rows);
    }
    Ok(tables)
}

/// The number of rows of the row table.
///
/// # Errors
/// It cannot be read, or has something else than them.
pub(super) fn count_rows(snapshot: &Snapshot) -> Result<u64, String> {
    let table = snapshot.row_table(ROW_TABLE);
    let Some(table) = table.map_err(|error| error.to_string())? else {
        return Ok(0);
    };
    let options = RowScanOptions {
        projection: vec![0, 1],
        with_row_key: false,
        source: ScanRowSource::all(),
        direction: Direction::Forward,
        batch_rows: 1_000,
    };
    let mut scan = table.scan(&options).map_err(|error| error.to_string())?;
    let mut count = 0_u64;
    while let Some(batch) = scan.next_batch().map_err(|error| error.to_string())? {
        let numbers = batch.column(0).as_primitive::<Int64Type>();
        let texts = batch.column(1).as_string_view();
        for (number, text) in numbers.values().iter().zip(texts) {
            count += 1;
            if *number as u64 != count || text != Some(format!("row {count}").as_str()) {
                return Err(format!("row {count} is ({number}, {text:?})"));
            }
        }
    }
    Ok(count)
}
