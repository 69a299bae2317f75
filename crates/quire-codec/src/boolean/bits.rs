//! Booleans as bits: words of 64 rows, of which a vector has sixteen.

use crate::{VECTOR_VALUES, vector_count, vector_rows};

/// 64-bit words in a vector of bits.
pub(crate) const VECTOR_WORDS: usize = VECTOR_VALUES / 64;

/// Packs booleans into words, least significant bit first.
pub fn to_words(values: &[bool]) -> Vec<u64> {
    let word = |chunk: &[bool]| {
        chunk
            .iter()
            .enumerate()
            .fold(0, |word, (bit, &value)| word | u64::from(value) << bit)
    };
    values.chunks(64).map(word).collect()
}

/// The words of vector `vector`, bits beyond the rows cleared.
fn vector_words(words: &[u64], row_count: usize, vector: usize) -> [u64; VECTOR_WORDS] {
    let mut out = [0; VECTOR_WORDS];
    let source = words.get(vector * VECTOR_WORDS..).unwrap_or_default();
    let count = source.len().min(VECTOR_WORDS);
    out[..count].copy_from_slice(&source[..count]);
    clear_beyond(&mut out, vector_rows(row_count, vector));
    out
}

/// Clears the bits from `rows` on.
pub(super) fn clear_beyond(words: &mut [u64; VECTOR_WORDS], rows: usize) {
    for (index, word) in words.iter_mut().enumerate() {
        match rows.saturating_sub(index * 64) {
            0 => *word = 0,
            kept @ 1..64 => *word &= (1 << kept) - 1,
            _ => {}
        }
    }
}

pub(super) fn vectors(
    words: &[u64],
    row_count: usize,
) -> impl Iterator<Item = [u64; VECTOR_WORDS]> {
    (0..vector_count(row_count)).map(move |vector| vector_words(words, row_count, vector))
}
