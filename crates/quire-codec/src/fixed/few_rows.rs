//! Whether a few rows of a vector are read one by one, or the whole vector is decoded (paper 2, §6.2.6: fine-grained access).
//!
//! The numbers follow from the tables of the crate's README: the time of a vector by that of one value. Of PFOR some values are exceptions, and
//! then a value costs four times as much: 66 ns by 21 ns for 4-byte values with 2 % of them, 240 ns by 39 ns for 8-byte values with many. A dictionary of 200 values
//! takes 196 ns by 8.3, of which a third is taken, since others are in zstd blocks or larger than a cache; PDICT 300 by 58, less than half for the same reason. Of sparse
//! columns a value costs half a vector, of PFOR-DELTA more than one. Plain values and constants are on the safe side of what was not measured.
//! `cargo run --release -p quire-codec --example single_values` measures both ways for any number of rows.

use super::{FixedDecoder, FixedScheme, no_dictionary};
use crate::Corrupt;
use crate::int::Element;

impl<E: Element> FixedDecoder<E> {
    /// Rows of a vector up to which reading each by [`FixedDecoder::value`] takes less time than decoding all; 0 if it never does.
    pub fn few_rows(&self) -> usize {
        match &self.scheme {
            FixedScheme::Plain(..) => 8,
            FixedScheme::Constant(_) => 8,
            FixedScheme::Packed(_) if self.is_delta => 0,
            FixedScheme::Packed(_) => packed_rows(E::BYTES),
            FixedScheme::Dictionary(decoder) if decoder.reads_single_codes() => 8,
            FixedScheme::Pdict(_) => 2,
            FixedScheme::Dictionary(_) | FixedScheme::Rle(_) | FixedScheme::Sparse(_) => 0,
        }
    }

    /// As [`FixedDecoder::few_rows`], of codes.
    pub fn few_codes(&self) -> usize {
        match &self.scheme {
            FixedScheme::Dictionary(decoder) if decoder.reads_single_codes() => 4,
            _ => 0,
        }
    }

    /// The code of row `row`, below the length of the dictionary.
    ///
    /// # Errors
    /// The codec is not [`crate::CodecId::Dictionary`], there is no such row, or wrong bytes.
    pub fn code(&self, row: usize) -> Result<u32, Corrupt> {
        match &self.scheme {
            FixedScheme::Dictionary(_) if row >= self.row_count => {
                Err(Corrupt::new("row is beyond the segment", 0))
            }
            FixedScheme::Dictionary(decoder) => decoder.code(row),
            _ => Err(no_dictionary()),
        }
    }
}

/// The same of PFOR, by the length of a value in bytes. Of PFOR-DELTA a row costs what those before it in its vector do.
fn packed_rows(value_bytes: usize) -> usize {
    match value_bytes {
        ..=4 => 3,
        8 => 6,
        _ => 12,
    }
}
