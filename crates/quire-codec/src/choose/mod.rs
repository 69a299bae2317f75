//! Which codec a column of one row group should get, and how large the result will be.
//!
//! Every codec that can hold the type is sized on a sample of whole vectors with the encoder's own planning
//! code, so an estimate is exact for what was sampled. A dictionary is different: the sample only tells how many
//! distinct values there are at least (`distinct`). Where that rules a dictionary out, that is all; where it looks
//! best, all rows are counted. The smallest candidate wins, unless another is nearly as small and decodes much faster
//! (`cost`). Where storage compresses what it is given, candidates are ranked by what it leaves of them ([`Beneath`]).
//!
//! Columns are written row group by row group, and most stay as they are: a [`Sketch`] of the values, and the size
//! they took, tell the caller when a choice must be made anew.

mod beneath;
mod cost;
mod fixed_width;
mod sketch;

pub use crate::effort::SearchEffort;
pub use beneath::{Beneath, encode};
pub use sketch::Sketch;

use crate::{CodecId, RowGroupValues, boolean, text};

/// What the caller wants of the chooser.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChooseOptions {
    /// The codec the user asked for; it is not questioned. Encoding fails if it cannot hold the values.
    pub forced: Option<CodecId>,
    pub effort: SearchEffort,
    /// What the encoded values are stored on.
    pub beneath: Beneath,
    /// Others are found by the codes of these values: of strings all have one, or none has.
    pub has_followers: bool,
}

/// The codec for a column of one row group, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodecChoice {
    pub codec: CodecId,
    /// Expected size of the encoded values.
    pub estimated_bytes: usize,
    /// What storage is expected to make of that; the same if it compresses nothing.
    pub remaining_bytes: usize,
    /// The next smallest of the others and its expected size.
    pub runner_up: Option<(CodecId, usize)>,
    /// Size of the values uncompressed.
    pub raw_bytes: usize,
}

/// A codec, and what it would cost.
#[derive(Clone, Copy, Debug)]
struct CodecCandidate {
    codec: CodecId,
    estimated_bytes: usize,
    /// After storage compressed it.
    remaining_bytes: usize,
    decode_ns_per_value: f32,
}

impl CodecCandidate {
    /// On storage that compresses nothing.
    fn new(codec: CodecId, estimated_bytes: usize, decode_ns_per_value: f32) -> Self {
        Self {
            codec,
            estimated_bytes,
            remaining_bytes: estimated_bytes,
            decode_ns_per_value,
        }
    }
}

/// Chooses a codec for `values`.
///
/// ```
/// use quire_codec::{CodecId, RowGroupValues, choose};
///
/// let mut state = 1_u32;
/// let mut random = || {
///     state ^= state << 13;
///     state ^= state >> 17;
///     state ^= state << 5;
///     state
/// };
/// let days: Vec<i32> = (0..10_000).map(|_| 8000 + (random() % 2503) as i32).collect();
/// let choice = choose::choose(&RowGroupValues::Int32(&days), &choose::ChooseOptions::default());
/// assert_eq!(choice.codec, CodecId::Pfor);
/// assert!(choice.estimated_bytes * 5 < choice.raw_bytes * 2);
/// ```
pub fn choose(values: &RowGroupValues<'_>, options: &ChooseOptions) -> CodecChoice {
    let mut candidates = candidates(values, options);
    if options.has_followers
        && options.forced.is_none()
        && matches!(values, RowGroupValues::Bytes(_))
    {
        candidates.retain(|one| one.codec != CodecId::Pdict);
    }
    beneath::weigh(&mut candidates, values, options);
    candidates.sort_by_key(|one| (one.remaining_bytes, one.estimated_bytes));
    let raw_bytes = values.raw_bytes();
    let found = match (options.forced, values) {
        (Some(codec), _) => candidates.iter().find(|one| one.codec == codec).copied(),
        (None, RowGroupValues::Bytes(_)) => pick_text(&candidates),
        (None, _) => pick(&candidates),
    };
    let unknown = || CodecCandidate::new(options.forced.unwrap_or(CodecId::Plain), raw_bytes, 0.0);
    let chosen = found.unwrap_or_else(unknown);
    let mut others = candidates.iter().filter(|one| one.codec != chosen.codec);
    let runner_up = others.next().filter(|_| options.forced.is_none());
    CodecChoice {
        codec: chosen.codec,
        estimated_bytes: chosen.estimated_bytes,
        remaining_bytes: chosen.remaining_bytes,
        runner_up: runner_up.map(|one| (one.codec, one.estimated_bytes)),
        raw_bytes,
    }
}

/// The smallest candidate, or one that is nearly as small and much faster; `candidates` ascend by what remains.
fn pick(candidates: &[CodecCandidate]) -> Option<CodecCandidate> {
    let smallest = *candidates.first()?;
    let bytes_max = smallest.remaining_bytes * (100 + cost::SIZE_TOLERANCE_PERCENT) / 100;
    let fast_enough = smallest.decode_ns_per_value / cost::DECODE_ADVANTAGE;
    let faster = candidates
        .iter()
        .filter(|one| one.remaining_bytes <= bytes_max && one.decode_ns_per_value <= fast_enough)
        .min_by(|left, right| {
            left.decode_ns_per_value
                .total_cmp(&right.decode_ns_per_value)
        });
    Some(faster.copied().unwrap_or(smallest))
}

/// The choice among codecs for strings, which weighs more than the time to decode: [`text::pick`].
fn pick_text(candidates: &[CodecCandidate]) -> Option<CodecCandidate> {
    let of_text: Vec<text::TextCodecCandidate> = candidates
        .iter()
        .map(|one| text::TextCodecCandidate {
            codec: one.codec,
            estimated_bytes: one.remaining_bytes,
            decode_cost_ns_per_value: one.decode_ns_per_value,
        })
        .collect();
    let chosen = text::pick(&of_text)?.codec;
    candidates.iter().find(|one| one.codec == chosen).copied()
}

fn candidates(values: &RowGroupValues<'_>, options: &ChooseOptions) -> Vec<CodecCandidate> {
    let of_text = |one: text::TextCodecCandidate| {
        CodecCandidate::new(one.codec, one.estimated_bytes, one.decode_cost_ns_per_value)
    };
    match values {
        RowGroupValues::Bool(values) => booleans(values),
        RowGroupValues::Int16(values) => fixed_width::integers(values, options),
        RowGroupValues::Int32(values) => fixed_width::integers(values, options),
        RowGroupValues::Int64(values) => fixed_width::integers(values, options),
        RowGroupValues::Int128(values) => fixed_width::integers(values, options),
        RowGroupValues::Float32(values) => fixed_width::floats(values, options),
        RowGroupValues::Float64(values) => fixed_width::floats(values, options),
        RowGroupValues::Bytes(values) => text::candidates(values, options.effort)
            .into_iter()
            .map(of_text)
            .collect(),
    }
}

/// All sizes are exact: they take one pass over one bit per row.
fn booleans(values: &[bool]) -> Vec<CodecCandidate> {
    let words = boolean::to_words(values);
    let candidate = |codec| {
        let bytes = boolean::encoded_bytes(codec, &words, values.len()).ok()?;
        let decode_ns = cost::decode_ns_per_value(codec, crate::PhysicalType::Bool);
        Some(CodecCandidate::new(codec, bytes, decode_ns))
    };
    CodecId::ALL.into_iter().filter_map(candidate).collect()
}
