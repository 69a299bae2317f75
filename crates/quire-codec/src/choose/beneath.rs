//! What a block codec beneath leaves of each candidate.
//!
//! A codec that packs values hides their repetitions from a codec of bytes below it, and one that leaves them alone
//! may end smaller. So where storage compresses, candidates are encoded, cut into blocks as storage cuts them, and
//! ranked by what the block codec leaves.

use super::{ChooseOptions, CodecCandidate, cost};
use crate::block::{self, BlockCodec, BlockCodecId, BlockOptions, MinimumGain};
use crate::effort::SearchEffort;
use crate::{CodecId, EncodeError, RowGroupValues, boolean, fixed, float, text};

/// What the chosen bytes are stored on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Beneath {
    /// Storage that keeps bytes as they are.
    #[default]
    Nothing,
    /// Storage that compresses every block of `block_bytes` bytes, at the codec's default level, and keeps a block
    /// that gains less than one part in eight as it is.
    Blocks {
        codec: BlockCodecId,
        block_bytes: usize,
    },
}

impl Beneath {
    /// The codec and the size of its blocks; `None` if bytes are kept as they are.
    pub(super) fn compresses(self) -> Option<(BlockCodecId, usize)> {
        match self {
            Self::Nothing => None,
            Self::Blocks { codec, block_bytes } => {
                (codec != BlockCodecId::None).then_some((codec, block_bytes.max(1)))
            }
        }
    }
}

/// Bytes of the blocks of one candidate that are compressed to know what remains of them all.
const SAMPLED_BYTES_FAST: usize = 64 << 10;
const SAMPLED_BYTES_NORMAL: usize = 256 << 10;

/// Bytes of text that are encoded to have a payload to compress; numbers are encoded whole.
const TEXT_BYTES: usize = 512 << 10;

/// Sets what remains of each candidate, and adds what undoing the block codec costs.
pub(super) fn weigh(
    candidates: &mut [CodecCandidate],
    values: &RowGroupValues<'_>,
    options: &ChooseOptions,
) {
    let Some((codec, block_bytes)) = options.beneath.compresses() else {
        return;
    };
    let Ok(mut block_codec) = block::open(codec, &BlockOptions::default()) else {
        return;
    };
    let taken;
    let sample = match values {
        RowGroupValues::Bytes(all)
            if all.is_valid() && options.effort != SearchEffort::Thorough =>
        {
            taken = text::sample(all, TEXT_BYTES);
            &RowGroupValues::Bytes(taken.as_slice())
        }
        _ => values,
    };
    let blocks = BlockCutting {
        bytes: block_bytes,
        sampled_bytes: match options.effort {
            SearchEffort::Fast => SAMPLED_BYTES_FAST,
            SearchEffort::Normal => SAMPLED_BYTES_NORMAL,
            SearchEffort::Thorough => usize::MAX,
        },
    };
    for candidate in candidates {
        let Ok(payload) = encode(sample, candidate.codec) else {
            continue;
        };
        if sample.len() == values.len() {
            candidate.estimated_bytes = payload.len();
        }
        let remaining_bytes = blocks.remaining_bytes(block_codec.as_mut(), &payload);
        let share = remaining_bytes as f64 / payload.len().max(1) as f64;
        candidate.remaining_bytes = (candidate.estimated_bytes as f64 * share).ceil() as usize;
        if share < 1.0 {
            let bytes_per_value = candidate.estimated_bytes as f32 / values.len().max(1) as f32;
            candidate.decode_ns_per_value += cost::decompress_ns_per_byte(codec) * bytes_per_value;
        }
    }
}

/// How storage cuts what it compresses, and how much of it is tried.
struct BlockCutting {
    bytes: usize,
    sampled_bytes: usize,
}

impl BlockCutting {
    fn remaining_bytes(&self, codec: &mut dyn BlockCodec, payload: &[u8]) -> usize {
        let blocks: Vec<&[u8]> = payload.chunks(self.bytes).collect();
        let sampled = (self.sampled_bytes / self.bytes).max(2);
        block::estimated_bytes(codec, &blocks, MinimumGain::EIGHTH, sampled)
    }
}

/// The payload of `values` in that codec.
///
/// # Errors
/// A codec that cannot hold the type or, for [`CodecId::Constant`], the values; too many rows or bytes.
pub fn encode(values: &RowGroupValues<'_>, codec: CodecId) -> Result<Vec<u8>, EncodeError> {
    match values {
        RowGroupValues::Bool(values) => {
            boolean::encode(codec, &boolean::to_words(values), values.len())
        }
        RowGroupValues::Int16(values) => fixed::encode(codec, values),
        RowGroupValues::Int32(values) => fixed::encode(codec, values),
        RowGroupValues::Int64(values) => fixed::encode(codec, values),
        RowGroupValues::Int128(values) => fixed::encode(codec, values),
        RowGroupValues::Float32(values) => float::encode(codec, values),
        RowGroupValues::Float64(values) => float::encode(codec, values),
        RowGroupValues::Bytes(values) => text::encode(codec, values),
    }
}
