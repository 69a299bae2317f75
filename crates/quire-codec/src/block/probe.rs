//! Is this block worth the time of a slow codec? Asked before LZ4HC, zlib and zstd, at the price of LZ4.
//!
//! Two kinds of redundancy can be used: repeated strings, and bytes that are not equally frequent. Codecs
//! that know both give up only where neither is found, codecs without entropy coding where no strings repeat.
//! A wrong answer costs some size or some time, nothing else.

use super::lz4_block::compress_into;
use lz4::block::CompressionMode;

/// Bytes counted to judge frequencies, in stretches spread over the block.
const SAMPLED_BYTES: usize = 4096;
const STRETCH_BYTES: usize = 256;
/// Blocks shorter than this are compressed at once.
const PROBED_BYTES_MIN: usize = 2048;

/// The buffer of the trial.
#[derive(Clone, Debug, Default)]
pub(super) struct BlockProbe {
    trial: Vec<u8>,
}

/// The most bytes a trial with LZ4 may take: half of the gain that is asked for.
pub(super) fn slack(raw_bytes: usize, limit: usize) -> usize {
    raw_bytes - raw_bytes.saturating_sub(limit) / 2
}

impl BlockProbe {
    /// Whether a greedy search alone brings `input` down to `limit` bytes.
    pub(super) fn finds_matches(&mut self, input: &[u8], limit: usize) -> bool {
        if input.len() < PROBED_BYTES_MIN || limit >= input.len() {
            return true;
        }
        if self.trial.len() < limit {
            self.trial.resize(limit, 0);
        }
        compress_into(input, &mut self.trial[..limit], CompressionMode::DEFAULT).is_some()
    }

    /// Whether strings repeat in `input`, or its bytes are not equally frequent, so that entropy coding
    /// alone could bring it down to `limit`.
    pub(super) fn finds_redundancy(&mut self, input: &[u8], limit: usize) -> bool {
        input.len() < PROBED_BYTES_MIN
            || !bytes_are_flat(input, limit)
            || self.finds_matches(input, slack(input.len(), limit))
    }
}

/// Whether bytes are so equally frequent that entropy coding cannot bring `input` down to `limit` bytes.
///
/// Judged by the collision entropy, -log2 of the chance that two bytes are equal: it is never above the
/// Shannon entropy that bounds such codes, and needs no logarithm a byte.
fn bytes_are_flat(input: &[u8], limit: usize) -> bool {
    let mut counts = [[0u32; 256]; 2];
    let stretches = SAMPLED_BYTES / STRETCH_BYTES;
    let step = (input.len() / stretches).max(STRETCH_BYTES);
    let mut sampled = 0u64;
    for start in (0..input.len()).step_by(step) {
        let stretch = &input[start..input.len().min(start + STRETCH_BYTES)];
        // Two tables, so that equal neighbours do not wait for each other.
        for pair in stretch.chunks(2) {
            for (table, &byte) in counts.iter_mut().zip(pair) {
                table[usize::from(byte)] += 1;
            }
        }
        sampled += stretch.len() as u64;
    }
    let equal_pairs: u64 = (0..256)
        .map(|byte| u64::from(counts[0][byte] + counts[1][byte]))
        .map(|count| count * count.saturating_sub(1))
        .sum();
    let chance = equal_pairs as f64 / (sampled * sampled.saturating_sub(1)).max(1) as f64;
    let bits_a_byte = 8.0 * limit as f64 / input.len() as f64;
    // At most the entropy of bytes that are all equally frequent, less what a sample of them shows.
    chance < (-bits_a_byte.min(7.9)).exp2()
}
