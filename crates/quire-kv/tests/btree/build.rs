//! Trees from sorted entries, and the end of trees.

use quire_kv::btree::{BTree, TreeBuilder, TreeError, TreeOptions};
use quire_store::pool::PageCodec;

use super::fixture::*;

const OPTIONS: TreeOptions = TreeOptions {
    page_bytes: 4096,
    layout: 3,
};

fn sorted(count: u64) -> Model {
    let mut random = Random(count);
    let entry = |number| (key_of(number * 3), any_value(&mut random, &key_of(0), 4096));
    (0..count).map(entry).collect()
}

fn build(pool: &quire_store::pool::Pool, model: &Model) -> BTree {
    let mut builder = TreeBuilder::new(pool, PageCodec::NONE, OPTIONS, 5).unwrap();
    for (key, value) in model {
        builder.push(key, value, &pool.begin_change()).unwrap();
    }
    builder.finish(&pool.begin_change()).unwrap()
}

#[test]
fn a_built_tree_has_what_was_pushed_and_can_be_changed() {
    for count in [0, 1, 2, 30, 60, 1_000, 12_000] {
        let volume = volume();
        let pool = pool(&volume, 64 << 10);
        let mut model = sorted(count);
        let tree = build(&pool, &model);
        assert_is(&tree, &model, &format!("{count} built"));
        flush(&volume, &pool);
        assert_pages_are_of(&volume, &[&tree]);
        let mut random = Random(count);
        for _ in 0..2_000 {
            let key = key_of(random.below(3 * count as usize + 3) as u64);
            let guard = pool.begin_change();
            if random.below(2) == 0 {
                let value = any_value(&mut random, &key, 4096);
                tree.put(&key, &value, 6, &guard).unwrap();
                model.insert(key, value);
            } else if model.remove(&key).is_some() {
                tree.remove(&key, 6, &guard).unwrap();
            }
        }
        assert_is(&tree, &model, &format!("{count} built and changed"));
    }
}

#[test]
fn built_leaves_are_nine_tenths_full() {
    let volume = volume();
    let pool = pool(&volume, 1 << 20);
    let model: Model = (0..30_000)
        .map(|number| (key_of(number), vec![1; 20]))
        .collect();
    let report = build(&pool, &model).check();
    let full = report.used_bytes * 100 / (report.leaf_count * 4096);
    assert!((87..=90).contains(&full), "leaves are {full} % full");
}

#[test]
fn entries_to_build_a_tree_of_ascend_and_an_abandoned_tree_leaves_nothing() {
    let volume = volume();
    let pool = pool(&volume, 64 << 10);
    let mut builder = TreeBuilder::new(&pool, PageCodec::NONE, OPTIONS, 5).unwrap();
    for (key, value) in sorted(3_000) {
        builder.push(&key, &value, &pool.begin_change()).unwrap();
    }
    let again = builder.push(&key_of(3), b"", &pool.begin_change());
    assert!(matches!(again, Err(TreeError::Build(_))), "{again:?}");
    flush(&volume, &pool);
    assert!(volume.pin().pages().len() > 10);
    builder.abandon(&pool.begin_change()).unwrap();
    flush(&volume, &pool);
    assert_pages_are_of(&volume, &[]);
}

#[test]
fn a_freed_tree_leaves_nothing_even_when_some_of_it_was_gone() {
    let volume = volume();
    let pool = pool(&volume, 64 << 10);
    let (kept, freed) = (build(&pool, &sorted(100)), build(&pool, &sorted(9_000)));
    flush(&volume, &pool);
    assert_pages_are_of(&volume, &[&kept, &freed]);
    let leaf = *freed.check().pages.last().unwrap();
    let frame = pool.get(leaf, PageCodec::NONE).unwrap();
    frame.write(|page| page.free()).unwrap();
    flush(&volume, &pool);
    let root = freed.root();
    freed.free(&pool.begin_change()).unwrap();
    flush(&volume, &pool);
    assert_pages_are_of(&volume, &[&kept]);
    assert!(BTree::open(&pool, PageCodec::NONE, root).is_err());
    assert_is(&kept, &sorted(100), "the other tree");
}
