//! A descent counts as one access to a leaf, however many pages are above it.

use std::sync::Arc;

use quire_kv::btree::{BTree, Direction, TreeBuilder, TreeOptions};
use quire_store::pool::{PageCodec, Pool, PoolStats};
use quire_store::{Disk, MemDisk, PageId};

use super::fixture::*;

const ENTRIES: u64 = 30_000;
const LOOKUPS: u64 = 3_000;

const OPTIONS: TreeOptions = TreeOptions {
    page_bytes: 4096,
    layout: 3,
};

fn build(disk: &Arc<MemDisk>) -> PageId {
    let volume = volume_on(Arc::clone(disk) as Arc<dyn Disk>);
    let pool = pool(&volume, 8 << 20);
    let mut builder = TreeBuilder::new(&pool, PageCodec::NONE, OPTIONS, 5).unwrap();
    for number in 0..ENTRIES {
        let value = [number as u8; 60];
        let guard = pool.begin_change();
        builder.push(&key_of(number), &value, &guard).unwrap();
    }
    let tree = builder.finish(&pool.begin_change()).unwrap();
    flush(&volume, &pool);
    assert_eq!(tree.check().height, 3);
    tree.root()
}

fn accesses(stats: &PoolStats) -> u64 {
    stats.hot_hits + stats.warm_hits + stats.misses
}

fn leaf_accesses(stats: &PoolStats) -> u64 {
    stats.leaf_hot_hits + stats.leaf_warm_hits + stats.leaf_misses
}

/// Looks up keys in a pool that has room for a fraction of the leaves, and returns the statistics.
fn look_up(look: impl Fn(&BTree, &Pool, &[u8])) -> PoolStats {
    let disk = Arc::new(MemDisk::new());
    let root = build(&disk);
    let volume = volume_on(disk);
    let pool = pool(&volume, 512 << 10);
    let tree = BTree::open(&pool, PageCodec::NONE, root).unwrap();
    // The first descent pins the root, which is not looked up any more.
    look(&tree, &pool, &key_of(0));
    let before = pool.stats();
    let mut random = Random(8);
    for _ in 0..LOOKUPS {
        look(&tree, &pool, &key_of(random.next() % ENTRIES));
    }
    let stats = pool.stats();
    let of_leaves = |stats: &PoolStats| leaf_accesses(stats) + stats.glances;
    assert_eq!(of_leaves(&stats) - of_leaves(&before), LOOKUPS);
    // One page is between the root and the leaves.
    assert_eq!(accesses(&stats) - accesses(&before), 2 * LOOKUPS);
    stats
}

#[test]
fn a_range_of_one_key_accesses_one_leaf() {
    let stats = look_up(|tree, _, key| {
        let end = [key, &[0]].concat();
        let mut cursor = tree.cursor(key, &end, Direction::Forward);
        assert!(cursor.next_entry().unwrap().is_some());
    });
    assert_eq!(stats.glances, 0);
    assert!(
        stats.hot_hit_rate() > stats.leaf_hot_hit_rate() + 0.2,
        "pages above the leaves are hot, and leaves are not: {stats:?}"
    );
    assert!(stats.leaf_warm_hits + stats.leaf_misses > LOOKUPS / 2);
    assert!(stats.leaf_access_ns_measured() > 0);
}

#[test]
fn a_lookup_of_one_key_accesses_one_leaf_or_glances_at_it() {
    let stats = look_up(|tree, pool, key| {
        let before = pool.stats();
        assert!(tree.get(key, |_| ()).unwrap().is_some());
        let after = pool.stats();
        let glances = after.glances - before.glances;
        assert_eq!(leaf_accesses(&after) - leaf_accesses(&before), 1 - glances);
    });
    assert!(stats.glances > LOOKUPS / 4, "{stats:?}");
}
