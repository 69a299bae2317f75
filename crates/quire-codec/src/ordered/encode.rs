//! Strings become keys.

use super::OrderedCode;
use super::code::{CODE_BITS_MAX, Leaf};
use super::intervals::point_of;

/// Writes codes end to end, the highest bit of a byte first.
struct OrderedCodeWriter<'a> {
    out: &'a mut Vec<u8>,
    /// The bits not written yet, in the highest.
    bits: u64,
    bit_count: u32,
}

impl OrderedCodeWriter<'_> {
    #[inline]
    fn push(&mut self, leaf: &Leaf) {
        let code = u64::from(leaf.code) << (u64::BITS - CODE_BITS_MAX);
        self.bits |= code >> self.bit_count;
        self.bit_count += u32::from(leaf.code_bits);
        if self.bit_count >= u32::BITS {
            self.out
                .extend_from_slice(&((self.bits >> 32) as u32).to_be_bytes());
            self.bits <<= u32::BITS;
            self.bit_count -= u32::BITS;
        }
    }

    /// Fills the last byte with zeros.
    fn finish(self) {
        let bytes = self.bits.to_be_bytes();
        let byte_count = self.bit_count.div_ceil(8) as usize;
        self.out.extend(bytes.iter().take(byte_count));
    }
}

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
        let mut writer = OrderedCodeWriter {
            out,
            bits: 0,
            bit_count: 0,
        };
        self.for_each_leaf(value, |leaf| writer.push(leaf));
        writer.finish();
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
