//! Strings end to end, cut into blocks of equal raw size, each compressed with zstd.
//!
//! Layout: binary logarithm of the raw block size (one byte, 16 to 20); the table of string lengths
//! ([`super::lengths`]); the stored size of each block ([`super::packed`]); the blocks. All blocks but the
//! last hold exactly the block size, so the raw size of a block is never taken from the block itself, and
//! a string of any length just runs through several blocks. A block whose stored size equals its raw size
//! is stored as it is, any other is one zstd frame without magic number and content size.

use super::lengths::{self, Lengths};
use super::packed::{self, PackedNumbers};
use super::{PayloadImage, contiguous, lengths_of};
use crate::{BytesSlice, BytesVector, Corrupt};
use std::ops::Range;
use zstd::bulk::{Compressor, Decompressor};

const BLOCK_LOG2: std::ops::RangeInclusive<u8> = 16..=20;
/// 1 MiB: 256 KiB would be a quarter of the work for one value, but costs up to 6 % of size on natural text.
const BLOCK_LOG2_WRITTEN: u8 = 20;
const LEVEL: i32 = 3;
/// A block is stored compressed when that saves one part in this many.
const LEAST_GAIN: usize = 16;

/// Compresses blocks one after the other; without it (no memory for the context) blocks stay raw.
struct BlockCompressor(Option<Compressor<'static>>);

impl BlockCompressor {
    fn new() -> Self {
        let configured = Compressor::new(LEVEL).and_then(|mut compressor| {
            compressor.include_magicbytes(false)?;
            compressor.include_contentsize(false)?;
            compressor.include_checksum(false)?;
            Ok(compressor)
        });
        Self(configured.ok())
    }

    /// Appends `raw` in stored form and returns the stored size, at most the raw size.
    fn append(&mut self, raw: &[u8], out: &mut Vec<u8>) -> usize {
        let frame = self
            .0
            .as_mut()
            .and_then(|compressor| compressor.compress(raw).ok());
        let stored = match &frame {
            Some(frame) if frame.len() < raw.len() - raw.len() / LEAST_GAIN => frame,
            _ => raw,
        };
        out.extend_from_slice(stored);
        stored.len()
    }
}

pub(super) fn encode(values: &BytesSlice) -> Vec<u8> {
    encode_with(values, BLOCK_LOG2_WRITTEN)
}

fn encode_with(values: &BytesSlice, block_log2: u8) -> Vec<u8> {
    let mut compressor = BlockCompressor::new();
    let mut blocks = Vec::new();
    let mut stored_sizes = Vec::new();
    for raw in contiguous(values).chunks(1 << block_log2) {
        stored_sizes.push(compressor.append(raw, &mut blocks) as u32);
    }
    let mut payload = Vec::with_capacity(blocks.len() + 2 * values.len());
    payload.push(block_log2);
    lengths::write(&lengths_of(values), &mut payload);
    packed::write(&stored_sizes, &mut payload);
    payload.extend_from_slice(&blocks);
    payload
}

/// Size of the payload of values of these lengths, if their blocks compress like those of `sample`, of
/// whose bytes there are `scale` times as many.
pub(super) fn estimated_bytes(all_lengths: &[u32], scale: f64, sample: &BytesSlice) -> usize {
    let mut compressor = BlockCompressor::new();
    let mut blocks = Vec::new();
    let mut sizes = Vec::new();
    for raw in contiguous(sample).chunks(1 << BLOCK_LOG2_WRITTEN) {
        sizes.push(compressor.append(raw, &mut blocks) as u32);
    }
    let directory = 1 + lengths::written_bytes(all_lengths) + packed::written_bytes(&sizes);
    directory + (blocks.len() as f64 * scale) as usize
}

pub(super) struct ZstdDecoder {
    lengths: Lengths,
    block_log2: u8,
    /// Where each block is stored within the image.
    blocks: Vec<Range<usize>>,
    decompressor: Option<Decompressor<'static>>,
    /// The block decompressed last, and its bytes.
    current: Option<usize>,
    block: Vec<u8>,
}

impl std::fmt::Debug for ZstdDecoder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let blocks = self.blocks.len();
        formatter
            .debug_struct("ZstdDecoder")
            .field("blocks", &blocks)
            .finish_non_exhaustive()
    }
}

