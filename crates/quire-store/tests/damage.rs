//! What a volume says about files that are not what they should be, and what a rebuild saves.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::Arc;

use quire_store::disk::CrashImages;
use quire_store::{
    CATALOG_PAGE, MemDisk, OpenMode, PageKind, PageReadError, Pin, SimDisk, Volume,
    VolumeOpenError, VolumeOptions,
};

type Pages = BTreeMap<u64, Vec<u8>>;

fn read_all(pin: &Pin) -> Pages {
    pin.pages()
        .into_iter()
        .map(|page| (page.get(), pin.read(page).unwrap().to_vec()))
        .collect()
}

/// A closed file with pages written, replaced and freed in several sessions.
fn sample() -> (Vec<u8>, Pages) {
    let disk = Arc::new(MemDisk::new());
    let mut pages = Vec::new();
    for session in 0..4_u8 {
        let volume = Volume::open_or_create(disk.clone(), VolumeOptions::default()).unwrap();
        for round in 0..3_u8 {
            let batch = volume.begin().unwrap();
            for at in 0..5 {
                let bytes = vec![session * 16 + round; 300 + 700 * at];
                pages.push(batch.write(PageKind::Segment, &bytes).unwrap());
            }
            batch
                .replace(CATALOG_PAGE, PageKind::Catalog, &[session, round])
                .unwrap();
            batch.free(pages.remove(pages.len() / 2)).unwrap();
            batch.commit().unwrap();
        }
        volume.close().unwrap();
    }
    let volume = Volume::open(disk.clone(), OpenMode::ReadOnly).unwrap();
    (disk.to_bytes(), read_all(&volume.pin()))
}

fn open(bytes: &[u8]) -> Result<Volume, VolumeOpenError> {
    Volume::open(
        Arc::new(MemDisk::from_bytes(bytes.to_vec())),
        OpenMode::ReadWrite,
    )
}

fn message(bytes: &[u8]) -> String {
    open(bytes).err().unwrap().to_string()
}

#[test]
fn other_files_are_told_apart() {
    assert!(message(b"SQLite format 3\0 and so on").contains("is not a Quire database"));
    assert!(message(&[0xff; 100_000]).contains("is not a Quire database"));
    assert!(message(b"").contains("was never finished"));
    assert!(message(&[0; 8192]).contains("was never finished"));
    assert!(
        message(&[0; 100_000]).contains("is not a Quire database"),
        "zeros that nobody wrote"
    );
    let notes = Arc::new(MemDisk::from_bytes(b"my notes".to_vec()));
    let refused = Volume::open_or_create(notes.clone(), VolumeOptions::default());
    assert!(matches!(refused, Err(VolumeOpenError::NotQuire { .. })));
    let refused = Volume::create(notes.clone(), VolumeOptions::default());
    assert!(matches!(refused, Err(VolumeOpenError::NotEmpty { .. })));
    assert_eq!(notes.to_bytes(), b"my notes");
}

#[test]
fn another_version_is_named() {
    let cases = [
        (
            9_u32,
            "format version 9; this program reads up to version 2",
        ),
        (1, "format version 1; this program reads versions from 2 on"),
    ];
    for (version, expected) in cases {
        let (mut bytes, _) = sample();
        for copy in [0, 4096] {
            bytes[copy + 8..copy + 12].copy_from_slice(&version.to_le_bytes());
            let sum = crc32c::crc32c(&bytes[copy..copy + 508]);
            bytes[copy + 508..copy + 512].copy_from_slice(&sum.to_le_bytes());
        }
        assert!(message(&bytes).contains(expected), "{}", message(&bytes));
    }
}

#[test]
fn every_truncation_is_an_error_or_harmless() {
    let (bytes, pages) = sample();
    let mut harmless = 0;
    for length in (0..bytes.len())
        .step_by(512)
        .chain(bytes.len() - 40..bytes.len())
    {
        match open(&bytes[..length]) {
            Ok(volume) => {
                assert_eq!(read_all(&volume.pin()), pages, "cut to {length}");
                harmless += 1;
            }
            Err(VolumeOpenError::Truncated { .. } | VolumeOpenError::Unfinished { .. }) => {}
            Err(error) => panic!("cut to {length}: {error}"),
        }
    }
    assert!(harmless < bytes.len() / 512, "some cuts must be noticed");
}

