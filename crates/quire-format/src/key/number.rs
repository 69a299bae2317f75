//! Integers and floats whose bytes compare as they do.

use quire_codec::Corrupt;

/// The class byte of 0. Those around it are small numbers.
const ZERO: u8 = 0x31;
const SMALLEST: i128 = -32;
const LARGEST: i128 = 189;
/// The class byte of a positive number of one byte, less one.
const POSITIVE: u8 = 0xEE;
/// The class byte of a negative number of one byte, plus one.
const NEGATIVE: u8 = 0x11;

/// The class byte of `value`, and how many of its low bytes follow.
fn class(value: i128) -> (u8, usize) {
    if (SMALLEST..=LARGEST).contains(&value) {
        return ((i128::from(ZERO) + value) as u8, 0);
    }
    let magnitude = value ^ (value >> 127);
    let bytes = (128 - magnitude.leading_zeros()).div_ceil(8);
    let byte = if value < 0 {
        NEGATIVE - bytes as u8
    } else {
        POSITIVE + bytes as u8
    };
    (byte, bytes as usize)
}

pub(super) fn push_integer(value: i128, key: &mut Vec<u8>) {
    let (class, bytes) = class(value);
    key.push(class);
    let low = value.to_be_bytes();
    key.extend_from_slice(low.get(16 - bytes..).unwrap_or_default());
}

/// The integer at the start of `bytes`, whose bits are inverted where `mask` says, and its length.
pub(super) fn integer(bytes: &[u8], mask: u8) -> Result<(i128, usize), Corrupt> {
    let (&first, rest) = bytes.split_first().ok_or_else(cut_short)?;
    let byte = first ^ mask;
    let (length, fill) = match byte {
        0x01..NEGATIVE => (NEGATIVE - byte, -1),
        NEGATIVE..=POSITIVE => return Ok((i128::from(byte) - i128::from(ZERO), 1)),
        0xEF..=0xFE => (byte - POSITIVE, 0),
        _ => return Err(Corrupt::new("key has a class of integers that is none", 0)),
    };
    let length = usize::from(length);
    let low = rest.get(..length).ok_or_else(cut_short)?;
    let join = |high: i128, byte: &u8| high << 8 | i128::from(byte ^ mask);
    let value = low.iter().fold(fill, join);
    if class(value) == (byte, length) {
        Ok((value, 1 + length))
    } else {
        Err(Corrupt::new(
            "key has an integer in another form than its own",
            0,
        ))
    }
}

#[cold]
pub(super) fn cut_short() -> Corrupt {
    Corrupt::new("key is cut short", 0)
}

const SIGN_32: u32 = 1 << 31;
const SIGN_64: u64 = 1 << 63;

fn ordered_32(value: f32) -> u32 {
    // Adding zero makes -0.0 positive.
    let value = if value.is_nan() {
        f32::NAN
    } else {
        value + 0.0
    };
    let bits = value.to_bits();
    match bits & SIGN_32 {
        0 => bits | SIGN_32,
        _ => !bits,
    }
}

fn ordered_64(value: f64) -> u64 {
    let value = if value.is_nan() {
        f64::NAN
    } else {
        value + 0.0
    };
    let bits = value.to_bits();
    match bits & SIGN_64 {
        0 => bits | SIGN_64,
        _ => !bits,
    }
}

pub(super) fn push_float32(value: f32, key: &mut Vec<u8>) {
    key.extend_from_slice(&ordered_32(value).to_be_bytes());
}

pub(super) fn push_float64(value: f64, key: &mut Vec<u8>) {
    key.extend_from_slice(&ordered_64(value).to_be_bytes());
}

#[cold]
fn no_float() -> Corrupt {
    Corrupt::new("key has a float that no value has", 0)
}

/// The number at the start of `bytes`, whose bits are inverted where `mask` says, and its length.
pub(super) fn float32(bytes: &[u8], mask: u8) -> Result<(f32, usize), Corrupt> {
    let bytes = bytes.first_chunk().ok_or_else(cut_short)?;
    let ordered = u32::from_be_bytes(*bytes) ^ u32::from_ne_bytes([mask; 4]);
    let bits = match ordered & SIGN_32 {
        0 => !ordered,
        _ => ordered ^ SIGN_32,
    };
    let value = f32::from_bits(bits);
    if ordered_32(value) == ordered {
        Ok((value, 4))
    } else {
        Err(no_float())
    }
}

/// As [`float32`].
pub(super) fn float64(bytes: &[u8], mask: u8) -> Result<(f64, usize), Corrupt> {
    let bytes = bytes.first_chunk().ok_or_else(cut_short)?;
    let ordered = u64::from_be_bytes(*bytes) ^ u64::from_ne_bytes([mask; 8]);
    let bits = match ordered & SIGN_64 {
        0 => !ordered,
        _ => ordered ^ SIGN_64,
    };
    let value = f64::from_bits(bits);
    if ordered_64(value) == ordered {
        Ok((value, 8))
    } else {
        Err(no_float())
    }
}
