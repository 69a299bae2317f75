//! `CHAR(n)` of row tables that compress nothing takes n bytes, and reads as it always has.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use quire_codec::CodecId;
use quire_kv::btree::Direction;
use quire_kv::mvcc::TransactionOptions;
use quire_store::{MemDisk, Volume, VolumeOptions};
use quire_tables::row_table::{TupleValue, Value};
use quire_tables::{
    ColumnDefinition, Engine, EngineOptions, Insertion, RowScanOptions, ScanRowSource, SqlType,
    TableDefinition,
};

fn definition(compresses: bool) -> TableDefinition {
    let column = |name: &str, sql_type| ColumnDefinition::new(name, sql_type);
    let columns = vec![
        column("id", SqlType::Integer),
        column("code", SqlType::Char(10)),
        column("text", SqlType::VarChar(10)),
        column("wide", SqlType::Char(300)),
        ColumnDefinition {
            compression: Some(CodecId::Dictionary),
            ..column("kind", SqlType::Char(5))
        },
        ColumnDefinition {
            compression: Some(CodecId::Plain),
            ..column("plain", SqlType::Char(5))
        },
    ];
    let mut definition = TableDefinition::new("t", columns).clustered_by(&[0]);
    definition.options.compresses_tuples = compresses;
    definition
}

fn engine_on(disk: &Arc<MemDisk>) -> Engine {
    let volume = Volume::open_or_create(disk.clone(), VolumeOptions::default()).unwrap();
    Engine::open_with(volume, EngineOptions::default()).unwrap()
}

fn created(definition: TableDefinition) -> (Arc<MemDisk>, Engine) {
    let disk = Arc::new(MemDisk::new());
    let engine = engine_on(&disk);
    let mut transaction = engine.transaction(TransactionOptions::default());
    transaction
        .define(|tables| tables.create_table(definition))
        .unwrap();
    transaction.commit().unwrap();
    (disk, engine)
}

fn widths(engine: &Engine) -> Vec<Option<u8>> {
    let snapshot = engine.snapshot();
    let columns = &snapshot.definition("t").unwrap().columns;
    columns.iter().map(|column| column.padded_bytes).collect()
}

/// The values of a column, in the order of the keys.
fn strings(engine: &Engine, column: usize) -> Vec<Value> {
    let table = engine.snapshot().row_table("t").unwrap().unwrap();
    let options = RowScanOptions {
        projection: vec![column],
        with_row_key: false,
        source: ScanRowSource::all(),
        direction: Direction::Forward,
        batch_rows: 100,
    };
    let mut scan = table.scan(&options).unwrap();
    let mut strings = Vec::new();
    while let Some(batch) = scan.next_batch().unwrap() {
        let column = batch.column(0);
        let value = |row| Value::of_array(column.as_ref(), row, SqlType::Text).unwrap();
        strings.extend((0..batch.num_rows()).map(value));
    }
    strings
}

#[test]
fn widths_are_those_of_chars_where_nothing_is_compressed() {
    let (_, engine) = created(definition(true));
    assert_eq!(widths(&engine), [None; 6]);
    let (disk, engine) = created(definition(false));
    let expected = [None, Some(10), None, None, None, Some(5)];
    assert_eq!(widths(&engine), expected);
    engine.checkpoint().unwrap();
    let again = engine_on(&Arc::new(MemDisk::from_bytes(disk.to_bytes())));
    assert_eq!(widths(&again), expected);
}

