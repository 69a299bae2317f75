//! A set of integers that lie close together.

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
    fn a_set_may_begin_at_either_end_of_the_integers() {
        let lowest = KeySet::new(i64::MIN, vec![0b11]);
        assert!(lowest.contains(i64::MIN) && lowest.contains(i64::MIN + 1));
        assert!(!lowest.contains(i64::MAX) && !lowest.contains(0));
        let highest = KeySet::new(i64::MAX, vec![0b1]);
        assert!(highest.contains(i64::MAX) && !highest.contains(i64::MIN));
    }
}