impl ZstdDecoder {
    pub(super) fn open(payload: &PayloadImage, row_count: usize) -> Result<Self, Corrupt> {
        let mut cursor = payload.cursor()?;
        let block_log2 = cursor.u8("block size")?;
        if !BLOCK_LOG2.contains(&block_log2) {
            return Err(cursor.corrupt("block size is not 64 KiB to 1 MiB"));
        }
        let lengths = Lengths::open(&mut cursor, &payload.image, row_count)?;
        if lengths.data_bytes() > super::DATA_BYTES_MAX {
            return Err(cursor.corrupt("strings pass 1 GiB"));
        }
        let count = lengths.data_bytes().div_ceil(1 << block_log2);
        let sizes = PackedNumbers::open(&mut cursor, count)?.to_vec(&payload.image);
        let mut blocks = Vec::with_capacity(count);
        for size in sizes {
            blocks.push(cursor.take(size as usize, "block")?);
        }
        cursor.finish("blocks")?;
        let (decompressor, current, block) = (None, None, Vec::new());
        Ok(Self {
            lengths,
            block_log2,
            blocks,
            decompressor,
            current,
            block,
        })
    }

    fn raw_bytes(&self, block: usize) -> usize {
        let rest = self
            .lengths
            .data_bytes()
            .saturating_sub(block << self.block_log2);
        rest.min(1 << self.block_log2)
    }

    /// Appends `range` of the strings laid end to end.
    fn read(
        &mut self,
        payload: &PayloadImage,
        range: Range<usize>,
        out: &mut Vec<u8>,
    ) -> Result<(), Corrupt> {
        let mut start = range.start;
        while start < range.end {
            let index = start >> self.block_log2;
            let block_start = index << self.block_log2;
            let raw_bytes = self.raw_bytes(index);
            let end = range.end.min(block_start + raw_bytes);
            let wanted = start - block_start..end.saturating_sub(block_start);
            let missing = || Corrupt::new(format!("block {index} is missing"), payload.range.start);
            let place = self.blocks.get(index).cloned().ok_or_else(missing)?;
            let stored = payload.image.get(place.clone()).ok_or_else(missing)?;
            let raw = if stored.len() == raw_bytes {
                stored
            } else {
                self.decompress(index, stored, place.start)?
            };
            out.extend_from_slice(raw.get(wanted).ok_or_else(missing)?);
            start = end;
        }
        Ok(())
    }

    /// The raw bytes of a compressed block, from the buffer if it was the last one.
    fn decompress(&mut self, index: usize, stored: &[u8], offset: usize) -> Result<&[u8], Corrupt> {
        if self.current == Some(index) {
            return Ok(&self.block);
        }
        let failed = |what: &str| Corrupt::new(format!("block {index}: {what}"), offset);
        let decompressor = match &mut self.decompressor {
            Some(decompressor) => decompressor,
            empty => {
                let mut fresh = Decompressor::new().map_err(|_| failed("no zstd context"))?;
                fresh
                    .include_magicbytes(false)
                    .map_err(|_| failed("no zstd context"))?;
                empty.insert(fresh)
            }
        };
        let raw_bytes = self
            .lengths
            .data_bytes()
            .saturating_sub(index << self.block_log2)
            .min(1 << self.block_log2);
        self.current = None;
        self.block.resize(raw_bytes, 0);
        match decompressor.decompress_to_buffer(stored, &mut self.block[..]) {
            Ok(written) if written == raw_bytes => {}
            Ok(_) => return Err(failed("is shorter than its place")),
            Err(_) => return Err(failed("does not decompress to its size")),
        }
        self.current = Some(index);
        Ok(&self.block)
    }

    pub(super) fn decode_vector(
        &mut self,
        payload: &PayloadImage,
        vector: usize,
        out: &mut BytesVector,
    ) -> Result<usize, Corrupt> {
        let base = out.data.len() as u32;
        let rows = self
            .lengths
            .ends(&payload.image, vector, base, &mut out.offsets)?;
        self.read(payload, self.lengths.vector_range(vector), &mut out.data)?;
        Ok(rows)
    }

    pub(super) fn value(
        &mut self,
        payload: &PayloadImage,
        row: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Corrupt> {
        let range = self.lengths.value_range(&payload.image, row)?;
        self.read(payload, range, out)
    }
}
