//! Strings of filled tables in codes, of FSST and of Huffman.

use std::sync::Arc;

use quire_codec::CodecId;
use quire_kv::mvcc::TransactionOptions;
use quire_store::MemDisk;
use quire_tables::row_table::{TupleValue, Value};
use quire_tables::{Engine, ScanRowSource};

use crate::fixture::*;

/// Remarks of some 40 bytes, all different, in d; c is NULL.
fn remarks(random: &mut Random, count: usize) -> Vec<Row> {
    let words = [
        "furiously",
        "ironic",
        "deposits",
        "naïve",
        "packages",
        "Straße",
    ];
    let mut remark = |number: usize| {
        let mut word = || words[random.below(6)];
        let text = format!("{} {} {} {} {number}", word(), word(), word(), word());
        match number % 11 {
            0 => Value::Null,
            1 => Value::Text("".into()),
            2 => Value::Text("x".into()),
            // Longer than an entry; in codes it is not.
            3 if number.is_multiple_of(7) => Value::Text(text.repeat(50)[..1_500].into()),
            4 if number.is_multiple_of(97) => Value::Text("déjà vu ".repeat(8_192).into()),
            _ => Value::Text(text.into()),
        }
    };
    let row = |number: usize| {
        let a = Value::Integer(number as i64);
        [a, Value::Integer(0), Value::Null, remark(number)]
    };
    (0..count).map(row).collect()
}

/// Which codes the strings are in.
fn codes(engine: &Engine) -> Option<CodecId> {
    let snapshot = engine.snapshot();
    let columns = &snapshot.definition("t").unwrap().columns;
    assert!(columns[3].dictionary.is_none());
    columns[3].string_codes.as_ref().map(|codes| codes.codec())
}

fn filled(compression: Option<CodecId>, rows: &[Row]) -> (Arc<MemDisk>, Engine) {
    let disk = Arc::new(MemDisk::new());
    let engine = engine_on(disk.clone(), 64 << 20);
    let mut definition = definition(true);
    definition.columns[3].compression = compression;
    create(&engine, definition);
    let mut transaction = engine.transaction(TransactionOptions::default());
    fill(&mut transaction, rows).unwrap();
    transaction.commit().unwrap();
    (disk, engine)
}

/// Gives each third row another string: longer and shorter ones, and NULL.
fn change(engine: &Engine, rows: &[Row]) {
    let mut transaction = engine.transaction(TransactionOptions::default());
    let table = transaction.snapshot().row_table("t").unwrap().unwrap();
    let mut writer = transaction.row_writer(table.parts());
    for (number, row) in rows.iter().enumerate().step_by(3) {
        let mut key = Vec::new();
        let of_key = [row[1].as_tuple_value(), row[0].as_tuple_value()];
        table
            .parts()
            .layout()
            .encode_key(&of_key, &mut key)
            .unwrap();
        let text = [
            "ironic packages ".repeat(number % 200),
            String::new(),
            "é".to_owned(),
        ];
        let mut changed = values(row);
        changed[3] = match number % 4 {
            3 => TupleValue::Null,
            other => TupleValue::Bytes(text[other].as_bytes()),
        };
        writer.update(&key, &changed).unwrap();
    }
    transaction.commit().unwrap();
}

#[test]
fn strings_in_codes_are_what_they_were() {
    let mut random = Random(7);
    let rows = remarks(&mut random, 4_000);
    let (_, plain) = filled(Some(CodecId::Plain), &rows);
    assert_eq!(codes(&plain), None);
    for (compression, expected_codes) in [
        (None, CodecId::Fsst),
        (Some(CodecId::Fsst), CodecId::Fsst),
        (Some(CodecId::Huffman), CodecId::Huffman),
    ] {
        let (disk, engine) = filled(compression, &rows);
        assert_eq!(codes(&engine), Some(expected_codes));
        assert!(page_count(&engine) < page_count(&plain));
        let found = scan(&engine.snapshot(), ScanRowSource::all(), true);
        assert_eq!(found, scan(&plain.snapshot(), ScanRowSource::all(), true));
        change(&engine, &rows);
        let again = engine_on(Arc::new(MemDisk::from_bytes(disk.to_bytes())), 64 << 20);
        assert_eq!(codes(&again), Some(expected_codes));
        let (_, twin) = filled(Some(CodecId::Plain), &rows);
        change(&twin, &rows);
        let expected = scan(&twin.snapshot(), ScanRowSource::all(), true);
        for engine in [&engine, &again] {
            let found = scan(&engine.snapshot(), ScanRowSource::all(), true);
            assert_eq!(found, expected);
            no_findings(engine);
        }
    }
}

#[test]
fn string_codes_that_are_asked_for_are_there_however_few_rows_there_are() {
    let mut random = Random(8);
    let rows = remarks(&mut random, 30);
    for codec in [CodecId::Fsst, CodecId::Huffman] {
        let (_, engine) = filled(Some(codec), &rows);
        assert_eq!(codes(&engine), Some(codec));
    }
    let (_, engine) = filled(None, &rows);
    assert_eq!(codes(&engine), None);
}
