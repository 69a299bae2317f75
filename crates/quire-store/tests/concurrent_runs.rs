//! Threads that fill one batch: no run may overwrite a part of another.
#![allow(clippy::unwrap_used)]

use std::io;
use std::sync::Arc;
use std::time::Duration;

use quire_store::{CATALOG_PAGE, Disk, MemDisk, PageId, PageKind, Volume, VolumeOptions};

/// A disk on which the last block of a long write arrives late.
struct LateEnds(MemDisk);

const BLOCK_BYTES: usize = 4096;

impl Disk for LateEnds {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.read_at(buffer, offset)
    }

    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let early = bytes.len().saturating_sub(BLOCK_BYTES);
        if early > 0 {
            self.0.write_at(&bytes[..early], offset)?;
            std::thread::sleep(Duration::from_millis(2));
        }
        self.0.write_at(&bytes[early..], offset + early as u64)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync()
    }

    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn set_len(&self, bytes: u64) -> io::Result<()> {
        self.0.set_len(bytes)
    }

    fn name(&self) -> String {
        "(late ends)".to_owned()
    }
}

fn payload(thread: u8, index: usize) -> Vec<u8> {
    let length = 1 + (index * 7_919 + usize::from(thread) * 104_729) % 700_000;
    (0..length)
        .map(|position| (position / 3) as u8 ^ thread ^ index as u8)
        .collect()
}

#[test]
fn pages_written_by_several_threads_are_what_was_written() {
    let disk = Arc::new(LateEnds(MemDisk::new()));
    let volume = Volume::create(disk, VolumeOptions::default()).unwrap();
    for _ in 0..2 {
        let batch = volume.begin().unwrap();
        let pages: Vec<(PageId, u8, usize)> = std::thread::scope(|scope| {
            let batch = &batch;
            let write = |thread: u8| {
                scope.spawn(move || {
                    let write = |index| {
                        let page = batch.write(PageKind::Segment, &payload(thread, index));
                        (page.unwrap(), thread, index)
                    };
                    (0..40).map(write).collect::<Vec<_>>()
                })
            };
            let threads: Vec<_> = (0..4).map(write).collect();
            threads
                .into_iter()
                .flat_map(|thread| thread.join().unwrap())
                .collect()
        });
        batch
            .replace(CATALOG_PAGE, PageKind::Catalog, &[1; 500])
            .unwrap();
        batch.commit().unwrap();
        for (page, thread, index) in pages {
            assert!(
                *volume.read(page).unwrap() == *payload(thread, index),
                "page {page}"
            );
        }
    }
    assert!(volume.check().findings.is_empty());
}
