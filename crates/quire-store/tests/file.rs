//! A volume in a real file.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::sync::Arc;

use quire_store::{
    CATALOG_PAGE, FileDisk, OpenMode, PageKind, Volume, VolumeOpenError, VolumeOptions,
};

/// A path that is removed in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let name = format!("quire-store-{}-{name}", std::process::id());
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn open_or_create(path: &Scratch) -> Result<Volume, VolumeOpenError> {
    let disk = Arc::new(FileDisk::open_or_create(&path.0)?);
    Volume::open_or_create(disk, VolumeOptions::default())
}

#[test]
fn a_file_is_created_written_and_read_again() {
    let path = Scratch::new("create");
    let volume = open_or_create(&path).unwrap();
    let batch = volume.begin().unwrap();
    let large = vec![7; 3 << 20];
    let page = batch.write(PageKind::Segment, &large).unwrap();
    batch
        .replace(CATALOG_PAGE, PageKind::Catalog, b"root")
        .unwrap();
    batch.commit().unwrap();
    volume.close().unwrap();
    let disk = Arc::new(FileDisk::open(&path.0, OpenMode::ReadOnly).unwrap());
    let volume = Volume::open(disk, OpenMode::ReadOnly).unwrap();
    assert!(volume.read(page).unwrap()[..] == large[..]);
    assert_eq!(&*volume.read(CATALOG_PAGE).unwrap(), b"root");
}

#[test]
fn a_second_writer_is_turned_away_and_readers_share() {
    let path = Scratch::new("lock");
    let volume = open_or_create(&path).unwrap();
    assert!(matches!(
        open_or_create(&path),
        Err(VolumeOpenError::Locked { .. })
    ));
    let reader = FileDisk::open(&path.0, OpenMode::ReadOnly);
    assert!(matches!(reader, Err(VolumeOpenError::Locked { .. })));
    volume.close().unwrap();
    let first = FileDisk::open(&path.0, OpenMode::ReadOnly).unwrap();
    let second = FileDisk::open(&path.0, OpenMode::ReadOnly).unwrap();
    assert!(matches!(
        open_or_create(&path),
        Err(VolumeOpenError::Locked { .. })
    ));
    drop((first, second));
    open_or_create(&path).unwrap();
}

#[test]
fn paths_that_cannot_be_opened_are_named() {
    let missing = FileDisk::open("/nonexistent/file.quire", OpenMode::ReadOnly);
    assert!(
        missing
            .unwrap_err()
            .to_string()
            .contains("/nonexistent/file.quire")
    );
    let folder = FileDisk::open(std::env::temp_dir(), OpenMode::ReadOnly);
    assert!(
        folder
            .unwrap_err()
            .to_string()
            .contains("not a regular file")
    );
}
