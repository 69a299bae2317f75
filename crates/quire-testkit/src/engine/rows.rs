//! The rows of the tables: made, appended and read back.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use arrow::array::{Array, AsArray, Int64Array, RecordBatch, StringViewArray};
use arrow::datatypes::Int64Type;
use quire_engine::{ColumnDefinition, ScanOptions, Snapshot, SqlType, TableDefinition};
use quire_store::log::Log;

use crate::random::Random;

/// A row: a number and a text.
pub type Row = (i64, Option<String>);

/// All tables by name, with their rows in order.
pub type Tables = BTreeMap<String, Vec<Row>>;

/// What a volume holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contents {
    /// The column tables.
    pub tables: Tables,
    /// Commits of the log; each has its number as its record.
    pub redo: u64,
}

/// Every table has these two columns.
pub(super) fn definition(name: &str) -> TableDefinition {
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

pub(super) fn random_rows(random: &mut Random) -> Vec<Row> {
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

pub(super) fn batch(rows: &[Row]) -> Result<RecordBatch, String> {
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
pub(super) fn read_tables(snapshot: &Snapshot) -> Result<Tables, String> {
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

/// The number of commits that the log has.
///
/// # Errors
/// It cannot be read, or has something else than their numbers.
pub(super) fn replay_all(log: &Log) -> Result<u64, String> {
    let mut count = 0_u64;
    let mut others = Vec::new();
    let replayed = log.replay(|sequence, records| {
        count += 1;
        if sequence.get() != count || records != count.to_le_bytes() {
            others.push((sequence, records.to_vec()));
        }
        Ok::<(), Infallible>(())
    });
    replayed.map_err(|error| error.to_string())?;
    match others.first() {
        Some(other) => Err(format!("the log has {other:?}")),
        None => Ok(count),
    }
}
