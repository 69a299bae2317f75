//! Strings of keys in order-preserving codes: keys are shorter, and everything is found as before.

use std::ops::Bound;
use std::sync::Arc;

use quire_kv::mvcc::TransactionOptions;
use quire_store::MemDisk;
use quire_tables::row_table::{ColumnRange, TupleValue, Value};
use quire_tables::{Engine, ScanRowSource, TableDefinition};

use crate::fixture::*;

/// Customers with names that have much in common, in c, and remarks in d.
fn customers(random: &mut Random, count: usize) -> Vec<Row> {
    let row = |number: usize| {
        let name = match number % 13 {
            0 => Value::Null,
            1 => Value::Text(format!("\u{1}é {number}").into()),
            _ => Value::Text(format!("Customer#{:09}", number * 31 % 1_000_003).into()),
        };
        let remark = format!("remark of the {} kind", random.below(50));
        let a = Value::Integer(number as i64);
        [a, Value::Integer(0), name, Value::Text(remark.into())]
    };
    (0..count).map(row).collect()
}

fn definition_with(compresses_keys: bool) -> TableDefinition {
    let mut definition = definition(true);
    definition.options.compresses_keys = compresses_keys;
    definition.primary_key = Some(key("t_pkey", &[(0, false)]));
    definition
}

fn filled(compresses_keys: bool, rows: &[Row]) -> (Arc<MemDisk>, Engine) {
    let disk = Arc::new(MemDisk::new());
    let engine = engine_on(disk.clone(), 64 << 20);
    create(&engine, definition_with(compresses_keys));
    let mut transaction = engine.transaction(TransactionOptions::default());
    fill(&mut transaction, rows).unwrap();
    transaction.commit().unwrap();
    (disk, engine)
}

fn have_codes(engine: &Engine) -> Vec<bool> {
    let snapshot = engine.snapshot();
    let columns = &snapshot.definition("t").unwrap().columns;
    columns
        .iter()
        .map(|column| column.key_code.is_some())
        .collect()
}

/// What an index finds between two names.
fn between(engine: &Engine, index: usize, low: &str, high: &str) -> usize {
    let snapshot = engine.snapshot();
    let table = snapshot.row_table("t").unwrap().unwrap();
    let layout = &table.indexes()[index].layout;
    let range = ColumnRange::Between(
        Bound::Included(TupleValue::Bytes(low.as_bytes())),
        Bound::Excluded(TupleValue::Bytes(high.as_bytes())),
    );
    let source = ScanRowSource::index(index, layout.range(&[], range).unwrap());
    scan(&snapshot, source, false).num_rows()
}

#[test]
fn keys_in_codes_find_the_same_rows() {
    let mut random = Random(11);
    let rows = customers(&mut random, 5_000);
    let (_, plain) = filled(false, &rows);
    let (disk, coded) = filled(true, &rows);
    assert_eq!(have_codes(&plain), [false; 4]);
    // d is in no key yet, a and b are numbers.
    assert_eq!(have_codes(&coded), [false, false, true, false]);
    assert!(page_count(&coded) <= page_count(&plain));
    for engine in [&plain, &coded] {
        let mut transaction = engine.transaction(TransactionOptions::default());
        let by_remark = index("t_d", &[(3, true), (2, false)], false);
        transaction.create_index("t", by_remark).unwrap();
        transaction.commit().unwrap();
        let mut transaction = engine.transaction(TransactionOptions::default());
        let more = [[10_000, 0], [10_001, 0]].map(|[a, b]| {
            let name = Value::Text(format!("someone else {a}").into());
            [Value::Integer(a), Value::Integer(b), name, Value::Null]
        });
        insert(&mut transaction, &more).unwrap();
        transaction.commit().unwrap();
    }
    // The column that was in a key keeps its code; d has got one.
    assert_eq!(have_codes(&coded), [false, false, true, true]);
    assert_eq!(have_codes(&plain), [false; 4]);
    let again = engine_on(Arc::new(MemDisk::from_bytes(disk.to_bytes())), 64 << 20);
    let expected = all(&plain.snapshot());
    let by_remark = |engine: &Engine| {
        let range = quire_tables::row_table::KeyRange::all();
        scan(&engine.snapshot(), ScanRowSource::index(2, range), true)
    };
    for engine in [&coded, &again] {
        assert_eq!(all(&engine.snapshot()), expected);
        assert_eq!(by_remark(engine), by_remark(&plain));
        for (low, high) in [
            ("Customer#000001", "Customer#000002"),
            ("", "D"),
            ("\u{1}", "\u{2}"),
            ("\u{1}é 9", "Customer#0000000"),
            ("Customer#0", "Customer#0"),
            ("s", "t"),
        ] {
            let found = between(engine, 0, low, high);
            assert_eq!(found, between(&plain, 0, low, high), "{low:?} {high:?}");
        }
        no_findings(engine);
    }
    // Names are unique in both.
    let twice = [[
        Value::Integer(-5),
        Value::Integer(0),
        Value::Text("someone else 10000".into()),
        Value::Null,
    ]];
    let mut transaction = coded.transaction(TransactionOptions::default());
    assert!(insert(&mut transaction, &twice).is_err());
}
