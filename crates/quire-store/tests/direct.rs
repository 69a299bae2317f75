//! Direct I/O against the same file as everybody else sees it.
#![allow(clippy::unwrap_used)]

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quire_store::{
    DirectFileDisk, Disk, FileDisk, OpenMode, PageKind, Volume, VolumeOpenError, VolumeOptions,
};

/// A path below the build folder, as temporary files may be in memory; removed in the end.
struct BuildScratch(PathBuf);

impl BuildScratch {
    fn new(name: &str) -> Self {
        let name = format!("direct-{}-{name}", std::process::id());
        let scratch = Self(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name));
        let _ = std::fs::remove_file(&scratch.0);
        scratch
    }

    /// Nothing when the file system has no direct I/O: then the error says so.
    fn disk(&self) -> Option<DirectFileDisk> {
        match DirectFileDisk::open_or_create(&self.0) {
            Err(VolumeOpenError::DirectRefused { file, detail }) => {
                println!("skipped: {file} is where direct I/O is not possible: {detail}");
                None
            }
            opened => Some(opened.unwrap()),
        }
    }
}

impl Drop for BuildScratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Pseudorandom numbers: xorshift64* (Vigna 2016).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit
    }

    /// Often a multiple of a block or of a sector, and often close to one.
    fn offset(&mut self, limit: usize) -> usize {
        let offset = self.below(limit);
        match self.below(4) {
            0 => offset,
            1 => offset - offset % 4096,
            2 => offset - offset % 512,
            _ => (offset - offset % 4096 + self.below(3)).min(limit - 1),
        }
    }
}

const BYTES_MAX: usize = 300_000;

/// The same operation on the file and on one that is read and written ordinarily.
fn step(direct: &dyn Disk, ordinary: &dyn Disk, random: &mut Random, value: u8, seed: u64) {
    let (offset, bytes) = (random.offset(BYTES_MAX), random.offset(80_000));
    match random.below(10) {
        0 => {
            let length = random.offset(BYTES_MAX) as u64;
            direct.set_len(length).unwrap();
            ordinary.set_len(length).unwrap();
        }
        1 => direct.sync().unwrap(),
        2..6 => {
            // The memory is aligned now and then only.
            let memory = vec![value; bytes + 4096];
            let start = memory.as_ptr().align_offset(4096) + random.below(2);
            let written = &memory[start.min(4096)..][..bytes];
            direct.write_at(written, offset as u64).unwrap();
            ordinary.write_at(written, offset as u64).unwrap();
        }
        _ => {
            let (mut actual, mut expected) = (vec![1; bytes + 4096], vec![2; bytes]);
            let start = (actual.as_ptr().align_offset(4096) + random.below(2)).min(4096);
            let actual = &mut actual[start..][..bytes];
            let outcome = direct.read_at(actual, offset as u64);
            match ordinary.read_at(&mut expected, offset as u64) {
                Ok(()) => {
                    outcome.unwrap();
                    assert!(*actual == expected[..], "seed {seed}");
                }
                Err(error) => assert_eq!(outcome.unwrap_err().kind(), error.kind()),
            }
        }
    }
    assert_eq!(direct.len().unwrap(), ordinary.len().unwrap());
}

#[test]
fn it_reads_and_writes_what_an_ordinary_file_does() {
    for seed in 1..=8 {
        let (path, other) = (BuildScratch::new("random"), BuildScratch::new("oracle"));
        let Some(direct) = path.disk() else { return };
        let ordinary = FileDisk::open_or_create(&other.0).unwrap();
        let mut random = Random(seed);
        for value in 0..200 {
            step(&direct, &ordinary, &mut random, value, seed);
        }
        direct.sync().unwrap();
        drop(direct);
        assert!(std::fs::read(&path.0).unwrap() == std::fs::read(&other.0).unwrap());
    }
}

