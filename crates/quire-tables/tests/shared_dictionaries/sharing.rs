//! Which row groups refer to which dictionary, and what it saves.

use crate::fixture::{
    GROUP, Random, TABLE, WORD, WORDS, World, append_with, assert_counts, definition,
    definition_with_dictionaries, distinct_words, group_of, groups_of, references, row_groups,
    rows_decompressed, rows_of, words,
};
use quire_codec::CodecId;
use quire_tables::{AppendOptions, Decompression};

#[test]
fn words_of_many_row_groups_are_stored_once() {
    let groups = 8;
    let rows = groups_of(&vec![0..WORDS; groups]);
    let world = World::with(&rows).reopened();
    let table = world.table();
    assert_eq!(table.row_group_count(), groups);
    let references = references(&table);
    assert!(references[0].is_some());
    assert!(references.iter().all(|one| *one == references[0]));
    assert_counts(&table);
    // Each row group by itself, in a table where none follows.
    let alone: u64 = rows
        .chunks(GROUP)
        .map(|rows| {
            let world = World::new(definition(TABLE));
            let mut transaction = world.engine.begin().unwrap();
            let mut appender = transaction
                .appender_with(TABLE, AppendOptions::default())
                .unwrap();
            appender.append(&crate::fixture::batch_of(rows)).unwrap();
            appender.finish().unwrap();
            transaction.commit().unwrap();
            let table = world.table();
            assert_eq!(table.shared_dictionaries(WORD), []);
            table.statistics(WORD).unwrap().encoded_bytes
        })
        .sum();
    let dictionary = table.shared_dictionaries(WORD)[0].stored_bytes;
    assert!(dictionary > 4096);
    let shared = table.statistics(WORD).unwrap().encoded_bytes;
    let saved = (groups as u64 - 1) * dictionary;
    // A segment that refers to a dictionary says to which.
    assert!(
        shared <= alone - saved + 64 * groups as u64,
        "{shared} of {alone}"
    );
    assert_eq!(rows_of(&table), rows);
}

#[test]
fn twenty_thousand_names_of_full_row_groups_are_stored_once() {
    let names = words(0..20_000);
    let mut random = Random::new(3);
    let row_count = 3 * 131_072;
    let name = |_| Some(names[random.below(names.len())].clone());
    let rows: Vec<_> = (0..row_count).zip((0..row_count).map(name)).collect();
    let world = World::new(definition(TABLE));
    let mut transaction = world.engine.begin().unwrap();
    let mut appender = transaction.appender(TABLE).unwrap();
    appender.append(&crate::fixture::batch_of(&rows)).unwrap();
    appender.finish().unwrap();
    transaction.commit().unwrap();
    let world = world.reopened();
    let table = world.table();
    let [dictionary] = table.shared_dictionaries(WORD) else {
        panic!("one dictionary");
    };
    assert_eq!(dictionary.row_group_count, 3);
    // 15 bits a row and a few bytes around them; the few names that the first row group lacks besides.
    let codes = 131_072 * 15 / 8;
    for row_group in row_groups(&table) {
        let bytes = row_group.columns[WORD].encoded_bytes;
        assert!(bytes <= codes + codes / 16, "{bytes} bytes");
    }
    assert_eq!(rows_of(&table), rows);
}

/// As the rules say, from the distinct words alone.
fn expected_references(rows: &[crate::fixture::Row]) -> Vec<Option<usize>> {
    let groups = distinct_words(rows);
    let mut known: Vec<usize> = Vec::new();
    let mut references = Vec::new();
    for (index, own) in groups.iter().enumerate() {
        let suits = |other: &&usize| {
            let shared = own.intersection(&groups[**other]).count();
            shared * 10 >= own.len() * 9 && shared * 4 >= groups[**other].len()
        };
        let mut suiting = known.iter().filter(suits).copied();
        let found = suiting.next();
        assert_eq!(suiting.next(), None, "sizes need not be compared");
        let is_full = rows.len() >= (index + 1) * GROUP;
        if found.is_none() && known.len() < 4 && is_full {
            known.push(index);
            references.push(Some(index));
        } else {
            references.push(found);
        }
    }
    references
}

#[test]
fn row_groups_refer_to_what_has_nine_of_ten_of_their_words() {
    let tenth = WORDS / 10;
    let drifting = [
        0..WORDS,
        // All of them, and nine of ten.
        0..WORDS,
        tenth / 2..WORDS + tenth / 2,
        // Fewer.
        2 * tenth..WORDS + 2 * tenth,
        2 * tenth..WORDS + 2 * tenth,
        // None.
        5000..5000 + WORDS,
        0..WORDS,
        6000..6000 + WORDS,
        // There are four already.
        7000..7000 + WORDS,
        5000..5000 + WORDS,
    ];
    let mut rows = groups_of(&drifting);
    rows.truncate(rows.len() - 1000);
    let expected = expected_references(&rows);
    let named = [0, 0, 0, 3, 3, 5, 0, 7];
    assert_eq!(expected[..8], named.map(Some));
    assert_eq!(expected[8..], [None, Some(5)]);
    let world = World::with(&rows).reopened();
    let table = world.table();
    let found = references(&table);
    for (one, expected) in found.iter().zip(&expected) {
        let expected = expected.map(|index| found[index].unwrap());
        assert_eq!(*one, expected, "{found:?}");
    }
    assert_counts(&table);
    assert_eq!(rows_of(&table), rows);
}

