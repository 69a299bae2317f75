//! Flipping any single bit of a file is noticed or changes no answer, and nothing panics.
//!
//! A sample runs with the other tests. All bits:
//! `cargo test --release -p quire-testkit --test bit_flips -- --ignored`
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::Arc;

use quire_store::{CATALOG_PAGE, MemDisk, OpenMode, PageKind, Volume, VolumeOptions};
use quire_testkit::random::{TestRandom, environment_number};

type Pages = BTreeMap<u64, Arc<[u8]>>;

/// Small runs, so that a small file has many of them.
fn options() -> VolumeOptions {
    let run_bytes = 4 << 10;
    VolumeOptions {
        run_bytes,
        clean_dead_percent: 100,
        ..VolumeOptions::default()
    }
}

fn read_all(volume: &Volume) -> Result<Pages, ()> {
    let pin = volume.pin();
    let read = |page: quire_store::PageId| Ok((page.get(), pin.read(page).map_err(drop)?));
    pin.pages().into_iter().map(read).collect()
}

/// A session of writes; with `close` the file is complete, without it the log is not yet stored.
fn work(disk: &Arc<MemDisk>, seed: u64, close: bool) -> Pages {
    let mut random = TestRandom::new(seed);
    let volume = Volume::open_or_create(disk.clone(), options()).unwrap();
    for round in 0..4 {
        let batch = volume.begin().unwrap();
        for _ in 0..3 {
            let length = random.below(1_200) as usize;
            batch
                .write(PageKind::Segment, &random.bytes(length))
                .unwrap();
        }
        batch
            .replace(CATALOG_PAGE, PageKind::Catalog, &random.bytes(40))
            .unwrap();
        let pages = volume.pin().pages();
        if let Some(page) = pages.get(2) {
            batch.free(*page).unwrap();
        }
        batch.commit().unwrap();
        if round == 1 {
            volume.checkpoint().unwrap();
        }
    }
    let pages = read_all(&volume).unwrap();
    if close {
        volume.close().unwrap();
    } else {
        std::mem::forget(volume);
    }
    pages
}

/// What became of the flips.
#[derive(Debug, Default)]
struct Tally {
    refused: u64,
    noticed: u64,
    unchanged: u64,
}

fn flip(bytes: &mut [u8], bit: usize, expected: &[Pages], tally: &mut Tally) {
    bytes[bit / 8] ^= 1 << (bit % 8);
    let disk = Arc::new(MemDisk::from_bytes(bytes.to_vec()));
    match Volume::open(disk, OpenMode::ReadOnly) {
        Err(_) => tally.refused += 1,
        Ok(volume) => match read_all(&volume) {
            Err(()) => tally.noticed += 1,
            Ok(pages) if expected.contains(&pages) => tally.unchanged += 1,
            Ok(_) => panic!("bit {} of byte {} changed the answers", bit % 8, bit / 8),
        },
    }
    bytes[bit / 8] ^= 1 << (bit % 8);
}

fn flip_bits(step: usize) {
    let disk = Arc::new(MemDisk::new());
    work(&disk, 1, true);
    let pages = work(&disk, 2, true);
    let mut bytes = disk.to_bytes();
    let mut tally = Tally::default();
    let start = environment_number("QUIRE_SEED", 0) as usize % step;
    for bit in (start..bytes.len() * 8).step_by(step) {
        flip(&mut bytes, bit, std::slice::from_ref(&pages), &mut tally);
    }
    println!("closed file of {} bytes: {tally:?}", bytes.len());
    assert!(
        tally.noticed > 0 && tally.refused > 0 && tally.unchanged > 0,
        "{tally:?}"
    );
}

/// A killed process leaves a log. A flip in its last batch looks like a write that the kill tore,
/// so there the state before that batch is an answer too; earlier batches must not get lost.
fn flip_bits_of_a_log(step: usize) {
    let disk = Arc::new(MemDisk::new());
    work(&disk, 1, true);
    let before = work(&disk, 2, false);
    let volume = Volume::open_or_create(disk.clone(), options()).unwrap();
    let batch = volume.begin().unwrap();
    batch.write(PageKind::Segment, b"the last one").unwrap();
    batch.commit().unwrap();
    let batch = volume.begin().unwrap();
    batch.write(PageKind::Segment, &[9; 3_000]).unwrap();
    let last_but_one = read_all(&volume).unwrap();
    batch.commit().unwrap();
    let last = read_all(&volume).unwrap();
    std::mem::forget(volume);
    assert!(before != last_but_one && last_but_one != last);
    let mut bytes = disk.to_bytes();
    let mut tally = Tally::default();
    for bit in (0..bytes.len() * 8).step_by(step) {
        flip(
            &mut bytes,
            bit,
            &[last.clone(), last_but_one.clone()],
            &mut tally,
        );
    }
    println!("file with a log, {} bytes: {tally:?}", bytes.len());
    assert!(
        tally.noticed > 0 && tally.refused > 0 && tally.unchanged > 0,
        "{tally:?}"
    );
}

#[test]
fn a_sample_of_all_bits() {
    flip_bits(67);
    flip_bits_of_a_log(67);
}

#[test]
#[ignore = "all bits: about five minutes"]
fn every_single_bit() {
    flip_bits(1);
    flip_bits_of_a_log(1);
}
