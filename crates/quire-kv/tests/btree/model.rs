//! Random operations on a tree and on an ordered map.

use quire_codec::block::BlockCodecId;
use quire_format::row_page::{Applied, ApplyError, PAGE_BYTES_ALLOWED, PageOp, space};
use quire_kv::btree::{BTree, Direction, TreeError, TreeOptions};
use quire_store::pool::{PageCodec, Pool};

use super::fixture::*;

/// The codec of the tree in a pool.
pub type CodecIn<'a> = &'a dyn Fn(&Pool) -> PageCodec;

struct Twins {
    pool: Pool,
    tree: BTree,
    model: Model,
    lsn: u64,
}

impl Twins {
    fn put(&mut self, key: Vec<u8>, value: Vec<u8>) {
        self.lsn += 1;
        let guard = self.pool.begin_change();
        let applied = self.tree.put(&key, &value, self.lsn, &guard).unwrap();
        let wanted = match self.model.insert(key, value) {
            Some(_) => Applied::Updated,
            None => Applied::Inserted,
        };
        assert_eq!(applied, wanted);
    }

    fn remove(&mut self, key: &[u8]) {
        self.lsn += 1;
        let guard = self.pool.begin_change();
        let applied = self.tree.remove(key, self.lsn, &guard);
        match self.model.remove(key) {
            Some(_) => assert_eq!(applied.unwrap(), Applied::Removed),
            None => assert!(matches!(
                applied,
                Err(TreeError::Entry(ApplyError::NoSuchKey))
            )),
        }
    }

    fn update(&mut self, key: &[u8], new: &[u8]) {
        self.lsn += 1;
        let guard = self.pool.begin_change();
        let old = self.tree.get(key, <[u8]>::to_vec).unwrap();
        assert_eq!(old.as_ref(), self.model.get(key));
        if let Some(old) = old {
            let op = PageOp::update(key, &old, new);
            let applied = self.tree.apply(&op, self.lsn, &guard).unwrap();
            assert_eq!(applied, Applied::Updated);
            self.model.insert(key.to_vec(), new.to_vec());
        }
    }

    fn compare_range(&self, low: &[u8], high: &[u8]) {
        let above = |key: &[u8]| high.is_empty() || key < high;
        let wanted: Vec<_> = self
            .model
            .range(low.to_vec()..)
            .take_while(|(key, _)| above(key))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        assert_eq!(entries(&self.tree, low, high, Direction::Forward), wanted);
        let mut backward = entries(&self.tree, low, high, Direction::Backward);
        backward.reverse();
        assert_eq!(backward, wanted);
    }
}

/// Grows, then shrinks, then grows: three phases with other odds.
pub fn run(seed: u64, keys: Keys, page_bytes: usize, codec_in: CodecIn<'_>) -> [u64; 3] {
    let volume = volume();
    let pool = pool(&volume, 6 * page_bytes);
    let mut twins = Twins {
        tree: tree(&pool, codec_in(&pool), page_bytes),
        pool,
        model: Model::new(),
        lsn: 0,
    };
    let random = &mut Random(seed);
    for (phase, removals) in [20, 75, 35].into_iter().enumerate() {
        for step in 0..1_500 {
            let mut key = keys.any(random, page_bytes);
            if random.below(3) == 0
                && let Some((near, _)) = twins.model.range(key.clone()..).next()
            {
                key.clone_from(near);
            }
            match random.below(100) {
                roll if roll < removals => twins.remove(&key),
                roll if roll < removals + 10 => {
                    let new = any_value(random, &key, page_bytes);
                    twins.update(&key, &new);
                }
                _ => {
                    let value = any_value(random, &key, page_bytes);
                    twins.put(key, value);
                }
            }
            match random.below(150) {
                0 => flush(&volume, &twins.pool),
                1 => {
                    let low = keys.any(random, page_bytes);
                    let high = keys.any(random, page_bytes);
                    twins.compare_range(&low, &high);
                    twins.compare_range(&high, &low);
                }
                _ => {}
            }
            if step % 500 == 0 {
                let what = format!("{keys:?}, {page_bytes}, seed {seed}, phase {phase}, {step}");
                assert_is(&twins.tree, &twins.model, &what);
            }
        }
    }
    finish(twins, &volume, codec_in)
}

/// Opens the tree again, and removes everything.
fn finish(mut twins: Twins, volume: &quire_store::Volume, codec_in: CodecIn<'_>) -> [u64; 3] {
    let statistics = twins.tree.statistics();
    flush(volume, &twins.pool);
    assert_pages_are_of(volume, &[&twins.tree]);
    let (root, page_bytes) = (twins.tree.root(), twins.tree.page_bytes());
    twins.pool = pool(volume, 4 * page_bytes);
    twins.tree = BTree::open(&twins.pool, codec_in(&twins.pool), root).unwrap();
    assert_eq!(twins.tree.page_bytes(), page_bytes);
    assert_is(&twins.tree, &twins.model, "reopened");

    let keys: Vec<_> = twins.model.keys().cloned().collect();
    for key in keys {
        twins.remove(&key);
    }
    let report = twins.tree.check();
    assert_eq!(report.findings, []);
    assert_eq!(
        (report.height, report.leaf_count),
        (2, 1),
        "nothing is left"
    );
    assert_is(&twins.tree, &twins.model, "emptied");
    [statistics.splits, statistics.merges, statistics.rebalances]
}

