//! FSST: strings as one-byte codes of a table of up to 255 symbols of 1 to 8 bytes (Boncz, Neumann and
//! Leis, PVLDB 13). Every value is coded by itself, so one value is decoded without its neighbours.
//!
//! Layout: the symbols ([`super::fsst_symbols`]); the table of coded lengths ([`super::lengths`]); the codes. Code `c < s` is
//! symbol `c`; code 255 says that the next byte is meant literally.
//!
//! The table is trained and the values are coded by the crate `fsst-rs`. Decoding is ours: the crate's
//! decoder trusts the codes it is given.

use super::fsst_symbols::{FsstSymbols, SYMBOL_BYTES_MAX};
use super::lengths::{self, Lengths, end_row};
use super::{PayloadImage, contiguous};
use crate::{BytesSlice, BytesVector, Corrupt, VECTOR_VALUES};
use ::fsst::Compressor;
use std::ops::Range;

/// A symbol table for the values of `sample`.
fn train(sample: &BytesSlice) -> Compressor {
    Compressor::train(&sample.iter().collect())
}

/// The codes of all values end to end, and the number of codes of each.
fn compress(compressor: &Compressor, values: &BytesSlice) -> (Vec<u8>, Vec<u32>) {
    let mut codes = Vec::new();
    let mut coded_lengths = Vec::with_capacity(values.len());
    let mut ends = Vec::with_capacity(VECTOR_VALUES);
    for start in (0..values.len()).step_by(VECTOR_VALUES) {
        let vector: Vec<&[u8]> = values.slice(start..start + VECTOR_VALUES).iter().collect();
        let mut before = codes.len();
        ends.clear();
        compressor.compress_bulk_into::<{ Compressor::DEFAULT_BULK_LANES }>(
            &vector, &mut codes, &mut ends,
        );
        for &end in &ends {
            let end = end as usize;
            coded_lengths.push((end - before) as u32);
            before = end;
        }
    }
    (codes, coded_lengths)
}

pub(super) fn encode(values: &BytesSlice) -> Vec<u8> {
    let compressor = train(values);
    let (codes, coded_lengths) = compress(&compressor, values);
    let mut payload = Vec::with_capacity(codes.len() + contiguous(values).len() / 16);
    FsstSymbols::of(&compressor).write(&mut payload);
    lengths::write(&coded_lengths, &mut payload);
    payload.extend_from_slice(&codes);
    payload
}

/// Sizes of the symbol table, and of everything that grows with the values.
pub(super) fn parts(values: &BytesSlice) -> (usize, usize) {
    let compressor = train(values);
    let (codes, coded_lengths) = compress(&compressor, values);
    let mut table = Vec::new();
    FsstSymbols::of(&compressor).write(&mut table);
    (
        table.len(),
        codes.len() + lengths::written_bytes(&coded_lengths),
    )
}

pub(super) struct FsstDecoder {
    table: Box<FsstSymbols>,
    lengths: Lengths,
    codes: Range<usize>,
    scratch: Vec<u8>,
}

impl std::fmt::Debug for FsstDecoder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("FsstDecoder")
            .field("codes", &self.codes)
            .finish_non_exhaustive()
    }
}

impl FsstDecoder {
    pub(super) fn open(payload: &PayloadImage, row_count: usize) -> Result<Self, Corrupt> {
        let mut cursor = payload.cursor()?;
        let table = FsstSymbols::read(&mut cursor)?;
        let lengths = Lengths::open(&mut cursor, &payload.image, row_count)?;
        let codes = cursor.take(lengths.data_bytes(), "codes")?;
        cursor.finish("codes")?;
        Ok(Self {
            table,
            lengths,
            codes,
            scratch: Vec::new(),
        })
    }

    fn range(&self, range: Range<usize>) -> Range<usize> {
        self.codes.start + range.start..self.codes.start + range.end
    }

    /// Makes room for whatever `codes` codes stand for.
    fn reserve(&mut self, codes: usize) {
        let room = FsstSymbols::room_bytes(codes);
        if self.scratch.len() < room {
            self.scratch.resize(room, 0);
        }
    }

    /// Decodes `image[range]` to position `position` of the scratch, and returns the end.
    fn decode(
        &mut self,
        image: &[u8],
        range: Range<usize>,
        position: usize,
    ) -> Result<usize, Corrupt> {
        let offset = range.start;
        let codes = image
            .get(range)
            .ok_or(Corrupt::new("codes leave the payload", offset))?;
        self.table
            .decode(codes, &mut self.scratch, position, offset)
    }

    pub(super) fn decode_vector(
        &mut self,
        payload: &PayloadImage,
        vector: usize,
        out: &mut BytesVector,
    ) -> Result<usize, Corrupt> {
        let codes = self.range(self.lengths.vector_range(vector));
        let mut ends = Vec::with_capacity(VECTOR_VALUES);
        let rows = self.lengths.ends(&payload.image, vector, 0, &mut ends)?;
        self.reserve(codes.len());
        let base = out.data.len();
        if base as u64 + codes.len() as u64 * SYMBOL_BYTES_MAX as u64 > u64::from(u32::MAX) {
            return Err(Corrupt::new("decoded strings pass 4 GiB", codes.start));
        }
        let (mut start, mut position) = (0, 0);
        for &end in &ends {
            let range = codes.start + start..codes.start + end as usize;
            position = self.decode(&payload.image, range, position)?;
            out.offsets.push((base + position) as u32);
            start = end as usize;
        }
        out.data.extend_from_slice(&self.scratch[..position]);
        Ok(rows)
    }

    pub(super) fn decode_rows(
        &mut self,
        payload: &PayloadImage,
        vector: usize,
        places: impl Iterator<Item = usize>,
        out: &mut BytesVector,
    ) -> Result<(), Corrupt> {
        let before = out.data.len();
        for range in self.lengths.ranges(&payload.image, vector, places)? {
            let range = self.range(range);
            let offset = range.start;
            self.reserve(range.len());
            let end = self.decode(&payload.image, range, 0)?;
            out.data.extend_from_slice(&self.scratch[..end]);
            end_row(out, before, offset)?;
        }
        Ok(())
    }

    pub(super) fn value(
        &mut self,
        payload: &PayloadImage,
        row: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Corrupt> {
        let range = self.lengths.value_range(&payload.image, row)?;
        self.reserve(range.len());
        let end = self.decode(&payload.image, self.range(range), 0)?;
        out.extend_from_slice(&self.scratch[..end]);
        Ok(())
    }
}
