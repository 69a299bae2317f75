//! Numbers for distinct byte strings, in the order in which they are first seen.

use std::hash::{BuildHasher, RandomState};

const EMPTY: u32 = u32::MAX;

/// Product of both halves folded together: every input bit reaches every output bit.
fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    product as u64 ^ (product >> 64) as u64
}

/// `N` bytes of `bytes` from `start`, which are there.
fn load<const N: usize>(bytes: &[u8], start: usize) -> [u8; N] {
    let mut loaded = [0u8; N];
    loaded.copy_from_slice(&bytes[start..start + N]);
    loaded
}

/// Up to 16 bytes as two numbers. Loads overlap, which is faster than loads of odd lengths; different
/// strings of one length differ in a number.
fn short(bytes: &[u8]) -> (u64, u64) {
    let length = bytes.len();
    match length {
        8.. => (
            u64::from_le_bytes(load(bytes, 0)),
            u64::from_le_bytes(load(bytes, length - 8)),
        ),
        4.. => {
            let (low, high) = (load(bytes, 0), load(bytes, length - 4));
            (
                u64::from(u32::from_le_bytes(low)),
                u64::from(u32::from_le_bytes(high)),
            )
        }
        0 => (0, 0),
        _ => {
            let middle = u64::from(bytes[length / 2]) << 8;
            (
                u64::from(bytes[0]) | middle | u64::from(bytes[length - 1]) << 16,
                0,
            )
        }
    }
}

/// A hash good enough for a table in memory; it is never stored.
fn hash(bytes: &[u8], seed: u64) -> u64 {
    const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut state = seed ^ (bytes.len() as u64).wrapping_mul(MULTIPLIER);
    let mut rest = bytes;
    while rest.len() > 16 {
        let (low, high) = short(&rest[..16]);
        state = fold(low ^ state, high ^ MULTIPLIER);
        rest = &rest[16..];
    }
    let (low, high) = short(rest);
    fold(low ^ state, high ^ MULTIPLIER)
}

/// A hash table of borrowed byte strings. Seeded at random, so that chosen input cannot make it slow;
/// the numbers it gives do not depend on the seed.
pub(super) struct Interner<'a> {
    seed: u64,
    slots: Vec<u32>,
    hashes: Vec<u64>,
    values: Vec<&'a [u8]>,
}

impl<'a> Interner<'a> {
    pub(super) fn new() -> Self {
        let seed = RandomState::new().hash_one(0u8);
        Self {
            seed,
            slots: vec![EMPTY; 1024],
            hashes: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Number of `value`, a new one if it was never seen.
    pub(super) fn intern(&mut self, value: &'a [u8]) -> u32 {
        let hash = hash(value, self.seed);
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let number = self.slots[slot];
            if number == EMPTY {
                return self.insert(slot, hash, value);
            }
            if self.hashes[number as usize] == hash && self.values[number as usize] == value {
                return number;
            }
            slot = (slot + 1) & mask;
        }
    }

    fn insert(&mut self, slot: usize, hash: u64, value: &'a [u8]) -> u32 {
        let number = self.values.len() as u32;
        self.slots[slot] = number;
        self.hashes.push(hash);
        self.values.push(value);
        if self.values.len() * 2 > self.slots.len() {
            self.grow();
        }
        number
    }

    fn grow(&mut self) {
        let mask = self.slots.len() * 4 - 1;
        self.slots = vec![EMPTY; mask + 1];
        for (number, hash) in self.hashes.iter().enumerate() {
            let mut slot = *hash as usize & mask;
            while self.slots[slot] != EMPTY {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = number as u32;
        }
    }

    /// The distinct values, each at its number.
    pub(super) fn values(&self) -> &[&'a [u8]] {
        &self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_strings_share_a_number_and_others_do_not() {
        let texts: Vec<String> = (0..20_000)
            .map(|i| format!("{:>width$}", i % 5000, width = i % 40))
            .collect();
        let mut interner = Interner::new();
        let mut oracle = std::collections::HashMap::new();
        for text in &texts {
            let next = oracle.len() as u32;
            let expected = *oracle.entry(text.as_bytes()).or_insert(next);
            assert_eq!(interner.intern(text.as_bytes()), expected);
        }
        assert_eq!(interner.values().len(), oracle.len());
    }
}
