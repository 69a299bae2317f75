//! Which codecs a column of strings could take, and how large each would make it.

use super::interner::Interner;
use super::{
    DATA_BYTES_MAX, dictionary, encoded_bytes, fsst, lengths, lengths_of, pdict, phrases, shape,
    words, zstd_blocks,
};
use crate::distinct::Frequencies;
use crate::effort::SearchEffort;
use crate::{BytesSlice, BytesVector, CodecId, VECTOR_VALUES, vector_count};

/// A codec, and what it would cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextCodecCandidate {
    pub codec: CodecId,
    /// Size of the payload: exact for plain and constant, and for every codec when the effort is
    /// [`SearchEffort::Thorough`].
    pub estimated_bytes: usize,
    /// Time to decode one value as part of its vector, in nanoseconds on one core, roughly.
    pub decode_cost_ns_per_value: f32,
}

/// Bytes that the slower codecs are tried on.
const SAMPLE_BYTES_FAST: usize = 64 << 10;
const SAMPLE_BYTES_NORMAL: usize = 192 << 10;
/// The sample is taken in this many runs of neighbouring rows.
const SAMPLE_RUNS: usize = 4;
/// Values looked at before a column may be found to have too many distinct ones for a dictionary, or so
/// few that every eighth of the rest tells enough.
const DISTINCT_TRIAL_ROWS: usize = 8192;
const DISTINCT_STRIDE: usize = 8;
/// With fewer distinct values than one in so many rows, no codec but the dictionary is tried.
const FEW_DISTINCT: usize = 32;
/// With no more distinct values, the codes of a dictionary are worth more than the bytes that a patched one saves: predicates and groups
/// are found by them.
const CODED_DISTINCT_MAX: usize = 64;
/// Where shapes take less than one byte in so many, no other codec is tried.
const TINY_SHARE: usize = 16;
/// Fewer bytes than this do not repay a table of phrases.
const PHRASES_BYTES_MIN: usize = 4 << 10;

/// Estimates every codec that could hold `values`, smallest first. At least one: plain holds anything.
pub fn candidates(values: &BytesSlice, effort: SearchEffort) -> Vec<TextCodecCandidate> {
    estimate(values, effort, true)
}

/// The same without shapes and patched dictionaries, for the values of a column that these leave.
pub(super) fn candidates_without_shapes(
    values: &BytesSlice,
    effort: SearchEffort,
) -> Vec<TextCodecCandidate> {
    estimate(values, effort, false)
}

/// The codec of the values that a patched dictionary leaves. Chosen for each row group anew, so it must not take long.
pub(super) fn codec_of_rest(values: &BytesSlice) -> CodecId {
    let candidates = candidates_without_shapes(values, SearchEffort::Fast);
    pick(&candidates).map_or(CodecId::Plain, |one| one.codec)
}

fn estimate(
    values: &BytesSlice,
    effort: SearchEffort,
    with_shapes: bool,
) -> Vec<TextCodecCandidate> {
    let mut found = vec![plain(values)];
    if !values.is_valid() || values.data_bytes() > DATA_BYTES_MAX {
        return found;
    }
    if let Ok(bytes) = encoded_bytes(CodecId::Constant, values) {
        found.push(TextCodecCandidate::new(CodecId::Constant, bytes, 1.0));
        found.sort_by_key(|one| one.estimated_bytes);
        return found;
    }
    let distinct = distinct_values(values, effort);
    if let Some(distinct) = &distinct {
        let bytes = match effort {
            SearchEffort::Thorough => dictionary::encode(values).len(),
            _ => dictionary::estimated_bytes(distinct, values),
        };
        let cost = 2.0 + 0.05 * mean_bytes(values);
        found.push(TextCodecCandidate::new(CodecId::Dictionary, bytes, cost));
    }
    let few = distinct
        .as_ref()
        .is_some_and(|distinct| distinct.len() * FEW_DISTINCT < values.len());
    let mut is_tiny = false;
    if with_shapes && (!few || is_mostly_empty(values)) && shape::is_likely(values) {
        let of_shapes = shapes(values, effort);
        is_tiny = of_shapes.estimated_bytes * TINY_SHARE < values.data_bytes();
        found.push(of_shapes);
    }
    let enough = few || is_tiny && effort != SearchEffort::Thorough;
    if !enough {
        let of_samples = match effort {
            SearchEffort::Thorough => sampled(values, usize::MAX),
            SearchEffort::Normal => sampled(values, SAMPLE_BYTES_NORMAL),
            SearchEffort::Fast => sampled(values, SAMPLE_BYTES_FAST),
        };
        found.extend(of_samples);
        if effort == SearchEffort::Thorough || may_have_phrases(&found, values) {
            found.push(phrases(values));
        }
    }
    let is_many = distinct.is_some_and(|distinct| distinct.len() > CODED_DISTINCT_MAX);
    if with_shapes && is_many {
        found.extend(patched_dictionary(&found, values, effort));
    }
    found.sort_by_key(|one| one.estimated_bytes);
    found
}