/// Of pages of 4 KiB an entry has some 750 bytes.
#[test]
fn wide_rows_leave_room_for_other_columns() {
    let mut definition = definition(false);
    definition.options.page_bytes = 4_096;
    let char = |number: usize| ColumnDefinition::new(format!("c{number}"), SqlType::Char(200));
    definition.columns = (0..8).map(char).collect();
    definition.columns[0].sql_type = SqlType::Integer;
    let (_, engine) = created(definition);
    let given = widths(&engine).into_iter().flatten().count();
    assert!((1..4).contains(&given), "{given}");
    let mut transaction = engine.transaction(TransactionOptions::default());
    let table = transaction.snapshot().row_table("t").unwrap().unwrap();
    let text = "é".repeat(200);
    let mut values = vec![TupleValue::Bytes(text.as_bytes()); 8];
    values[0] = TupleValue::Integer(1);
    let inserted = transaction
        .row_writer(table.parts())
        .insert(&values)
        .unwrap();
    assert!(matches!(inserted, Insertion::Inserted(_)));
    transaction.commit().unwrap();
    assert_eq!(strings(&engine, 7), [Value::Text(text.into())]);
}

/// Numbers that are not compressed take their place, NULL or not.
#[test]
fn many_numbers_leave_no_room_for_padding() {
    let mut definition = definition(false);
    definition.options.page_bytes = 4_096;
    let column = |name: String, sql_type| ColumnDefinition::new(name, sql_type);
    let mut columns = vec![column("id".to_owned(), SqlType::Integer)];
    columns.extend((0..2).map(|number| column(format!("c{number}"), SqlType::Char(180))));
    columns.extend((0..50).map(|number| column(format!("n{number}"), SqlType::BigInt)));
    definition.columns = columns;
    let (_, engine) = created(definition);
    let mut transaction = engine.transaction(TransactionOptions::default());
    let table = transaction.snapshot().row_table("t").unwrap().unwrap();
    let mut values = vec![TupleValue::Null; 53];
    values[0] = TupleValue::Integer(1);
    let mut writer = transaction.row_writer(table.parts());
    let inserted = writer.insert(&values).unwrap();
    assert!(matches!(inserted, Insertion::Inserted(_)));
}

#[test]
fn strings_come_back_and_changed_ones_too() {
    let (disk, engine) = created(definition(false));
    let mut transaction = engine.transaction(TransactionOptions::default());
    let table = transaction.snapshot().row_table("t").unwrap().unwrap();
    let texts = [
        "",
        "a",
        "0123456789",
        "déjà-vu 12",
        "日本語日本語日本語日",
        " x",
        "é",
    ];
    let mut writer = transaction.row_writer(table.parts());
    for (id, text) in texts.iter().enumerate() {
        let mut values = vec![TupleValue::Null; 6];
        values[0] = TupleValue::Integer(id as i64);
        values[1] = TupleValue::Bytes(text.as_bytes());
        values[5] = TupleValue::Bytes(b"z");
        writer.insert(&values).unwrap();
    }
    transaction.commit().unwrap();
    let expected: Vec<Value> = texts
        .iter()
        .map(|text| Value::Text((*text).into()))
        .collect();
    assert_eq!(strings(&engine, 1), expected);
    // Each gets the string of the next; the last has none.
    let mut transaction = engine.transaction(TransactionOptions::default());
    let table = transaction.snapshot().row_table("t").unwrap().unwrap();
    let mut writer = transaction.row_writer(table.parts());
    for id in 0..texts.len() {
        let mut values = vec![TupleValue::Null; 6];
        values[0] = TupleValue::Integer(id as i64);
        if let Some(next) = texts.get(id + 1) {
            values[1] = TupleValue::Bytes(next.as_bytes());
        }
        let mut key = Vec::new();
        table
            .parts()
            .layout()
            .encode_key(&values[..1], &mut key)
            .unwrap();
        writer.update(&key, &values).unwrap();
    }
    transaction.commit().unwrap();
    let mut expected: Vec<Value> = expected[1..].to_vec();
    expected.push(Value::Null);
    assert_eq!(strings(&engine, 1), expected);
    engine.checkpoint().unwrap();
    let again = engine_on(&Arc::new(MemDisk::from_bytes(disk.to_bytes())));
    assert_eq!(strings(&again, 1), expected);
    assert_eq!(again.check_rows(), []);
}
