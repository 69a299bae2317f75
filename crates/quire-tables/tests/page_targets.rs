//! Row tables whose stored leaves have a fixed size: many threads change rows while leaves are split for it; loads; other options.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow::array::AsArray;
use arrow::datatypes::{Int32Type, Int64Type};
use quire_codec::transform::Transform;
use quire_format::row_page::PageTransform;
use quire_kv::{btree::Direction, mvcc::TransactionOptions};
use quire_store::{MemDisk, OpenMode, PageKind, Volume, VolumeOptions};
use quire_tables::row_table::TupleValue;
use quire_tables::{
    BlockCodecId, ColumnDefinition, Engine, EngineOptions, PageTarget, RowScanOptions,
    ScanRowSource, SqlType, TableDefinition,
};

const SLOT_BYTES: usize = 4_096;

/// Bytes of what the volume writes before an image.
const HEADER_BYTES: usize = 32;

fn open(disk: &Arc<MemDisk>) -> Engine {
    let options = VolumeOptions::default();
    let volume = Volume::open_with(disk.clone(), OpenMode::ReadWrite, options).unwrap();
    Engine::open_with(volume, EngineOptions::default()).unwrap()
}

fn mixed(number: u64) -> u64 {
    let state = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state ^ (state >> 27)
}

/// 100 to 400 bytes, half of them words.
fn text(number: u64) -> String {
    let count = 10 + mixed(number) % 30;
    let word = |at: u64| {
        let word = mixed(number * 64 + at);
        match at % 2 {
            0 => format!("{:09} ", word % 1_000_000_000),
            _ => format!("word{:05} ", word % 40 * 1_001),
        }
    };
    (0..count).map(word).collect()
}

fn create(engine: &Engine) {
    let column = |name: &str, sql_type| ColumnDefinition {
        nullable: false,
        ..ColumnDefinition::new(name, sql_type)
    };
    let columns = vec![column("id", SqlType::BigInt), column("note", SqlType::Text)];
    let mut definition = TableDefinition::new("notes", columns).clustered_by(&[0]);
    definition.options.page_codec = BlockCodecId::Lz4;
    definition.options.page_target = Some(PageTarget::new(SLOT_BYTES));
    let mut transaction = engine.transaction(TransactionOptions::default());
    transaction
        .define(|tables| tables.create_table(definition))
        .unwrap();
    transaction.commit().unwrap();
}

/// All rows, of two columns.
fn all_rows() -> RowScanOptions {
    RowScanOptions {
        projection: vec![0, 1],
        with_row_key: false,
        source: ScanRowSource::all(),
        direction: Direction::Forward,
        batch_rows: 1_000,
    }
}

fn notes(engine: &Engine) -> BTreeMap<i64, String> {
    let table = engine.snapshot().row_table("notes").unwrap().unwrap();
    let mut scan = table.scan(&all_rows()).unwrap();
    let mut found = BTreeMap::new();
    while let Some(batch) = scan.next_batch().unwrap() {
        let ids = batch.column(0).as_primitive::<Int64Type>().values();
        let notes = batch.column(1).as_string_view();
        let notes = notes.iter().map(|note| note.unwrap().to_owned());
        found.extend(ids.iter().copied().zip(notes));
    }
    found
}

/// Bytes of the images of the pages of rows, with their headers.
fn image_bytes(engine: &Engine) -> Vec<usize> {
    let pin = engine.volume().pin();
    let rows = pin.pages().into_iter();
    let rows = rows.filter(|page| pin.kind(*page).unwrap() == PageKind::Row);
    rows.map(|page| pin.read(page).unwrap().len() + HEADER_BYTES)
        .collect()
}

fn no_findings(engine: &Engine) {
    assert_eq!(Engine::check(engine.volume()), []);
    assert_eq!(engine.check_rows(), []);
    assert!(engine.volume().check().findings.is_empty());
}

/// Rows of one thread: inserted in a random order, some changed, some removed.
fn write(engine: &Engine, thread: u64) -> BTreeMap<i64, String> {
    let mut mine = BTreeMap::new();
    for step in 0..150 {
        let mut transaction = engine.transaction(TransactionOptions::default());
        let table = transaction.snapshot().row_table("notes").unwrap().unwrap();
        let mut writer = transaction.row_writer(table.parts());
        for row in 0..20 {
            let number = step * 20 + row;
            let id = (mixed(number) >> 20 << 2 | thread) as i64;
            let note = text(number);
            let values = [TupleValue::Integer(id), TupleValue::Bytes(note.as_bytes())];
            writer.insert(&values).unwrap();
            mine.insert(id, note);
        }
        transaction.commit().unwrap();
        if step % 40 == 39 {
            engine.checkpoint().unwrap();
        }
    }
    mine
}

#[test]
fn threads_insert_while_leaves_are_split_for_their_size() {
    let disk = Arc::new(MemDisk::new());
    drop(Volume::create(disk.clone(), VolumeOptions::default()).unwrap());
    let engine = open(&disk);
    create(&engine);
    let mut expected = BTreeMap::new();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                let engine = &engine;
                scope.spawn(move || write(engine, thread))
            })
            .collect();
        for thread in threads {
            expected.extend(thread.join().unwrap());
        }
    });
    assert_eq!(notes(&engine), expected);
    no_findings(&engine);
    let stats = engine.snapshot().pool_stats().unwrap();
    assert!(
        stats.advance_splits + stats.failure_splits > 20,
        "{stats:?}"
    );
    engine.checkpoint().unwrap();
    let sizes = image_bytes(&engine);
    let leaves: Vec<_> = sizes
        .iter()
        .filter(|size| **size % SLOT_BYTES == 0)
        .collect();
    assert!(leaves.len() > 100 && leaves.len() + 10 > sizes.len());
    drop(engine);
    let engine = open(&disk);
    assert_eq!(notes(&engine), expected);
    no_findings(&engine);
}

