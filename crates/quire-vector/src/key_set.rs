//! A set of integers that lie close together.

use std::ops::RangeInclusive;

/// Some of the integers of an interval: one bit for each integer of it.
///
/// It holds the keys of a join's build side, or all values for which a condition is true.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeySet {
    first: i64,
    words: Vec<u64>,
}

impl KeySet {
    /// The integers `first + i` for which bit `i % 64` of `words[i / 64]` is set. No bit is set beyond the last integer.
    pub fn new(first: i64, words: Vec<u64>) -> Self {
        Self { first, words }
    }

    /// Whether `key` is in the set.
    #[inline(always)]
    pub fn contains(&self, key: i64) -> bool {
        // A key below the first wraps to an offset that no set has a word for: words of 2^61 bytes do not exist.
        let offset = key.wrapping_sub(self.first) as u64;
        let word = self.words.get((offset / 64) as usize).copied().unwrap_or(0);
        word >> (offset % 64) & 1 != 0
    }

    /// The keys as a range, if they are consecutive. That of no keys is empty.
    pub fn as_range(&self) -> Option<RangeInclusive<i64>> {
        let ones = |words: &[u64]| words.iter().map(|word| u64::from(word.count_ones())).sum();
        let count: u64 = ones(&self.words);
        let Some(word) = self.words.iter().position(|word| *word != 0) else {
            return Some(RangeInclusive::new(i64::MAX, i64::MIN));
        };
        let first = word as u64 * 64 + u64::from(self.words[word].trailing_zeros());
        let last = self.words.iter().rposition(|word| *word != 0)?;
        let last = last as u64 * 64 + 63 - u64::from(self.words[last].leading_zeros());
        let key = |offset: u64| self.first.checked_add_unsigned(offset);
        (last - first + 1 == count).then_some(key(first)?..=key(last)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_the_integers_of_its_bits_and_no_others() {
        let set = KeySet::new(-2, vec![0b101, 1 << 63]);
        let members: Vec<i64> = (-200..200).filter(|&key| set.contains(key)).collect();
        assert_eq!(members, [-2, 0, 125]);
        assert!(!set.contains(i64::MIN) && !set.contains(i64::MAX));
        assert!(!KeySet::new(5, Vec::new()).contains(5));
    }

    #[test]
    fn consecutive_keys_are_a_range() {
        let of = |first, words: &[u64]| KeySet::new(first, words.to_vec()).as_range();
        assert_eq!(of(-2, &[0b1110]), Some(-1..=1));
        assert_eq!(of(10, &[0, 1 << 63, 0b1, 0]), Some(137..=138));
        assert_eq!(of(10, &[u64::MAX, u64::MAX]), Some(10..=137));
        assert_eq!(of(i64::MAX, &[1]), Some(i64::MAX..=i64::MAX));
        assert_eq!(of(0, &[0b101]), None);
        assert_eq!(of(0, &[1, 1]), None);
        assert!(of(0, &[]).unwrap().is_empty() && of(7, &[0, 0]).unwrap().is_empty());
    }

    #[test]
    fn a_set_may_begin_at_either_end_of_the_integers() {
        let lowest = KeySet::new(i64::MIN, vec![0b11]);
        assert!(lowest.contains(i64::MIN) && lowest.contains(i64::MIN + 1));
        assert!(!lowest.contains(i64::MAX) && !lowest.contains(0));
        let highest = KeySet::new(i64::MAX, vec![0b1]);
        assert!(highest.contains(i64::MAX) && !highest.contains(i64::MIN));
    }
}
