//! Dictionaries that are not what their row groups refer to are errors that say so.

use crate::fixture::{
    GROUP, Row, TABLE, WORD, WORDS, World, definition_with_dictionaries, group_of, groups_of,
    references, rows_of, words,
};
use quire_format::table_root::TableRoot;
use quire_store::{OpenMode, PageId, PageKind, Volume};
use quire_tables::{ColumnTable, Engine, ScanOptions};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

fn world() -> (World, Vec<Row>) {
    let rows = groups_of(&[0..WORDS, 0..WORDS, 3000..3000 + WORDS]);
    (World::with(&rows), rows)
}

fn page_of(table: &ColumnTable, dictionary: usize) -> PageId {
    table.shared_dictionaries(WORD)[dictionary].pages[0]
}

fn replace(world: &World, page: PageId, payload: &[u8]) {
    let batch = world.engine.volume().begin().unwrap();
    batch.replace(page, PageKind::Segment, payload).unwrap();
    batch.commit().unwrap();
}

/// Reads the words; the error as text.
fn read(table: &Arc<ColumnTable>) -> Result<(), String> {
    let options = ScanOptions {
        projection: vec![WORD],
        ..ScanOptions::default()
    };
    let scan = table.scan(options).map_err(|error| error.to_string())?;
    let mut reader = scan.reader();
    while let Some(batch) = reader.next().map_err(|error| error.to_string())? {
        assert!(batch.num_rows() > 0);
    }
    Ok(())
}

#[test]
fn a_foreign_dictionary_is_named_with_its_page() {
    let (world, _) = world();
    let table = world.table();
    let (page, other) = (page_of(&table, 0), page_of(&table, 1));
    let foreign = world.engine.volume().pin().read(other).unwrap();
    let first = table.shared_dictionaries(WORD)[0].stored_bytes as usize;
    drop(table);
    let mut resized = foreign.to_vec();
    replace(&world, page, &resized);
    resized.resize(first, 0);
    for payload in [foreign.to_vec(), resized] {
        replace(&world, page, &payload);
        let error = read(&world.table()).unwrap_err();
        for part in [TABLE, "word", &format!("page {page}"), "byte"] {
            assert!(error.contains(part), "{part}: {error}");
        }
        let findings = Engine::check(world.engine.volume());
        let invariant = "shared_dictionary_is_readable";
        let mut named = findings.iter().filter(|one| one.invariant == invariant);
        assert_eq!(named.next().unwrap().page, Some(page));
        // Numbers need no dictionary.
        let options = ScanOptions {
            projection: vec![0],
            ..ScanOptions::default()
        };
        let mut reader = world.table().scan(options).unwrap().reader();
        while reader.next().unwrap().is_some() {}
    }
}

#[test]
fn a_root_that_says_too_many_bytes_is_refused_before_pages_are_read() {
    let (world, _) = world();
    let volume = world.engine.volume();
    let pin = volume.pin();
    let is_root = |page: &PageId| pin.kind(*page).unwrap() == PageKind::Table;
    let page = pin.pages().into_iter().find(is_root).unwrap();
    let mut root = TableRoot::decode(&pin.read(page).unwrap()).unwrap();
    // 4 MiB of strings and 21 bytes around them are the most that there can be.
    root.columns[WORD].dictionaries[0].stored_bytes = (4 << 20) + 21 + 1;
    let batch = volume.begin().unwrap();
    let payload = root.encode();
    batch.replace(page, PageKind::Table, &payload).unwrap();
    batch.commit().unwrap();
    drop(pin);
    let World { disk, engine } = world;
    drop(engine);
    let volume = Volume::open(disk.clone(), OpenMode::ReadWrite).unwrap();
    let engine = Engine::open(volume).unwrap();
    let error = read(&World { disk, engine }.table()).unwrap_err();
    assert!(error.contains("at most 4194325 are allowed"), "{error}");
}

#[test]
fn every_flipped_byte_of_a_dictionary_is_an_error_or_changes_nothing() {
    let (world, rows) = world();
    let page = page_of(&world.table(), 0);
    let sound = world.engine.volume().pin().read(page).unwrap().to_vec();
    let mut noticed = 0;
    for place in (0..13).chain((13..sound.len()).step_by(211)) {
        let mut damaged = sound.clone();
        damaged[place] ^= 1 << (place % 8);
        replace(&world, page, &damaged);
        let table = world.table();
        let outcome = catch_unwind(AssertUnwindSafe(|| read(&table)));
        match outcome.expect("no panic") {
            Err(_) => noticed += 1,
            Ok(()) => assert_eq!(rows_of(&table), rows),
        }
    }
    assert!(noticed >= 13, "header and fingerprint are compared");
    replace(&world, page, &sound);
    assert_eq!(rows_of(&world.table()), rows);
}

#[test]
fn every_flipped_byte_of_a_segment_is_an_error_or_other_words() {
    let (world, _) = world();
    let row_group = world.table().row_group(1).unwrap();
    let page = row_group.columns[WORD].pages[0];
    let sound = world.engine.volume().pin().read(page).unwrap().to_vec();
    for place in (0..100).chain((100..sound.len()).step_by(97)) {
        let mut damaged = sound.clone();
        damaged[place] ^= 1 << (place % 8);
        replace(&world, page, &damaged);
        let table = world.table();
        let outcome = catch_unwind(AssertUnwindSafe(|| read(&table)));
        let _ = outcome.expect("no panic");
    }
    // Version 1 would have a dictionary of its own.
    let mut damaged = sound.clone();
    damaged[0] = 1;
    replace(&world, page, &damaged);
    let error = read(&world.table()).unwrap_err();
    assert!(error.contains("dictionary"), "{error}");
}

#[test]
fn an_append_does_not_read_a_dictionary_that_is_far_too_large() {
    let world = World::new(definition_with_dictionaries());
    let rows = group_of(&words(0..1700), 0);
    world.append(&rows);
    let table = world.table();
    let stored_bytes = table.shared_dictionaries(WORD)[0].stored_bytes;
    let page = page_of(&table, 0);
    let mut damaged = world.engine.volume().pin().read(page).unwrap().to_vec();
    damaged[5] ^= 1;
    replace(&world, page, &damaged);
    // A hundred words of 16 letters, and their lengths, are less than an eighth of it.
    assert!(stored_bytes > 8 * 100 * 17);
    let few = group_of(&words(0..100), GROUP as i64);
    world.append(&few);
    assert_eq!(world.table().row_count().unwrap(), 2 * GROUP as u64);
    assert_eq!(references(&world.table())[1], None);
}

#[test]
fn an_append_to_a_table_with_a_damaged_dictionary_says_so() {
    let (world, rows) = world();
    let page = page_of(&world.table(), 1);
    let mut damaged = world.engine.volume().pin().read(page).unwrap().to_vec();
    damaged[5] ^= 1;
    replace(&world, page, &damaged);
    let mut transaction = world.engine.begin().unwrap();
    let options = quire_tables::AppendOptions {
        workers: Some(4),
        row_group_rows: crate::fixture::GROUP,
        ..Default::default()
    };
    let mut appender = transaction.appender_with(TABLE, options).unwrap();
    let appended = appender.append(&crate::fixture::batch_of(&rows));
    let error = match appended {
        Ok(()) => appender.finish().unwrap_err().to_string(),
        Err(error) => error.to_string(),
    };
    assert!(error.contains("shared dictionary"), "{error}");
}
