//! What `ANALYZE` says of columns lies near what is true of them.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::sync::Arc;

use quire_codec::CodecScalar;
use quire_kv::mvcc::TransactionOptions;
use quire_store::{MemDisk, OpenMode, Volume, VolumeOptions};
use quire_tables::row_table::TupleValue;
use quire_tables::{ColumnDefinition, ColumnSample, Engine, Insertion, SqlType, TableDefinition};

fn definition() -> TableDefinition {
    let column = |name: &str, sql_type| ColumnDefinition::new(name, sql_type);
    let columns = vec![
        column("id", SqlType::Integer),
        column("kind", SqlType::Text),
        column("middling", SqlType::BigInt),
        column("often_null", SqlType::Integer),
    ];
    let mut definition = TableDefinition::new("t", columns).clustered_by(&[0]);
    definition.columns[0].nullable = false;
    definition
}

struct Row {
    id: i64,
    kind: String,
    middling: i64,
    often_null: Option<i64>,
}

/// Rows whose columns have another value each, 25 values, up to 20,000 values, and NULL in three rows of four.
fn rows(count: i64) -> impl Iterator<Item = Row> {
    (0..count).map(|id| {
        let scrambled = ((id as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as i64;
        Row {
            id,
            kind: format!("kind {:02}", scrambled % 25),
            middling: (scrambled / 25) % 20_000,
            often_null: (id % 4 == 3).then_some(scrambled % 1_000),
        }
    })
}

fn engine_with(count: i64) -> (Engine, Arc<MemDisk>) {
    let disk = Arc::new(MemDisk::new());
    let volume = Volume::create(disk.clone(), VolumeOptions::default()).unwrap();
    let engine = Engine::open(volume).unwrap();
    let mut transaction = engine.transaction(TransactionOptions::default());
    transaction
        .define(|tables| tables.create_table(definition()))
        .unwrap();
    let table = transaction.snapshot().row_table("t").unwrap().unwrap();
    let mut writer = transaction.row_writer(table.parts());
    for row in rows(count) {
        let values = [
            TupleValue::Integer(row.id),
            TupleValue::Bytes(row.kind.as_bytes()),
            TupleValue::Integer(row.middling),
            row.often_null.map_or(TupleValue::Null, TupleValue::Integer),
        ];
        let inserted = writer.insert(&values).unwrap();
        assert!(matches!(inserted, Insertion::Inserted(_)));
    }
    transaction.commit().unwrap();
    (engine, disk)
}

fn analyzed(engine: &Engine) -> Vec<ColumnSample> {
    let mut transaction = engine.transaction(TransactionOptions::default());
    transaction.analyze("t").unwrap();
    transaction.commit().unwrap();
    samples(engine)
}

fn samples(engine: &Engine) -> Vec<ColumnSample> {
    let snapshot = engine.snapshot();
    let table = snapshot.row_table("t").unwrap().unwrap();
    let samples = snapshot.column_samples(table.id()).unwrap();
    let ordinals: Vec<usize> = samples.iter().map(|(ordinal, _)| *ordinal).collect();
    assert!(samples.is_empty() || ordinals == [0, 1, 2, 3]);
    samples.into_iter().map(|(_, sample)| sample).collect()
}

#[test]
fn of_a_small_table_everything_is_counted_and_kept() {
    let (engine, disk) = engine_with(3_000);
    assert_eq!(samples(&engine), []);
    let found = analyzed(&engine);
    let middling: BTreeSet<i64> = rows(3_000).map(|row| row.middling).collect();
    let rare: BTreeSet<i64> = rows(3_000).filter_map(|row| row.often_null).collect();
    let distinct: Vec<u64> = found.iter().map(|one| one.distinct_estimate).collect();
    let expected = [3_000, 25, middling.len() as u64, rare.len() as u64];
    assert_eq!(distinct, expected);
    assert!(found.iter().all(|one| one.row_count == 3_000));
    assert!(found.iter().all(|one| one.read_row_count == 3_000));
    let nulls: Vec<u64> = found.iter().map(|one| one.zone.null_count).collect();
    assert_eq!(nulls, [0, 0, 0, 2_250]);
    assert_eq!(found[0].zone.min, Some(CodecScalar::Int32(0)));
    assert_eq!(found[0].zone.max, Some(CodecScalar::Int32(2_999)));
    assert_eq!(
        found[2].zone.max,
        middling.last().copied().map(CodecScalar::Int64)
    );
    assert_eq!(
        found[1].zone.min,
        Some(CodecScalar::Bytes(b"kind 00".to_vec()))
    );
    assert_eq!(found[1].value_bytes, 3_000 * 7);
    drop(engine);
    let volume = Volume::open(disk, OpenMode::ReadWrite).unwrap();
    let engine = Engine::open(volume).unwrap();
    assert_eq!(samples(&engine), found);
}

#[test]
fn of_a_large_table_some_rows_say_nearly_the_same() {
    const ROWS: i64 = 300_000;
    let (engine, _) = engine_with(ROWS);
    let found = analyzed(&engine);
    let is_near = |estimate: u64, truth: usize, factor: f64| {
        let (estimate, truth) = (estimate as f64, truth as f64);
        assert!(
            estimate <= truth * factor && estimate >= truth / factor,
            "{estimate} for {truth}"
        );
    };
    assert!(found[0].read_row_count < ROWS as u64);
    is_near(found[0].row_count, ROWS as usize, 1.02);
    is_near(found[0].distinct_estimate, ROWS as usize, 1.2);
    assert_eq!(found[1].distinct_estimate, 25);
    let middling: BTreeSet<i64> = rows(ROWS).map(|row| row.middling).collect();
    is_near(found[2].distinct_estimate, middling.len(), 1.3);
    let nulls = found[3].zone.null_count as f64 / found[3].read_row_count as f64;
    assert!((0.70..0.80).contains(&nulls), "{nulls}");
    // A later sample takes the place of the first.
    let again = analyzed(&engine);
    assert_eq!(again, found);
    // What is estimated of the whole table is what was found with more effort.
    let table = engine.snapshot().row_table("t").unwrap().unwrap();
    assert_eq!(table.row_count_estimate().unwrap(), found[0].row_count);
}
