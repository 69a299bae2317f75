//! The table beside a map of the standard library.

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

/// A key: integers, and texts or NULLs.
type Key = (Vec<u64>, Vec<Option<Vec<u8>>>);

/// Packs the keys as an operator does, with a word of its own for NULLs, and the texts in buffers of three.
struct Packed {
    rows: KeyRows,
    buffers: Vec<Vec<Vec<u8>>>,
}

fn layout(integers: usize, texts: usize) -> GroupLayout {
    GroupLayout {
        fixed_words: integers + 1,
        text_count: texts,
    }
}

fn pack(keys: &[Key], layout: GroupLayout, seed: u64) -> Packed {
    let mut rows = KeyRows::new(layout);
    rows.begin(keys.len());
    for word in 0..layout.fixed_words - 1 {
        rows.update(word, keys.iter(), |word_of_row, key| {
            *word_of_row = key.0[word];
        });
    }
    let mut buffers = Vec::new();
    for text in 0..layout.text_count {
        let nulls = keys.iter().map(|key| u64::from(key.1[text].is_none()));
        rows.update(layout.fixed_words - 1, nulls, |word, is_null| {
            *word |= is_null << text;
        });
        let mut of_text: Vec<Vec<u8>> = vec![Vec::new()];
        let views: Vec<u128> = keys
            .iter()
            .map(|key| view(key.1[text].as_deref().unwrap_or_default(), &mut of_text))
            .collect();
        rows.put_texts(text, views.into_iter());
        buffers.push(of_text);
    }
    let slices = slices(&buffers);
    rows.hash(seed, &slices);
    Packed { rows, buffers }
}

fn slices(buffers: &[Vec<Vec<u8>>]) -> Vec<TextBuffers<'_>> {
    let slices = |buffers: &Vec<Vec<u8>>| buffers.iter().map(|_| &[][..]).collect();
    let mut all: Vec<TextBuffers<'_>> = buffers.iter().map(slices).collect();
    for (slices, buffers) in all.iter_mut().zip(buffers) {
        for (slice, buffer) in slices.iter_mut().zip(buffers) {
            *slice = buffer;
        }
    }
    all
}

fn view(text: &[u8], buffers: &mut Vec<Vec<u8>>) -> u128 {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&(text.len() as u32).to_le_bytes());
    if text.len() <= 12 {
        bytes[4..4 + text.len()].copy_from_slice(text);
        return u128::from_le_bytes(bytes);
    }
    if buffers.last().is_none_or(|last| last.len() > 100) {
        buffers.push(Vec::new());
    }
    let number = buffers.len() as u32 - 1;
    let offset = buffers.last().map_or(0, Vec::len) as u32;
    if let Some(last) = buffers.last_mut() {
        last.extend_from_slice(text);
    }
    bytes[4..8].copy_from_slice(&text[..4]);
    bytes[8..12].copy_from_slice(&number.to_le_bytes());
    bytes[12..].copy_from_slice(&offset.to_le_bytes());
    u128::from_le_bytes(bytes)
}

fn text_of(view: u128, blocks: &[Vec<u8>]) -> Vec<u8> {
    let bytes = view.to_le_bytes();
    let number = |at: usize| {
        let bytes: [u8; 4] = bytes[at..at + 4].try_into().unwrap();
        u32::from_le_bytes(bytes) as usize
    };
    match number(0) {
        len @ 0..=12 => bytes[4..4 + len].to_vec(),
        len => blocks[number(8)][number(12)..number(12) + len].to_vec(),
    }
}

/// Checks a table against a map, over the keys in batches of `batch_rows`.
fn check(keys: &[Key], integers: usize, texts: usize, batch_rows: usize, seed: u64) {
    let layout = layout(integers, texts);
    let mut table = GroupTable::new(layout);
    let mut expected: HashMap<&Key, usize> = HashMap::new();
    let mut distinct: Vec<&Key> = Vec::new();
    let mut groups = Vec::new();
    for batch in keys.chunks(batch_rows) {
        let packed = pack(batch, layout, seed);
        groups.clear();
        table.find(&packed.rows, &slices(&packed.buffers), &mut groups);
        let of_map: Vec<usize> = batch
            .iter()
            .map(|key| {
                let next = expected.len();
                *expected.entry(key).or_insert_with(|| {
                    distinct.push(key);
                    next
                })
            })
            .collect();
        assert_eq!(groups, of_map);
    }
    assert_eq!(table.group_count(), distinct.len());
    assert!(table.allocated_bytes() >= distinct.len() * layout.words() * 8);
    let known = table.into_keys();
    for word in 0..integers {
        let expected: Vec<u64> = distinct.iter().map(|key| key.0[word]).collect();
        assert_eq!(
            known.word(word, 0..distinct.len()).collect::<Vec<_>>(),
            expected
        );
    }
    for text in 0..texts {
        let nulls = known
            .word(integers, 0..distinct.len())
            .map(|word| word >> text & 1 != 0);
        let views = known.views(text, 0..distinct.len()).zip(nulls);
        let found: Vec<Option<Vec<u8>>> = views
            .map(|(view, is_null)| (!is_null).then(|| text_of(view, &known.blocks[text])))
            .collect();
        let expected: Vec<_> = distinct.iter().map(|key| key.1[text].clone()).collect();
        assert_eq!(found, expected);
    }
}

