//! Threads that read, change, split, free and flush pages in a pool that is far too small, beside ordered maps.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use quire_format::row_page::{ApplyError, PageOp};
use quire_store::pool::{ChangeError, FrameError, PageFrame, Pool, PoolOptions};
use quire_store::{MemDisk, OpenMode, PageId, Volume};

use crate::support::{
    Entries, PAGE_BYTES, Random, commit, empty_page, entries, entries_of, in_pools_of_twins, lz4,
    page_of, policy, put, stored_entries, volume,
};

const SLOTS: usize = 60;
const THREADS: u64 = 4;
const STEPS: usize = 1_500;

/// A place whose page changes and is replaced now and then.
struct Slot {
    page: PageId,
    entries: Entries,
}

struct World {
    volume: Volume,
    pool: Pool,
    slots: Vec<Mutex<Slot>>,
    lsn: AtomicU64,
    gets: AtomicU64,
}

impl World {
    fn new(disk: Arc<MemDisk>, compression_threads: usize) -> Self {
        let volume = volume(disk);
        let options = PoolOptions {
            policy: policy(),
            budget_bytes: 16 * PAGE_BYTES,
            compression_threads,
            ..PoolOptions::default()
        };
        let pool = Pool::new(&volume, options);
        let slot = |_| {
            Mutex::new(Slot {
                page: pool.add(empty_page(), lz4()).unwrap().page(),
                entries: Entries::new(),
            })
        };
        Self {
            slots: (0..SLOTS).map(slot).collect(),
            volume,
            pool,
            lsn: AtomicU64::new(0),
            gets: AtomicU64::new(0),
        }
    }

    /// The frame of the page that a slot has now; `None` when it is replaced at this moment.
    fn frame(&self, slot: usize) -> Option<Arc<PageFrame>> {
        let page = self.slots[slot].lock().unwrap().page;
        let frame = self.pool.get(page, lz4()).ok()?;
        self.gets.fetch_add(1, Ordering::Relaxed);
        Some(frame)
    }

    fn step(&self, random: &mut Random) {
        self.pool.wait_for_room(Duration::from_secs(600));
        let slot = random.below(SLOTS);
        let Some(frame) = self.frame(slot) else {
            return;
        };
        match random.below(40) {
            0..20 => self.compare(&frame, slot),
            20..38 => self.change(&frame, slot, random),
            38 => self.shorten(&frame, slot),
            _ => self.replace(&frame, slot),
        }
    }

    fn compare(&self, frame: &PageFrame, slot: usize) {
        let same = frame.read(|page| {
            let slot = self.slots[slot].lock().unwrap();
            slot.page != frame.page() || slot.entries == entries_of(page)
        });
        assert!(matches!(same, Ok(true) | Err(FrameError::Freed { .. })));
    }

