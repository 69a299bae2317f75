//! Telling a disk which space is free.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::{Arc, Mutex};

use quire_store::disk::{CrashImages, DiskOperation, Fault, FaultKind};
use quire_store::{
    Disk, FileDisk, MemDisk, OpenMode, PageId, PageKind, SimDisk, Volume, VolumeOptions,
};

fn options(discards: bool) -> VolumeOptions {
    VolumeOptions {
        cache_bytes: 1 << 20,
        checkpoint_log_bytes: 64 << 10,
        growth_bytes: 64 << 10,
        run_bytes: 32 << 10,
        clean_dead_percent: 100,
        salt_seed: Some(5),
        discards,
    }
}

/// Bytes that do not compress.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state
            .wrapping_mul(0x5851_f42d_4c95_7f2d)
            .wrapping_add(seed | 1);
        (state >> 56) as u8
    };
    (0..length).map(|_| next()).collect()
}

/// Pages that come and go; returns those that are left, with what they hold.
fn churn(volume: &Volume, rounds: u64) -> Vec<(PageId, Vec<u8>)> {
    let mut pages: Vec<(PageId, Vec<u8>)> = Vec::new();
    for round in 0..rounds {
        let batch = volume.begin().unwrap();
        for number in 0..6 {
            let payload = noise(round * 31 + number, 9_000);
            let page = batch.write(PageKind::Segment, &payload).unwrap();
            pages.push((page, payload));
        }
        if round % 4 == 3 {
            let kept = pages.len() / 6;
            for (page, _) in pages.drain(kept..) {
                batch.free(page).unwrap();
            }
        }
        batch.commit().unwrap();
    }
    pages
}

fn assert_has(volume: &Volume, pages: &[(PageId, Vec<u8>)]) {
    assert_eq!(volume.pin().pages().len(), pages.len());
    for (page, payload) in pages {
        assert_eq!(&*volume.read(*page).unwrap(), payload.as_slice());
    }
    assert!(volume.check().findings.is_empty());
}