/// A dictionary of frequent strings, if it may be smaller than all that has been found: its size is known only once it is encoded.
fn patched_dictionary(
    found: &[TextCodecCandidate],
    values: &BytesSlice,
    effort: SearchEffort,
) -> Option<TextCodecCandidate> {
    let smallest = found.iter().map(|one| one.estimated_bytes).min()?;
    let bytes_max = match effort {
        SearchEffort::Thorough => usize::MAX,
        _ => smallest,
    };
    let (bytes, aside_share) = pdict::size_below(values, bytes_max, codec_of_rest)?;
    let mean = mean_bytes(values);
    let cost = 3.0 + 0.05 * mean + aside_share * (20.0 + 0.5 * mean);
    Some(TextCodecCandidate::new(CodecId::Pdict, bytes, cost))
}

/// Whether phrases may be the codec to take, which costs much to try: not where values have shapes, or where
/// words are clearly smaller than zstd, since phrases are hardly ever much smaller than that.
fn may_have_phrases(found: &[TextCodecCandidate], values: &BytesSlice) -> bool {
    let bytes_of = |codec: CodecId| {
        let of_codec = found.iter().find(|one| one.codec == codec);
        of_codec.map_or(usize::MAX, |one| one.estimated_bytes)
    };
    let zstd = bytes_of(CodecId::Zstd);
    let compresses = zstd.saturating_mul(10) < values.data_bytes().saturating_mul(9);
    let smallest = found.iter().map(|one| one.estimated_bytes).min();
    let beside_zstd = smallest.is_some_and(|bytes| bytes >= zstd / 10 * 9);
    compresses && beside_zstd && values.data_bytes() >= PHRASES_BYTES_MIN
}

fn phrases(values: &BytesSlice) -> TextCodecCandidate {
    let (bytes, codes_per_value) = phrases::estimate(values);
    let cost = 3.0 + 2.0 * codes_per_value as f32;
    TextCodecCandidate::new(CodecId::Phrases, bytes, cost)
}

/// The candidate to take. Smaller is better, but a candidate that is nearly as small as the smallest and
/// costs less to decode is better still. How near is near depends on what else speaks for it: comparing
/// codes instead of values for a dictionary, finding one value without its neighbours for FSST, phrases and
/// shapes.
pub fn pick(candidates: &[TextCodecCandidate]) -> Option<&TextCodecCandidate> {
    let smallest = candidates.iter().min_by_key(|one| one.estimated_bytes)?;
    let near_percent = |one: &TextCodecCandidate| match (one.codec, smallest.codec) {
        (CodecId::Dictionary | CodecId::Plain, _) => 10,
        (CodecId::Fsst | CodecId::Phrases | CodecId::Shape, CodecId::Zstd) => 15,
        (CodecId::Fsst | CodecId::Phrases | CodecId::Shape, _) => 10,
        _ => 5,
    };
    let near = candidates.iter().filter(|one| {
        one.estimated_bytes * (100 - near_percent(one)) <= smallest.estimated_bytes * 100
    });
    near.min_by(|left, right| {
        left.decode_cost_ns_per_value
            .total_cmp(&right.decode_cost_ns_per_value)
    })
}

impl TextCodecCandidate {
    fn new(codec: CodecId, estimated_bytes: usize, decode_cost_ns_per_value: f32) -> Self {
        Self {
            codec,
            estimated_bytes,
            decode_cost_ns_per_value,
        }
    }
}

fn mean_bytes(values: &BytesSlice) -> f32 {
    values.data_bytes() as f32 / values.len().max(1) as f32
}

fn plain(values: &BytesSlice) -> TextCodecCandidate {
    let bytes = lengths::written_bytes(&lengths_of(values)) + values.data_bytes();
    TextCodecCandidate::new(CodecId::Plain, bytes, 1.0 + 0.1 * mean_bytes(values))
}

/// The distinct values; after a while, if they are few, those of every eighth row. `None` when more than half of the
/// rows are distinct, or, after so many rows, will be: such a dictionary is larger than what it stands for.
fn distinct_values<'a>(values: &BytesSlice<'a>, effort: SearchEffort) -> Option<Vec<&'a [u8]>> {
    let distinct_max = values.len().max(16) / 2;
    let mut interner = Interner::new();
    let mut counts: Vec<u32> = Vec::new();
    let mut row = 0;
    while row < values.len() {
        let number = interner.intern(values.get(row)) as usize;
        let distinct = interner.values().len();
        if row <= DISTINCT_TRIAL_ROWS {
            counts.resize(distinct, 0);
            counts[number] += 1;
        }
        let is_trial_over = row == DISTINCT_TRIAL_ROWS;
        if distinct > distinct_max || is_trial_over && expected(&counts, values) > distinct_max {
            return None;
        }
        let few = row >= DISTINCT_TRIAL_ROWS
            && effort != SearchEffort::Thorough
            && distinct * 2 * FEW_DISTINCT < row;
        row += if few { DISTINCT_STRIDE } else { 1 };
    }
    Some(interner.values().to_vec())
}

