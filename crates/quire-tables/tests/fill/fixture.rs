//! Tables of three orders, filled or inserted row by row, and all that can be read of them.

use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use quire_kv::mvcc::MvccOptions;
use quire_kv::{btree::Direction, mvcc::TransactionOptions};
use quire_store::{LOG_ROOT_PAGE, Volume, VolumeOptions};
use quire_tables::row_table::{KeyRange, TupleValue, Value, array_of_values};
use quire_tables::{
    CatalogKeyPart, ColumnDefinition, Engine, EngineOptions, IndexDefinition, Insertion,
    KeyDefinition, RowScanOptions, RowWriteError, ScanRowSource, Snapshot, SqlType,
    TableDefinition, TableStorage, Transaction, TransactionError,
};

pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }
}

/// Little memory, so that rows out of order are sorted in a file, and pages are staged in many batches.
pub fn options(write_set_bytes: usize) -> EngineOptions {
    EngineOptions {
        staging_bytes: 50_000,
        mvcc: MvccOptions {
            write_set_bytes,
            has_background_thread: false,
            ..MvccOptions::default()
        },
        ..EngineOptions::default()
    }
}

pub fn engine_on(disk: Arc<dyn quire_store::Disk>, write_set_bytes: usize) -> Engine {
    let volume = Volume::open_or_create(disk, VolumeOptions::default()).unwrap();
    Engine::open_with(volume, options(write_set_bytes)).unwrap()
}

pub fn key(name: &str, columns: &[(usize, bool)]) -> KeyDefinition {
    let part = |&(column, is_descending): &(usize, bool)| CatalogKeyPart {
        column,
        is_descending,
    };
    KeyDefinition {
        name: name.to_owned(),
        columns: columns.iter().map(part).collect(),
    }
}

pub fn index(name: &str, columns: &[(usize, bool)], is_unique: bool) -> IndexDefinition {
    IndexDefinition {
        id: 0,
        key: key(name, columns),
        is_unique,
        is_constraint: false,
    }
}

/// a BIGINT, b INTEGER, c TEXT, d TEXT: with or without a primary key of b and a, a unique index on c, and one on b.
pub fn definition(has_key: bool) -> TableDefinition {
    let column = |name: &str, sql_type| ColumnDefinition::new(name, sql_type);
    let columns = vec![
        column("a", SqlType::BigInt),
        column("b", SqlType::Integer),
        column("c", SqlType::Text),
        column("d", SqlType::Text),
    ];
    let mut definition = TableDefinition::new("t", columns);
    definition.storage = TableStorage::Row;
    definition.primary_key = has_key.then(|| key("t_pkey", &[(1, false), (0, true)]));
    definition.indexes = vec![
        index("t_c", &[(2, false)], true),
        index("t_b", &[(1, true)], false),
    ];
    definition.options.page_bytes = 4_096;
    definition
}

pub fn create(engine: &Engine, definition: TableDefinition) {
    let mut transaction = engine.transaction(TransactionOptions::default());
    transaction
        .define(|tables| tables.create_table(definition))
        .unwrap();
    transaction.commit().unwrap();
}

pub type Row = [Value; 4];

pub fn values(row: &Row) -> Vec<TupleValue<'_>> {
    row.iter().map(Value::as_tuple_value).collect()
}

/// Rows with keys of their own; some NULL in c, some long values in d.
pub fn rows(random: &mut Random, count: usize) -> Vec<Row> {
    let row = |number: usize| {
        let c = match random.below(5) {
            0 => Value::Null,
            _ => Value::Text(format!("{:x}-{number}", random.below(1 << 30)).into()),
        };
        let length = match random.below(200) {
            0 => 20_000,
            _ => 3 * random.below(40),
        };
        let d = Value::Text("words and numbers ".repeat(length / 18 + 1)[..length].into());
        let a = Value::Integer((number * 7) as i64);
        [a, Value::Integer((number / 10) as i64), c, d]
    };
    (0..count).map(row).collect()
}

