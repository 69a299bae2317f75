//! Finding strings in their blocks.

use super::{DICTIONARY_SECTION_BYTES_MAX, LARGE_LOG2, SMALL_LOG2};
use crate::text::lengths::{Lengths, end_row};
use crate::text::packed::PackedNumbers;
use crate::text::{DATA_BYTES_MAX, PayloadImage, section};
use crate::{BytesVector, Corrupt};
use std::ops::Range;
use zstd::bulk::Decompressor;

pub(in crate::text) struct ZstdDecoder {
    lengths: Lengths,
    block_log2: u8,
    /// Where each block is stored within the image.
    blocks: Vec<Range<usize>>,
    /// What blocks may refer to; empty for large ones.
    dictionary: Vec<u8>,
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
    pub(in crate::text) fn open(payload: &PayloadImage, row_count: usize) -> Result<Self, Corrupt> {
        let mut cursor = payload.cursor()?;
        let block_log2 = cursor.u8("block size")?;
        let dictionary = if SMALL_LOG2.contains(&block_log2) {
            let limit = DICTIONARY_SECTION_BYTES_MAX;
            section::read(&mut cursor, limit, "dictionary of blocks")?.into_owned()
        } else if LARGE_LOG2.contains(&block_log2) {
            Vec::new()
        } else {
            return Err(cursor.corrupt("block size is not 4 KiB to 1 MiB"));
        };
        let lengths = Lengths::open(&mut cursor, &payload.image, row_count)?;
        if lengths.data_bytes() > DATA_BYTES_MAX {
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
            dictionary,
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
                let mut fresh = Decompressor::with_dictionary(&self.dictionary)
                    .map_err(|_| failed("no zstd context, or its dictionary is refused"))?;
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
            Ok(_) => return Err(failed("is shorter than its raw length")),
            Err(_) => return Err(failed("does not decompress to its size")),
        }
        self.current = Some(index);
        Ok(&self.block)
    }

    pub(in crate::text) fn decode_vector(
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

    pub(in crate::text) fn decode_rows(
        &mut self,
        payload: &PayloadImage,
        vector: usize,
        places: impl Iterator<Item = usize>,
        out: &mut BytesVector,
    ) -> Result<(), Corrupt> {
        let before = out.data.len();
        for range in self.lengths.ranges(&payload.image, vector, places)? {
            self.read(payload, range, &mut out.data)?;
            end_row(out, before, payload.range.start)?;
        }
        Ok(())
    }

    pub(in crate::text) fn value(
        &mut self,
        payload: &PayloadImage,
        row: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Corrupt> {
        let range = self.lengths.value_range(&payload.image, row)?;
        self.read(payload, range, out)
    }
}
