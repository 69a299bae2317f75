//! Cursors over long ranges have their leaves read ahead: few requests to the disk, and none for what is in memory or not wanted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quire_kv::btree::{BTree, Direction, TreeBuilder, TreeOptions};
use quire_store::disk::{DiskCall, HookedDisk};
use quire_store::pool::{PageCodec, Pool};
use quire_store::{Disk, MemDisk, PageId, Volume};

use super::fixture::*;

const OPTIONS: TreeOptions = TreeOptions {
    page_bytes: 4096,
    layout: 3,
};

/// A tree in a file, and how often the file is read.
struct StoredTree {
    disk: Arc<HookedDisk<MemDisk>>,
    reads: Arc<AtomicU64>,
    root: PageId,
    page_count: u64,
    model: Model,
}

/// The same tree with a pool that has none of its pages.
struct ColdTree<'a> {
    stored: &'a StoredTree,
    _volume: Volume,
    pool: Pool,
    tree: BTree,
    reads_before: u64,
}

impl StoredTree {
    fn new(entry_count: u64) -> Self {
        let reads = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&reads);
        let count = move |call| {
            if call == DiskCall::Read {
                counter.fetch_add(1, Ordering::Relaxed);
            }
        };
        let disk = Arc::new(HookedDisk::new(MemDisk::new(), count));
        let entry = |number: u64| (key_of(number * 2), vec![number as u8; 60]);
        let model: Model = (0..entry_count).map(entry).collect();
        let volume = volume_on(Arc::clone(&disk) as Arc<dyn Disk>);
        let pool = pool(&volume, 8 << 20);
        let mut builder = TreeBuilder::new(&pool, PageCodec::NONE, OPTIONS, 5).unwrap();
        for (key, value) in &model {
            builder.push(key, value, &pool.begin_change()).unwrap();
        }
        let tree = builder.finish(&pool.begin_change()).unwrap();
        flush(&volume, &pool);
        let page_count = tree.check().pages.len() as u64;
        let root = tree.root();
        Self {
            disk,
            reads,
            root,
            page_count,
            model,
        }
    }

    fn open(&self, budget_bytes: usize) -> ColdTree<'_> {
        let volume = volume_on(Arc::clone(&self.disk) as Arc<dyn Disk>);
        let pool = pool(&volume, budget_bytes);
        let tree = BTree::open(&pool, PageCodec::NONE, self.root).unwrap();
        ColdTree {
            stored: self,
            _volume: volume,
            pool,
            tree,
            reads_before: self.reads.load(Ordering::Relaxed),
        }
    }
}

impl ColdTree<'_> {
    /// Reads of the disk since the last time.
    fn reads(&mut self) -> u64 {
        let reads = self.stored.reads.load(Ordering::Relaxed);
        reads - std::mem::replace(&mut self.reads_before, reads)
    }

    fn assert_range(&self, low: u64, high: u64, direction: Direction) {
        let (low, high) = (key_of(low), key_of(high));
        let range = self.stored.model.range(low.clone()..high.clone());
        let mut wanted: Vec<_> = range
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        if direction == Direction::Backward {
            wanted.reverse();
        }
        assert!(entries(&self.tree, &low, &high, direction) == wanted);
    }
}

#[test]
fn a_long_range_comes_with_few_requests() {
    const END: u64 = 60_000;
    let stored = StoredTree::new(END / 2);
    assert!(stored.page_count > 400, "{}", stored.page_count);
    for direction in [Direction::Forward, Direction::Backward] {
        let mut cold = stored.open(8 << 20);
        cold.assert_range(0, END, direction);
        let reads = cold.reads();
        assert!(
            reads < stored.page_count / 8,
            "{direction:?}: {reads} reads of {} pages",
            stored.page_count
        );
        // All of it is in memory by now.
        cold.assert_range(0, END, direction);
        assert_eq!(cold.reads(), 0);
    }
}

/// A range of few leaves asks for no others, and a long one not for those beyond its end.
#[test]
fn nothing_beyond_a_range_is_read() {
    const END: u64 = 60_000;
    let stored = StoredTree::new(END / 2);
    for direction in [Direction::Forward, Direction::Backward] {
        // Some 50 entries are in a leaf.
        let mut cold = stored.open(8 << 20);
        cold.assert_range(30_000, 30_100, direction);
        let reads = cold.reads();
        assert!(reads <= 4, "{direction:?}: {reads} reads");
        drop(cold);
        let cold = stored.open(8 << 20);
        cold.assert_range(20_000, 24_000, direction);
        let warm_bytes = cold.pool.stats().warm_bytes;
        // 2,000 entries of 68 bytes, and some pages at the ends.
        assert!(
            warm_bytes < 2_000 * 68 * 3 / 2 + (64 << 10),
            "{direction:?}: {warm_bytes} bytes of images"
        );
    }
}

/// What is in frames is not asked for, and what is changed in them is what a cursor shows.
#[test]
fn changed_pages_are_not_read_ahead() {
    const END: u64 = 20_000;
    let stored = StoredTree::new(END / 2);
    let mut cold = stored.open(8 << 20);
    let mut model = stored.model.clone();
    for number in (1..END).step_by(2) {
        let guard = cold.pool.begin_change();
        let key = key_of(number);
        cold.tree.put(&key, b"new", number, &guard).unwrap();
        model.insert(key, b"new".to_vec());
    }
    cold.reads();
    let mut wanted: Vec<_> = model.into_iter().collect();
    assert!(entries(&cold.tree, &[], &[], Direction::Forward) == wanted);
    wanted.reverse();
    assert!(entries(&cold.tree, &[], &[], Direction::Backward) == wanted);
    assert_eq!(cold.reads(), 0);
}

/// The pool holds far less than what a cursor would like to have on its way.
#[test]
fn a_small_pool_has_all_entries() {
    const END: u64 = 60_000;
    let stored = StoredTree::new(END / 2);
    for budget_bytes in [16 << 10, 256 << 10] {
        let cold = stored.open(budget_bytes);
        for direction in [Direction::Forward, Direction::Backward] {
            cold.assert_range(0, END, direction);
            cold.assert_range(501, END - 777, direction);
        }
    }
}

/// A cursor that is left has asked for leaves in vain; the next one gets its own.
#[test]
fn a_cursor_can_be_left_anywhere() {
    const END: u64 = 60_000;
    let stored = StoredTree::new(END / 2);
    let cold = stored.open(1 << 20);
    for start in 0..40 {
        let low = key_of(start * 1_400);
        let mut cursor = cold.tree.cursor(&low, &[], Direction::Forward);
        for _ in 0..start * 20 {
            assert!(cursor.next_entry().unwrap().is_some());
        }
    }
    cold.assert_range(0, END, Direction::Forward);
}
