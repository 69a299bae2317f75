//! Trees whose leaves have images of a fixed size.

use std::collections::BTreeMap;

use quire_codec::block::BlockCodecId;
use quire_format::row_page::{PageImage, PageOp};
use quire_format::volume::IMAGE_HEADER_BYTES;
use quire_kv::btree::BTree;
use quire_store::Volume;
use quire_store::pool::{PageCodec, PageTarget, Pool, PoolStats};

use super::fixture::*;
use super::model::run;

const CODECS: [BlockCodecId; 4] = [
    BlockCodecId::Lz4,
    BlockCodecId::Lz4Hc,
    BlockCodecId::Zlib,
    BlockCodecId::Zstd,
];

fn target(slot_bytes: usize, policy: usize) -> PageTarget {
    PageTarget {
        has_adaptive_padding: policy & 1 != 0,
        splits_in_advance: policy & 2 != 0,
        ..PageTarget::new(slot_bytes)
    }
}

fn codec_in(pool: &Pool, codec: BlockCodecId, target: PageTarget) -> PageCodec {
    pool.with_target(PageCodec::new(codec, None).unwrap(), 7, target)
}

#[test]
fn a_tree_with_leaves_of_a_fixed_size_answers_like_an_ordered_map() {
    let mut seen = [0; 3];
    let mut turn = 0;
    for slot_bytes in [1 << 10, 2 << 10, 4 << 10, 8 << 10] {
        for codec in CODECS {
            let keys = Keys::ALL[turn % 3];
            let page_bytes = [4 << 10, 16 << 10][turn % 2].max(2 * slot_bytes);
            let target = target(slot_bytes, turn / 2 % 4);
            let codec = |pool: &Pool| codec_in(pool, codec, target);
            let counts = run(turn as u64, keys, page_bytes, &codec);
            seen = [0, 1, 2].map(|index| seen[index] + counts[index]);
            turn += 1;
        }
    }
    assert!(
        seen.iter().all(|count| *count > 20),
        "splits, merges, rebalances: {seen:?}"
    );
}