/// A crash can leave the file shorter than the last batch made it, at any byte.
#[test]
fn a_log_that_is_cut_off_anywhere_loses_the_last_batch_at_most() {
    let disk = Arc::new(MemDisk::new());
    let volume = Volume::create(disk.clone(), VolumeOptions::default()).unwrap();
    let mut states = Vec::new();
    let mut lengths = Vec::new();
    for length in [3_000, 50_000] {
        let batch = volume.begin().unwrap();
        batch.write(PageKind::Segment, &vec![3; length]).unwrap();
        batch.commit().unwrap();
        states.push(read_all(&volume.pin()));
        lengths.push(disk.to_bytes().len());
    }
    let bytes = disk.to_bytes();
    let cuts = (lengths[0]..lengths[1] - 5_000)
        .step_by(997)
        .chain(lengths[1] - 5_000..lengths[1]);
    for cut in cuts {
        let disk = Arc::new(MemDisk::from_bytes(bytes[..cut].to_vec()));
        let volume = Volume::open(disk.clone(), OpenMode::ReadWrite).unwrap();
        assert!(states.contains(&read_all(&volume.pin())), "cut to {cut}");
        assert!(
            volume.check().findings.is_empty(),
            "cut to {cut}: {:?}",
            volume.check().findings
        );
        let batch = volume.begin().unwrap();
        let page = batch.write(PageKind::Segment, b"new").unwrap();
        batch.commit().unwrap();
        volume.close().unwrap();
        let volume = Volume::open(disk, OpenMode::ReadWrite).unwrap();
        assert_eq!(&*volume.read(page).unwrap(), b"new", "cut to {cut}");
        assert!(volume.check().findings.is_empty(), "cut to {cut}");
    }
}

#[test]
fn one_superblock_is_enough() {
    for copy in [0, 4096] {
        let (mut bytes, pages) = sample();
        bytes[copy..copy + 4096].fill(0xee);
        let volume = open(&bytes).unwrap();
        assert_eq!(read_all(&volume.pin()), pages);
        assert!(
            volume.notices()[0].contains("superblock"),
            "{:?}",
            volume.notices()
        );
        let finding = &volume.check().findings[0];
        assert_eq!(finding.invariant, "superblocks_are_whole");
        assert_eq!(finding.offset, Some(copy as u64));
        volume
            .begin()
            .unwrap()
            .replace(CATALOG_PAGE, PageKind::Catalog, b"")
            .unwrap();
        let batch = volume.begin().unwrap();
        batch.write(PageKind::Table, b"").unwrap();
        batch.commit().unwrap();
        assert!(
            volume.check().findings.is_empty(),
            "the next write repairs it"
        );
    }
}

/// With one copy damaged, the other one must not be at risk before the first is whole again.
#[test]
fn the_damaged_superblock_is_replaced_first() {
    for copy in [0, 4096] {
        let (mut bytes, pages) = sample();
        bytes[copy..copy + 512].fill(0xee);
        let disk = Arc::new(SimDisk::recording(bytes.clone()));
        let volume = Volume::open(disk.clone(), OpenMode::ReadWrite).unwrap();
        let batch = volume.begin().unwrap();
        batch.write(PageKind::Table, b"new").unwrap();
        batch.commit().unwrap();
        drop(volume);
        let journal = disk.journal();
        let mut crashes = CrashImages::new(bytes, &journal);
        while crashes.advance() {
            for seed in 0..200 {
                let volume = open(&crashes.image(seed)).unwrap();
                let found = read_all(&volume.pin());
                assert!(
                    pages
                        .iter()
                        .all(|(page, payload)| found.get(page) == Some(payload))
                );
            }
        }
    }
}

