//! The list of one word as each codec holds it, in blocks that a device delivers one after the other.

use super::lists::{encode_sums_by, settings_by};
use crate::postings::codecs::{Carryover12, GapsError, PostingsCodec, SemiStaticHuffman};
use crate::stored::Vector;
use crate::super_scalar::Segment;
use crate::{Lab, LabError};
use quire_codec::fixed::{self, FixedDecoder};
use quire_codec::{CodecId, Corrupt, VECTOR_VALUES, vector_count};
use std::hint::black_box;
use std::sync::Arc;

/// Entries of a block. A query can begin when the first has arrived.
pub(super) const BLOCK_ENTRIES: usize = 8 * VECTOR_VALUES;

/// A list in blocks of [`BLOCK_ENTRIES`], the last of which can be shorter.
pub(super) trait StoredList {
    /// As the laboratory prints it.
    fn name(&self) -> &'static str;

    /// Bytes of the entries uncompressed, 4 each.
    fn raw_bytes(&self) -> usize;

    fn block_count(&self) -> usize;

    /// Bytes that block `block` has on the device; 0 of one that is not.
    fn block_bytes(&self, block: usize) -> usize;

    /// Hands over the entries of a block, at most 1,024 at a time. Blocks are decoded in order, from block 0 on.
    fn decode_block(&mut self, block: usize, take: &mut dyn FnMut(&[u32])) -> Result<(), Corrupt>;

    fn ratio(&self) -> f64 {
        let bytes: usize = (0..self.block_count())
            .map(|block| self.block_bytes(block))
            .sum();
        self.raw_bytes() as f64 / bytes.max(1) as f64
    }
}

/// The entries as they are.
pub(super) fn uncompressed(entries: &[u32]) -> Box<dyn StoredList + '_> {
    Box::new(PlainList { entries })
}

/// The entries in the paper's codecs and in Quire's.
pub(super) fn all_codecs(entries: &[u32]) -> Result<Vec<Box<dyn StoredList>>, LabError> {
    Ok(vec![
        Box::new(SegmentList::new(entries)?),
        Box::new(GapList::new(Box::new(Carryover12), entries)?),
        Box::new(GapList::new(Box::new(SemiStaticHuffman), entries)?),
        Box::new(QuireList::new(entries)?),
    ])
}

/// MB/s of decoding alone, counted in uncompressed bytes.
pub(super) fn decoding_mb_s(lab: &Lab, list: &mut dyn StoredList) -> Result<f64, Corrupt> {
    let raw_bytes = list.raw_bytes() as f64;
    let ns = lab.nanoseconds(|| {
        for block in 0..list.block_count() {
            list.decode_block(block, &mut |entries| {
                black_box(entries);
            })?;
        }
        Ok::<(), Corrupt>(())
    })?;
    Ok(raw_bytes / ns * 1e3)
}

/// Whether the list gives back `entries`.
pub(super) fn check(list: &mut dyn StoredList, entries: &[u32]) -> Result<(), LabError> {
    let mut decoded = Vec::with_capacity(entries.len());
    for block in 0..list.block_count() {
        list.decode_block(block, &mut |some| decoded.extend_from_slice(some))?;
    }
    if decoded != entries {
        let codec = list.name().to_owned();
        return Err(LabError::NotRestored { codec });
    }
    Ok(())
}

fn no_block() -> Corrupt {
    Corrupt::new("no such block of the list", 0)
}

/// No codec.
struct PlainList<'a> {
    entries: &'a [u32],
}

impl PlainList<'_> {
    fn block(&self, block: usize) -> &[u32] {
        self.entries
            .chunks(BLOCK_ENTRIES)
            .nth(block)
            .unwrap_or_default()
    }
}

impl StoredList for PlainList<'_> {
    fn name(&self) -> &'static str {
        "uncompressed"
    }

    fn raw_bytes(&self) -> usize {
        size_of_val(self.entries)
    }

    fn block_count(&self) -> usize {
        self.entries.len().div_ceil(BLOCK_ENTRIES)
    }

    fn block_bytes(&self, block: usize) -> usize {
        size_of_val(self.block(block))
    }

    fn decode_block(&mut self, block: usize, take: &mut dyn FnMut(&[u32])) -> Result<(), Corrupt> {
        self.block(block).chunks(VECTOR_VALUES).for_each(take);
        Ok(())
    }
}

/// PFOR-DELTA in the paper's segments, one a block.
struct SegmentList {
    images: Vec<Vec<u8>>,
    entry_count: usize,
}

impl SegmentList {
    fn new(entries: &[u32]) -> Result<Self, LabError> {
        let settings = settings_by(entries, BLOCK_ENTRIES);
        Ok(Self {
            images: encode_sums_by(entries, BLOCK_ENTRIES, &settings)?,
            entry_count: entries.len(),
        })
    }
}

impl StoredList for SegmentList {
    fn name(&self) -> &'static str {
        "PFOR-DELTA"
    }

    fn raw_bytes(&self) -> usize {
        size_of::<u32>() * self.entry_count
    }

    fn block_count(&self) -> usize {
        self.images.len()
    }

    fn block_bytes(&self, block: usize) -> usize {
        self.images.get(block).map_or(0, Vec::len)
    }

    fn decode_block(&mut self, block: usize, take: &mut dyn FnMut(&[u32])) -> Result<(), Corrupt> {
        let image = self.images.get(block).ok_or_else(no_block)?;
        let mut segment = Segment::<u32>::open(image, None)?;
        let Vector(out) = &mut Vector([0; VECTOR_VALUES]);
        crate::codecs::each_vector(&mut segment, out, take)
    }
}

