//! Files of every format version open, forever, and hold what they held when they were made.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use quire_store::{MemDisk, OpenMode, PageKind, Volume, VolumeOpenError};
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
