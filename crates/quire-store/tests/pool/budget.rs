//! What stays in memory, what goes, and what is counted.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use quire_store::pool::GetError;
use quire_store::{MemDisk, PageKind};

use crate::support::{
    Random, empty_page, entries, flush, in_pools_of_twins, lz4, pool_of, put, random_pages,
    slow_reads, volume,
};

#[test]
fn every_access_is_counted_once() {
    let volume = volume(Arc::new(MemDisk::new()));
    let pages = random_pages(&volume, &pool_of(&volume, 400), 100);
    let pool = pool_of(&volume, 400);
    for page in &pages {
        pool.get(*page, lz4()).unwrap();
    }
    let first = pool.stats();
    assert_eq!(first.hot_hits, 0);
    assert_eq!(first.warm_hits + first.misses, 100);
    for page in &pages {
        pool.get(*page, lz4()).unwrap();
    }
    let second = pool.stats();
    assert_eq!((second.hot_hits, second.evictions), (100, 0));
    assert_eq!(second.warm_hits + second.misses, 100);
    assert!(second.decode_ns > 0);
    assert!((second.hot_hit_rate() - 0.5).abs() < 1e-9);
}

#[test]
fn what_was_let_go_is_warm_and_then_on_disk() {
    let volume = volume(Arc::new(MemDisk::new()));
    let pages = random_pages(&volume, &pool_of(&volume, 40), 500);
    let pool = pool_of(&volume, 40);
    for page in &pages {
        pool.get(*page, lz4()).unwrap();
    }
    let scanned = pool.stats();
    assert_eq!(scanned.hot_hits, 0);
    assert!(scanned.evictions >= 480, "{scanned:?}");
    assert!(scanned.hot_bytes <= scanned.hot_target_bytes, "{scanned:?}");
    assert!(scanned.hot_bytes + scanned.warm_bytes <= scanned.budget_bytes);
    // About 20 frames and many more images, which are short, are in memory.
    for page in pages.iter().rev().take(100) {
        pool.get(*page, lz4()).unwrap();
    }
    let again = pool.stats();
    assert!(again.warm_hits > scanned.warm_hits, "{again:?}");
    pool.get(pages[0], lz4()).unwrap();
    assert_eq!(
        pool.stats().misses,
        again.misses + 1,
        "the first one is long gone"
    );
}

#[test]
fn a_scan_does_not_displace_what_is_used() {
    let volume = volume(Arc::new(MemDisk::new()));
    let pages = random_pages(&volume, &pool_of(&volume, 80), 1_000);
    let pool = pool_of(&volume, 80);
    let (used, scanned) = pages.split_at(20);
    for _ in 0..4 {
        for page in used {
            pool.get(*page, lz4()).unwrap();
        }
    }
    for page in scanned {
        pool.get(*page, lz4()).unwrap();
    }
    let before = pool.stats();
    for page in used {
        pool.get(*page, lz4()).unwrap();
    }
    assert_eq!(pool.stats().hot_hits - before.hot_hits, 20, "{before:?}");
}

#[test]
fn a_page_that_comes_back_soon_stays() {
    let volume = volume(Arc::new(MemDisk::new()));
    let pages = random_pages(&volume, &pool_of(&volume, 80), 1_000);
    let pool = pool_of(&volume, 80);
    // Fills the pool; the first page goes, and comes back.
    for page in &pages[..50] {
        pool.get(*page, lz4()).unwrap();
    }
    pool.get(pages[0], lz4()).unwrap();
    for page in &pages[50..300] {
        pool.get(*page, lz4()).unwrap();
    }
    let before = pool.stats().hot_hits;
    pool.get(pages[0], lz4()).unwrap();
    assert_eq!(pool.stats().hot_hits, before + 1);
}

#[test]
fn a_frame_that_is_held_stays() {
    let volume = volume(Arc::new(MemDisk::new()));
    let pages = random_pages(&volume, &pool_of(&volume, 20), 200);
    let pool = pool_of(&volume, 20);
    let held = pool.get(pages[0], lz4()).unwrap();
    for page in &pages {
        pool.get(*page, lz4()).unwrap();
    }
    assert!(Arc::ptr_eq(&held, &pool.get(pages[0], lz4()).unwrap()));
}