#[test]
fn a_file_without_superblocks_is_rebuilt() {
    let (mut bytes, pages) = sample();
    bytes[8..500].fill(1);
    bytes[4096 + 8..4096 + 500].fill(1);
    assert!(matches!(
        open(&bytes),
        Err(VolumeOpenError::CorruptSuperblocks { .. })
    ));
    let disk = Arc::new(MemDisk::from_bytes(bytes));
    let (volume, report) = Volume::rebuild(disk.clone(), VolumeOptions::default()).unwrap();
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    let found = read_all(&volume.pin());
    for (page, payload) in &pages {
        assert_eq!(found.get(page), Some(payload));
    }
    assert!(volume.check().findings.is_empty());
    volume.close().unwrap();
    let volume = Volume::open(disk, OpenMode::ReadWrite).unwrap();
    assert_eq!(read_all(&volume.pin()), found);
}

#[test]
fn a_damaged_map_is_rebuilt_without_asking_or_reported() {
    let (bytes, pages) = sample();
    let mut rebuilt = 0;
    for block in (8192..bytes.len()).step_by(4096) {
        if bytes.get(block + 10) != Some(&3) {
            continue;
        }
        let mut damaged = bytes.clone();
        damaged[block + 100] ^= 4;
        match open(&damaged) {
            Ok(volume) if volume.notices().is_empty() => {
                assert!(
                    volume.check().findings.is_empty(),
                    "an old chunk, free by now"
                );
            }
            Ok(volume) => {
                assert_eq!(read_all(&volume.pin()), pages);
                rebuilt += 1;
            }
            Err(error) => assert!(
                matches!(error, VolumeOpenError::CorruptMap { .. }),
                "{error}"
            ),
        }
    }
    assert!(rebuilt <= 1, "only one chunk is in use");
}

#[test]
fn a_damaged_page_is_named() {
    let disk = Arc::new(MemDisk::new());
    let volume = Volume::create(disk.clone(), VolumeOptions::default()).unwrap();
    let batch = volume.begin().unwrap();
    let sound = batch.write(PageKind::Segment, b"sound").unwrap();
    let page = batch
        .write(PageKind::Segment, b"a needle in the file")
        .unwrap();
    batch.commit().unwrap();
    volume.close().unwrap();
    let mut bytes = disk.to_bytes();
    let at = bytes
        .windows(6)
        .position(|window| window == b"needle")
        .unwrap();
    bytes[at] ^= 0x20;
    let volume = open(&bytes).unwrap();
    assert_eq!(&*volume.read(sound).unwrap(), b"sound");
    let error = volume.read(page).unwrap_err();
    assert!(
        matches!(error, PageReadError::Corrupt { page: found, .. } if found == page),
        "{error}"
    );
    let finding = volume.check().findings.remove(0);
    assert_eq!(
        (finding.invariant, finding.page),
        ("images_are_whole", Some(page))
    );
    assert_eq!(finding.offset, Some(at as u64 - 2 - 32));
}

/// Bytes of a hostile file are never trusted: whatever they are, there is an answer.
#[test]
fn random_damage_never_panics() {
    let (bytes, _) = sample();
    let mut random = 1_u64;
    let mut next = || {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        random >> 33
    };
    for _ in 0..3_000 {
        let mut damaged = bytes.clone();
        for _ in 0..1 + next() % 8 {
            let at = next() as usize % damaged.len();
            let length = (next() as usize % 64).min(damaged.len() - at);
            damaged[at..at + length]
                .iter_mut()
                .for_each(|byte| *byte = next() as u8);
        }
        let disk = Arc::new(MemDisk::from_bytes(damaged.clone()));
        if let Ok(volume) = open(&damaged) {
            drop(volume.check());
            let pin = volume.pin();
            pin.pages()
                .into_iter()
                .for_each(|page| drop(pin.read(page)));
        } else if let Ok((volume, _)) = Volume::rebuild(disk, VolumeOptions::default()) {
            let pin = volume.pin();
            pin.pages()
                .into_iter()
                .for_each(|page| drop(pin.read(page)));
        }
    }
}
