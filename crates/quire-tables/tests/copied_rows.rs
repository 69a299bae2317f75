//! The rows of a column table in another: large row groups keep their bytes, and all rows are there.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, StringViewArray};
use arrow::datatypes::Int64Type;
use quire_codec::CodecId;
use quire_kv::mvcc::{LockWait, RowLockMode, TransactionOptions};
use quire_store::{MemDisk, Volume, VolumeOptions};
use quire_tables::row_table::TupleValue;
use quire_tables::{
    ColumnDefinition, ColumnTable, Engine, ROW_GROUP_ROWS, ScanOptions, SqlType, TableDefinition,
    can_copy_rows,
};

/// A full row group, one that is large enough, and one that is not.
const ROWS: i64 = 2 * ROW_GROUP_ROWS as i64 + 1_000;

/// The second follows the first, or the first the second.
fn source_definition() -> TableDefinition {
    let columns = vec![
        ColumnDefinition::new("first", SqlType::BigInt),
        ColumnDefinition::new("second", SqlType::BigInt),
        ColumnDefinition::new("text", SqlType::VarChar(20)),
    ];
    TableDefinition::new("source", columns)
}

fn first(row: i64) -> i64 {
    row.wrapping_mul(0x9e37_79b9_7f4a_7c15_u64.cast_signed()) >> 24
}

fn text(row: i64) -> Option<String> {
    (row % 9 > 0).then(|| format!("text {}", first(row * 7) & 0xff))
}

fn loaded() -> Engine {
    let volume = Volume::create(Arc::new(MemDisk::new()), VolumeOptions::default()).unwrap();
    let engine = Engine::open(volume).unwrap();
    let mut transaction = engine.begin().unwrap();
    transaction.create_table(source_definition()).unwrap();
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from_iter_values((0..ROWS).map(first))),
        Arc::new(Int64Array::from_iter_values(
            (0..ROWS).map(|row| first(row) + row % 5),
        )),
        Arc::new((0..ROWS).map(text).collect::<StringViewArray>()),
    ];
    let batch = RecordBatch::try_new(source_definition().arrow_schema(), columns).unwrap();
    let mut appender = transaction.appender("source").unwrap();
    appender.append(&batch).unwrap();
    appender.finish().unwrap();
    transaction.commit().unwrap();
    engine
}

fn table(engine: &Engine, name: &str) -> Arc<ColumnTable> {
    engine.snapshot().table(name).unwrap().unwrap()
}

fn copy(engine: &Engine, columns: Vec<ColumnDefinition>, places: &[usize]) -> Arc<ColumnTable> {
    let mut transaction = engine.begin().unwrap();
    let definition = TableDefinition::new("copy", columns);
    let source = table(engine, "source");
    assert!(can_copy_rows(&definition, &source, places));
    transaction.create_table(definition).unwrap();
    let count = transaction
        .copy_rows("copy", &source, places, None)
        .unwrap();
    transaction.commit().unwrap();
    let copy = table(engine, "copy");
    assert_eq!(count, source.row_count().unwrap());
    assert_eq!(count, copy.row_count().unwrap());
    assert_eq!(Engine::check(engine.volume()), Vec::new());
    copy
}

/// Numbers of one column and texts of another, sorted.
fn rows_of(table: &Arc<ColumnTable>, number: usize, text: usize) -> Vec<(i64, Option<String>)> {
    let options = ScanOptions {
        projection: vec![number, text],
        ..ScanOptions::default()
    };
    let scan = table.scan(options).unwrap();
    let mut reader = scan.reader();
    let mut rows = Vec::new();
    while let Some(batch) = reader.next().unwrap() {
        let numbers = batch.column(0).as_primitive::<Int64Type>();
        let texts = batch.column(1).as_string_view();
        for row in 0..batch.num_rows() {
            let text = texts.is_valid(row).then(|| texts.value(row).to_owned());
            rows.push((numbers.value(row), text));
        }
    }
    rows.sort();
    rows
}

#[test]
fn large_row_groups_keep_their_bytes() {
    let engine = loaded();
    let source = table(&engine, "source");
    let columns = vec![
        ColumnDefinition::new("name", SqlType::Text),
        ColumnDefinition::new("b", SqlType::BigInt),
        ColumnDefinition::new("a", SqlType::BigInt),
    ];
    let places = [2, 1, 0];
    let copy = copy(&engine, columns, &places);
    assert_eq!(copy.row_group_count(), 3);
    for index in 0..2 {
        let (before, after) = (
            source.row_group(index).unwrap(),
            copy.row_group(index).unwrap(),
        );
        for (column, &place) in places.iter().enumerate() {
            let (before, after) = (&before.columns[place], &after.columns[column]);
            assert_eq!(before.encoded_bytes, after.encoded_bytes);
            assert_eq!(before.group_zones, after.group_zones);
            assert_eq!(before.relation.is_some(), after.relation.is_some());
            assert!(after.pages.iter().all(|page| !before.pages.contains(page)));
        }
        assert!(after.columns.iter().any(|one| one.relation.is_some()));
    }
    for (column, &place) in places.iter().enumerate() {
        let (before, after) = (
            source.statistics(place).unwrap(),
            copy.statistics(column).unwrap(),
        );
        assert_eq!((before.min, before.max), (after.min, after.max));
        assert_eq!(before.null_count, after.null_count);
        assert_eq!(before.distinct_estimate, after.distinct_estimate);
    }
    assert_eq!(rows_of(&copy, 2, 0), rows_of(&source, 0, 2));
    // Both are whole without each other.
    let mut transaction = engine.begin().unwrap();
    transaction.drop_table("source").unwrap();
    transaction.commit().unwrap();
    drop(source);
    assert_eq!(Engine::check(engine.volume()), Vec::new());
    assert_eq!(rows_of(&table(&engine, "copy"), 2, 0).len(), ROWS as usize);
}

