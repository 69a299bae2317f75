//! No compression: a block is its bytes.

use super::{BlockCodec, BlockCodecId, block_bounds};
use crate::Corrupt;

/// The codec that copies. No block gains by it, so any minimum gain refuses it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StoredCodec;

impl BlockCodec for StoredCodec {
    fn id(&self) -> BlockCodecId {
        BlockCodecId::None
    }

    fn compress(&mut self, input: &[u8], output: &mut [u8], limit: usize) -> Option<usize> {
        let output = block_bounds(input, output, limit)?;
        output.get_mut(..input.len())?.copy_from_slice(input);
        Some(input.len())
    }

    fn decompress(&mut self, input: &[u8], output: &mut [u8]) -> Result<(), Corrupt> {
        if input.len() != output.len() {
            let what = format!("{} bytes stand for {}", input.len(), output.len());
            return Err(Corrupt::new(what, 0));
        }
        output.copy_from_slice(input);
        Ok(())
    }
}
