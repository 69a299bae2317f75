//! Files of every format version open, forever, and hold what they held when they were made.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use quire_store::{MemDisk, OpenMode, PageKind, Volume, VolumeOpenError};
use quire_tables::Engine;
use quire_testkit::engine::{
    GOLDEN_PAX_BLOCK_BYTES, GOLDEN_PAX_NAME, append_to_golden_pax, golden_pax_tables,
    read_golden_pax,
};
use quire_testkit::store::{GOLDEN_NAMES, golden_pages};

fn golden(version: &str, name: &str) -> Vec<u8> {
    let folder = PathBuf::from("tests/golden").join(version);
    std::fs::read(folder.join(name)).unwrap()
}

fn read_all(volume: &Volume) -> BTreeMap<u64, Vec<u8>> {
    let pin = volume.pin();
    let read = |page: quire_store::PageId| (page.get(), pin.read(page).unwrap().to_vec());
    pin.pages().into_iter().map(read).collect()
}

/// Never released; runs did not say which commit was durable.
#[test]
fn version_1_is_refused_by_name() {
    for name in GOLDEN_NAMES {
        let disk = Arc::new(MemDisk::from_bytes(golden("v1", name)));
        let refused = Volume::open(disk, OpenMode::ReadWrite).map(drop);
        assert!(
            matches!(refused, Err(VolumeOpenError::OlderVersion { found: 1, .. })),
            "{name}: {refused:?}"
        );
    }
}

#[test]
fn version_2_opens() {
    for name in GOLDEN_NAMES {
        let bytes = golden("v2", name);
        let disk = Arc::new(MemDisk::from_bytes(bytes.clone()));
        let volume = Volume::open(disk, OpenMode::ReadOnly).unwrap();
        assert_eq!(read_all(&volume), golden_pages(), "{name}");
        assert!(
            volume.notices().is_empty() && volume.check().findings.is_empty(),
            "{name}"
        );
        let disk = Arc::new(MemDisk::from_bytes(bytes));
        let volume = Volume::open(disk.clone(), OpenMode::ReadWrite).unwrap();
        let batch = volume.begin().unwrap();
        let page = batch.write(PageKind::Segment, b"new").unwrap();
        assert_eq!(page.get(), 56, "{name}");
        batch.commit().unwrap();
        volume.close().unwrap();
        let volume = Volume::open(disk, OpenMode::ReadWrite).unwrap();
        let mut expected = golden_pages();
        expected.insert(56, b"new".to_vec());
        assert_eq!(read_all(&volume), expected, "{name}");
        assert!(volume.check().findings.is_empty(), "{name}");
    }
}

/// The rows of a PAX table, in blocks; and the table takes more.
#[test]
fn a_pax_table_of_version_2_opens() {
    let bytes = golden("v2", GOLDEN_PAX_NAME);
    let disk = Arc::new(MemDisk::from_bytes(bytes.clone()));
    let volume = Volume::open(disk, OpenMode::ReadOnly).unwrap();
    assert!(volume.notices().is_empty() && volume.check().findings.is_empty());
    assert_eq!(Engine::check(&volume), []);
    let engine = Engine::open(volume).unwrap();
    let snapshot = engine.snapshot();
    for name in golden_pax_tables().keys() {
        let table = snapshot.table(name).unwrap().unwrap();
        let block_bytes = table.definition().options.block_bytes;
        assert_eq!(block_bytes, Some(GOLDEN_PAX_BLOCK_BYTES));
        assert!(table.row_group_count() > 2);
        for index in 0..table.row_group_count() {
            assert!(table.row_group(index).unwrap().has_block(), "{index}");
        }
    }
    assert_eq!(read_golden_pax(&engine).unwrap(), golden_pax_tables());

    let disk = Arc::new(MemDisk::from_bytes(bytes));
    let volume = Volume::open(disk.clone(), OpenMode::ReadWrite).unwrap();
    let engine = Engine::open(volume).unwrap();
    append_to_golden_pax(&engine).unwrap();
    drop(engine);
    let volume = Volume::open(disk, OpenMode::ReadWrite).unwrap();
    assert_eq!(Engine::check(&volume), []);
    let engine = Engine::open(volume).unwrap();
    let mut expected = golden_pax_tables();
    for rows in expected.values_mut() {
        let again = rows.clone();
        rows.extend(again);
    }
    assert_eq!(read_golden_pax(&engine).unwrap(), expected);
}