/// Words that compress to a third or so, with some noise.
fn text(random: &mut Random, bytes: usize) -> Vec<u8> {
    let mut text = Vec::new();
    while text.len() < bytes {
        let word = random.below(900) as u64;
        let word = format!("{:016x} ", word.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let word_bytes = 4 + word.as_bytes()[3] as usize % 6;
        text.extend_from_slice(&word.as_bytes()[16 - word_bytes..]);
    }
    text.truncate(bytes);
    text
}

struct Outcome {
    stats: PoolStats,
    leaf_count: u64,
    /// Leaves by the number of slots of their images.
    slots: BTreeMap<usize, usize>,
}

/// Rows of texts in a random or ascending order; how they are stored.
fn fill(codec: BlockCodecId, page_bytes: usize, target: PageTarget, is_random: bool) -> Outcome {
    let volume = volume();
    let pool = pool(&volume, 64 << 20);
    let tree = tree(&pool, codec_in(&pool, codec, target), page_bytes);
    let mut random = Random(11);
    let mut model = Model::new();
    for number in 0..6_000 {
        let key = key_of(if is_random { random.next() } else { number });
        let bytes = 100 + random.below(400);
        let value = text(&mut random, bytes);
        let guard = pool.begin_change();
        tree.put(&key, &value, number, &guard).unwrap();
        drop(guard);
        model.insert(key, value);
        if number % 1_000 == 999 {
            flush(&volume, &pool);
        }
    }
    assert_is(&tree, &model, "filled");
    flush(&volume, &pool);
    Outcome {
        stats: pool.stats(),
        leaf_count: tree.check().leaf_count,
        slots: slots(&volume, &tree, target.slot_bytes),
    }
}

/// The images of all leaves are of one size or a multiple of it.
fn slots(volume: &Volume, tree: &BTree, slot_bytes: usize) -> BTreeMap<usize, usize> {
    let pin = volume.pin();
    let mut counts = BTreeMap::new();
    for page in tree.check().pages {
        let image = pin.read(page).unwrap();
        if PageImage::open(&image).unwrap().is_padded() {
            let stored_bytes = image.len() + IMAGE_HEADER_BYTES;
            assert_eq!(stored_bytes % slot_bytes, 0);
            *counts.entry(stored_bytes / slot_bytes).or_default() += 1;
        }
    }
    counts
}

#[test]
fn leaves_fit_into_their_slots() {
    let (mut advance_splits, mut failure_splits) = (0, 0);
    for (turn, codec) in CODECS.into_iter().enumerate() {
        for slot_bytes in [2 << 10, 4 << 10, 8 << 10] {
            for policy in 0..4 {
                let target = target(slot_bytes, policy);
                let outcome = fill(codec, 16 << 10, target, (turn + policy) % 2 == 0);
                let what = format!(
                    "{codec} {target:?}: {:?} {:?}",
                    outcome.slots, outcome.stats
                );
                assert_eq!(
                    outcome.slots.values().sum::<usize>() as u64,
                    outcome.leaf_count
                );
                assert_eq!(
                    outcome.slots.keys().copied().collect::<Vec<_>>(),
                    [1],
                    "{what}"
                );
                let stats = outcome.stats;
                assert!(
                    stats.target_compressions > 0
                        && stats.target_failures < stats.target_compressions,
                    "{what}"
                );
                assert!(
                    target.splits_in_advance || stats.advance_splits == 0,
                    "{what}"
                );
                advance_splits += stats.advance_splits;
                failure_splits += stats.failure_splits;
            }
        }
    }
    assert!(advance_splits > 100 && failure_splits > 100);
}

/// A table may have another target than when its leaves were stored. The log of a leaf ends where its image was padded to.
#[test]
fn leaves_of_smaller_slots_are_changed_and_stored() {
    let volume = volume();
    let mut random = Random(5);
    let mut model = Model::new();
    let codec = BlockCodecId::Lz4;
    let first = pool(&volume, 64 << 20);
    let small = target(1 << 10, 0);
    let tree_of_small = tree(&first, codec_in(&first, codec, small), 16 << 10);
    let mut change = |tree: &BTree, pool: &Pool, number: u64| {
        let key = key_of(number % 400);
        let bytes = 100 + random.below(200);
        let value = text(&mut random, bytes);
        let guard = pool.begin_change();
        tree.put(&key, &value, number, &guard).unwrap();
        drop(guard);
        model.insert(key, value);
    };
    for number in 0..400 {
        change(&tree_of_small, &first, number);
    }
    flush(&volume, &first);
    let root = tree_of_small.root();
    drop((tree_of_small, first));
    let second = pool(&volume, 64 << 20);
    let large = target(8 << 10, 0);
    let tree = BTree::open(&second, codec_in(&second, codec, large), root).unwrap();
    for number in 400..2_000 {
        change(&tree, &second, number);
        if number % 50 == 0 {
            flush(&volume, &second);
        }
    }
    assert_is(&tree, &model, "with larger slots");
}

#[test]
fn padding_and_advance_split_have_fewer_failures() {
    let failures = |policy| {
        let stats = fill(BlockCodecId::Lz4, 4 << 10, target(2 << 10, policy), true).stats;
        assert!(policy & 1 != 0 || stats.padding_bytes == 0);
        (stats.target_failures as f64) / stats.target_compressions as f64
    };
    let [neither, padding, advance, _] = [0, 1, 2, 3].map(failures);
    assert!(neither > 0.05, "{neither}");
    assert!(
        padding < neither && advance < neither / 2.0,
        "{neither} {padding} {advance}"
    );
}

#[test]
fn an_entry_that_fits_no_slot_takes_several() {
    let volume = volume();
    let pool = pool(&volume, 64 << 20);
    let target = target(1 << 10, 3);
    let tree = tree(&pool, codec_in(&pool, BlockCodecId::Zstd, target), 16 << 10);
    let mut random = Random(3);
    let mut model = Model::new();
    for number in 0..300 {
        let key = key_of(random.next() % 200);
        let value: Vec<u8> = (0..2_500).map(|_| random.next() as u8).collect();
        let guard = pool.begin_change();
        match model.get(&key) {
            Some(old) if number % 2 == 0 => {
                let op = PageOp::update(&key, old, &value);
                tree.apply(&op, number, &guard).unwrap();
            }
            _ => {
                tree.put(&key, &value, number, &guard).unwrap();
            }
        }
        drop(guard);
        model.insert(key, value);
        if number % 50 == 0 {
            flush(&volume, &pool);
        }
    }
    assert_is(&tree, &model, "large entries");
    flush(&volume, &pool);
    let slots = slots(&volume, &tree, target.slot_bytes);
    assert_eq!(slots.get(&3), Some(&model.len()), "{slots:?}");
}
