//! Values of registers as keys of hash tables: bytes that are alike when the values are.

use crate::avm::{Register, RegisterSet, TargetRegister, TextPlace};
use crate::key_hash::{FACTOR, fold, hash_of};

const NULL: u8 = 0;
const VALUE: u8 = 1;

/// Appends a key so that equal values have equal bytes: one zero, one NaN.
pub(super) fn push_key(registers: &RegisterSet, register: Register, key: &mut Vec<u8>) {
    let mut push = |is_null: bool, bytes: &[u8]| {
        key.push(if is_null { NULL } else { VALUE });
        if !is_null {
            key.extend_from_slice(bytes);
        }
    };
    match register {
        Register::Boolean(word) | Register::Integer(word) => {
            push(
                registers.is_null_word(word),
                &registers.word(word).to_le_bytes(),
            );
        }
        Register::Double(word) => {
            let value = f64::from_bits(registers.word(word) as u64);
            let value = if value.is_nan() {
                f64::NAN
            } else {
                value + 0.0
            };
            push(registers.is_null_word(word), &value.to_bits().to_le_bytes());
        }
        Register::Real(word) => {
            let value = f32::from_bits(registers.word(word) as u32);
            let value = if value.is_nan() {
                f32::NAN
            } else {
                value + 0.0
            };
            push(
                registers.is_null_word(word),
                &u64::from(value.to_bits()).to_le_bytes(),
            );
        }
        Register::Decimal(wide) => {
            push(
                registers.is_null_wide(wide),
                &registers.wide(wide).to_le_bytes(),
            );
        }
        Register::Text(text) => {
            let bytes = registers.text(text);
            // A text has less than 4 GiB.
            push(
                registers.is_null_text(text),
                &(bytes.len() as u32).to_le_bytes(),
            );
            if !registers.is_null_text(text) {
                key.extend_from_slice(bytes);
            }
        }
    }
}

/// Sets a register to the key at a place of a buffer; the place behind it.
pub(super) fn restore_key(
    registers: &mut RegisterSet,
    register: Register,
    buffer: u16,
    at: u32,
) -> u32 {
    let bytes = registers
        .buffer(buffer)
        .get(at as usize..)
        .unwrap_or_default();
    let Some((&VALUE, bytes)) = bytes.split_first() else {
        registers.set_null(register);
        return at + 1;
    };
    let word = bytes
        .first_chunk()
        .map_or(0, |bytes| i64::from_le_bytes(*bytes));
    let wide = bytes
        .first_chunk()
        .map_or(0, |bytes| i128::from_le_bytes(*bytes));
    let text_bytes = bytes
        .first_chunk()
        .map_or(0, |bytes| u32::from_le_bytes(*bytes));
    match register {
        Register::Boolean(register)
        | Register::Integer(register)
        | Register::Double(register)
        | Register::Real(register) => {
            registers.set_word(TargetRegister(register), word);
            at + 9
        }
        Register::Decimal(register) => {
            registers.set_wide(TargetRegister(register), wide);
            at + 17
        }
        Register::Text(register) => {
            let place = TextPlace::in_buffer(buffer, at + 5, text_bytes);
            registers.set_text(TargetRegister(register), place);
            at + 5 + text_bytes
        }
    }
}

/// What a hash table has of a key in its own memory: all of a short key, so that nobody looks elsewhere whether it is the one. Most are:
/// two numbers are 18 bytes, two letters 12.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KeyHead([u64; 3]);

impl KeyHead {
    /// The longest key that is here as a whole; the last byte has its length.
    const BYTES_MAX: usize = 23;
    const LONGER: u8 = 0xFF;

    #[inline]
    pub(super) fn of(key: &[u8]) -> Self {
        let mut head = [0; Self::BYTES_MAX + 1];
        match head.get_mut(..key.len()) {
            Some(start) if key.len() <= Self::BYTES_MAX => {
                start.copy_from_slice(key);
                head[Self::BYTES_MAX] = key.len() as u8;
            }
            _ => {
                head[..8].copy_from_slice(&hash_of(key).to_le_bytes());
                head[Self::BYTES_MAX] = Self::LONGER;
            }
        }
        let (words, _) = head.as_chunks::<8>();
        let word = |at: usize| words.get(at).map_or(0, |word| u64::from_le_bytes(*word));
        Self([word(0), word(1), word(2)])
    }

    /// Whether keys with the same head are the same.
    #[inline]
    pub(super) fn is_whole(self) -> bool {
        self.0[2].to_le_bytes()[7] != Self::LONGER
    }

    #[inline]
    pub(super) fn hash(self) -> u64 {
        self.0.into_iter().fold(FACTOR, fold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_are_alike_when_keys_are() {
        let mut keys: Vec<Vec<u8>> = Vec::new();
        for length in 0..40 {
            for byte in [0, 1, KeyHead::LONGER] {
                keys.push(vec![byte; length]);
            }
            let mut other = vec![0; length];
            other.extend([1]);
            keys.push(other);
        }
        for one in &keys {
            let head = KeyHead::of(one);
            assert_eq!(head.is_whole(), one.len() <= KeyHead::BYTES_MAX);
            for other in &keys {
                let is_alike = head == KeyHead::of(other);
                assert_eq!(is_alike, one == other, "{one:?} {other:?}");
                if is_alike {
                    assert_eq!(head.hash(), KeyHead::of(other).hash());
                }
            }
        }
    }
}
