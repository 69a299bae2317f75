//! The integers a segment can hold, and the unsigned words their codes are.

use std::fmt::Debug;
use std::hash::Hash;

/// An integer a segment can hold. All arithmetic of the schemes wraps, so that it is the same on the bits of
/// signed and unsigned values; only the analysis needs their order.
pub trait Integer:
    Copy + Ord + Hash + Default + Debug + Send + Sync + 'static + sealed::SealedWord
{
    /// The unsigned integer of the same width.
    type Bits: UnsignedWord;
    /// The number that stands for the type in a header.
    const TYPE_ID: u8;
    /// The bits of the value.
    fn bits(self) -> Self::Bits;
    /// The value of the bits.
    fn from_bits(bits: Self::Bits) -> Self;
    /// The bits of all values.
    fn as_bits(values: &[Self]) -> &[Self::Bits];
    /// The bits of all values, to be written.
    fn as_bits_mut(values: &mut [Self]) -> &mut [Self::Bits];
}

/// An unsigned word: a value's bits, or a code.
pub trait UnsignedWord: Integer<Bits = Self> {
    const BITS: usize;
    const BYTES: usize;
    /// The word, extended with zeros.
    fn wide(self) -> u64;
    /// The low bits of a number.
    fn truncate(bits: u64) -> Self;
    /// The sum, wrapping.
    fn plus(self, other: Self) -> Self;
    /// The difference, wrapping.
    fn minus(self, other: Self) -> Self;
    /// The word with its highest bit flipped: signed order becomes unsigned order and back.
    fn flip_sign(self) -> Self;
    /// The word as an index; what an index cannot hold is 2³¹, beyond every list and table.
    fn index(self) -> usize;
    /// The word of [`UnsignedWord::BYTES`] bytes, little endian; 0 if there are more or fewer.
    fn read(bytes: &[u8]) -> Self;
    /// Appends the word, little endian.
    fn append(self, out: &mut Vec<u8>);
    /// Packs `codes`, a multiple of 32 of them and each below 2^`width`, into 4 · `width` bytes per 32.
    fn pack(width: usize, codes: &[Self], packed: &mut [u8]);
    /// Undoes [`UnsignedWord::pack`].
    fn unpack(width: usize, packed: &[u8], codes: &mut [Self]);
}

pub(super) mod sealed {
    pub trait SealedWord {}
}
