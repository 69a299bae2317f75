//! Rows in the order of their words.

use std::cmp::Ordering;

/// So few rows are compared, not distributed.
const COMPARED_ROWS_MAX: usize = 256;
const DIGIT_BITS: u32 = 8;
const DIGIT_VALUES: usize = 1 << DIGIT_BITS;

/// The rows 0 to `row_count`, ordered by each of `words` in turn and, where all are equal, by `compare_rest`. What is equal in everything stays in
/// ascending order.
///
/// # Panics
///
/// If a word has fewer entries than there are rows, or if there are 2^32 rows.
pub fn sorted_rows(
    row_count: usize,
    words: &[Vec<u64>],
    compare_rest: Option<&dyn Fn(u32, u32) -> Ordering>,
) -> Vec<u32> {
    assert!(
        u32::try_from(row_count).is_ok(),
        "rows have numbers of 32 bits"
    );
    let mut rows: Vec<u32> = (0..row_count as u32).collect();
    sort_run(&mut rows, words, compare_rest);
    rows
}

/// Sorts rows that are in ascending order and have the same words before `words`.
fn sort_run(
    rows: &mut [u32],
    words: &[Vec<u64>],
    compare_rest: Option<&dyn Fn(u32, u32) -> Ordering>,
) {
    let compare_last = |one: u32, other: u32| match compare_rest {
        Some(compare) => compare(one, other),
        None => Ordering::Equal,
    };
    if rows.len() <= COMPARED_ROWS_MAX {
        rows.sort_by(|one, other| {
            let mut words = words.iter();
            let words = words.find_map(|word| {
                let order = word[*one as usize].cmp(&word[*other as usize]);
                order.is_ne().then_some(order)
            });
            words.unwrap_or_else(|| compare_last(*one, *other))
        });
        return;
    }
    let Some((word, others)) = words.split_first() else {
        if compare_rest.is_some() {
            rows.sort_by(|one, other| compare_last(*one, *other));
        }
        return;
    };
    let sorted = sorted_by_word(rows, word);
    for (row, (_, sorted)) in rows.iter_mut().zip(&sorted) {
        *row = *sorted;
    }
    if others.is_empty() && compare_rest.is_none() {
        return;
    }
    let mut start = 0;
    for run in sorted.chunk_by(|(one, _), (other, _)| one == other) {
        if run.len() > 1 {
            sort_run(&mut rows[start..start + run.len()], others, compare_rest);
        }
        start += run.len();
    }
}

/// The rows with their words, in the order of these: distributed by one digit after the other, from the lowest on, but for those that all rows share.
fn sorted_by_word(rows: &[u32], word: &[u64]) -> Vec<(u64, u32)> {
    let words = rows.iter().map(|row| (word[*row as usize], *row));
    let mut sorted: Vec<(u64, u32)> = words.collect();
    let first = sorted.first().map_or(0, |(word, _)| *word);
    let differing = sorted
        .iter()
        .fold(0, |bits, (word, _)| bits | (word ^ first));
    let mut other = vec![(0, 0); sorted.len()];
    for shift in (0..u64::BITS).step_by(DIGIT_BITS as usize) {
        if differing >> shift & (DIGIT_VALUES as u64 - 1) == 0 {
            continue;
        }
        distribute(&sorted, &mut other, shift);
        std::mem::swap(&mut sorted, &mut other);
    }
    sorted
}

fn distribute(from: &[(u64, u32)], to: &mut [(u64, u32)], shift: u32) {
    let digit = |word: u64| (word >> shift) as usize % DIGIT_VALUES;
    let mut places = [0_usize; DIGIT_VALUES];
    for (word, _) in from {
        places[digit(*word)] += 1;
    }
    let mut sum = 0;
    for place in &mut places {
        sum += std::mem::replace(place, sum);
    }
    for entry in from {
        let place = &mut places[digit(entry.0)];
        to[*place] = *entry;
        *place += 1;
    }
}
