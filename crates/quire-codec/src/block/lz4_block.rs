//! The LZ4 block format, through the crate `lz4` (the C library). LZ4HC ([`super::lz4_hc`]) writes the same format.

use super::{BLOCK_BYTES_MAX, BlockCodec, BlockCodecId, block_bounds};
use crate::Corrupt;
use lz4::block::{CompressionMode, compress_to_buffer, decompress_to_buffer};

/// The greedy search of LZ4.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lz4;

/// Compresses into `output`, of which every byte may be used.
pub(super) fn compress_into(
    input: &[u8],
    output: &mut [u8],
    mode: CompressionMode,
) -> Option<usize> {
    if output.is_empty() {
        return None;
    }
    compress_to_buffer(input, Some(mode), false, output).ok()
}

pub(super) fn decompress_block(input: &[u8], output: &mut [u8]) -> Result<(), Corrupt> {
    let raw_bytes = output.len();
    let refused = |what: &'static str| Err(Corrupt::new(what, 0));
    if raw_bytes > BLOCK_BYTES_MAX || input.len() > i32::MAX as usize {
        return refused("LZ4 block is too long");
    }
    // `raw_bytes` fits by the check above.
    match decompress_to_buffer(input, Some(raw_bytes as i32), output) {
        Ok(written) if written == raw_bytes => Ok(()),
        Ok(_) => refused("LZ4 block is shorter than its raw length"),
        Err(_) => refused("LZ4 block does not decompress to its size"),
    }
}

impl BlockCodec for Lz4 {
    fn id(&self) -> BlockCodecId {
        BlockCodecId::Lz4
    }

    fn compress(&mut self, input: &[u8], output: &mut [u8], limit: usize) -> Option<usize> {
        let output = block_bounds(input, output, limit)?;
        compress_into(input, output, CompressionMode::DEFAULT)
    }

    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<(), Corrupt> {
        decompress_block(input, output)
    }
}
