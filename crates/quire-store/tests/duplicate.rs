//! Copies of snapshots.
#![allow(clippy::unwrap_used)]

use std::convert::Infallible;
use std::sync::Arc;

use quire_store::log::{LogOptions, VolumeLog};
use quire_store::{
    CATALOG_PAGE, DuplicateError, Durability, MemDisk, OpenMode, PageId, PageKind, Pin, Volume,
    VolumeOptions,
};

fn create() -> Volume {
    Volume::create(Arc::new(MemDisk::new()), VolumeOptions::default()).unwrap()
}

fn copy_of(pin: &Pin) -> Volume {
    let disk = Arc::new(MemDisk::new());
    pin.duplicate(disk.clone(), |_, _| true).unwrap();
    Volume::open(disk, OpenMode::ReadWrite).unwrap()
}

fn contents(pin: &Pin) -> Vec<(PageId, PageKind, Vec<u8>)> {
    let page = |page| {
        (
            page,
            pin.kind(page).unwrap(),
            pin.read(page).unwrap().to_vec(),
        )
    };
    pin.pages().into_iter().map(page).collect()
}

/// Pages of several kinds and lengths, some of them replaced and freed.
fn filled() -> (Volume, Vec<PageId>) {
    let volume = create();
    let batch = volume.begin().unwrap();
    let mut pages = Vec::new();
    for number in 0..300_usize {
        let payload = vec![number as u8; number * 97];
        let kind = match number % 2 {
            0 => PageKind::Segment,
            _ => PageKind::Row,
        };
        pages.push(batch.write(kind, &payload).unwrap());
    }
    batch
        .replace(CATALOG_PAGE, PageKind::Catalog, b"first")
        .unwrap();
    batch.commit().unwrap();
    let batch = volume.begin().unwrap();
    batch.free(pages[7]).unwrap();
    batch
        .replace(pages[8], PageKind::Segment, b"newer")
        .unwrap();
    batch.commit().unwrap();
    (volume, pages)
}

#[test]
fn a_copy_has_the_pages_of_the_pin_whatever_is_written_meanwhile() {
    let (volume, pages) = filled();
    let pin = volume.pin();
    let expected = contents(&pin);
    let disk = Arc::new(MemDisk::new());
    let mut is_first = true;
    let duplicated = pin.duplicate(disk.clone(), |done, total| {
        assert!(done <= total);
        if std::mem::take(&mut is_first) {
            let batch = volume.begin().unwrap();
            batch
                .replace(CATALOG_PAGE, PageKind::Catalog, b"second")
                .unwrap();
            batch.free(pages[299]).unwrap();
            batch.commit().unwrap();
            volume.checkpoint().unwrap();
        }
        true
    });
    duplicated.unwrap();
    assert!(!is_first, "there was nothing to copy");
    let copy = Volume::open(disk, OpenMode::ReadWrite).unwrap();
    assert_eq!(contents(&copy.pin()), expected);
    let sequence = copy.commit_sequence();
    assert!(sequence >= pin.commit_sequence());
    assert_eq!(copy.check().findings.len(), 0);
    // Names that were given out are not given out again.
    assert_eq!(copy.next_page(), volume.next_page());
    let batch = copy.begin().unwrap();
    batch.write(PageKind::Segment, b"more").unwrap();
    assert_eq!(batch.commit().unwrap(), sequence + 1);
    assert_eq!(copy.check().findings.len(), 0);
}

#[test]
fn an_empty_volume_has_an_empty_copy() {
    let copy = copy_of(&create().pin());
    assert_eq!(copy.pin().pages(), []);
    assert_eq!(copy.check().findings.len(), 0);
}

#[test]
fn the_log_goes_with_the_pages_and_goes_on() {
    let volume = create();
    let log = VolumeLog::open(&volume, LogOptions::default()).unwrap();
    for number in 1..=5_u8 {
        log.commit(&[number; 9], Durability::Synced).unwrap();
    }
    let pin = volume.pin();
    log.commit(b"too late", Durability::Synced).unwrap();
    let copy = copy_of(&pin);
    let log = VolumeLog::open(&copy, LogOptions::default()).unwrap();
    let mut found = Vec::new();
    log.replay(|sequence, records| {
        found.push((sequence.get(), records.to_vec()));
        Ok::<(), Infallible>(())
    })
    .unwrap();
    let expected: Vec<_> = (1..=5_u8)
        .map(|number| (u64::from(number), vec![number; 9]))
        .collect();
    assert_eq!(found, expected);
    let next = log.commit(b"next", Durability::Synced).unwrap();
    assert_eq!(next.get(), 6);
}

#[test]
fn a_copy_that_is_stopped_says_so_and_one_onto_something_is_refused() {
    let (volume, _) = filled();
    let stopped = volume
        .pin()
        .duplicate(Arc::new(MemDisk::new()), |done, _| done < 1000);
    assert!(matches!(stopped, Err(DuplicateError::Stopped)));
    let taken = Arc::new(MemDisk::from_bytes(vec![1; 9000]));
    let refused = volume.pin().duplicate(taken, |_, _| true);
    assert!(matches!(refused, Err(DuplicateError::Open(_))));
}
