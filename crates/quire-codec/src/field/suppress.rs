//! Null suppression: how many bytes of a number matter, and the number from these bytes (paper 1 §3.2.1).
//!
//! The bytes are the low ones, little endian. What is left out is repeated zeros, or for signed integers
//! the repeated sign.

/// Bytes of `value` that hold it with its sign: 1 to 8. Zero takes one byte, since no bytes mean NULL (§3.2.4).
#[inline]
pub(super) fn signed_bytes(value: i64) -> u8 {
    let magnitude = value ^ (value >> 63);
    let bits = 65 - magnitude.leading_zeros();
    bits.div_ceil(8) as u8
}

/// Bytes of `value` that hold it with its sign: 1 to 16.
#[inline]
pub(super) fn signed_bytes_wide(value: i128) -> u8 {
    let magnitude = value ^ (value >> 127);
    let bits = 129 - magnitude.leading_zeros();
    bits.div_ceil(8) as u8
}

/// Bytes of `value` that hold it: 1 to 8.
#[inline]
pub(super) fn unsigned_bytes(value: u64) -> u8 {
    let bits = 64 - (value | 1).leading_zeros();
    bits.div_ceil(8) as u8
}

/// The signed integer in the low `length` bytes of `word`, of which there are 1 to 8.
#[inline]
pub(super) fn sign_extend(word: u64, length: u8) -> i64 {
    let unused_bits = 64u32.wrapping_sub(8 * u32::from(length));
    (word.wrapping_shl(unused_bits) as i64).wrapping_shr(unused_bits)
}

/// The signed integer in the low `length` bytes of `word`, of which there are 1 to 16.
#[inline]
pub(super) fn sign_extend_wide(word: u128, length: u8) -> i128 {
    let unused_bits = 128u32.wrapping_sub(8 * u32::from(length));
    (word.wrapping_shl(unused_bits) as i128).wrapping_shr(unused_bits)
}

/// The unsigned integer in the low `length` bytes of `word`, of which there are 1 to 8.
#[inline]
pub(super) fn zero_extend(word: u64, length: u8) -> u64 {
    let unused_bits = 64u32.wrapping_sub(8 * u32::from(length));
    word.wrapping_shl(unused_bits).wrapping_shr(unused_bits)
}

const NARROW_SIGN: u32 = 1 << 31;
const NARROW_INFINITY: u32 = 0x7F80_0000;
const WIDE_INFINITY: u64 = 0x7FF0_0000_0000_0000;
/// Bits of the fraction of a double that its narrow form has no room for.
const LOST_BITS: u32 = 52 - 23;

/// The four bytes that hold the double with these `bits`, if every bit survives. What is not a number is
/// converted by hand: the processor may change its fraction.
#[inline]
pub(super) fn narrow_double(bits: u64) -> Option<u32> {
    let value = f64::from_bits(bits);
    if value.is_nan() {
        let fraction = (bits >> LOST_BITS) as u32 & !(NARROW_SIGN | NARROW_INFINITY);
        let narrow = (bits >> 32) as u32 & NARROW_SIGN | NARROW_INFINITY | fraction;
        return (bits & ((1 << LOST_BITS) - 1) == 0).then_some(narrow);
    }
    let narrow = value as f32;
    (f64::from(narrow).to_bits() == bits).then_some(narrow.to_bits())
}

/// The bits of the double that four bytes hold.
#[inline]
pub(super) fn widen_double(narrow: u32) -> u64 {
    let value = f32::from_bits(narrow);
    let sign = u64::from(narrow & NARROW_SIGN) << 32;
    let fraction = u64::from(narrow & !(NARROW_SIGN | NARROW_INFINITY)) << LOST_BITS;
    let not_a_number = sign | WIDE_INFINITY | fraction;
    if value.is_nan() {
        not_a_number
    } else {
        f64::from(value).to_bits()
    }
}
