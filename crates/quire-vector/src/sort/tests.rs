use std::cmp::Ordering;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// A key of some rows: which way it is sorted, and its values.
#[derive(Clone, Debug)]
struct Key {
    direction: SortDirection,
    code_max: u64,
    codes: Vec<Option<u64>>,
}

impl Key {
    /// What the words stand for, from the definition of `ORDER BY`.
    fn compare(&self, one: usize, other: usize) -> Ordering {
        let nulls = if self.direction.nulls_first {
            Ordering::Less
        } else {
            Ordering::Greater
        };
        match (self.codes[one], self.codes[other]) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => nulls,
            (Some(_), None) => nulls.reverse(),
            (Some(one), Some(other)) if self.direction.is_descending => other.cmp(&one),
            (Some(one), Some(other)) => one.cmp(&other),
        }
    }
}

fn key(row_count: usize) -> impl Strategy<Value = Key> {
    let code_max = prop_oneof![
        Just(0_u64),
        Just(1),
        Just(6),
        Just(1000),
        Just(u64::from(u32::MAX)),
        Just(u64::MAX - 1),
        Just(u64::MAX),
    ];
    (code_max, any::<bool>(), any::<bool>(), any::<bool>()).prop_flat_map(
        move |(code_max, has_nulls, is_descending, nulls_first)| {
            // Few values, so that later keys decide.
            let few = prop_oneof![0..=code_max.min(3), 0..=code_max, Just(code_max)];
            let code = (few, 0..5_u8)
                .prop_map(move |(code, chance)| (!has_nulls || chance > 0).then_some(code));
            vec(code, row_count).prop_map(move |codes| Key {
                direction: SortDirection {
                    is_descending,
                    nulls_first,
                },
                code_max,
                codes,
            })
        },
    )
}

fn keys() -> impl Strategy<Value = (usize, Vec<Key>)> {
    let row_count = prop_oneof![0..40_usize, 200..1200_usize];
    row_count.prop_flat_map(|row_count| (Just(row_count), vec(key(row_count), 0..5)))
}

fn words_of(row_count: usize, keys: &[Key]) -> SortWords {
    let mut words = SortWords::new(row_count);
    for key in keys {
        let has_nulls = key.codes.contains(&None);
        words.push(
            key.codes.iter().copied(),
            key.code_max,
            has_nulls,
            key.direction,
        );
    }
    words
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn rows_are_in_the_order_of_their_keys((row_count, keys) in keys(), compared in 0..3_usize) {
        let (packed, rest) = keys.split_at(keys.len().saturating_sub(compared));
        let compare = |keys: &[Key], one: usize, other: usize| {
            let orders = keys.iter().map(|key| key.compare(one, other));
            orders.fold(Ordering::Equal, Ordering::then)
        };
        let mut expected: Vec<u32> = (0..row_count as u32).collect();
        expected.sort_by(|one, other| compare(&keys, *one as usize, *other as usize));
        let words = words_of(row_count, packed);
        let compare_rest = |one: u32, other: u32| compare(rest, one as usize, other as usize);
        let compare_rest: Option<&dyn Fn(u32, u32) -> Ordering> = match rest {
            [] => None,
            _ => Some(&compare_rest),
        };
        prop_assert_eq!(sorted_rows(row_count, words.words(), compare_rest), expected);
    }
}

#[test]
fn keys_take_as_few_words_as_their_bits_need() {
    let ascending = SortDirection {
        is_descending: false,
        nulls_first: false,
    };
    let mut words = SortWords::new(2);
    let mut push = |code_max: u64, has_nulls: bool| {
        words.push(
            [Some(0), Some(code_max)].into_iter(),
            code_max,
            has_nulls,
            ascending,
        );
        words.words().len()
    };
    // A constant has no bits; 31 and 33 bits are a word; a code for NULL takes one more bit where the codes fill theirs.
    let counts = [
        (0, false, 0),
        ((1 << 31) - 1, false, 1),
        ((1 << 32) - 1, true, 1),
        (0, true, 2),
        (u64::MAX, true, 3),
    ];
    for (code_max, has_nulls, word_count) in counts {
        assert_eq!(push(code_max, has_nulls), word_count, "{code_max}");
    }
}

#[test]
#[should_panic(expected = "each row has a code")]
fn keys_have_as_many_codes_as_there_are_rows() {
    let direction = SortDirection {
        is_descending: false,
        nulls_first: false,
    };
    SortWords::new(3).push([Some(1)].into_iter(), 1, false, direction);
}

/// Merges runs of numbers; each result has its run.
fn merged(runs: &[Vec<u8>]) -> Vec<(u8, usize)> {
    let mut places = vec![0; runs.len()];
    let is_before = |places: &[usize], one: usize, other: usize| {
        let next = |run: usize| {
            (
                runs[run].get(places[run]).is_none(),
                runs[run].get(places[run]),
                run,
            )
        };
        next(one) < next(other)
    };
    let mut tree = LoserTree::new(runs.len(), |one, other| is_before(&places, one, other));
    let mut found = Vec::new();
    while let Some(value) = runs[tree.winner()].get(places[tree.winner()]) {
        found.push((*value, tree.winner()));
        places[tree.winner()] += 1;
        tree.replay(|one, other| is_before(&places, one, other));
    }
    found
}

proptest! {
    #[test]
    fn a_tree_of_losers_merges_as_a_sort(runs in vec(vec(any::<u8>(), 0..30), 1..20)) {
        let sorted: Vec<Vec<u8>> = runs.into_iter().map(|mut run| { run.sort_unstable(); run }).collect();
        let mut expected: Vec<(u8, usize)> = Vec::new();
        for (number, run) in sorted.iter().enumerate() {
            expected.extend(run.iter().map(|value| (*value, number)));
        }
        expected.sort_unstable();
        prop_assert_eq!(merged(&sorted), expected);
    }
}
