//! What decoding costs, and what a smaller segment may cost more. The only place with such figures.
//!
//! Nanoseconds per value of a full vector in cache, as `examples/codec_speed.rs` prints them on a Sapphire Rapids
//! core with AVX-512 at 3.6 GHz; the README has the table. Only their proportions matter here.
//!
//! # The rule
//!
//! The smallest candidate is taken, unless another is at most 3 % larger and decodes at least twice as fast. Storage
//! that reads 2 GB/s needs half a nanosecond for a byte. A column of 1.5 bytes a value then takes 0.75 ns to read, and 3 %
//! of it 0.02 ns; a codec that decodes twice as fast saves 0.06 ns at the least (a dictionary against PFOR, 8-byte
//! values: 0.19 and 0.07) and up to half a nanosecond (a dictionary against PFOR, 2-byte values). So within 3 % the
//! faster codec wins from such storage, and from memory it always does. Beyond 3 % it would often win as well, but
//! a file is asked to be small first. Below a factor of two the difference is less than that between processors:
//! without AVX-512, costs are two to four times these, and their proportions up to twice as large or small.
//!
//! Exceptions are not counted: one costs about a nanosecond, so one value in ten adds 0.08 ns to 4-byte PFOR, which
//! even then is as fast as a dictionary.

use crate::block::BlockCodecId;
use crate::{CodecId, PhysicalType};

/// A codec may be this many per cent larger than the smallest one and still be chosen …
pub(super) const SIZE_TOLERANCE_PERCENT: usize = 3;

/// … if it decodes at least this many times faster.
pub(super) const DECODE_ADVANTAGE: f32 = 2.0;

/// What a run costs: runs of 4 values of 8 bytes take 0.45 ns a value, runs of 20 0.19, runs of 100 0.15.
const NS_PER_RUN: f32 = 1.2;

/// Nanoseconds to decode one value of a fixed-width type or a boolean; of RLE without what runs cost.
pub(super) fn decode_ns_per_value(codec: CodecId, physical_type: PhysicalType) -> f32 {
    // Of values of 2, 4, 8 and 16 bytes.
    let ns = match codec {
        CodecId::Constant => [0.02, 0.04, 0.08, 0.28],
        CodecId::Plain => [0.035, 0.06, 0.11, 0.33],
        CodecId::Pfor => [0.023, 0.04, 0.07, 0.46],
        CodecId::PforDelta => [0.36, 0.12, 0.2, 0.71],
        CodecId::Alp => [0.23, 0.23, 0.23, 0.23],
        CodecId::Rle => [0.07, 0.1, 0.14, 0.3],
        CodecId::Dictionary => [0.59, 0.15, 0.19, 0.46],
        CodecId::Pdict => [0.7, 0.32, 0.3, 0.6],
        CodecId::Sparse => [0.06, 0.1, 0.15, 0.35],
        CodecId::AlpRd => [0.15, 0.15, 0.3, 0.3],
        // Strings: `text::candidates` says it per column.
        _ => [10.0; 4],
    };
    match physical_type {
        PhysicalType::Bool | PhysicalType::Int16 => ns[0],
        PhysicalType::Int32 | PhysicalType::Float32 | PhysicalType::Bytes => ns[1],
        PhysicalType::Int64 | PhysicalType::Float64 => ns[2],
        PhysicalType::Int128 => ns[3],
    }
}

/// Nanoseconds that runs add to a value, if there are so many runs a value.
pub(super) fn runs_ns_per_value(runs_per_value: f32) -> f32 {
    NS_PER_RUN * runs_per_value
}

/// Nanoseconds to undo a block codec, per byte that went into it (`block/README.md`, table of text).
pub(super) fn decompress_ns_per_byte(codec: BlockCodecId) -> f32 {
    match codec {
        BlockCodecId::None => 0.0,
        BlockCodecId::Zle => 0.07,
        BlockCodecId::Lz4 | BlockCodecId::Lz4Hc => 0.3,
        BlockCodecId::Lzjb => 0.9,
        BlockCodecId::Zstd => 0.9,
        BlockCodecId::Zlib => 1.3,
    }
}