#[test]
fn a_column_without_the_one_that_it_follows_is_encoded_anew() {
    let engine = loaded();
    let source = table(&engine, "source");
    let row_group = source.row_group(0).unwrap();
    let follower = row_group
        .columns
        .iter()
        .position(|one| one.relation.is_some())
        .unwrap();
    let columns = vec![
        ColumnDefinition::new("a", SqlType::BigInt),
        ColumnDefinition::new("c", SqlType::VarChar(20)),
    ];
    let copy = copy(&engine, columns, &[follower, 2]);
    assert_eq!(copy.row_group(0).unwrap().columns[0].relation, None);
    assert_eq!(rows_of(&copy, 0, 1), rows_of(&source, follower, 2));
}

#[test]
fn rows_that_have_changed_are_copied_as_they_are_now() {
    let engine = loaded();
    let mut transaction = engine.transaction(TransactionOptions::default());
    assert!(transaction.prepare_changes("source").unwrap());
    let source = transaction.snapshot().table("source").unwrap().unwrap();
    let options = ScanOptions {
        projection: vec![3],
        ..ScanOptions::default()
    };
    let scan = source.scan(options).unwrap();
    let batch = scan.reader().next().unwrap().unwrap();
    let keys = batch.column(0).as_binary_view();
    let mut writer = transaction.row_writer(source.delta().unwrap().parts());
    for row in 0..10 {
        let key = keys.value(row);
        let locked = writer.lock(key, RowLockMode::Exclusive, LockWait::Wait);
        assert_eq!(locked.unwrap(), Some(true));
        writer.delete(key).unwrap();
    }
    let values = [
        TupleValue::Integer(-7),
        TupleValue::Integer(-7),
        TupleValue::Bytes(b"new"),
    ];
    writer.insert(&values).unwrap();
    drop(writer);
    transaction.commit().unwrap();
    let source = table(&engine, "source");
    let columns = source_definition().columns;
    let copy = copy(&engine, columns, &[0, 1, 2]);
    assert!(copy.delta().is_none());
    let rows = rows_of(&copy, 0, 2);
    assert_eq!(rows.len(), ROWS as usize - 10 + 1);
    assert!(rows.contains(&(-7, Some("new".to_owned()))));
    assert_eq!(rows, rows_of(&source, 0, 2));
    // That of which no row is deleted keeps its bytes.
    let second = source.row_group(1).unwrap();
    let sizes = |columns: &[quire_tables::ColumnChunk]| -> Vec<u64> {
        columns.iter().map(|one| one.encoded_bytes).collect()
    };
    assert_eq!(
        sizes(&copy.row_group(0).unwrap().columns),
        sizes(&second.columns)
    );
}

#[test]
fn what_would_be_stored_otherwise_is_not_copied() {
    let engine = loaded();
    let source = table(&engine, "source");
    let of = |column: ColumnDefinition| TableDefinition::new("copy", vec![column]);
    let can = |definition: &TableDefinition, place| can_copy_rows(definition, &source, &[place]);
    assert!(can(&of(ColumnDefinition::new("a", SqlType::BigInt)), 1));
    assert!(can(&of(ColumnDefinition::new("a", SqlType::Text)), 2));
    assert!(!can(&of(ColumnDefinition::new("a", SqlType::Integer)), 1));
    assert!(!can(
        &of(ColumnDefinition::new("a", SqlType::VarChar(9))),
        2
    ));
    assert!(!can(&of(ColumnDefinition::new("a", SqlType::BigInt)), 3));
    let mut column = ColumnDefinition::new("a", SqlType::BigInt);
    column.nullable = false;
    assert!(!can(&of(column), 1));
    let column = ColumnDefinition {
        compression: Some(CodecId::Plain),
        ..ColumnDefinition::new("a", SqlType::BigInt)
    };
    assert!(!can(&of(column), 1));
    let blocks = of(ColumnDefinition::new("a", SqlType::BigInt)).in_blocks_of(1 << 16);
    assert!(!can(&blocks, 1));
    let mut transaction = engine.begin().unwrap();
    transaction.create_table(blocks).unwrap();
    assert!(transaction.copy_rows("copy", &source, &[1], None).is_err());
}
