//! Readers that do anything at any time, on a disk that fails now and then.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quire_format::volume::PageId;

use super::{MIB, Random, is_read_thread, open, payload, wait_for_threads, written};
use crate::disk::{Disk, MemDisk};
use crate::volume::{ReadAhead, Volume};

/// Every seventh read by the threads of the volume fails.
struct FlakyDisk {
    below: MemDisk,
    reads: AtomicU64,
}

impl Disk for FlakyDisk {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        if is_read_thread() && self.reads.fetch_add(1, Ordering::SeqCst) % 7 == 6 {
            return Err(io::Error::other("the disk of this test fails"));
        }
        self.below.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.below.write_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.below.sync()
    }

    fn len(&self) -> io::Result<u64> {
        self.below.len()
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.below.set_len(bytes)
    }

    fn name(&self) -> String {
        "(flaky)".to_owned()
    }
}

/// Random calls of one reader of a scan.
fn random_reader(
    volume: &Volume,
    scan: &ReadAhead,
    expected: &HashMap<PageId, Vec<u8>>,
    pages: &[PageId],
    seed: u64,
) {
    let mut random = Random::new(seed);
    for _ in 0..400 {
        let first = random.below(pages.len());
        let some = &pages[first..(first + 1 + random.below(40)).min(pages.len())];
        match random.below(6) {
            0 => {
                let requested = match random.below(2) {
                    0 => scan.request(some),
                    _ => scan.request_once(some),
                };
                assert!(requested.pages <= some.len());
            }
            1 => scan.release(some),
            _ => {
                let page = some[random.below(some.len())];
                let read = match random.below(2) {
                    0 => scan.read(page).unwrap(),
                    _ => scan.read_once(page).unwrap(),
                };
                assert!(read.payload[..] == expected[&page][..], "seed {seed}");
            }
        }
        let held_bytes = volume.inner.read_ahead.held_bytes();
        assert!(held_bytes <= scan.held_bytes_max(), "seed {seed}");
        assert!(scan.held_bytes() <= scan.held_bytes_max(), "seed {seed}");
    }
}

#[test]
fn random_readers_of_several_scans_get_what_was_written() {
    let mut random = Random::new(1);
    let lengths: Vec<usize> = (0..200).map(|_| random.below(60_000)).collect();
    let (bytes, pages) = written(&lengths);
    let expected: HashMap<PageId, Vec<u8>> = pages
        .iter()
        .enumerate()
        .map(|(number, page)| (*page, payload(number, 0, lengths[number])))
        .collect();
    for seed in 0..4 {
        let disk = FlakyDisk {
            below: MemDisk::from_bytes(bytes.clone()),
            reads: AtomicU64::new(0),
        };
        let volume = open(Arc::new(disk), 2 * MIB);
        let scans = [volume.pin().read_ahead(), volume.pin().read_ahead()];
        std::thread::scope(|scope| {
            for reader in 0..6 {
                let (volume, expected, pages) = (&volume, &expected, &pages);
                let scan = &scans[reader % 2];
                let seed = seed * 100 + reader as u64;
                scope.spawn(move || random_reader(volume, scan, expected, pages, seed));
            }
        });
        for scan in &scans {
            scan.release(&pages);
        }
        drop(scans);
        wait_for_threads(&volume);
        assert_eq!(volume.inner.read_ahead.held_bytes(), 0, "seed {seed}");
    }
}