#[test]
fn writes_to_parts_of_one_block_do_not_undo_each_other() {
    const PART_BYTES: usize = 700;
    let path = BuildScratch::new("parts");
    let Some(disk) = path.disk() else { return };
    std::thread::scope(|scope| {
        for thread in 0..6 {
            let disk = &disk;
            scope.spawn(move || {
                for round in 0..60 {
                    let number = round * 6 + thread;
                    let bytes = [number as u8; PART_BYTES];
                    disk.write_at(&bytes, (number * PART_BYTES) as u64).unwrap();
                }
            });
        }
    });
    let mut bytes = vec![0; 360 * PART_BYTES];
    disk.read_at(&mut bytes, 0).unwrap();
    let expected = (0..360).flat_map(|number| [number as u8; PART_BYTES]);
    assert!(bytes.iter().copied().eq(expected));
}

#[test]
fn reads_longer_than_a_piece_are_whole() {
    let path = BuildScratch::new("long");
    let Some(disk) = path.disk() else { return };
    let bytes: Vec<u8> = (0..5_000_001_u32).map(|at| (at / 3) as u8).collect();
    disk.write_at(&bytes, 1).unwrap();
    let mut read = vec![9; bytes.len()];
    disk.read_at(&mut read, 1).unwrap();
    assert!(read == bytes);
    let past_end = disk.read_at(&mut read, 2).unwrap_err();
    assert_eq!(past_end.kind(), ErrorKind::UnexpectedEof);
    assert!(disk.write_at(&[1], u64::MAX).is_err());
}

#[test]
fn a_volume_works_on_it_and_its_file_is_an_ordinary_one() {
    let path = BuildScratch::new("volume");
    let Some(disk) = path.disk() else { return };
    let volume = Volume::open_or_create(Arc::new(disk), VolumeOptions::default()).unwrap();
    let payloads: Vec<Vec<u8>> = (0..50).map(|number| vec![number; 70_001]).collect();
    let batch = volume.begin().unwrap();
    let pages = payloads
        .iter()
        .map(|payload| batch.write(PageKind::Segment, payload).unwrap());
    let pages: Vec<_> = pages.collect();
    batch.commit().unwrap();
    volume.close().unwrap();
    let read_all = |disk: Arc<dyn Disk>| {
        let volume = Volume::open(disk, OpenMode::ReadOnly).unwrap();
        for (page, payload) in pages.iter().zip(&payloads) {
            assert!(volume.read(*page).unwrap()[..] == payload[..]);
        }
        let scan = volume.pin().read_ahead();
        scan.request(&pages);
        for (page, payload) in pages.iter().zip(&payloads) {
            assert!(scan.read(*page).unwrap().payload[..] == payload[..]);
        }
    };
    read_all(Arc::new(
        FileDisk::open(&path.0, OpenMode::ReadOnly).unwrap(),
    ));
    read_all(Arc::new(
        DirectFileDisk::open(&path.0, OpenMode::ReadOnly).unwrap(),
    ));
}

#[test]
fn it_is_locked_as_an_ordinary_file_is() {
    let path = BuildScratch::new("lock");
    let Some(disk) = path.disk() else { return };
    assert!(matches!(
        FileDisk::open_or_create(&path.0),
        Err(VolumeOpenError::Locked { .. })
    ));
    drop(disk);
    let reader = DirectFileDisk::open(&path.0, OpenMode::ReadOnly).unwrap();
    assert!(reader.write_at(&[0; 4096], 0).is_err());
    assert!(FileDisk::open(&path.0, OpenMode::ReadOnly).is_ok());
}

/// The files of `/proc` are regular ones, and have no direct I/O.
#[cfg(target_os = "linux")]
#[test]
fn a_file_system_that_refuses_is_an_error_that_says_what_to_do() {
    let error = DirectFileDisk::open("/proc/version", OpenMode::ReadOnly).unwrap_err();
    assert!(matches!(error, VolumeOpenError::DirectRefused { .. }));
    let message = error.to_string();
    assert!(message.contains("/proc/version") && message.contains("open it without direct I/O"));
}
