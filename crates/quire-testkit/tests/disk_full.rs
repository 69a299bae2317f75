//! On a full disk nothing is lost, what was begun leaves nothing, and dropping things still works.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::Arc;

use quire_store::{
    BatchWriteError, CATALOG_PAGE, CommitError, Disk, PageId, PageKind, SimDisk, Volume,
    VolumeOptions,
};
use quire_testkit::random::TestRandom;
use quire_testkit::store::read_all;

type Pages = BTreeMap<u64, Arc<Vec<u8>>>;

fn is_full(error: &BatchWriteError) -> bool {
    matches!(
        error,
        BatchWriteError::Full { .. } | BatchWriteError::BatchFailed
    )
}

/// Writes one table: some segments, and the catalog that names them.
fn load(volume: &Volume, pages: &Pages, random: &mut TestRandom) -> Result<Pages, CommitError> {
    let batch = volume.begin()?;
    let mut pages = pages.clone();
    for _ in 0..5 {
        let length = random.below(30_000) as usize;
        let payload = random.bytes(length);
        let page = batch.write(PageKind::Segment, &payload)?;
        pages.insert(page.get(), Arc::new(payload));
    }
    let catalog = random.bytes(pages.len() * 8);
    batch.replace(CATALOG_PAGE, PageKind::Catalog, &catalog)?;
    pages.insert(CATALOG_PAGE.get(), Arc::new(catalog));
    batch.commit()?;
    Ok(pages)
}

/// Drops the table with the lowest pages.
fn drop_some(volume: &Volume, pages: &Pages) -> Result<Pages, CommitError> {
    let batch = volume.begin()?;
    let mut pages = pages.clone();
    let victims: Vec<u64> = pages
        .keys()
        .copied()
        .filter(|page| *page >= 16)
        .take(5)
        .collect();
    for page in victims {
        batch.free(PageId::new(page).unwrap())?;
        pages.remove(&page);
    }
    let catalog = vec![7; pages.len()];
    batch.replace(CATALOG_PAGE, PageKind::Catalog, &catalog)?;
    pages.insert(CATALOG_PAGE.get(), Arc::new(catalog));
    batch.commit()?;
    Ok(pages)
}

fn verify(volume: &Volume, pages: &Pages) {
    assert!(read_all(&volume.pin()).unwrap() == *pages);
    let findings = volume.check().findings;
    assert!(findings.is_empty(), "{findings:?}");
}

/// Fills a disk of `quota` bytes, drops half of it, fills it again, and crashes.
fn fill_and_drop(quota_bytes: u64) {
    let disk = Arc::new(SimDisk::new(Vec::new()));
    let run_bytes = [8 << 10, 64 << 10, 1 << 20][(quota_bytes / 4096 % 3) as usize];
    // The file is not longer than the quota when that begins to count.
    let growth_bytes = quota_bytes / 4096 % 2 * (8 << 10);
    let options = VolumeOptions {
        run_bytes,
        growth_bytes,
        ..VolumeOptions::default()
    };
    let volume = Volume::open_or_create(disk.clone(), options.clone()).unwrap();
    let mut random = TestRandom::new(quota_bytes);
    let mut pages = load(&volume, &Pages::new(), &mut random).unwrap();
    disk.set_quota(Some(quota_bytes));
    for round in 0..3 {
        let loaded = fill(&volume, &mut pages, &mut random);
        assert!(
            loaded > 0 || round > 0 || quota_bytes < 400 << 10,
            "quota {quota_bytes}"
        );
        verify(&volume, &pages);
        let table_count = pages.len() / 5;
        for _ in 0..table_count.div_ceil(2) {
            let dropped = drop_some(&volume, &pages);
            pages = dropped.unwrap_or_else(|error| panic!("quota {quota_bytes}: {error}"));
        }
        verify(&volume, &pages);
        volume.clean().unwrap();
        verify(&volume, &pages);
    }
    assert!(
        disk.len().unwrap() <= quota_bytes.max(8192),
        "quota {quota_bytes}"
    );
    volume.close().unwrap();
    let volume = Volume::open_or_create(disk, options).unwrap();
    verify(&volume, &pages);
}

/// Loads until the disk is full. Returns the number of loads.
fn fill(volume: &Volume, pages: &mut Pages, random: &mut TestRandom) -> u32 {
    for count in 0..200 {
        match load(volume, pages, random) {
            Ok(loaded) => *pages = loaded,
            Err(CommitError::Write(error)) if is_full(&error) => return count,
            Err(error) => panic!("{error}"),
        }
    }
    panic!("the disk never became full");
}

#[test]
fn a_full_disk_is_survived_at_every_size() {
    for blocks in (60..300).step_by(3) {
        fill_and_drop(blocks * 4096 + blocks % 4096);
    }
}

#[test]
fn a_full_disk_at_any_write_leaves_nothing_of_the_batch() {
    for spare_bytes in (0..200_000).step_by(4_096 - 512) {
        let disk = Arc::new(SimDisk::new(Vec::new()));
        let options = VolumeOptions {
            run_bytes: 16 << 10,
            ..VolumeOptions::default()
        };
        let volume = Volume::open_or_create(disk.clone(), options).unwrap();
        let mut random = TestRandom::new(spare_bytes);
        let mut pages = load(&volume, &Pages::new(), &mut random).unwrap();
        let length = disk.len().unwrap();
        disk.set_quota(Some(length + spare_bytes));
        if let Ok(loaded) = load(&volume, &pages, &mut random) {
            pages = loaded;
        }
        verify(&volume, &pages);
        disk.set_quota(None);
        pages = load(&volume, &pages, &mut random).unwrap();
        verify(&volume, &pages);
    }
}