/// Distinct values to expect at least, after those of a trial occurred so often.
fn expected(counts: &[u32], values: &BytesSlice) -> usize {
    Frequencies::of(counts.iter().copied()).distinct_at_least(values.len())
}

/// Whether more than half of the values have no bytes, as in a column of NULLs.
fn is_mostly_empty(values: &BytesSlice) -> bool {
    let pairs = values.offsets.windows(2);
    2 * pairs.filter(|pair| pair[0] == pair[1]).count() > values.len()
}

/// The size of shapes: exact if there are no more vectors than the effort looks at, else extrapolated from so
/// many whole ones.
fn shapes(values: &BytesSlice, effort: SearchEffort) -> TextCodecCandidate {
    let vectors = vector_count(values.len());
    let looked_at = effort.sample_vectors(vectors);
    let taken;
    let (sample, scale) = if looked_at == vectors {
        (*values, 1.0)
    } else {
        taken = TextSample::of_vectors(values, vectors, looked_at);
        let sample = taken.as_slice();
        (sample, values.len() as f64 / sample.len().max(1) as f64)
    };
    let parts = shape::parts(&sample);
    let bytes = parts.shared_bytes + (parts.row_bytes as f64 * scale) as usize;
    TextCodecCandidate::new(CodecId::Shape, bytes, parts.decode_ns_per_value)
}

/// Runs of neighbouring rows, evenly spread, of about `bytes` bytes together; all rows if they have no more.
pub(crate) fn sample(values: &BytesSlice, bytes: usize) -> BytesVector {
    let all_bytes = values.data_bytes();
    // No run is full with all of them.
    let of_each_run = if all_bytes <= bytes {
        all_bytes + 1
    } else {
        bytes / SAMPLE_RUNS
    };
    let sample = TextSample::take(values, of_each_run * SAMPLE_RUNS);
    BytesVector {
        offsets: sample.offsets,
        data: sample.data,
    }
}

/// Runs of neighbouring rows, evenly spread, of about `bytes` bytes together.
struct TextSample {
    offsets: Vec<u32>,
    data: Vec<u8>,
}

impl TextSample {
    fn take(values: &BytesSlice, bytes: usize) -> Self {
        let mut sample = Self {
            offsets: vec![0],
            data: Vec::new(),
        };
        let run_bytes = bytes / SAMPLE_RUNS;
        for run in 0..SAMPLE_RUNS {
            let first = values.len() * run / SAMPLE_RUNS;
            let last = values.len() * (run + 1) / SAMPLE_RUNS;
            let full = sample.data.len() + run_bytes;
            for value in values.slice(first..last).iter() {
                if sample.data.len() >= full {
                    break;
                }
                // Of a long value its start must do.
                let rest = full - sample.data.len();
                sample
                    .data
                    .extend_from_slice(&value[..value.len().min(rest)]);
                sample.offsets.push(sample.data.len() as u32);
            }
        }
        sample
    }

    /// So many of the vectors, evenly spread, of which there are more.
    fn of_vectors(values: &BytesSlice, vectors: usize, count: usize) -> Self {
        let mut sample = Self {
            offsets: vec![0],
            data: Vec::new(),
        };
        for vector in (0..count).map(|one| vectors * one / count) {
            let start = vector * VECTOR_VALUES;
            for value in values.slice(start..start + VECTOR_VALUES).iter() {
                sample.data.extend_from_slice(value);
                sample.offsets.push(sample.data.len() as u32);
            }
        }
        sample
    }

    fn as_slice(&self) -> BytesSlice<'_> {
        BytesSlice {
            offsets: &self.offsets,
            data: &self.data,
        }
    }
}

/// The codecs that must be tried to know their size: exact if there are no more than `bytes` bytes, else
/// extrapolated from a sample of so many.
fn sampled(values: &BytesSlice, bytes: usize) -> [TextCodecCandidate; 3] {
    let taken;
    let (sample, scale) = if values.data_bytes() <= bytes {
        (*values, 1.0)
    } else {
        taken = TextSample::take(values, bytes);
        let sample = taken.as_slice();
        (
            sample,
            values.data_bytes() as f64 / sample.data_bytes().max(1) as f64,
        )
    };
    let scaled = |bytes: usize| (bytes as f64 * scale) as usize;
    let mean = mean_bytes(values);
    let (table, codes) = fsst::parts(&sample);
    let zstd = zstd_blocks::estimated_bytes(&lengths_of(values), scale, &sample);
    let words = words::parts(&sample);
    // The model grows with the text, but far more slowly.
    let model_bytes = (words.model_bytes as f64 * scale.min(2.0)) as usize;
    let symbols = words.symbol_count as f64 * scale / values.len().max(1) as f64;
    [
        TextCodecCandidate::new(CodecId::Fsst, table + scaled(codes), 5.0 + 0.5 * mean),
        TextCodecCandidate::new(CodecId::Zstd, zstd, 2.0 + 0.8 * mean),
        TextCodecCandidate::new(
            CodecId::Words,
            model_bytes + scaled(words.stream_bytes),
            2.0 + 3.5 * symbols as f32,
        ),
    ]
}
