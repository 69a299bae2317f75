//! Dictionaries of PDICT: an array of values for decoding, a perfect hash of it for encoding.

use super::SegmentError;
use super::perfect_hash::PerfectHash;
use super::word::{Integer, UnsignedWord};
use std::sync::Arc;

/// Values a dictionary can have. (The paper's codes of at most 24 bits would allow 16 times more.)
pub(super) const VALUES_MAX: usize = 1 << 20;

/// The values codes stand for, in the order of the codes. Segments share it behind an [`Arc`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuperScalarDictionary<T: Integer> {
    /// Filled up with zeros to a power of two, so that a masked code is always an index.
    table: Vec<T::Bits>,
    count: usize,
    fingerprint: u32,
}

impl<T: Integer> SuperScalarDictionary<T> {
    /// The dictionary in which `values[code]` is the value of `code`; the most frequent ones should come first,
    /// because a narrow width uses only the first. Fails without values, or with more than 2²⁰.
    pub fn new(values: &[T]) -> Result<Self, SegmentError> {
        Self::of_bits(T::as_bits(values).to_vec()).ok_or(SegmentError::DictionaryLength {
            count: values.len(),
            limit: VALUES_MAX,
        })
    }

    pub(super) fn of_bits(mut table: Vec<T::Bits>) -> Option<Self> {
        let count = table.len();
        if count == 0 || count > VALUES_MAX {
            return None;
        }
        let fingerprint = fingerprint(&table);
        table.resize(count.next_power_of_two(), T::Bits::default());
        Some(Self {
            table,
            count,
            fingerprint,
        })
    }

    /// Number of values.
    pub fn count(&self) -> usize {
        self.count
    }

    pub(super) fn fingerprint(&self) -> u32 {
        self.fingerprint
    }

    /// The values, and zeros up to a power of two.
    pub(super) fn table(&self) -> &[T::Bits] {
        &self.table
    }

    pub(super) fn value_bits(&self) -> &[T::Bits] {
        &self.table[..self.count]
    }
}

/// FNV-1a of the words' bytes. It tells a dictionary from another, not from one made to deceive.
fn fingerprint<U: UnsignedWord>(words: &[U]) -> u32 {
    words.iter().fold(0x811C_9DC5, |hash, word| {
        let bytes = word.wide().to_le_bytes().into_iter().take(U::BYTES);
        bytes.fold(hash, |hash: u32, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        })
    })
}

/// A dictionary with the perfect hash that finds the code of a value.
#[derive(Clone, Debug)]
pub struct DictionaryEncoder<T: Integer> {
    dictionary: Arc<SuperScalarDictionary<T>>,
    hash: PerfectHash<T::Bits>,
}

impl<T: Integer> DictionaryEncoder<T> {
    /// Builds the hash. It can serve any number of segments.
    pub fn new(dictionary: Arc<SuperScalarDictionary<T>>) -> Self {
        let hash = PerfectHash::new(dictionary.value_bits());
        Self { dictionary, hash }
    }

    /// The dictionary the codes point into.
    pub fn dictionary(&self) -> &Arc<SuperScalarDictionary<T>> {
        &self.dictionary
    }

    pub(super) fn hash(&self) -> &PerfectHash<T::Bits> {
        &self.hash
    }
}