/// A codec of gaps, which decodes a block as a whole; the running sum is made of them after that.
struct GapList {
    codec: Box<dyn PostingsCodec>,
    payloads: Vec<Vec<u8>>,
    entry_count: usize,
    gaps: Vec<u32>,
    /// The last entry of the block decoded last.
    before: u32,
}

impl GapList {
    fn new(codec: Box<dyn PostingsCodec>, entries: &[u32]) -> Result<Self, GapsError> {
        let mut before = 0;
        let mut gaps = Vec::with_capacity(entries.len());
        for &entry in entries {
            gaps.push(entry.wrapping_sub(before));
            before = entry;
        }
        let encoded = gaps.chunks(BLOCK_ENTRIES).map(|gaps| {
            let mut payload = Vec::new();
            codec.encode(gaps, &mut payload)?;
            Ok(payload)
        });
        let payloads = encoded.collect::<Result<_, GapsError>>()?;
        Ok(Self {
            codec,
            payloads,
            entry_count: entries.len(),
            gaps: vec![0; BLOCK_ENTRIES],
            before: 0,
        })
    }
}

impl StoredList for GapList {
    fn name(&self) -> &'static str {
        self.codec.name()
    }

    fn raw_bytes(&self) -> usize {
        size_of::<u32>() * self.entry_count
    }

    fn block_count(&self) -> usize {
        self.payloads.len()
    }

    fn block_bytes(&self, block: usize) -> usize {
        self.payloads.get(block).map_or(0, Vec::len)
    }

    fn decode_block(&mut self, block: usize, take: &mut dyn FnMut(&[u32])) -> Result<(), Corrupt> {
        let payload = self.payloads.get(block).ok_or_else(no_block)?;
        let rest = self
            .entry_count
            .saturating_sub(block.saturating_mul(BLOCK_ENTRIES));
        let gaps = &mut self.gaps[..rest.min(BLOCK_ENTRIES)];
        self.codec.decode(payload, gaps)?;
        let mut entry = if block == 0 { 0 } else { self.before };
        for gap in gaps.iter_mut() {
            entry = entry.wrapping_add(*gap);
            *gap = entry;
        }
        self.before = entry;
        gaps.chunks(VECTOR_VALUES).for_each(take);
        Ok(())
    }
}

/// Quire's own PFOR-DELTA.
struct QuireList {
    images: Vec<Arc<[u8]>>,
    entry_count: usize,
}

impl QuireList {
    fn new(entries: &[u32]) -> Result<Self, LabError> {
        let mut images = Vec::new();
        for block in entries.chunks(BLOCK_ENTRIES) {
            let signed: Vec<i32> = block.iter().map(|&entry| entry as i32).collect();
            images.push(fixed::encode(CodecId::PforDelta, &signed)?.into());
        }
        Ok(Self {
            images,
            entry_count: entries.len(),
        })
    }
}

impl StoredList for QuireList {
    fn name(&self) -> &'static str {
        "quire pfor_delta"
    }

    fn raw_bytes(&self) -> usize {
        size_of::<u32>() * self.entry_count
    }

    fn block_count(&self) -> usize {
        self.images.len()
    }

    fn block_bytes(&self, block: usize) -> usize {
        self.images.get(block).map_or(0, |image| image.len())
    }

    fn decode_block(&mut self, block: usize, take: &mut dyn FnMut(&[u32])) -> Result<(), Corrupt> {
        let image = self.images.get(block).ok_or_else(no_block)?;
        let rest = self
            .entry_count
            .saturating_sub(block.saturating_mul(BLOCK_ENTRIES));
        let row_count = rest.min(BLOCK_ENTRIES);
        let whole = 0..image.len();
        let mut decoder =
            FixedDecoder::<i32>::open(CodecId::PforDelta, Arc::clone(image), whole, row_count)?;
        let Vector(out) = &mut Vector([0i32; VECTOR_VALUES]);
        for vector in 0..vector_count(row_count) {
            let rows = decoder.decode_vector(vector, out)?;
            take(bytemuck::cast_slice(&out[..rows]));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::LabRandom;

    #[test]
    fn every_codec_gives_back_lists_of_all_lengths() {
        let mut random = LabRandom(5);
        for length in [
            0,
            1,
            VECTOR_VALUES,
            BLOCK_ENTRIES,
            BLOCK_ENTRIES + 1,
            3 * BLOCK_ENTRIES - 7,
        ] {
            let mut entry = 0;
            let entries: Vec<u32> = (0..length)
                .map(|_| {
                    entry += random.below(300) as u32;
                    entry
                })
                .collect();
            check(&mut *uncompressed(&entries), &entries).unwrap();
            for mut list in all_codecs(&entries).unwrap() {
                // Twice: nothing is left of the first time.
                check(&mut *list, &entries).unwrap();
                check(&mut *list, &entries).unwrap();
                assert_eq!(list.raw_bytes(), 4 * length);
                assert!(
                    length < VECTOR_VALUES || list.ratio() > 2.0,
                    "{}",
                    list.name()
                );
            }
        }
    }
}
