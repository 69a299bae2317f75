//! What is counted of leaves alone, beside ordinary counts, for the model of paper 4 (J. Ma et al., §IV).

use std::sync::Arc;

use quire_format::row_page::{PageSetup, RowPageMut};
use quire_store::pool::{Glance, Pool, PoolStats, Residence};
use quire_store::{MemDisk, PageId, Volume};

use crate::support::{PAGE_BYTES, Random, lz4, pool_of, random_pages, volume};

/// What the accesses of a test found, told by where each page was just before.
#[derive(Debug, Default, PartialEq)]
struct Found {
    hot: u64,
    warm: u64,
    missed: u64,
}

impl Found {
    fn note(&mut self, residence: Residence) {
        match residence {
            Residence::Frame => self.hot += 1,
            Residence::Image { .. } => self.warm += 1,
            Residence::Disk { .. } => self.missed += 1,
        }
    }

    fn of_leaves(stats: &PoolStats) -> Self {
        Self {
            hot: stats.leaf_hot_hits,
            warm: stats.leaf_warm_hits,
            missed: stats.leaf_misses,
        }
    }

    fn count(&self) -> u64 {
        self.hot + self.warm + self.missed
    }
}

/// Pages of two levels. Nothing here reads what is in them.
struct Levels {
    volume: Volume,
    inner: PageId,
    leaves: Vec<PageId>,
}

impl Levels {
    fn new(leaf_count: usize) -> Self {
        let disk = Arc::new(MemDisk::new());
        let made_in = volume(disk.clone());
        let pool = pool_of(&made_in, 40);
        let setup = PageSetup {
            level: 1,
            ..PageSetup::default()
        };
        let mut bytes = vec![0; PAGE_BYTES];
        RowPageMut::create(&mut bytes, &setup).unwrap();
        let inner = pool.add(bytes.into(), lz4()).unwrap().page();
        let leaves = random_pages(&made_in, &pool, leaf_count);
        drop((pool, made_in));
        // Opened anew, it has no images in memory.
        Self {
            volume: volume(disk),
            inner,
            leaves,
        }
    }

    /// Gets the inner page and then a leaf, as a descent does.
    fn descend(&self, pool: &Pool, leaf: PageId, inner: &mut Found, leaves: &mut Found) {
        for (page, found) in [(self.inner, inner), (leaf, leaves)] {
            found.note(pool.residence(page));
            pool.get(page, lz4()).unwrap();
        }
    }
}

#[test]
fn rates_of_leaves_are_not_those_of_the_pages_above_them() {
    let levels = Levels::new(500);
    let pool = pool_of(&levels.volume, 40);
    let (mut inner, mut leaves) = (Found::default(), Found::default());
    let mut random = Random(5);
    for step in 0..3_000 {
        // Every other descent is to one of eight leaves, so that there are hits of all kinds.
        let among = [levels.leaves.len(), 8][step % 2];
        let leaf = levels.leaves[random.below(among)];
        levels.descend(&pool, leaf, &mut inner, &mut leaves);
    }
    let stats = pool.stats();
    assert!(leaves.hot > 0 && leaves.warm > 0 && leaves.missed > 0);
    assert_eq!(Found::of_leaves(&stats), leaves);
    assert_eq!(stats.hot_hits, inner.hot + leaves.hot);
    assert_eq!(stats.warm_hits, inner.warm + leaves.warm);
    assert_eq!(stats.misses, inner.missed + leaves.missed);
    assert_eq!(stats.glances, 0);
    let hot_rate = leaves.hot as f64 / leaves.count() as f64;
    assert!((stats.leaf_hot_hit_rate() - hot_rate).abs() < 1e-9);
    let warm_rate = leaves.warm as f64 / leaves.count() as f64;
    assert!((stats.leaf_warm_hit_rate() - warm_rate).abs() < 1e-9);
    // Half of all accesses are to the inner page, which is always hot.
    let inflated = (1.0 + hot_rate) / 2.0;
    assert!((stats.hot_hit_rate() - inflated).abs() < 0.01, "{stats:?}");
}

#[test]
fn glances_are_counted_apart() {
    let levels = Levels::new(300);
    let pool = pool_of(&levels.volume, 40);
    let (mut leaves, mut seen_count) = (Found::default(), 0);
    let mut random = Random(6);
    for _ in 0..2_000 {
        let leaf = levels.leaves[random.below(levels.leaves.len())];
        let residence = pool.residence(leaf);
        match pool.glance(leaf, lz4(), |rows| rows.level()).unwrap() {
            Glance::Seen(level) => {
                assert_eq!(level, 0);
                seen_count += 1;
            }
            Glance::Frame(_) => leaves.note(residence),
        }
    }
    let stats = pool.stats();
    assert!(seen_count > 100 && leaves.hot > 0 && leaves.warm + leaves.missed > 0);
    assert_eq!(stats.glances, seen_count);
    assert_eq!(Found::of_leaves(&stats), leaves);
    let answered = stats.hot_hits + stats.warm_hits + stats.misses;
    assert_eq!(answered, leaves.count() + seen_count);
}

#[test]
fn accesses_take_time_only_where_a_leaf_is_loaded() {
    let levels = Levels::new(100);
    let pool = pool_of(&levels.volume, 400);
    let untouched = pool.stats();
    assert_eq!(untouched.leaf_access_ns_measured(), 0);
    assert_eq!(untouched.leaf_access_ns_expected(), 0);
    assert_eq!((untouched.read_ns_mean, untouched.decode_ns_mean), (0, 0));

    // Pages that were made here have frames. That of the other level is loaded, and no leaf.
    let made = random_pages(&levels.volume, &pool, 50);
    pool.get(levels.inner, lz4()).unwrap();
    for page in made.iter().cycle().take(200) {
        pool.get(*page, lz4()).unwrap();
    }
    let hot = pool.stats();
    assert_eq!((hot.leaf_hot_hits, hot.leaf_load_ns), (200, 0));
    assert!(hot.decode_ns_mean > 0, "of the inner page");
    assert_eq!(hot.leaf_access_ns_measured(), 0);
    assert_eq!(hot.leaf_access_ns_expected(), 0);

    for page in &levels.leaves {
        pool.get(*page, lz4()).unwrap();
    }
    let loaded = pool.stats();
    assert_eq!(loaded.leaf_warm_hits + loaded.leaf_misses, 100);
    assert!(loaded.leaf_misses > 0 && loaded.read_ns_mean > 0);
    assert!(loaded.leaf_load_ns > 0);
    assert_eq!(loaded.leaf_access_ns_measured(), loaded.leaf_load_ns / 300);
    assert!(loaded.leaf_access_ns_expected() > 0);

    for page in &levels.leaves {
        pool.get(*page, lz4()).unwrap();
    }
    let again = pool.stats();
    assert_eq!(again.leaf_load_ns, loaded.leaf_load_ns, "all were hot");
    assert_eq!(again.leaf_hot_hits, 300);
}