/// Texts that share lengths and beginnings, on both sides of what fits into words.
fn text() -> impl Strategy<Value = Option<Vec<u8>>> {
    prop_oneof![
        1 => Just(None),
        2 => proptest::collection::vec(0_u8..2, 0..5).prop_map(Some),
        3 => proptest::collection::vec(0_u8..2, 11..15).prop_map(Some),
        2 => (0_u8..3, 12_usize..80).prop_map(|(last, len)| {
            let mut text = vec![b'a'; len];
            text[len - 1] = last;
            Some(text)
        }),
    ]
}

fn keys(integers: usize, texts: usize) -> impl Strategy<Value = Vec<Key>> {
    let integer = prop_oneof![3 => 0_u64..4, 1 => any::<u64>()];
    let key = (
        proptest::collection::vec(integer, integers),
        proptest::collection::vec(text(), texts),
    );
    proptest::collection::vec(key, 0..600)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn groups_are_those_of_a_map(
        (integers, texts, keys) in (0_usize..5, 0_usize..4).prop_flat_map(|(integers, texts)| {
            (Just(integers), Just(texts), keys(integers, texts))
        }),
        batch_rows in 1_usize..300,
        seed in any::<u64>(),
    ) {
        check(&keys, integers, texts, batch_rows, seed);
    }
}

/// A table that grows many times, within batches too, and keys that come again later.
#[test]
fn many_groups_keep_their_numbers() {
    let keys: Vec<Key> = (0..40_000_u64)
        .map(|row| {
            let number = row * 7 % 30_011;
            (
                vec![number],
                vec![Some(format!("a text that is not short {number}").into())],
            )
        })
        .collect();
    check(&keys, 1, 1, 8192, 3);
    let integers: Vec<Key> = keys.into_iter().map(|key| (key.0, Vec::new())).collect();
    check(&integers, 1, 0, 8192, 3);
}

/// Rows without hashes have the same one: all in one run of entries.
#[test]
fn equal_hashes_do_not_make_equal_keys() {
    let layout = GroupLayout {
        fixed_words: 1,
        text_count: 0,
    };
    let mut rows = KeyRows::new(layout);
    rows.begin(700);
    rows.update(0, 0..700, |word, key: u64| *word = key % 350);
    let (mut table, mut groups) = (GroupTable::new(layout), Vec::new());
    table.find(&rows, &[], &mut groups);
    let expected: Vec<usize> = (0..700).map(|row| row % 350).collect();
    assert_eq!((groups, table.group_count()), (expected, 350));
}

/// What is looked up is found, and added by nobody.
#[test]
fn keys_are_looked_up_without_being_added() {
    let key = |number: u64| {
        let text = (!number.is_multiple_of(3))
            .then(|| format!("{number:>width$}", width = number as usize % 40));
        (vec![number], vec![text.map(String::into_bytes)])
    };
    let keys: Vec<Key> = (0..3000).map(key).collect();
    let layout = layout(1, 1);
    let mut table = GroupTable::new(layout);
    let (mut groups, mut found) = (Vec::new(), Vec::new());
    let packed = pack(&keys[..2000], layout, 1);
    table.look_up(&packed.rows, &slices(&packed.buffers), &mut found);
    assert_eq!(found, [NO_KEY; 2000]);
    table.find(&packed.rows, &slices(&packed.buffers), &mut groups);
    let packed = pack(&keys[1000..], layout, 1);
    found.clear();
    table.look_up(&packed.rows, &slices(&packed.buffers), &mut found);
    let expected: Vec<u32> = (1000..2000).chain([NO_KEY; 1000]).collect();
    assert_eq!((found, table.group_count()), (expected, 2000));
}
