//! What decoding costs, and what a smaller segment may cost more. The only place with such figures.
//!
//! Nanoseconds per value of a full vector in cache, rounded from what `examples/codec_speed.rs` prints on a
//! Sapphire Rapids core with AVX-512; the README has the table. Only their proportions matter here.

use crate::{CodecId, PhysicalType};

/// A codec may be this many per cent larger than the smallest one and still be chosen …
pub(super) const SIZE_TOLERANCE_PERCENT: usize = 3;

/// … if it decodes at least this many times faster.
pub(super) const DECODE_ADVANTAGE: f32 = 2.0;

/// Nanoseconds to decode one value of a fixed-width type or a boolean.
pub(super) fn decode_ns_per_value(codec: CodecId, physical_type: PhysicalType) -> f32 {
    let four_byte_units = match physical_type {
        PhysicalType::Bool | PhysicalType::Int16 => 0.5,
        PhysicalType::Int64 | PhysicalType::Float64 => 2.0,
        PhysicalType::Int128 => 6.0,
        PhysicalType::Int32 | PhysicalType::Float32 | PhysicalType::Bytes => 1.0,
    };
    let ns_per_four_bytes = match codec {
        CodecId::Constant => 0.05,
        CodecId::Plain => 0.05,
        CodecId::Pfor => 0.1,
        CodecId::PforDelta => 0.2,
        CodecId::Alp => 0.15,
        CodecId::Rle => 0.25,
        CodecId::Dictionary => 0.3,
        CodecId::Pdict => 0.35,
        CodecId::Sparse => 0.1,
        CodecId::AlpRd => 0.15,
        // Strings: `text::candidates` says it per column.
        _ => 10.0,
    };
    ns_per_four_bytes * four_byte_units
}