#[test]
fn a_tree_answers_like_an_ordered_map() {
    let lz4 = PageCodec::new(BlockCodecId::Lz4, None).unwrap();
    let mut seen = [0; 3];
    for (number, page_bytes) in PAGE_BYTES_ALLOWED.into_iter().enumerate() {
        for keys in Keys::ALL {
            let codec = if number % 2 == 0 {
                PageCodec::NONE
            } else {
                lz4
            };
            let counts = run(page_bytes as u64, keys, page_bytes, &|_| codec);
            seen = [0, 1, 2].map(|index| seen[index] + counts[index]);
        }
    }
    assert!(
        seen.iter().all(|count| *count > 20),
        "splits, merges, rebalances: {seen:?}"
    );
}

#[test]
fn ascending_keys_fill_the_leaves() {
    let volume = volume();
    let pool = pool(&volume, 1 << 20);
    let tree = tree(&pool, PageCodec::NONE, 4096);
    let mut model = Model::new();
    for number in 0..40_000 {
        let (key, value) = (key_of(number), vec![7; 20]);
        tree.put(&key, &value, number, &pool.begin_change())
            .unwrap();
        model.insert(key, value);
    }
    assert_is(&tree, &model, "ascending");
    let report = tree.check();
    assert_eq!(report.height, 3);
    // 15/16 of the entries stay behind, give or take a thirty-second; and then, because the keys share six bytes or more with the
    // fences, 10 + 2 + 20 bytes of an entry instead of 10 + 8 + 20 at most.
    let full = report.used_bytes * 100 / (report.leaf_count * 4096);
    assert!(full >= 74, "leaves are {full} % full");
}

#[test]
fn what_no_page_holds_is_refused() {
    let volume = volume();
    let pool = pool(&volume, 1 << 20);
    let guard = pool.begin_change();
    let tree = tree(&pool, PageCodec::NONE, 4096);
    let key_most = space::key_bytes_max(4096);
    let most = space::entry_bytes_max(4096);
    let mut model = Model::new();
    for letter in [b'a', b'b', b'c', b'd', b'e', b'f'] {
        let key = vec![letter; key_most];
        let value = vec![1; most - key_most];
        tree.put(&key, &value, 1, &guard).unwrap();
        model.insert(key, value);
    }
    let long = vec![b'x'; key_most + 1];
    assert!(matches!(
        tree.put(&long, &[], 1, &guard),
        Err(TreeError::KeyTooLong {
            bytes: 513,
            page_bytes: 4096
        })
    ));
    assert!(matches!(
        tree.put(b"x", &vec![0; most], 1, &guard),
        Err(TreeError::EntryTooLong {
            page_bytes: 4096,
            ..
        })
    ));
    let (key, value) = (b"x".as_slice(), b"".as_slice());
    let overflow = true;
    assert!(matches!(
        tree.apply(
            &PageOp::Put {
                key,
                value,
                overflow
            },
            1,
            &guard
        ),
        Err(TreeError::Overflow)
    ));
    let patch = PageOp::Patch {
        key: &[b'a'; 512],
        keep_prefix_bytes: most,
        keep_suffix_bytes: 0,
        middle: b"",
    };
    assert!(matches!(
        tree.apply(&patch, 1, &guard),
        Err(TreeError::Entry(ApplyError::PatchTooLong { .. }))
    ));
    let options = TreeOptions {
        page_bytes: 5000,
        layout: 0,
    };
    assert!(BTree::create(&pool, PageCodec::NONE, options, &guard).is_err());
    drop(guard);
    assert_is(&tree, &model, "after refusals");
}

#[test]
fn replaying_what_the_leaf_has_changes_nothing() {
    let volume = volume();
    let pool = pool(&volume, 1 << 20);
    let guard = pool.begin_change();
    let tree = tree(&pool, PageCodec::NONE, 4096);
    let put = |value| PageOp::Put {
        key: b"key",
        value,
        overflow: false,
    };
    let remove = PageOp::Remove { key: b"key" };
    assert_eq!(
        tree.redo(&put(b"one"), 1, &guard).unwrap(),
        Some(Applied::Inserted)
    );
    assert_eq!(
        tree.redo(&put(b"two"), 2, &guard).unwrap(),
        Some(Applied::Updated)
    );
    assert_eq!(tree.redo(&put(b"one"), 1, &guard).unwrap(), None);
    assert_eq!(
        tree.get(b"key", <[u8]>::to_vec).unwrap(),
        Some(b"two".to_vec())
    );
    assert_eq!(
        tree.redo(&remove, 3, &guard).unwrap(),
        Some(Applied::Removed)
    );
    assert_eq!(tree.redo(&remove, 3, &guard).unwrap(), None);
    assert_eq!(tree.redo(&put(b"two"), 2, &guard).unwrap(), None);
    assert_eq!(tree.get(b"key", <[u8]>::to_vec).unwrap(), None);
    assert!(
        tree.redo(
            &PageOp::update(b"key", b"long value", b"long valux"),
            4,
            &guard
        )
        .is_err()
    );
}
