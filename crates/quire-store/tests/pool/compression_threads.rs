//! The number of compression threads changes while pages do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use quire_store::MemDisk;
use quire_store::pool::{PageFrame, Pool, PoolOptions};

use crate::support::{
    Entries, PAGE_BYTES, Random, entries, flush, lz4, page_of, put, stored_entries, volume,
};

const WRITERS: u64 = 4;
const PAGES_PER_WRITER: usize = 6;
const CHANGES: u64 = 3_000;

fn change(frame: &Arc<PageFrame>, model: &mut Entries, random: &mut Random, lsn: u64) {
    let key = format!("key {:02}", random.below(20)).into_bytes();
    let value: Vec<u8> = (0..20).map(|_| random.below(256) as u8).collect();
    frame.apply(&put(&key, &value), lsn).unwrap();
    model.insert(key, value);
}

/// Changes pages of its own, and returns them with what they should be.
fn write(pool: &Pool, seed: u64) -> Vec<(Arc<PageFrame>, Entries)> {
    let mut random = Random(seed);
    let page = |_| {
        let frame = pool.add(page_of(&Entries::new()), lz4()).unwrap();
        (frame, Entries::new())
    };
    let mut pages: Vec<_> = (0..PAGES_PER_WRITER).map(page).collect();
    for lsn in 1..=CHANGES {
        let (frame, model) = &mut pages[random.below(PAGES_PER_WRITER)];
        change(frame, model, &mut random, lsn);
    }
    pages
}

/// A page that was lost on the way to a thread would count as being compressed for ever, and never be compressed again.
fn is_compressed_again(pool: &Pool, frame: &Arc<PageFrame>, model: &mut Entries) {
    let mut random = Random(99);
    let before = pool.stats().foreground_compressions;
    let op_bytes_min = 20;
    let log_bytes_max = PAGE_BYTES / 8;
    for lsn in 0..=(log_bytes_max / op_bytes_min) as u64 {
        change(frame, model, &mut random, CHANGES + lsn);
    }
    assert!(pool.stats().foreground_compressions > before);
}

#[test]
fn threads_come_and_go_while_pages_are_changed_and_none_is_lost() {
    let volume = volume(Arc::new(MemDisk::new()));
    let pool = Pool::new(&volume, PoolOptions::default());
    let is_over = AtomicBool::new(false);
    let mut pages = std::thread::scope(|scope| {
        let (pool, volume, is_over) = (&pool, &volume, &is_over);
        let changer = scope.spawn(move || {
            for count in [3, 1, 0, 2, 0, 4].into_iter().cycle() {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                assert_eq!(pool.set_compression_threads(count), count);
                std::thread::sleep(Duration::from_micros(300));
            }
        });
        let flusher = scope.spawn(move || {
            while !is_over.load(Ordering::Relaxed) {
                flush(volume, pool);
            }
        });
        let writers = (0..WRITERS).map(|seed| scope.spawn(move || write(pool, seed)));
        let writers: Vec<_> = writers.collect();
        let pages = writers.into_iter().map(|writer| writer.join());
        let pages: Vec<_> = pages.collect();
        is_over.store(true, Ordering::Relaxed);
        changer.join().unwrap();
        flusher.join().unwrap();
        pages
            .into_iter()
            .flat_map(Result::unwrap)
            .collect::<Vec<_>>()
    });
    assert_eq!(pool.set_compression_threads(0), 0);
    assert_eq!(pool.compression_threads(), 0);
    let background = pool.stats().background_compressions;
    flush(&volume, &pool);
    for (frame, model) in &mut pages {
        assert_eq!(entries(frame), *model);
        is_compressed_again(&pool, frame, model);
    }
    assert_eq!(pool.stats().background_compressions, background);
    flush(&volume, &pool);
    for (frame, model) in &pages {
        assert_eq!(stored_entries(&volume.pin(), frame.page()), *model);
    }
}

#[test]
fn threads_that_are_started_later_compress() {
    let volume = volume(Arc::new(MemDisk::new()));
    let options = PoolOptions {
        compression_threads: 0,
        ..PoolOptions::default()
    };
    let pool = Pool::new(&volume, options);
    write(&pool, 5);
    flush(&volume, &pool);
    assert_eq!(pool.stats().background_compressions, 0);
    assert_eq!(pool.set_compression_threads(2), 2);
    let patience = Instant::now() + Duration::from_secs(600);
    let mut seed = 6;
    while pool.stats().background_compressions == 0 {
        assert!(Instant::now() < patience, "no thread compresses");
        let pages = write(&pool, seed);
        flush(&volume, &pool);
        // Images that operations can be appended to.
        for (frame, mut model) in pages {
            let mut random = Random(seed);
            (0..40).for_each(|lsn| change(&frame, &mut model, &mut random, CHANGES + lsn));
        }
        seed += 1;
    }
}
