//! Integers that lie close together, numbered in ascending order.

use super::NO_KEY;

/// A bit for each integer between the first and the last key, and how many keys come before each word of bits.
///
/// The number of a key is its rank. A hash table of `n` keys has some 20 bytes for each of them in places that differ for neighboring keys; here
/// it is a quarter of a byte for each integer, and neighboring keys share a cache line.
#[derive(Debug)]
pub struct KeyRanks {
    first: i64,
    words: Vec<RankedWord>,
    count: usize,
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(16))]
struct RankedWord {
    bits: u64,
    /// Keys in all words before this one.
    before: u32,
}

impl KeyRanks {
    /// What the ranks of keys between `first` and `last` allocate; `None` if that is more than memory can be.
    pub fn bytes(first: i64, last: i64) -> Option<usize> {
        let words = usize::try_from(last.abs_diff(first) / 64).ok()?;
        words.checked_add(1)?.checked_mul(size_of::<RankedWord>())
    }

    /// The ranks of keys, each of which is between `first` and `last`.
    ///
    /// # Panics
    ///
    /// If a key is not, or if there are 2^32 keys.
    pub fn new(first: i64, last: i64, keys: impl Iterator<Item = i64>) -> Self {
        let word_count = (last.abs_diff(first) / 64) as usize + 1;
        let mut words = vec![RankedWord::default(); word_count];
        for key in keys {
            let offset = offset(key, first);
            words[(offset / 64) as usize].bits |= 1 << (offset % 64);
        }
        let mut count = 0_u64;
        for word in &mut words {
            assert!(count < u64::from(NO_KEY), "keys have numbers of 32 bits");
            word.before = count as u32;
            count += u64::from(word.bits.count_ones());
        }
        assert!(count <= u64::from(NO_KEY), "keys have numbers of 32 bits");
        Self {
            first,
            words,
            count: count as usize,
        }
    }

    /// Distinct keys.
    pub fn count(&self) -> usize {
        self.count
    }

    pub fn allocated_bytes(&self) -> usize {
        self.words.capacity() * size_of::<RankedWord>()
    }

    /// The number of a key; [`NO_KEY`] if it is none of the keys.
    #[inline(always)]
    pub fn number(&self, key: i64) -> u32 {
        let offset = offset(key, self.first);
        let word = self.words.get((offset / 64) as usize);
        let word = word.copied().unwrap_or_default();
        let bit = 1 << (offset % 64);
        let below = (word.bits & (bit - 1)).count_ones();
        if word.bits & bit == 0 {
            NO_KEY
        } else {
            word.before + below
        }
    }
}

/// A key below the first wraps to an offset that no word is for.
#[inline(always)]
fn offset(key: i64, first: i64) -> u64 {
    key.wrapping_sub(first) as u64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn numbers_are_ranks(
            first in prop_oneof![Just(i64::MIN), Just(i64::MAX - 300), -500_i64..500],
            offsets in proptest::collection::vec(0_i64..300, 0..200),
        ) {
            let keys: Vec<i64> = offsets.iter().map(|offset| first + offset).collect();
            let ranks = KeyRanks::new(first, first + 300, keys.iter().copied());
            let distinct: BTreeSet<i64> = keys.into_iter().collect();
            prop_assert_eq!(ranks.count(), distinct.len());
            for offset in -200..500_i64 {
                let key = first.wrapping_add(offset);
                let rank = distinct.iter().position(|known| *known == key);
                prop_assert_eq!(ranks.number(key), rank.map_or(NO_KEY, |rank| rank as u32));
            }
        }
    }

    #[test]
    fn memory_is_known_before() {
        assert_eq!(KeyRanks::bytes(0, 63), Some(16));
        assert_eq!(KeyRanks::bytes(-1, 63), Some(32));
        let ranks = KeyRanks::new(-1, 63, [5].into_iter());
        assert_eq!(ranks.allocated_bytes(), 32);
        assert!(KeyRanks::bytes(i64::MIN, i64::MAX).is_some_and(|bytes| bytes >= 1 << 61));
    }
}
