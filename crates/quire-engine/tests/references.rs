//! Columns that follow another column of their rows are stored as differences from it, and read as themselves.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow::array::AsArray;
use arrow::array::{ArrayRef, BooleanArray, Date32Array, Int64Array, RecordBatch};
use arrow::compute::{concat_batches, filter_record_batch};
use arrow::datatypes::Int64Type;
use quire_codec::CodecId;
use quire_engine::{
    ColumnDefinition, ColumnTable, Engine, Predicate, ScanOptions, SqlType, TableDefinition,
    ZoneTable,
};
use quire_store::{MemDisk, Volume, VolumeOptions};

const ROWS: i64 = 150_000;

/// A cheap scrambler: the same on every run, without a pattern of its own.
fn scrambled(row: i64, salt: u64) -> i64 {
    let mixed = (row as u64 ^ salt).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 33) as i64
}

fn definition() -> TableDefinition {
    let column = |name: &str, sql_type| ColumnDefinition {
        name: name.to_owned(),
        sql_type,
        nullable: true,
        compression: None,
    };
    TableDefinition {
        name: "t".to_owned(),
        columns: vec![
            column("id", SqlType::BigInt),
            column("shipped", SqlType::Date),
            column("same_id", SqlType::BigInt),
            column("received", SqlType::Date),
            column("unrelated", SqlType::BigInt),
        ],
    }
}

/// 2,500 days; received 1 to 30 days after being shipped, every seventh not yet.
fn rows() -> RecordBatch {
    let ids: Vec<i64> = (0..ROWS).map(|row| scrambled(row, 1)).collect();
    let shipped: Vec<i32> = (0..ROWS)
        .map(|row| 9_000 + (scrambled(row, 2) % 2_500) as i32)
        .collect();
    let received = (0..ROWS).zip(&shipped).map(|(row, day)| {
        let days = 1 + (scrambled(row, 3) % 30) as i32;
        (row % 7 != 0).then_some(day + days)
    });
    let received: Date32Array = received.collect();
    let unrelated: Vec<i64> = (0..ROWS).map(|row| scrambled(row, 4)).collect();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(ids.clone())),
        Arc::new(Date32Array::from(shipped)),
        Arc::new(Int64Array::from(ids)),
        Arc::new(received),
        Arc::new(Int64Array::from(unrelated)),
    ];
    RecordBatch::try_new(definition().arrow_schema(), columns).unwrap()
}

fn table_of(definition: TableDefinition, rows: &RecordBatch) -> (Engine, Arc<ColumnTable>) {
    let volume = Volume::create(Arc::new(MemDisk::new()), VolumeOptions::default()).unwrap();
    let engine = Engine::open(volume).unwrap();
    let mut transaction = engine.begin().unwrap();
    transaction.create_table(definition).unwrap();
    let mut appender = transaction.appender("t").unwrap();
    appender.append(rows).unwrap();
    appender.finish().unwrap();
    transaction.commit().unwrap();
    let table = engine.snapshot().table("t").unwrap().unwrap();
    (engine, table)
}

fn read(table: &Arc<ColumnTable>, options: ScanOptions) -> RecordBatch {
    let scan = table.scan(options).unwrap();
    let mut reader = scan.reader();
    let mut batches = Vec::new();
    while let Some(batch) = reader.next().unwrap() {
        batches.push(batch);
    }
    concat_batches(scan.schema(), &batches).unwrap()
}

fn reading(projection: Vec<usize>) -> ScanOptions {
    ScanOptions {
        projection,
        ..ScanOptions::default()
    }
}

#[test]
fn what_follows_is_small_and_unchanged() {
    let rows = rows();
    let (engine, table) = table_of(definition(), &rows);
    for index in 0..table.row_group_count() {
        let row_group = table.row_group(index).unwrap();
        let references: Vec<_> = row_group
            .columns
            .iter()
            .map(|column| column.reference)
            .collect();
        assert_eq!(references, [None, None, Some(0), Some(1), None]);
        assert_eq!(row_group.columns[2].codec, CodecId::Constant);
        // 30 differences are 5 bits, alone it would be 12; what is NULL takes a bit more.
        let bits = row_group.columns[3].encoded_bytes * 8 / row_group.row_count;
        assert!(bits <= 6, "{bits} bits a value");
    }
    assert_eq!(read(&table, reading(vec![0, 1, 2, 3, 4])), rows);
    assert_eq!(read(&table, reading(vec![3])), rows.project(&[3]).unwrap());
    assert!(Engine::check(engine.volume()).is_empty());
}

/// Keeps few rows of few vectors, by a column that follows another.
#[derive(Debug)]
struct Selective;

const KEPT_BELOW: i64 = 1 << 21;

impl Predicate for Selective {
    fn columns(&self) -> &[usize] {
        &[2]
    }

    fn evaluate(&self, columns: &RecordBatch) -> Result<BooleanArray, String> {
        let ids = columns.column(0).as_primitive::<Int64Type>();
        Ok(ids
            .values()
            .iter()
            .map(|id| Some(*id < KEPT_BELOW))
            .collect())
    }

    fn prune(&self, _: &ZoneTable) -> Option<Vec<bool>> {
        None
    }

    fn is_deterministic(&self) -> bool {
        true
    }
}

#[test]
fn selected_rows_are_those_of_the_column() {
    let rows = rows();
    let (_engine, table) = table_of(definition(), &rows);
    let options = ScanOptions {
        predicates: vec![Arc::new(Selective)],
        ..reading(vec![2, 3])
    };
    let ids = rows.column(0).as_primitive::<Int64Type>();
    let kept: BooleanArray = ids
        .values()
        .iter()
        .map(|id| Some(*id < KEPT_BELOW))
        .collect();
    assert!(kept.true_count() > 10 && kept.true_count() < 1_000);
    let expected = filter_record_batch(&rows.project(&[2, 3]).unwrap(), &kept).unwrap();
    assert_eq!(read(&table, options), expected);
}

#[test]
fn a_column_with_a_null_is_not_followed_and_a_forced_codec_is_kept() {
    let rows = rows();
    let with_null: Int64Array = rows
        .column(0)
        .as_primitive::<Int64Type>()
        .iter()
        .enumerate()
        .map(|(row, id)| id.filter(|_| row != 140_000))
        .collect();
    let mut columns = rows.columns().to_vec();
    columns[0] = Arc::new(with_null);
    let rows = RecordBatch::try_new(rows.schema(), columns).unwrap();
    let mut definition = definition();
    definition.columns[3].compression = Some(CodecId::Pfor);
    let (engine, table) = table_of(definition, &rows);
    assert_eq!(table.row_group_count(), 2);
    let references = |index| -> Vec<Option<usize>> {
        let row_group = table.row_group(index).unwrap();
        row_group
            .columns
            .iter()
            .map(|column| column.reference)
            .collect()
    };
    assert_eq!(references(0), [None, None, Some(0), None, None]);
    // Here the other one has no NULLs.
    assert_eq!(references(1), [Some(2), None, None, None, None]);
    assert_eq!(read(&table, reading(vec![0, 1, 2, 3, 4])), rows);
    assert!(Engine::check(engine.volume()).is_empty());
}
