//! Which bytes stand for these values, and which values do these bytes stand for?
//!
//! This crate turns slices of values into fewer bytes and back. It does no I/O, knows no tables, and
//! treats every byte it decodes as untrusted: wrong bytes are a [`Corrupt`] value, never a panic.
//!
//! A *payload* holds the values of one column of one row group, at most [`ROWS_MAX`] rows, in vectors of
//! [`VECTOR_VALUES`] rows of which the last may be partial. NULLs are not known here: the format above
//! keeps the validity and fills NULL slots with a neighbour before it calls an encoder.
//!
//! | module | answers |
//! |---|---|
//! | [`fixed`] | the payload of a column of fixed-width values (integers; floats by their bit patterns) |
//! | [`boolean`] | the payload of a column of booleans, and of validity |
//! | [`float`] | ALP, the decimal codec for floating point, and ALP-RD for what is no decimal |
//! | [`text`] | the payload of a column of byte strings |
//! | [`int`] | bit packing, patched frame of reference, delta: what the codecs above are made of |
//! | [`correlated`] | a column as what others leave of it, or as a map from another |
//! | [`transform`] | in which order the bytes of a row page lie on storage, for block codecs to find more |
//! | [`field`] | the fields of one tuple: null-suppressed numbers, and length codes to find them by |
//! | [`huffman`] | the words of the least total length for symbols of some weights |
//! | [`ordered`] | keys of strings that are shorter and compare as the strings do |
//! | [`block`] | a page or record as a whole, whatever is in it: ZLE, LZJB, LZ4, zlib, zstd |
//! | [`choose`] | which codec a column should get, and how large the result will be |
//!
//! ```
//! use quire_codec::{CodecId, VECTOR_VALUES, fixed};
//! use std::sync::Arc;
//!
//! let values: Vec<i32> = (0..3000).map(|i| 1_000_000 + i % 50).collect();
//! let payload = fixed::encode(CodecId::Pfor, &values)?;
//! assert!(payload.len() < values.len());
//!
//! let image: Arc<[u8]> = payload.into();
//! let length = image.len();
//! let mut decoder = fixed::FixedDecoder::<i32>::open(CodecId::Pfor, image, 0..length, values.len())?;
//! let mut out = [0i32; VECTOR_VALUES];
//! assert_eq!(decoder.decode_vector(1, &mut out)?, VECTOR_VALUES);
//! assert_eq!(out[..], values[1024..2048]);
//! assert_eq!(decoder.value(2999)?, values[2999]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(unsafe_code)]

pub mod block;
pub mod boolean;
pub mod choose;
mod code_writer;
mod codec_id;
pub mod correlated;
mod cursor;
mod distinct;
mod effort;
mod error;
pub mod field;
pub mod fixed;
pub mod float;
pub mod huffman;
pub mod int;
#[allow(unsafe_code)]
mod kernel;
pub mod ordered;
mod physical_type;
mod stored_set;
pub mod text;
pub mod transform;
mod values;

pub use codec_id::CodecId;
pub use cursor::ImageCursor;
pub use error::{Corrupt, EncodeError};
pub use kernel::{Backend, active_backend, limit_backend, mask_of};
pub use physical_type::PhysicalType;
pub use values::{BytesSlice, BytesVector, CodecScalar, RowGroupValues};

/// Rows in a full vector, the unit of decoding.
pub const VECTOR_VALUES: usize = 1024;

/// Neighbours within a vector that can be decoded without the rest of it.
pub const GROUP_VALUES: usize = 128;

/// A bit for each row of a vector: row `i` is bit `i % 64` of word `i / 64`.
pub type RowMask = [u64; VECTOR_VALUES / 64];

/// Sets the bits of `count` rows from `first` on. Rows beyond the vector have none.
#[inline]
pub fn mark_rows(mask: &mut RowMask, first: usize, count: usize) {
    let end = (first + count).min(VECTOR_VALUES);
    let mut row = first;
    while row < end {
        let bits = (64 - row % 64).min(end - row);
        mask[row / 64] |= u64::MAX >> (64 - bits) << (row % 64);
        row += bits;
    }
}

/// Rows a payload can hold: 128 vectors. Encoders refuse more, decoders call more corrupt, so this bounds
/// what a decoder allocates for a payload of few bytes.
pub const ROWS_MAX: usize = 128 * VECTOR_VALUES;

/// Number of vectors that hold `row_count` rows.
pub const fn vector_count(row_count: usize) -> usize {
    row_count.div_ceil(VECTOR_VALUES)
}

/// Rows in vector `vector` of a payload of `row_count` rows; 0 beyond its end.
pub const fn vector_rows(row_count: usize, vector: usize) -> usize {
    let rest = row_count.saturating_sub(vector.saturating_mul(VECTOR_VALUES));
    if rest < VECTOR_VALUES {
        rest
    } else {
        VECTOR_VALUES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_marked_across_words() {
        for (first, count) in [
            (0, 1),
            (63, 1),
            (63, 2),
            (0, 64),
            (5, 130),
            (960, 64),
            (0, 1024),
        ] {
            let mut mask = RowMask::default();
            mark_rows(&mut mask, first, count);
            let marked = |row: &usize| mask[row / 64] >> (row % 64) & 1 == 1;
            let rows: Vec<usize> = (0..1024).filter(marked).collect();
            assert_eq!(rows, (first..first + count).collect::<Vec<_>>());
        }
    }
}