#[test]
fn a_file_gives_back_the_blocks_of_what_is_freed() {
    let directory = std::env::temp_dir().join(format!("quire-discard-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let blocks_of = |discards: bool| {
        let path = directory.join(format!("{discards}.quire"));
        let disk = Arc::new(FileDisk::open_or_create(&path).unwrap());
        let volume = Volume::create(disk, options(discards)).unwrap();
        // What is freed lies before what stays.
        let batch = volume.begin().unwrap();
        let payload = noise(1, 20_000);
        let gone: Vec<PageId> = (0..100)
            .map(|_| batch.write(PageKind::Segment, &payload).unwrap())
            .collect();
        batch.commit().unwrap();
        let batch = volume.begin().unwrap();
        let stays = batch.write(PageKind::Segment, &payload).unwrap();
        batch.commit().unwrap();
        let batch = volume.begin().unwrap();
        for page in gone {
            batch.free(page).unwrap();
        }
        batch.commit().unwrap();
        volume.checkpoint().unwrap();
        assert_has(&volume, &[(stays, payload)]);
        let metadata = std::fs::metadata(&path).unwrap();
        (metadata.len(), metadata.blocks() * 512)
    };
    let (kept, given_back) = (blocks_of(false), blocks_of(true));
    std::fs::remove_dir_all(&directory).unwrap();
    assert_eq!(kept.0, given_back.0, "the length stays");
    assert!(
        given_back.1 + (1 << 20) < kept.1,
        "{given_back:?} bytes with discards, {kept:?} without"
    );
}

#[test]
fn blocks_that_are_used_next_are_kept_as_long_as_the_volume_is_open() {
    let path = std::env::temp_dir().join(format!("quire-kept-{}", std::process::id()));
    let disk = Arc::new(FileDisk::open_or_create(&path).unwrap());
    let options = VolumeOptions {
        checkpoint_log_bytes: 1 << 20,
        ..options(true)
    };
    let volume = Volume::create(disk, options).unwrap();
    let batch = volume.begin().unwrap();
    let payload = noise(1, 20_000);
    let pages: Vec<PageId> = (0..200)
        .map(|_| batch.write(PageKind::Segment, &payload).unwrap())
        .collect();
    batch.commit().unwrap();
    let batch = volume.begin().unwrap();
    for page in pages {
        batch.free(page).unwrap();
    }
    batch.commit().unwrap();
    volume.checkpoint().unwrap();
    let blocks = || std::fs::metadata(&path).unwrap().blocks() * 512;
    let open = blocks();
    // Of four megabytes, one that the next log fills, the reserve and what the end of the file is kept for.
    assert!(((1 << 20)..(5 << 19)).contains(&open), "{open} bytes");
    drop(volume);
    let closed = blocks();
    std::fs::remove_file(&path).unwrap();
    assert!(closed < 1 << 19, "{closed} bytes");
}

#[test]
fn a_disk_is_told_only_if_that_is_asked_for() {
    for discards in [false, true] {
        let disk = Arc::new(SimDisk::recording(Vec::new()));
        let volume = Volume::create(disk.clone(), options(discards)).unwrap();
        let pages = churn(&volume, 20);
        volume.checkpoint().unwrap();
        assert_has(&volume, &pages);
        let journal = disk.journal();
        let mut operations = journal.iter();
        let is_told = operations.any(|one| matches!(one, DiskOperation::Discard { .. }));
        assert_eq!(is_told, discards);
        drop(volume);
        let volume = Volume::open(disk, OpenMode::ReadWrite).unwrap();
        assert_has(&volume, &pages);
    }
}

#[test]
fn what_is_discarded_was_free_in_every_state_that_a_crash_can_leave() {
    for seed in 1..=3 {
        let disk = Arc::new(SimDisk::recording(Vec::new()));
        let volume = Volume::create(disk.clone(), options(true)).unwrap();
        let pages = churn(&volume, 24);
        volume.checkpoint().unwrap();
        let journal = disk.journal();
        let mut crashes = CrashImages::new(Vec::new(), &journal);
        while crashes.advance() {
            let after = journal.get(crashes.position() - 1);
            if !matches!(
                after,
                Some(DiskOperation::Discard { .. } | DiskOperation::Write { .. })
            ) {
                continue;
            }
            let image = crashes.image(seed * 1_000_003 + crashes.position() as u64);
            let disk = Arc::new(MemDisk::from_bytes(image));
            let opened = Volume::open_or_create(disk, options(true));
            let volume = opened.unwrap_or_else(|error| panic!("seed {seed}, {after:?}: {error}"));
            // A superblock that the crash has torn is repaired by the next write.
            let batch = volume.begin().unwrap();
            batch.write(PageKind::Segment, b"more").unwrap();
            batch.commit().unwrap();
            volume.checkpoint().unwrap();
            let findings = volume.check().findings;
            assert!(findings.is_empty(), "seed {seed}: {findings:?}");
        }
        assert_has(&volume, &pages);
    }
}

#[test]
fn a_discard_that_fails_costs_nothing_but_space() {
    let disk = Arc::new(SimDisk::new(Vec::new()));
    disk.add_fault(Fault {
        kind: FaultKind::Discard,
        nth: 0,
        is_persistent: true,
        error: std::io::ErrorKind::Other,
        effect: 100,
    });
    let volume = Volume::create(disk.clone(), options(true)).unwrap();
    let pages = churn(&volume, 20);
    assert!(disk.call_count(FaultKind::Discard) > 0);
    assert_has(&volume, &pages);
    drop(volume);
    let volume = Volume::open(disk, OpenMode::ReadWrite).unwrap();
    assert_has(&volume, &pages);
}

#[test]
fn a_range_that_is_discarded_reads_as_zeros_and_the_length_stays() {
    let path = std::env::temp_dir().join(format!("quire-discarded-{}", std::process::id()));
    let file = FileDisk::open_or_create(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let disks: [&dyn Disk; 3] = [&MemDisk::new(), &SimDisk::new(Vec::new()), &file];
    for disk in disks {
        disk.write_at(&[7; 20_000], 0).unwrap();
        disk.discard(4_096, 8_192).unwrap();
        disk.discard(16_384, u64::from(u32::MAX)).unwrap();
        disk.discard(1 << 40, 4_096).unwrap();
        disk.discard(0, 0).unwrap();
        assert_eq!(disk.len().unwrap(), 20_000);
        let mut bytes = vec![1; 20_000];
        disk.read_at(&mut bytes, 0).unwrap();
        let is_gone = |at: usize| (4_096..12_288).contains(&at) || at >= 16_384;
        let expected: Vec<u8> = (0..20_000)
            .map(|at| if is_gone(at) { 0 } else { 7 })
            .collect();
        assert!(bytes == expected, "{}", disk.name());
    }
}

const BLOCK_BYTES: u64 = 4096;

/// A disk of so many blocks, which a block takes when it is written and gives back when it is discarded.
struct ThinDisk {
    bytes: MemDisk,
    taken: Mutex<BTreeSet<u64>>,
    limit: Mutex<usize>,
}

impl ThinDisk {
    fn new() -> Self {
        Self {
            bytes: MemDisk::new(),
            taken: Mutex::default(),
            limit: Mutex::new(usize::MAX),
        }
    }

    /// Others take all that is free but for so many blocks.
    fn leave(&self, blocks: usize) {
        *self.limit.lock().unwrap() = self.taken.lock().unwrap().len() + blocks;
    }
}

impl Disk for ThinDisk {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.bytes.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut taken = self.taken.lock().unwrap();
        let mut at = offset;
        for piece in bytes.chunks(BLOCK_BYTES as usize) {
            let block = at / BLOCK_BYTES;
            if !taken.contains(&block) && taken.len() >= *self.limit.lock().unwrap() {
                return Err(io::ErrorKind::StorageFull.into());
            }
            taken.insert(block);
            self.bytes.write_at(piece, at)?;
            at += piece.len() as u64;
        }
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        self.bytes.sync()
    }

    fn len(&self) -> io::Result<u64> {
        self.bytes.len()
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        let mut taken = self.taken.lock().unwrap();
        taken.split_off(&bytes.div_ceil(BLOCK_BYTES));
        self.bytes.set_len(bytes)
    }

    fn discard(&self, offset: u64, bytes: u64) -> io::Result<()> {
        let mut taken = self.taken.lock().unwrap();
        let blocks = offset / BLOCK_BYTES..(offset + bytes) / BLOCK_BYTES;
        taken.retain(|block| !blocks.contains(block));
        self.bytes.discard(offset, bytes)
    }

    fn name(&self) -> String {
        "(thin)".to_owned()
    }
}

#[test]
fn a_disk_that_is_full_by_the_time_a_hole_is_written_costs_a_batch_and_nothing_else() {
    for left in 0..24 {
        let disk = Arc::new(ThinDisk::new());
        let volume = Volume::create(disk.clone(), options(true)).unwrap();
        let mut pages = churn(&volume, 24);
        volume.checkpoint().unwrap();
        disk.leave(left);
        // Longer than a run, so that runs are placed before it is known that the disk is full.
        let batch = volume.begin().unwrap();
        let mut written =
            (0..40).map(|number| batch.write(PageKind::Segment, &noise(number, 9_000)));
        assert!(written.any(|page| page.is_err()), "{left} blocks left");
        drop(batch);
        assert!(volume.check_writable().is_ok(), "{left} blocks left");
        for (page, payload) in &pages {
            assert_eq!(&*volume.read(*page).unwrap(), payload.as_slice());
        }
        // Others have made room.
        disk.leave(10_000);
        let payload = noise(77, 9_000);
        let batch = volume.begin().unwrap();
        let page = batch.write(PageKind::Segment, &payload).unwrap();
        batch.commit().unwrap();
        pages.push((page, payload));
        assert_has(&volume, &pages);
        drop(volume);
        let volume = Volume::open(disk, OpenMode::ReadWrite).unwrap();
        assert_has(&volume, &pages);
    }
}
