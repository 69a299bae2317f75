//! What blocks will take, before they are compressed.

use super::{BlockCodec, MinimumGain};

/// Bytes that `blocks` will take together: those that gain enough compressed, the others as they are. Judged by
/// at most `sampled` of them, evenly spread; exact when that is all of them.
pub fn estimated_bytes(
    codec: &mut dyn BlockCodec,
    blocks: &[&[u8]],
    gain: MinimumGain,
    sampled: usize,
) -> usize {
    let step = blocks.len().div_ceil(sampled.max(1)).max(1);
    let mut room = Vec::new();
    let (mut raw_bytes, mut stored_bytes) = (0u128, 0u128);
    for block in blocks.iter().step_by(step) {
        let limit = gain.limit(block.len());
        room.resize(room.len().max(limit), 0);
        let compressed = codec.compress(block, &mut room, limit);
        raw_bytes += block.len() as u128;
        stored_bytes += compressed.unwrap_or(block.len()) as u128;
    }
    let all_bytes: usize = blocks.iter().map(|block| block.len()).sum();
    // Below `all_bytes`, as nothing takes more than its raw length.
    (all_bytes as u128 * stored_bytes).div_ceil(raw_bytes.max(1)) as usize
}