    fn change(&self, frame: &Arc<PageFrame>, slot: usize, random: &mut Random) {
        let key = format!("key {}", random.below(60)).into_bytes();
        let value = vec![random.below(256) as u8; random.below(120)];
        let remove = random.below(4) == 0;
        let op = if remove {
            PageOp::Remove { key: &key }
        } else {
            put(&key, &value)
        };
        let _together = self.pool.begin_change();
        let changed = frame.write(|frame| {
            let mut slot = self.slots[slot].lock().unwrap();
            let lsn = self.lsn.fetch_add(1, Ordering::Relaxed);
            match frame.apply(&op, lsn) {
                Ok(_) if remove => drop(slot.entries.remove(&key).unwrap()),
                Ok(_) => drop(slot.entries.insert(key.clone(), value.clone())),
                Err(ApplyError::NoSuchKey) => assert!(!slot.entries.contains_key(&key)),
                Err(ApplyError::Full { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        });
        assert!(matches!(changed, Ok(()) | Err(FrameError::Freed { .. })));
    }

    /// What a split does to the left page.
    fn shorten(&self, frame: &Arc<PageFrame>, slot: usize) {
        let _together = self.pool.begin_change();
        let changed = frame.write(|frame| {
            let mut slot = self.slots[slot].lock().unwrap();
            let middle = slot.entries.len() / 2;
            let Some(key) = slot.entries.keys().nth(middle).cloned() else {
                return;
            };
            let right = slot.entries.split_off(&key);
            let removed =
                frame.rewrite(|page| right.keys().try_for_each(|key| page.remove(key).map(drop)));
            removed.unwrap().unwrap();
        });
        assert!(matches!(changed, Ok(()) | Err(FrameError::Freed { .. })));
    }

    fn replace(&self, frame: &Arc<PageFrame>, slot: usize) {
        let _together = self.pool.begin_change();
        let changed = frame.write(|frame| {
            let mut slot = self.slots[slot].lock().unwrap();
            frame.free();
            slot.page = self.pool.add(page_of(&slot.entries), lz4()).unwrap().page();
        });
        assert!(matches!(changed, Ok(()) | Err(FrameError::Freed { .. })));
    }

    /// All slots as they are; right only when nobody changes them.
    fn state(&self) -> Vec<(PageId, Entries)> {
        let state = |slot: &Mutex<Slot>| {
            let slot = slot.lock().unwrap();
            (slot.page, slot.entries.clone())
        };
        self.slots.iter().map(state).collect()
    }

    fn flush(&self, random: &mut Random) {
        let (flush, state) = self.pool.prepare_flush(|| self.state()).unwrap();
        if random.below(6) == 0 {
            return;
        }
        commit(&self.volume, flush);
        let pin = self.volume.pin();
        for (page, entries) in state {
            assert_eq!(
                stored_entries(&pin, page),
                entries,
                "page {page} at the instant of the flush"
            );
        }
        if random.below(8) == 0 {
            self.volume.clean().unwrap();
        }
    }
}

fn run(compression_threads: usize, seed: u64) {
    let disk = Arc::new(MemDisk::new());
    let world = World::new(disk.clone(), compression_threads);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let flusher = scope.spawn(|| {
            let mut random = Random(seed + 1_000);
            while !is_over.load(Ordering::Relaxed) {
                world.flush(&mut random);
            }
        });
        let work = |thread| {
            let mut random = Random(seed + thread);
            (0..STEPS).for_each(|_| world.step(&mut random));
        };
        let workers: Vec<_> = (0..THREADS)
            .map(|thread| scope.spawn(move || work(thread)))
            .collect();
        let all_well = workers.into_iter().all(|worker| worker.join().is_ok());
        is_over.store(true, Ordering::Relaxed);
        flusher.join().unwrap();
        assert!(all_well);
    });
    let stats = world.pool.stats();
    let accesses = stats.hot_hits + stats.warm_hits + stats.misses;
    assert_eq!(accesses, world.gets.load(Ordering::Relaxed));
    // All of its pages are leaves.
    let leaves = (stats.leaf_hot_hits, stats.leaf_warm_hits, stats.leaf_misses);
    assert_eq!(leaves, (stats.hot_hits, stats.warm_hits, stats.misses));
    assert!(
        stats.evictions > 0 && stats.warm_hits + stats.misses > 0,
        "{stats:?}"
    );
    crate::support::flush(&world.volume, &world.pool);
    let state = world.state();
    drop(world);
    let volume = Volume::open(disk, OpenMode::ReadWrite).unwrap();
    assert_eq!(volume.pin().pages().len(), SLOTS);
    let pool = crate::support::pool_of(&volume, 10);
    for (page, model) in state {
        assert_eq!(entries(&pool.get(page, lz4()).unwrap()), model);
    }
    assert!(volume.check().findings.is_empty());
}

#[test]
fn pages_are_what_was_done_to_them() {
    run(0, 1);
    run(2, 2);
}

#[test]
fn an_operation_on_a_freed_page_is_refused() {
    let volume = volume(Arc::new(MemDisk::new()));
    let pool = crate::support::pool_of(&volume, 10);
    let frame = pool.add(empty_page(), lz4()).unwrap();
    frame.write(|frame| frame.free()).unwrap();
    let refused = frame.apply(&put(b"key", b"value"), 1);
    assert!(matches!(
        refused,
        Err(ChangeError::Frame(FrameError::Freed { .. }))
    ));
}

#[test]
fn it_is_the_same_in_pools_of_twins() {
    in_pools_of_twins(&[
        pages_are_what_was_done_to_them,
        an_operation_on_a_freed_page_is_refused,
    ]);
}
