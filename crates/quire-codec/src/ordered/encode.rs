//! Strings become keys.

use super::OrderedCode;
use super::code::{CODE_BITS_MAX, Leaf};
use super::intervals::point_of;
use crate::code_writer::CodeWriter;

/// The keys of all strings that start with a given one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixKeyRange {
    /// The first key.
    pub start: Vec<u8>,
    /// The first key beyond; none when all keys from `start` on are meant.
    pub end: Option<Vec<u8>>,
}

impl PrefixKeyRange {
    /// Whether the string that `key` was encoded from is meant.
    pub fn contains(&self, key: &[u8]) -> bool {
        *self.start <= *key && self.end.as_deref().is_none_or(|end| key < end)
    }
}

impl OrderedCode {
    /// Calls `take` with the interval of each part of `value`.
    #[inline]
    fn for_each_leaf(&self, value: &[u8], mut take: impl FnMut(&Leaf)) {
        let mut rest = value;
        while let Some(bytes) = rest.first_chunk() {
            let leaf = &self.leaves[self.intervals.find(u64::from_be_bytes(*bytes))];
            take(leaf);
            rest = rest
                .get(usize::from(leaf.symbol_bytes)..)
                .unwrap_or_default();
        }
        let (mut point, mut left) = (point_of(rest), rest.len());
        while left > 0 {
            let leaf = &self.leaves[self.intervals.find(point)];
            take(leaf);
            point <<= 8 * u32::from(leaf.symbol_bytes);
            left = left.saturating_sub(usize::from(leaf.symbol_bytes));
        }
    }

    /// Appends the key of `value`. Keys of two strings compare as the strings do: as byte slices, the shorter being
    /// less where one starts with the other. The empty string has the empty key.
    pub fn encode(&self, value: &[u8], out: &mut Vec<u8>) {
        let mut writer = CodeWriter::new(out);
        self.for_each_leaf(value, |leaf| {
            let code = u64::from(leaf.code) << (u64::BITS - CODE_BITS_MAX);
            writer.push(code, leaf.code_bits.into());
        });
        writer.finish_with_zeros();
    }

    /// Exactly the bytes that [`Self::encode`] appends.
    pub fn encoded_bytes(&self, value: &[u8]) -> usize {
        let mut bits = 0;
        self.for_each_leaf(value, |leaf| bits += usize::from(leaf.code_bits));
        bits.div_ceil(8)
    }

    /// The keys of all strings that start with `prefix`, and of no others: `LIKE 'prefix%'` without decoding.
    pub fn prefix_range(&self, prefix: &[u8]) -> PrefixKeyRange {
        let key = |string: &[u8]| {
            let mut key = Vec::new();
            self.encode(string, &mut key);
            key
        };
        // The first string after all that start with the prefix: its last byte that can be greater is.
        let last = prefix.iter().rposition(|&byte| byte < u8::MAX);
        let end = last.map(|last| {
            let mut successor = prefix[..=last].to_vec();
            successor[last] += 1;
            key(&successor)
        });
        PrefixKeyRange {
            start: key(prefix),
            end,
        }
    }
}
