//! Values of registers as keys of hash tables: bytes that are alike when the values are.

use crate::avm::{Register, RegisterSet, Target, TextPlace};

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
            registers.set_word(Target(register), word);
            at + 9
        }
        Register::Decimal(register) => {
            registers.set_wide(Target(register), wide);
            at + 17
        }
        Register::Text(register) => {
            let place = TextPlace::in_buffer(buffer, at + 5, text_bytes);
            registers.set_text(Target(register), place);
            at + 5 + text_bytes
        }
    }
}

/// A hash of some bytes: multiplied and folded, eight at a time.
#[inline]
pub(crate) fn hash_of(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut hash = bytes.len() as u64 ^ FACTOR;
    let mut chunks = bytes.chunks_exact(8);
    let mut fold = |word: u64| {
        let product = u128::from(hash ^ word) * u128::from(FACTOR);
        hash = (product as u64) ^ ((product >> 64) as u64);
    };
    for chunk in &mut chunks {
        fold(
            chunk
                .first_chunk()
                .map_or(0, |chunk| u64::from_le_bytes(*chunk)),
        );
    }
    let rest = chunks.remainder();
    if !rest.is_empty() {
        fold(
            rest.iter()
                .rev()
                .fold(0, |word, byte| word << 8 | u64::from(*byte)),
        );
    }
    hash
}
