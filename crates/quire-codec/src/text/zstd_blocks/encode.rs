//! Which blocks, and their bytes.

use super::SMALL_LOG2;
use crate::BytesSlice;
use crate::block::ZstdDictionary;
use crate::text::{contiguous, lengths, lengths_of, packed, section};
use zstd::bulk::Compressor;

/// 1 MiB: 256 KiB would be a quarter of the work for one value, but costs up to 6 % of size on natural text.
const LARGE_LOG2_WRITTEN: u8 = 20;
const LARGE_LEVEL: i32 = 3;
/// Small blocks are worth more effort: it is theirs to find that makes them as small as large ones.
const SMALL_LEVEL: i32 = 6;
/// A block is stored compressed when that saves one part in this many.
const LEAST_GAIN: usize = 16;

/// Values shorter than this on average have codecs of their own that find one at once.
const LONG_VALUE_BYTES: usize = 200;
/// A dictionary has at most this part of the text, so that it costs next to nothing …
const DICTIONARY_SHARE: usize = 100;
/// … and is not worth training for less text than this.
const DATA_BYTES_MIN: usize = 512 << 10;
/// zstd looks back no further than some times a small block, so more is not found.
const DICTIONARY_BYTES: usize = 112 << 10;
/// Text to train on: pieces of so many bytes, evenly spread.
const TRAINING_BYTES: usize = 4 << 20;
const PIECE_BYTES: usize = 4 << 10;
/// Text that a block size is tried on.
const TRIAL_BYTES: usize = 512 << 10;
/// Small blocks may take this many per cent more than large ones: that is what a value found at a hundredth of the
/// work is worth.
const SMALL_PERCENT_MAX: usize = 103;

/// Compressed blocks.
struct ZstdBlocks {
    log2: u8,
    /// The section that holds the dictionary of small blocks.
    dictionary: Vec<u8>,
    stored_sizes: Vec<u32>,
    bytes: Vec<u8>,
}

impl ZstdBlocks {
    fn compress(raw: &[u8], log2: u8, compressor: &mut BlockCompressor) -> Self {
        let (mut stored_sizes, mut bytes) = (Vec::new(), Vec::new());
        for block in raw.chunks(1 << log2) {
            stored_sizes.push(compressor.append(block, &mut bytes) as u32);
        }
        Self {
            log2,
            dictionary: Vec::new(),
            stored_sizes,
            bytes,
        }
    }

    fn large(raw: &[u8]) -> Self {
        let mut compressor = BlockCompressor::new(LARGE_LEVEL, &[]);
        Self::compress(raw, LARGE_LOG2_WRITTEN, &mut compressor)
    }

    /// Bytes beside the table of lengths.
    fn stored_bytes(&self) -> usize {
        self.dictionary.len() + packed::written_bytes(&self.stored_sizes) + self.bytes.len()
    }
}

/// Compresses blocks one after the other; without it (no memory for the context) blocks stay raw.
struct BlockCompressor(Option<Compressor<'static>>);

impl BlockCompressor {
    fn new(level: i32, dictionary: &[u8]) -> Self {
        let made = Compressor::with_dictionary(level, dictionary).and_then(|mut compressor| {
            compressor.include_magicbytes(false)?;
            compressor.include_contentsize(false)?;
            compressor.include_checksum(false)?;
            compressor.include_dictid(false)?;
            Ok(compressor)
        });
        Self(made.ok())
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

pub(in crate::text) fn encode(values: &BytesSlice) -> Vec<u8> {
    let large = ZstdBlocks::large(contiguous(values));
    let blocks = small_blocks(values, large.stored_bytes()).unwrap_or(large);
    let mut payload = Vec::with_capacity(blocks.stored_bytes() + 2 * values.len());
    payload.push(blocks.log2);
    payload.extend_from_slice(&blocks.dictionary);
    lengths::write(&lengths_of(values), &mut payload);
    packed::write(&blocks.stored_sizes, &mut payload);
    payload.extend_from_slice(&blocks.bytes);
    payload
}

/// The smallest blocks that with their dictionary take about as much as large ones, if there are such.
fn small_blocks(values: &BytesSlice, large_bytes: usize) -> Option<ZstdBlocks> {
    let raw = contiguous(values);
    let is_long = raw.len() >= DATA_BYTES_MIN && raw.len() >= LONG_VALUE_BYTES * values.len();
    if !is_long || large_bytes >= raw.len() - raw.len() / LEAST_GAIN {
        return None;
    }
    let most = large_bytes / 100 * SMALL_PERCENT_MAX;
    let pieces = evenly_spread(raw, PIECE_BYTES, TRAINING_BYTES);
    let dictionary =
        ZstdDictionary::train(&pieces, DICTIONARY_BYTES.min(raw.len() / DICTIONARY_SHARE))?;
    let mut dictionary_section = Vec::new();
    section::write(dictionary.bytes(), &mut dictionary_section);
    let mut compressor = BlockCompressor::new(SMALL_LEVEL, dictionary.bytes());
    for log2 in SMALL_LOG2 {
        let tried = evenly_spread(raw, 1 << log2, TRIAL_BYTES);
        let mut bytes = Vec::new();
        for block in &tried {
            compressor.append(block, &mut bytes);
        }
        let tried_bytes: usize = tried.iter().map(|block| block.len()).sum();
        let expected = bytes.len() as f64 * (raw.len() as f64 / tried_bytes as f64);
        if dictionary_section.len() + expected as usize > most {
            continue;
        }
        let mut blocks = ZstdBlocks::compress(raw, log2, &mut compressor);
        blocks.dictionary = dictionary_section;
        return (blocks.stored_bytes() <= most).then_some(blocks);
    }
    None
}

/// Blocks of `piece_bytes` at the places of whole ones, about `bytes` together.
fn evenly_spread(raw: &[u8], piece_bytes: usize, bytes: usize) -> Vec<&[u8]> {
    let all = raw.len() / piece_bytes;
    let count = all.min(bytes / piece_bytes);
    (0..count)
        .map(|piece| piece * all / count * piece_bytes)
        .map(|start| &raw[start..start + piece_bytes])
        .collect()
}

/// Size of the payload of values of these lengths, if their blocks compress like those of `sample`, of
/// whose bytes there are `scale` times as many. Exact if the sample is all; else small blocks, which a sample is too
/// short to judge, take a few per cent more at most.
pub(in crate::text) fn estimated_bytes(
    all_lengths: &[u32],
    scale: f64,
    sample: &BytesSlice,
) -> usize {
    let large = ZstdBlocks::large(contiguous(sample));
    let blocks = if sample.len() == all_lengths.len() {
        small_blocks(sample, large.stored_bytes()).unwrap_or(large)
    } else {
        large
    };
    let directory = 1 + lengths::written_bytes(all_lengths) + blocks.stored_bytes();
    directory + (blocks.bytes.len() as f64 * (scale - 1.0)) as usize
}
