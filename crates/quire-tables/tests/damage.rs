//! A damaged file: every flipped bit is noticed, or changes no answer.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, Int32Array, RecordBatch, StringViewArray};
use arrow::compute::concat_batches;
use quire_format::catalog::{CATALOG_VERSION, CatalogRecord};
use quire_store::{CATALOG_PAGE, MemDisk, OpenMode, PageKind, Volume, VolumeOptions};
use quire_tables::{
    ColumnDefinition, Engine, EngineError, ScanError, ScanOptions, SharedTableScan, SqlType,
    TableDefinition,
};

fn definition() -> TableDefinition {
    let column = |name: &str, sql_type| ColumnDefinition::new(name, sql_type);
    TableDefinition::new(
        "measurements",
        vec![
            column("id", SqlType::Integer),
            column("value", SqlType::Double),
            column("note", SqlType::Text),
        ],
    )
}

fn rows() -> RecordBatch {
    let ids: ArrayRef = Arc::new(
        (0..1_500)
            .map(|row| (row % 7 > 0).then_some(row))
            .collect::<Int32Array>(),
    );
    let values = Float64Array::from_iter_values((0..1_500).map(|row| f64::from(row % 90) / 4.0));
    let notes = (0..1_500).map(|row| format!("note number {} of this table", row * row));
    let notes: ArrayRef = Arc::new(StringViewArray::from_iter_values(notes));
    RecordBatch::try_new(
        definition().arrow_schema(),
        vec![ids, Arc::new(values), notes],
    )
    .unwrap()
}

/// A small file with one table, which was appended to, and the traces of a dropped one.
fn file() -> Vec<u8> {
    let disk = Arc::new(MemDisk::new());
    let options = VolumeOptions {
        salt_seed: Some(1),
        ..VolumeOptions::default()
    };
    let volume = Volume::create(disk.clone(), options).unwrap();
    let engine = Engine::open(volume.clone()).unwrap();
    let mut transaction = engine.begin().unwrap();
    transaction.create_table(definition()).unwrap();
    transaction
        .create_table(TableDefinition {
            name: "gone".to_owned(),
            ..definition()
        })
        .unwrap();
    for (table, from, rows_each) in [
        ("measurements", 0, 1_000),
        ("gone", 0, 500),
        ("measurements", 1_000, 500),
    ] {
        let mut appender = transaction.appender(table).unwrap();
        appender.append(&rows().slice(from, rows_each)).unwrap();
        appender.finish().unwrap();
    }
    transaction.commit().unwrap();
    let mut transaction = engine.begin().unwrap();
    transaction.drop_table("gone").unwrap();
    transaction.commit().unwrap();
    drop(engine);
    volume.close().unwrap();
    disk.to_bytes()
}

/// All rows of all tables, or what was noticed.
fn read(bytes: Vec<u8>) -> Result<Vec<(String, RecordBatch)>, String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let volume = Volume::open(Arc::new(MemDisk::from_bytes(bytes)), OpenMode::ReadOnly)
        .map_err(|error| text(&error))?;
    let engine = Engine::open(volume).map_err(|error| text(&error))?;
    let tables = engine.snapshot().tables().map_err(|error| text(&error))?;
    let mut contents = Vec::new();
    for table in tables {
        let projection = (0..table.definition().columns.len()).collect();
        let scan = table.scan(ScanOptions {
            projection,
            ..ScanOptions::default()
        });
        let rows = scan
            .and_then(|scan| collect(&scan))
            .map_err(|error| text(&error))?;
        contents.push((table.definition().name.clone(), rows));
    }
    Ok(contents)
}

fn collect(scan: &Arc<SharedTableScan>) -> Result<RecordBatch, ScanError> {
    let mut reader = scan.reader();
    let mut batches = Vec::new();
    while let Some(batch) = reader.next()? {
        batches.push(batch);
    }
    Ok(concat_batches(scan.schema(), &batches).unwrap())
}

fn flip_bits(step: usize) {
    let file = file();
    let expected = vec![("measurements".to_owned(), rows())];
    assert_eq!(read(file.clone()).unwrap(), expected);
    let mut noticed = 0;
    for bit in (0..file.len() * 8).step_by(step) {
        let mut damaged = file.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        match read(damaged) {
            Ok(contents) => assert_eq!(contents, expected, "bit {bit}"),
            Err(_) => noticed += 1,
        }
    }
    // Most of the file is data, and data is read by every query.
    let flips = file.len() * 8 / step;
    assert!(noticed > flips / 8, "{noticed} of {flips} noticed");
}

#[test]
fn sampled_bits_are_noticed_or_harmless() {
    flip_bits(173);
}

#[test]
#[ignore = "every bit of the file: minutes"]
fn every_bit_is_noticed_or_harmless() {
    flip_bits(1);
}

/// A catalog that a later program wrote is not called damaged, and the message says which program to use.
#[test]
fn what_a_later_program_wrote_is_said_to_be_so() {
    let error_with = |change: &dyn Fn(Vec<u8>) -> Vec<u8>| {
        let disk = Arc::new(MemDisk::from_bytes(file()));
        let volume = Volume::open(disk, OpenMode::ReadWrite).unwrap();
        let payload = volume.pin().read(CATALOG_PAGE).unwrap().to_vec();
        let batch = volume.begin().unwrap();
        batch
            .replace(CATALOG_PAGE, PageKind::Catalog, &change(payload))
            .unwrap();
        batch.commit().unwrap();
        Engine::open(volume).map(drop).unwrap_err()
    };
    let with_option = |number: u8, value: i64| {
        move |payload: Vec<u8>| {
            let mut catalog = CatalogRecord::decode(&payload).unwrap();
            catalog.tables[0].options.push((number, value));
            catalog.encode()
        }
    };
    let newer_version = |mut payload: Vec<u8>| {
        payload[0] = CATALOG_VERSION + 1;
        payload
    };
    for (error, what) in [
        (error_with(&with_option(200, 1)), "unknown option 200"),
        (error_with(&newer_version), "the catalog page has version"),
    ] {
        assert!(
            matches!(error, EngineError::NewerVersion { .. }),
            "{error:?}"
        );
        let text = error.to_string();
        assert!(
            text.contains(what) && text.contains("newer version of Quire"),
            "{text}"
        );
    }
    // No program writes a block of negative length.
    let error = error_with(&with_option(9, -1));
    assert!(matches!(error, EngineError::Corrupt { .. }), "{error:?}");
}

#[test]
fn truncated_files_are_noticed_or_harmless() {
    let file = file();
    let expected = vec![("measurements".to_owned(), rows())];
    for length in (0..file.len()).step_by(61) {
        if let Ok(contents) = read(file[..length].to_vec()) {
            assert_eq!(contents, expected, "{length} bytes");
        }
    }
}
