//! Phrases: text as codes of equal width for frequent byte strings of up to 16 bytes, in the manner of OnPair
//! (F. Gargiulo et al., arXiv 2508.02280).
//!
//! Phrases are found on a sample: wherever two of them often follow each other, their concatenation becomes one
//! too (`train`). A value is cut into the longest phrases that fit, one after the other, and every value is
//! cut by itself, so one value is decoded without its neighbours. A code is looked up and 16 bytes are copied,
//! whatever the length of its phrase: the next copy overwrites what was too much.
//!
//! Where we deviate: OnPair keeps the first phrases that it finds, all 256 bytes among them, and its codes have
//! 12 or 16 bits. We find more phrases than we need, keep those that save most, give codes the width from 8 to 16
//! bits that makes the sample smallest, and leave out bytes that do not occur.
//!
//! # Layout
//!
//! | bytes | field |
//! |---|---|
//! | 1 | width of a code in bits, 8 to 16 |
//! | section | the phrases ([`super::section`]) |
//! | … | the number of codes of each value ([`super::lengths`], in codes instead of bytes) |
//! | rest | the codes of each vector, first in the lowest bits, each vector from a new byte on |
//!
//! The section of phrases, which ascend with their codes: their number (`u32`, at most 2 to the width); for each a
//! byte, in its low half how many bytes the phrase shares with the start of the one before, in its high half
//! how many others follow, less one; then those other bytes of all phrases.

mod decode;
mod dictionary;
mod encode;
mod train;
mod trie;

pub(super) use decode::PhrasesDecoder;
pub(super) use encode::{encode, estimate};

/// Longest phrase.
const PHRASE_BYTES_MAX: usize = 16;
/// Narrowest and widest code in bits.
const WIDTHS: std::ops::RangeInclusive<u8> = 8..=16;

/// A byte string of 1 to 16 bytes.
#[derive(Clone, Copy)]
struct Phrase {
    bytes: [u8; PHRASE_BYTES_MAX],
    length: u8,
}

impl Phrase {
    fn new(text: &[u8]) -> Self {
        let mut bytes = [0; PHRASE_BYTES_MAX];
        bytes[..text.len()].copy_from_slice(text);
        Self {
            bytes,
            length: text.len() as u8,
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}