#[test]
fn threads_that_miss_the_same_page_load_it_once() {
    let volume = volume(Arc::new(MemDisk::new()));
    let pages = random_pages(&volume, &pool_of(&volume, 400), 50);
    let pool = pool_of(&volume, 400);
    let barrier = Barrier::new(8);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                barrier.wait();
                for page in &pages {
                    pool.get(*page, lz4()).unwrap();
                }
            });
        }
    });
    let stats = pool.stats();
    assert_eq!(stats.warm_hits + stats.misses, 50);
    assert_eq!(stats.hot_hits, 350);
}

#[test]
fn a_page_that_is_none_is_an_error_every_time() {
    let volume = volume(Arc::new(MemDisk::new()));
    let batch = volume.begin().unwrap();
    let garbage = batch
        .write(PageKind::Row, b"no image of a row page at all")
        .unwrap();
    batch.commit().unwrap();
    let unused = volume.allocate_page().unwrap();
    let pool = pool_of(&volume, 10);
    for _ in 0..2 {
        let result = pool.get(garbage, lz4());
        assert!(matches!(result, Err(GetError::Image { page, .. }) if page == garbage));
        assert!(matches!(pool.get(unused, lz4()), Err(GetError::Read(_))));
    }
    let message = pool.get(garbage, lz4()).err().unwrap().to_string();
    assert!(message.contains(&garbage.to_string()), "{message}");
}

#[test]
fn what_is_changed_stays_beyond_the_budget_until_it_is_flushed() {
    let volume = volume(Arc::new(MemDisk::new()));
    let pool = pool_of(&volume, 40);
    assert!(!pool.needs_flush());
    let add = || pool.add(empty_page(), lz4()).unwrap().page();
    let mut pages: Vec<_> = (0..15).map(|_| add()).collect();
    assert!(pool.needs_flush(), "a quarter of 40 pages");
    assert!(pool.wait_for_room(Duration::ZERO));
    pages.extend((0..85).map(|_| add()));
    assert!(
        !pool.wait_for_room(Duration::ZERO),
        "more than half of 40 pages"
    );
    let full = pool.stats();
    assert_eq!(full.dirty_bytes, 100 * 4096);
    assert!(full.hot_bytes > full.budget_bytes && full.evictions == 0);
    for page in &pages {
        let frame = pool.get(*page, lz4()).unwrap();
        frame.apply(&put(b"key", b"value"), 1).unwrap();
    }
    flush(&volume, &pool);
    pool.get(pages[0], lz4()).unwrap();
    flush(&volume, &pool);
    let after = pool.stats();
    assert_eq!((after.dirty_bytes, pool.needs_flush()), (0, false));
    assert!(after.hot_bytes <= after.hot_target_bytes, "{after:?}");
    for page in &pages {
        assert_eq!(entries(&pool.get(*page, lz4()).unwrap()).len(), 1);
    }
}

#[test]
fn a_writer_that_waits_for_room_is_woken_by_a_flush() {
    let volume = volume(Arc::new(MemDisk::new()));
    let pool = pool_of(&volume, 8);
    for _ in 0..20 {
        pool.add(empty_page(), lz4()).unwrap();
    }
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| pool.wait_for_room(Duration::from_secs(600)));
        flush(&volume, &pool);
        assert!(waiting.join().unwrap());
    });
}

/// All pages are used alike, and six images take less room than one frame.
#[test]
fn bytes_go_to_images_when_reading_is_what_costs() {
    let is_slow = Arc::new(AtomicBool::new(false));
    let volume = volume(slow_reads(&is_slow));
    let pages = random_pages(&volume, &pool_of(&volume, 100), 1_500);
    let pool = pool_of(&volume, 200);
    is_slow.store(true, Ordering::Relaxed);
    let mut random = Random(1);
    for _ in 0..4_000 {
        pool.get(pages[random.below(pages.len())], lz4()).unwrap();
    }
    let stats = pool.stats();
    assert!(stats.read_ns > stats.decode_ns, "{stats:?}");
    assert!(stats.hot_target_bytes < stats.budget_bytes / 4, "{stats:?}");
}

#[test]
fn it_is_the_same_in_pools_of_twins() {
    in_pools_of_twins(&[
        every_access_is_counted_once,
        what_was_let_go_is_warm_and_then_on_disk,
        a_scan_does_not_displace_what_is_used,
        a_page_that_comes_back_soon_stays,
        a_frame_that_is_held_stays,
        threads_that_miss_the_same_page_load_it_once,
        a_page_that_is_none_is_an_error_every_time,
        what_is_changed_stays_beyond_the_budget_until_it_is_flushed,
        a_writer_that_waits_for_room_is_woken_by_a_flush,
    ]);
}