#[test]
fn a_filled_table_has_leaves_that_fit() {
    const ROWS: u64 = 20_000;
    let disk = Arc::new(MemDisk::new());
    drop(Volume::create(disk.clone(), VolumeOptions::default()).unwrap());
    let engine = open(&disk);
    create(&engine);
    let mut transaction = engine.transaction(TransactionOptions::default());
    let table = transaction.snapshot().row_table("notes").unwrap().unwrap();
    let mut fill = transaction.begin_fill(&table, &[]).unwrap().unwrap();
    let mut raw_bytes = 0;
    for id in 0..ROWS {
        let note = text(id);
        raw_bytes += note.len();
        fill.insert(&[
            TupleValue::Integer(id as i64),
            TupleValue::Bytes(note.as_bytes()),
        ])
        .unwrap();
    }
    transaction.finish_fill(fill).unwrap();
    transaction.commit().unwrap();
    let sizes = image_bytes(&engine);
    let slots = |count: usize| {
        sizes
            .iter()
            .filter(|size| **size == count * SLOT_BYTES)
            .count()
    };
    let (fitting, others) = (slots(1), slots(2));
    assert!(fitting > 500 && others * 10 < fitting, "{fitting} {others}");
    let stored_bytes = (fitting + 2 * others) * SLOT_BYTES;
    assert!(
        stored_bytes < raw_bytes * 17 / 20,
        "{stored_bytes} of {raw_bytes}"
    );
    assert_eq!(notes(&engine).len() as u64, ROWS);
    no_findings(&engine);
}

/// A table of numbers for a device that compresses: pages are not.
fn create_numbers(engine: &Engine) -> usize {
    let column = |name: String, sql_type| ColumnDefinition {
        nullable: false,
        ..ColumnDefinition::new(&name, sql_type)
    };
    let mut columns = vec![column("id".to_owned(), SqlType::BigInt)];
    columns.extend((0..16).map(|number| column(format!("n{number}"), SqlType::Integer)));
    let mut definition = TableDefinition::new("numbers", columns).clustered_by(&[0]);
    let page_bytes = definition.options.page_bytes;
    definition.options.page_codec = BlockCodecId::None;
    definition.options.device_codec = Some(BlockCodecId::Zlib);
    definition.options.compresses_tuples = false;
    definition.options.page_target = Some(PageTarget::new(page_bytes));
    let mut transaction = engine.transaction(TransactionOptions::default());
    transaction
        .define(|tables| tables.create_table(definition))
        .unwrap();
    transaction.commit().unwrap();
    page_bytes
}

fn transform_of_rows(engine: &Engine) -> Option<PageTransform> {
    let snapshot = engine.snapshot();
    let sizes = snapshot.tree_sizes("numbers").unwrap();
    let transforms = snapshot.stored_transforms("numbers").unwrap();
    assert_eq!(sizes.len(), transforms.len());
    let mut both = sizes.iter().zip(transforms);
    both.find(|(size, _)| size.name == "rows").unwrap().1
}

#[test]
fn a_table_for_a_device_that_compresses_has_whole_pages_and_shows_their_transform() {
    const ROWS: u64 = 12_000;
    let disk = Arc::new(MemDisk::new());
    drop(Volume::create(disk.clone(), VolumeOptions::default()).unwrap());
    let engine = open(&disk);
    let page_bytes = create_numbers(&engine);
    assert_eq!(transform_of_rows(&engine), None);
    for part in 0..ROWS / 1_000 {
        let mut transaction = engine.transaction(TransactionOptions::default());
        let table = transaction
            .snapshot()
            .row_table("numbers")
            .unwrap()
            .unwrap();
        let mut writer = transaction.row_writer(table.parts());
        for row in 0..1_000 {
            let id = mixed(part * 1_000 + row) as i64;
            let number =
                |column: i64| TupleValue::Integer(60_000 + column + (id >> column & 1_023));
            let mut values = vec![TupleValue::Integer(id)];
            values.extend((0..16).map(number));
            writer.insert(&values).unwrap();
        }
        transaction.commit().unwrap();
        engine.checkpoint().unwrap();
    }
    let sizes = image_bytes(&engine);
    let whole = sizes.iter().filter(|size| **size == page_bytes).count();
    // A few are inner pages; no leaf needs two slots for long, as numbers are stored in fewer bytes than they and their slots take.
    assert!(
        whole > 50 && whole + 5 > sizes.len(),
        "{whole} of {}",
        sizes.len()
    );
    let clt = Some(PageTransform::Columns(Transform::Clt));
    assert_eq!(transform_of_rows(&engine), clt);
    no_findings(&engine);
    drop(engine);
    let engine = open(&disk);
    let table = engine.snapshot().row_table("numbers").unwrap().unwrap();
    assert_eq!(
        table.definition().options.device_codec,
        Some(BlockCodecId::Zlib)
    );
    let mut scan = table.scan(&all_rows()).unwrap();
    let (mut row_count, mut last_id) = (0, i64::MIN);
    while let Some(batch) = scan.next_batch().unwrap() {
        let ids = batch.column(0).as_primitive::<Int64Type>().values();
        let numbers = batch.column(1).as_primitive::<Int32Type>().values();
        for (id, number) in ids.iter().zip(numbers) {
            assert!(*id > last_id || last_id == i64::MIN);
            assert_eq!(i64::from(*number), 60_000 + (id & 1_023));
            (row_count, last_id) = (row_count + 1, *id);
        }
    }
    assert_eq!(row_count, ROWS);
    assert_eq!(transform_of_rows(&engine), clt);
    no_findings(&engine);
}
