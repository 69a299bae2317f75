//! Strings end to end, cut into blocks of equal raw size, each compressed with zstd.
//!
//! | size | field |
//! |---|---|
//! | 1 | binary logarithm of the raw block size: 12 to 15 with a dictionary, 16 to 20 without |
//! | … | 12 to 15 only: the dictionary, a section ([`super::section`]) |
//! | … | the table of string lengths ([`super::lengths`]) |
//! | … | the stored size of each block ([`super::packed`]) |
//! | … | the blocks |
//!
//! All blocks but the last hold exactly the block size, so the raw size of a block is never taken from the block
//! itself, and a string of any length just runs through several blocks. A block whose stored size equals its raw size
//! is stored as it is, any other is one zstd frame without magic number, content size and number of a dictionary.
//!
//! Long values (documents, messages) are read one by one more often than short ones, and a block of 1 MiB is much to
//! decompress for one of them. What a small block lacks is what the text before it would have taught it; a dictionary
//! trained on the segment gives most of that back, and a higher level of compression the rest. Small blocks are
//! written where that is as small as large ones.

mod decode;
mod encode;

pub(super) use decode::ZstdDecoder;
pub(super) use encode::{encode, estimated_bytes};

use crate::block::DICTIONARY_BYTES_MAX;
use std::ops::RangeInclusive;

/// Blocks that need no dictionary.
const LARGE_LOG2: RangeInclusive<u8> = 16..=20;
/// Blocks that have one.
const SMALL_LOG2: RangeInclusive<u8> = 12..=15;
/// The longest dictionary.
const DICTIONARY_SECTION_BYTES_MAX: usize = DICTIONARY_BYTES_MAX;
