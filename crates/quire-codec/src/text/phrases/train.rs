//! Which phrases a column gets.

use super::trie::Trie;
use super::{PHRASE_BYTES_MAX, Phrase, WIDTHS};
use crate::BytesSlice;
use crate::text::contiguous;
use std::cmp::Reverse;
use std::collections::HashMap;

/// Phrases that are found, of which some are kept.
const FOUND_MAX: usize = 3 << 16;
/// How often two phrases must follow each other to become one.
const PAIRS_TO_MERGE: u32 = 3;
/// What a phrase costs in the dictionary, roughly.
const PHRASE_BITS: usize = 24;
/// Widths that are tried first.
const WIDTHS_FIRST: [u8; 3] = [9, 12, 14];

/// Phrases, ascending, and the width of their codes.
pub(super) struct TrainedPhrases {
    pub phrases: Vec<Phrase>,
    pub width: u8,
}

/// The bytes that occur.
fn bytes_of(values: &BytesSlice) -> Vec<Phrase> {
    let mut seen = [false; 256];
    for byte in contiguous(values) {
        seen[usize::from(*byte)] = true;
    }
    let bytes = (0..=255u8).filter(|byte| seen[usize::from(*byte)]);
    bytes.map(|byte| Phrase::new(&[byte])).collect()
}

/// A trie of `phrases`, numbered in order.
pub(super) fn trie_of(phrases: &[Phrase]) -> Trie {
    let mut trie = Trie::new();
    for (number, phrase) in phrases.iter().enumerate() {
        assert!(trie.insert(phrase.bytes(), number as u32), "phrase twice");
    }
    trie
}

/// Calls `each` with the number of every phrase of `value`, the longest that fits each time. All bytes of the
/// value must be phrases.
pub(super) fn cut(trie: &Trie, value: &[u8], mut each: impl FnMut(u32)) {
    let mut rest = value;
    while let Some((phrase, length)) = trie.longest(rest) {
        each(phrase);
        rest = &rest[length..];
    }
    assert!(rest.is_empty(), "byte {} is no phrase", rest[0]);
}

fn count_codes(trie: &Trie, values: &BytesSlice) -> usize {
    let mut codes = 0;
    for value in values.iter() {
        cut(trie, value, |_| codes += 1);
    }
    codes
}

/// Cuts the sample into the longest phrases known so far, and makes a phrase of two that often follow each
/// other. Returns `single` and what was found, that which saves most first.
fn find(single: Vec<Phrase>, sample: &BytesSlice) -> Vec<Phrase> {
    let single_count = single.len();
    let mut phrases = single;
    let mut trie = trie_of(&phrases);
    let mut pairs: HashMap<u64, u32> = HashMap::new();
    for value in sample.iter() {
        let mut rest = value;
        let mut before: Option<(u32, usize)> = None;
        while let Some((phrase, length)) = trie.longest(rest) {
            if let Some((left, left_bytes)) = before
                && left_bytes + length <= PHRASE_BYTES_MAX
                && phrases.len() < FOUND_MAX
            {
                let count = pairs.entry(u64::from(left) << 32 | u64::from(phrase));
                let count = count.and_modify(|count| *count += 1).or_insert(1);
                if *count == PAIRS_TO_MERGE {
                    let left = phrases[left as usize];
                    let both = Phrase::new(&[left.bytes(), &rest[..length]].concat());
                    if trie.insert(both.bytes(), phrases.len() as u32) {
                        phrases.push(both);
                    }
                }
            }
            before = Some((phrase, length));
            rest = &rest[length..];
        }
    }
    let mut uses = vec![0u64; phrases.len()];
    for value in sample.iter() {
        cut(&trie, value, |phrase| uses[phrase as usize] += 1);
    }
    let (kept, found) = phrases.split_at(single_count);
    let mut ranked: Vec<(u64, Phrase)> = found
        .iter()
        .zip(&uses[single_count..])
        .filter(|(_, uses)| **uses > 1)
        .map(|(phrase, uses)| (uses * (phrase.bytes().len() as u64 - 1), *phrase))
        .collect();
    ranked.sort_by_key(|(saved, _)| Reverse(*saved));
    let ranked = ranked.into_iter().map(|(_, phrase)| phrase);
    kept.iter().copied().chain(ranked).collect()
}

/// The width of codes that makes the values smallest: the best of three, and from there on to either side as long
/// as size falls.
fn best_width(single_count: usize, ranked: &[Phrase], sample: &BytesSlice, scale: f64) -> u8 {
    let bits_at = |width: u8| {
        let phrases = &ranked[..ranked.len().min(1 << width)];
        let codes = count_codes(&trie_of(phrases), sample) as f64;
        codes * scale * f64::from(width) + (phrases.len() * PHRASE_BITS) as f64
    };
    let (first, last) = (*WIDTHS.start(), *WIDTHS.end());
    let width_for = |count: usize| (first..last).find(|width| 1 << width >= count);
    let narrowest = width_for(single_count).unwrap_or(last);
    let widest = width_for(ranked.len()).unwrap_or(last);
    let mut tried: Vec<(u8, f64)> = Vec::new();
    for width in WIDTHS_FIRST.map(|width| width.clamp(narrowest, widest)) {
        if tried.iter().all(|one| one.0 != width) {
            tried.push((width, bits_at(width)));
        }
    }
    let by_bits = |left: &(u8, f64), right: &(u8, f64)| left.1.total_cmp(&right.1);
    let start = tried.iter().copied().min_by(by_bits);
    let Some((mut width, mut bits)) = start else {
        return narrowest;
    };
    for step in [1, -1] {
        while let Some(next) = width.checked_add_signed(step) {
            if !(narrowest..=widest).contains(&next) || tried.iter().any(|one| one.0 == next) {
                break;
            }
            let next_bits = bits_at(next);
            tried.push((next, next_bits));
            if next_bits >= bits {
                break;
            }
            (width, bits) = (next, next_bits);
        }
    }
    width
}

/// Trains phrases for `values` on `sample`, which is a part of them.
pub(super) fn train(values: &BytesSlice, sample: &BytesSlice) -> TrainedPhrases {
    let single = bytes_of(values);
    let single_count = single.len();
    let mut phrases = find(single, sample);
    let scale = values.data_bytes() as f64 / sample.data_bytes().max(1) as f64;
    let width = best_width(single_count, &phrases, sample, scale);
    phrases.truncate(1 << width);
    phrases.sort_unstable_by(|left, right| left.bytes().cmp(right.bytes()));
    TrainedPhrases { phrases, width }
}