/// The first rows as a batch.
pub fn sample(rows: &[Row]) -> RecordBatch {
    let schema = definition(false).arrow_schema();
    let types = [
        SqlType::BigInt,
        SqlType::Integer,
        SqlType::Text,
        SqlType::Text,
    ];
    let column = |(at, sql_type): (usize, &SqlType)| {
        let values = rows.iter().take(500).map(|row| row[at].as_tuple_value());
        array_of_values(*sql_type, values).unwrap()
    };
    let columns = types.iter().enumerate().map(column).collect();
    RecordBatch::try_new(schema, columns).unwrap()
}

pub fn fill(transaction: &mut Transaction, rows: &[Row]) -> Result<u64, TransactionError> {
    let table = transaction.snapshot().row_table("t").unwrap().unwrap();
    let sample = sample(rows);
    let mut fill = transaction
        .begin_fill(&table, &[sample])?
        .expect("it is empty");
    for row in rows {
        fill.insert(&values(row))?;
    }
    transaction.finish_fill(fill)
}

/// What one row after the other makes of it.
pub fn insert(transaction: &mut Transaction, rows: &[Row]) -> Result<(), RowWriteError> {
    let table = transaction.snapshot().row_table("t").unwrap().unwrap();
    let mut writer = transaction.row_writer(table.parts());
    for row in rows {
        let inserted = writer.insert(&values(row))?;
        if let Insertion::Conflict(conflict) = inserted {
            return Err(writer.duplicate(conflict.index, &values(row)));
        }
    }
    transaction.begin_statement();
    Ok(())
}

pub fn scan(snapshot: &Snapshot, source: ScanRowSource, with_row_key: bool) -> RecordBatch {
    let table = snapshot.row_table("t").unwrap().unwrap();
    let options = RowScanOptions {
        projection: vec![0, 1, 2, 3],
        with_row_key,
        source,
        direction: Direction::Forward,
        batch_rows: 1_000,
    };
    let mut scan = table.scan(&options).unwrap();
    let mut batches = Vec::new();
    while let Some(batch) = scan.next_batch().unwrap() {
        batches.push(batch);
    }
    match batches.first() {
        Some(first) => concat_batches(&first.schema(), &batches).unwrap(),
        None => RecordBatch::new_empty(table.arrow_schema().clone()),
    }
}

pub fn all(snapshot: &Snapshot) -> Vec<RecordBatch> {
    let by_index = |index| ScanRowSource::index(index, KeyRange::all());
    vec![
        scan(snapshot, ScanRowSource::all(), true),
        scan(snapshot, by_index(0), true),
        scan(snapshot, by_index(1), true),
    ]
}

pub fn row_count(snapshot: &Snapshot) -> usize {
    scan(snapshot, ScanRowSource::all(), false).num_rows()
}

pub fn no_findings(engine: &Engine) {
    assert_eq!(Engine::check(engine.volume()), []);
    assert_eq!(engine.volume().check().findings, []);
    assert_eq!(engine.check_rows(), []);
}

pub fn page_count(engine: &Engine) -> usize {
    engine.checkpoint().unwrap();
    let pages = engine.volume().pin().pages();
    pages.iter().filter(|page| **page != LOG_ROOT_PAGE).count()
}

/// Orders in which rows come.
pub fn ordered(rows: &[Row], order: usize, random: &mut Random) -> Vec<Row> {
    let mut ordered = rows.to_vec();
    let shuffle = |rows: &mut [Row], random: &mut Random| {
        for end in (1..rows.len()).rev() {
            rows.swap(end, random.below(end + 1));
        }
    };
    match order {
        // That of the key: by b, and by a from above.
        0 => ordered.sort_by(|one, other| (&one[1], &other[0]).cmp(&(&other[1], &one[0]))),
        1 => shuffle(&mut ordered, random),
        // In order at first.
        _ => {
            ordered.sort_by(|one, other| (&one[1], &other[0]).cmp(&(&other[1], &one[0])));
            let first = ordered.len() * 4 / 5;
            let tenth = ordered.len() / 10;
            ordered.rotate_left(tenth);
            shuffle(&mut ordered[first..], random);
        }
    }
    ordered
}