#[test]
fn row_groups_refer_to_the_dictionary_that_makes_them_smallest() {
    // The second has all words of the first, which are a quarter of its own: both suit the first, and codes of the second are two bits longer.
    let (few, many) = (0..450, 0..1700);
    let sets = [&few, &many, &few, &few, &many, &few].map(Clone::clone);
    let rows = groups_of(&sets);
    let world = World::new(definition_with_dictionaries());
    world.append(&rows);
    let world = world.reopened();
    let table = world.table();
    let found = references(&table);
    let (of_few, of_many) = (found[0], found[1]);
    assert!(of_few.is_some() && of_many.is_some() && of_few != of_many);
    assert_eq!(found, [of_few, of_many, of_few, of_few, of_many, of_few]);
    assert_counts(&table);
    assert_eq!(rows_of(&table), rows);
}

#[test]
fn every_way_to_decompress_reads_the_same_rows() {
    // Dictionaries, row groups with words of their own behind them, and one that keeps its own.
    let sets = [
        0..WORDS,
        20..WORDS + 20,
        5000..5000 + WORDS,
        0..WORDS,
        5000..5020 + WORDS,
        9000..9020,
    ];
    let rows = groups_of(&sets);
    let world = World::with(&rows).reopened();
    let table = world.table();
    let found = references(&table);
    assert!(found[..5].iter().all(Option::is_some) && found[5].is_none());
    for decompression in [
        Decompression::IntoCache,
        Decompression::IntoMemory,
        Decompression::IntoPool,
        // From the pool.
        Decompression::IntoPool,
    ] {
        let read = rows_decompressed(&table, decompression);
        assert_eq!(read, rows, "{decompression:?}");
    }
}

#[test]
fn random_sets_of_words_are_read_as_they_were_written() {
    for seed in 0..6 {
        let mut random = Random::new(seed);
        let sets: Vec<_> = (0..7)
            .map(|_| {
                let first = [0, 20, 60, 300, 900][random.below(5)];
                first..first + WORDS - random.below(300)
            })
            .collect();
        let mut rows = groups_of(&sets);
        rows.truncate(rows.len() - random.below(GROUP));
        let world = World::with(&rows).reopened();
        let table = world.table();
        assert_counts(&table);
        assert_eq!(rows_of(&table), rows, "seed {seed}");
    }
}

#[test]
fn later_appends_refer_to_dictionaries_of_the_table() {
    let world = World::with(&groups_of(&[0..WORDS, 0..WORDS])).reopened();
    let first = references(&world.table())[0];
    let mut rows = rows_of(&world.table());
    let more = group_of(&words(10..WORDS + 10), (2 * GROUP) as i64);
    world.append(&more);
    // Few rows, which have a third of the words: those of a quarter suffice.
    let few: Vec<_> = group_of(&words(0..WORDS / 3), (3 * GROUP) as i64)[..1000].to_vec();
    world.append(&few);
    rows.extend(more.into_iter().chain(few));
    let world = world.reopened();
    let found = references(&world.table());
    assert_eq!(found, [first; 4]);
    assert_counts(&world.table());
    assert_eq!(rows_of(&world.table()), rows);
}

#[test]
fn the_outcome_does_not_depend_on_the_workers() {
    let sets: Vec<_> = [0, 0, 40, 500, 0, 500, 3000, 3000, 9000, 0]
        .map(|first| first..first + WORDS)
        .to_vec();
    let rows = groups_of(&sets);
    let loaded = |workers: usize| {
        let world = World::new(definition(TABLE));
        let mut transaction = world.engine.begin().unwrap();
        append_with(&mut transaction, TABLE, &rows, workers);
        transaction.commit().unwrap();
        let table = world.table();
        let bytes = row_groups(&table).into_iter();
        let bytes: Vec<u64> = bytes.map(|one| one.columns[WORD].encoded_bytes).collect();
        (references(&table), bytes)
    };
    let one = loaded(1);
    for workers in [2, 4, 7] {
        assert_eq!(loaded(workers), one, "{workers} workers");
    }
}

#[test]
fn short_dictionaries_and_those_of_a_single_row_group_stay_in_their_segments() {
    // Twenty words are less than 4 KiB.
    let world = World::with(&groups_of(&[0..20, 0..20, 0..20])).reopened();
    assert_eq!(references(&world.table()), [None; 3]);
    let mut rows = group_of(&words(0..WORDS), 0);
    rows.pop();
    let world = World::with(&rows).reopened();
    assert_eq!(references(&world.table()), [None]);
    assert_eq!(rows_of(&world.table()), rows);
}

#[test]
fn blocks_keep_their_dictionaries() {
    let rows = groups_of(&[0..WORDS, 0..WORDS, 0..WORDS]);
    let world = World::new(definition(TABLE).in_blocks_of(64 << 10));
    world.append(&rows);
    let world = world.reopened();
    assert_eq!(world.table().shared_dictionaries(WORD), []);
    assert_eq!(rows_of(&world.table()), rows);
}

#[test]
fn a_demanded_dictionary_is_shared_and_another_codec_is_not() {
    let rows = groups_of(&[0..WORDS, 0..WORDS]);
    for (codec, count) in [(CodecId::Dictionary, 1), (CodecId::Fsst, 0)] {
        let mut definition = definition(TABLE);
        definition.columns[WORD].compression = Some(codec);
        let world = World::new(definition);
        world.append(&rows);
        let world = world.reopened();
        assert_eq!(world.table().shared_dictionaries(WORD).len(), count);
        assert_eq!(rows_of(&world.table()), rows);
    }
}
