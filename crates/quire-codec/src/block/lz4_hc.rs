//! LZ4HC: the LZ4 block format, written after a long search.

use super::lz4_block::{compress_into, decompress_block};
use super::probe::{self, BlockProbe};
use super::{BlockCodec, BlockCodecId, block_bounds};
use crate::Corrupt;
use lz4::block::CompressionMode;

/// The long search of LZ4HC, after a greedy one has shown that it is worth it.
#[derive(Clone, Debug)]
pub(super) struct Lz4Hc {
    level: i32,
    probe: BlockProbe,
}

impl Lz4Hc {
    pub(super) fn new(level: i32) -> Self {
        let probe = BlockProbe::default();
        Self { level, probe }
    }
}

impl BlockCodec for Lz4Hc {
    fn id(&self) -> BlockCodecId {
        BlockCodecId::Lz4Hc
    }

    fn compress(&mut self, input: &[u8], output: &mut [u8], limit: usize) -> Option<usize> {
        let output = block_bounds(input, output, limit)?;
        if !self
            .probe
            .finds_matches(input, probe::slack(input.len(), output.len()))
        {
            return None;
        }
        compress_into(input, output, CompressionMode::HIGHCOMPRESSION(self.level))
    }

    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<(), Corrupt> {
        decompress_block(input, output)
    }
}
