//! A file of the first version with shared dictionaries: every later program opens it, and finds what it held when it was made.

use std::path::PathBuf;
use std::sync::Arc;

use crate::fixture::{
    GROUP, Row, TABLE, WORD, World, append_with, assert_counts, definition, group_of, references,
    row_groups, rows_of, words,
};
use quire_format::row_group::SHARED_ROW_GROUP_VERSION;
use quire_format::table_root::SHARED_TABLE_ROOT_VERSION;
use quire_store::{MemDisk, OpenMode, Volume, VolumeOptions};
use quire_tables::Engine;

/// Different words of a row group.
const WORDS: usize = 480;

fn path() -> PathBuf {
    PathBuf::from("tests/shared_dictionaries/golden.volume")
}

/// Two row groups with a dictionary, the second with 20 words more; and a short one with 150 of them.
fn rows() -> Vec<Row> {
    let group = GROUP as i64;
    let mut rows = group_of(&words(0..WORDS), 0);
    rows.extend(group_of(&words(20..WORDS + 20), group));
    rows.extend(group_of(&words(0..150), 2 * group).into_iter().take(1000));
    rows
}

fn opened(disk: &Arc<MemDisk>) -> World {
    let volume = Volume::open(disk.clone(), OpenMode::ReadWrite).unwrap();
    let engine = Engine::open(volume).unwrap();
    World {
        disk: Arc::clone(disk),
        engine,
    }
}

#[test]
fn the_first_version_opens_and_takes_more() {
    let bytes = std::fs::read(path()).unwrap();
    let disk = Arc::new(MemDisk::from_bytes(bytes));
    let world = opened(&disk);
    world.check();
    let table = world.table();
    let found = references(&table);
    assert_eq!(found.len(), 3);
    let is_shared = found[0].is_some() && found.iter().all(|one| *one == found[0]);
    assert!(is_shared, "{found:?}");
    assert_counts(&table);
    assert_eq!(rows_of(&table), rows());
    for (index, row_group) in row_groups(&table).iter().enumerate() {
        assert_eq!(row_group.encode()[0], SHARED_ROW_GROUP_VERSION, "{index}");
    }
    let pin = world.engine.volume().pin();
    let versions = pin.pages().into_iter().filter_map(|page| {
        let is_root = pin.kind(page).unwrap() == quire_store::PageKind::Table;
        is_root.then(|| pin.read(page).unwrap()[0])
    });
    assert_eq!(versions.collect::<Vec<_>>(), [SHARED_TABLE_ROOT_VERSION]);

    let first = (3 * GROUP) as i64;
    let more = group_of(&words(0..WORDS), first);
    world.append(&more);
    let world = world.reopened();
    assert_counts(&world.table());
    assert_eq!(world.table().shared_dictionaries(WORD).len(), 1);
    let expected: Vec<Row> = rows().into_iter().chain(more).collect();
    assert_eq!(rows_of(&world.table()), expected);
}

#[test]
#[ignore = "writes the file, which is to stay as it is: by hand, for another version beside it"]
fn write_the_file() {
    let disk = Arc::new(MemDisk::new());
    let options = VolumeOptions {
        salt_seed: Some(1),
        ..VolumeOptions::default()
    };
    let volume = Volume::create(disk.clone(), options).unwrap();
    let engine = Engine::open(volume.clone()).unwrap();
    let mut transaction = engine.begin().unwrap();
    transaction.create_table(definition(TABLE)).unwrap();
    append_with(&mut transaction, TABLE, &rows(), 1);
    transaction.commit().unwrap();
    drop(engine);
    volume.close().unwrap();
    std::fs::write(path(), disk.to_bytes()).unwrap();
}
