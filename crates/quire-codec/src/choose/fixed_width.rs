//! Candidates for integers and floating point numbers.

use super::{ChooseOptions, CodecCandidate, cost};
use crate::effort::SearchEffort;
use crate::float::{self, Floating, as_bits};
use crate::int::element::{Element, Packed};
use crate::{CodecId, PhysicalType, VECTOR_VALUES, distinct, fixed, vector_count};
use std::borrow::Cow;

/// RLE is sized when there are at most this many runs per hundred rows, and if everything is to be looked at.
const RUNS_PERCENT_MAX: usize = 50;

/// The same of a dictionary: when at most this many per cent of all values may be distinct …
const DISTINCT_PERCENT_MAX: usize = 50;

/// … and proposed when it takes at most this many per cent of the smallest other candidate: reading it means
/// decoding all its values first, and writing it a hash table.
const DICTIONARY_PERCENT_MAX: usize = 90;

/// PDICT is proposed when it takes at most this many per cent of a dictionary of all values, whose codes answer
/// predicates.
const PDICT_PERCENT_MAX: usize = 95;

/// The dictionary of a sample stands for that of all rows if at most one in this many of its values are likely to
/// be missing.
const MISSING_SHARE: usize = 8;

/// Sparse is sized when at least this many per cent of the sampled rows have one value.
const DOMINANT_PERCENT_MIN: usize = 60;

/// ALP-RD is sized when ALP takes at least this many per cent of the values as they are.
const ALP_PERCENT_MIN: usize = 60;

/// Whole vectors spread evenly over a column.
pub(super) struct VectorSample<'a, T: Copy> {
    pub(super) values: Cow<'a, [T]>,
    row_count: usize,
    physical_type: PhysicalType,
}

impl<'a, T: Copy> VectorSample<'a, T> {
    pub(super) fn take(
        values: &'a [T],
        physical_type: PhysicalType,
        options: &ChooseOptions,
    ) -> Self {
        let all = vector_count(values.len());
        let taken = options.effort.sample_vectors(all);
        let row_count = values.len();
        if taken == all {
            return Self {
                values: Cow::Borrowed(values),
                row_count,
                physical_type,
            };
        }
        let mut sample = Vec::with_capacity(taken * VECTOR_VALUES);
        for index in 0..taken {
            // The last vector may be partial and is left out: `taken < all`.
            let start = index * (all - 1) / taken * VECTOR_VALUES;
            sample.extend_from_slice(&values[start..start + VECTOR_VALUES]);
        }
        Self {
            values: Cow::Owned(sample),
            row_count,
            physical_type,
        }
    }

    /// Size of the column, if the sample takes `bytes`.
    fn extrapolate(&self, bytes: usize) -> usize {
        match self.values.len() {
            0 => bytes,
            length => (bytes * self.row_count).div_ceil(length),
        }
    }

    fn candidate(&self, codec: CodecId, estimated_bytes: usize) -> CodecCandidate {
        let decode_ns_per_value = cost::decode_ns_per_value(codec, self.physical_type);
        CodecCandidate::new(codec, estimated_bytes, decode_ns_per_value)
    }

    fn sized(&self, codec: CodecId, sample_bytes: usize) -> CodecCandidate {
        self.candidate(codec, self.extrapolate(sample_bytes))
    }
}

pub(super) fn integers<E: Element>(values: &[E], options: &ChooseOptions) -> Vec<CodecCandidate> {
    let sample = VectorSample::take(values, E::PHYSICAL_TYPE, options);
    if let Some(constant) = constant(values, &sample) {
        return vec![constant];
    }
    let mut candidates = vec![
        sample.candidate(CodecId::Plain, values.len() * E::BYTES),
        sample.sized(
            CodecId::Pfor,
            E::Packed::encoded_bytes(&sample.values, false),
        ),
        sample.sized(
            CodecId::PforDelta,
            E::Packed::encoded_bytes(&sample.values, true),
        ),
    ];
    repeating(values, &sample, options, &mut candidates);
    candidates
}

pub(super) fn floats<F: Floating>(values: &[F], options: &ChooseOptions) -> Vec<CodecCandidate> {
    let sample = VectorSample::take(values, F::PHYSICAL_TYPE, options);
    let bits = VectorSample::take(as_bits(values), F::PHYSICAL_TYPE, options);
    if let Some(constant) = constant(as_bits(values), &bits) {
        return vec![constant];
    }
    let mut candidates = vec![sample.candidate(CodecId::Plain, size_of_val(values))];
    let of_sample = |codec| float::encoded_bytes(codec, &sample.values).ok();
    let decimals = of_sample(CodecId::Alp);
    candidates.extend(decimals.map(|bytes| sample.sized(CodecId::Alp, bytes)));
    let few = size_of_val(&*sample.values) * ALP_PERCENT_MIN / 100;
    let looks_at_all =
        options.beneath.compresses().is_some() || options.effort == SearchEffort::Thorough;
    let is_forced = options.forced == Some(CodecId::AlpRd);
    if decimals.is_none_or(|bytes| bytes >= few) || looks_at_all || is_forced {
        let bytes = of_sample(CodecId::AlpRd);
        candidates.extend(bytes.map(|bytes| sample.sized(CodecId::AlpRd, bytes)));
    }
    repeating(as_bits(values), &bits, options, &mut candidates);
    candidates
}

/// The constant codec, when every value is the same.
fn constant<E: Element>(values: &[E], sample: &VectorSample<'_, E>) -> Option<CodecCandidate> {
    let first = values.first().copied().unwrap_or_default();
    let same = values.iter().all(|&value| value == first);
    same.then(|| sample.candidate(CodecId::Constant, E::BYTES))
}

/// Adds RLE, sparse and dictionaries where values repeat.
fn repeating<E: Element>(
    values: &[E],
    sample: &VectorSample<'_, E>,
    options: &ChooseOptions,
    candidates: &mut Vec<CodecCandidate>,
) {
    let forced = |codec| options.forced == Some(codec);
    // A block codec beneath ranks candidates in ways that their own sizes do not tell.
    let is_compressed = options.beneath.compresses().is_some();
    let looks_at_all = is_compressed || options.effort == SearchEffort::Thorough;
    let changes = sample
        .values
        .windows(2)
        .filter(|pair| pair[0] != pair[1])
        .count();
    let has_runs = changes * 100 <= sample.values.len() * RUNS_PERCENT_MAX;
    if has_runs || looks_at_all || forced(CodecId::Rle) {
        let mut rle = sample.sized(CodecId::Rle, fixed::rle_bytes(&sample.values));
        let runs_per_value = changes as f32 / sample.values.len().max(1) as f32;
        rle.decode_ns_per_value += cost::runs_ns_per_value(runs_per_value);
        candidates.push(rle);
    }
    if has_dominant(&sample.values) || looks_at_all || forced(CodecId::Sparse) {
        let bytes = fixed::sparse_bytes(&sample.values);
        candidates.push(sample.sized(CodecId::Sparse, bytes));
    }
    for codec in [CodecId::Dictionary, CodecId::Pdict] {
        if forced(codec) {
            let bytes = fixed::encoded_bytes(codec, values).ok();
            candidates.extend(bytes.map(|bytes| sample.candidate(codec, bytes)));
            return;
        }
    }
    let smallest = candidates.iter().map(|one| one.estimated_bytes).min();
    let limits = DictionaryLimits {
        distinct_percent: if looks_at_all {
            100
        } else {
            DISTINCT_PERCENT_MAX
        },
        bytes: if is_compressed {
            UNLIMITED_BYTES
        } else {
            smallest.unwrap_or(0) * DICTIONARY_PERCENT_MAX / 100
        },
    };
    dictionaries(values, sample, &limits, candidates);
}

fn has_dominant<E: Element>(values: &[E]) -> bool {
    let dominant = fixed::dominant(values);
    let count = values.iter().filter(|&&value| value == dominant).count();
    count * 100 >= values.len() * DOMINANT_PERCENT_MIN
}

/// What a dictionary must not pass to be proposed.
struct DictionaryLimits {
    distinct_percent: usize,
    bytes: usize,
}

/// More than any payload takes, and products of it with a number of rows are still numbers.
const UNLIMITED_BYTES: usize = 1 << 40;

impl DictionaryLimits {
    fn distinct_max(&self, row_count: usize) -> usize {
        row_count * self.distinct_percent / 100
    }
}

/// The distinct values of a sample.
struct Sampled<E> {
    interned: fixed::Interned<E>,
    /// Sizes of the values of its dictionary and of all the rest.
    value_bytes: usize,
    code_bytes: usize,
    /// Distinct values that the whole column has, at the least.
    distinct_at_least: usize,
}

impl<E: Element> Sampled<E> {
    /// Of a column that may be worth a dictionary.
    fn of(sample: &VectorSample<'_, E>, limits: &DictionaryLimits) -> Option<Self> {
        let distinct_max = limits.distinct_max(sample.row_count);
        let interned = fixed::intern(&sample.values, distinct_max)?;
        let distinct_at_least =
            distinct::frequencies(&interned).distinct_at_least(sample.row_count);
        let mostly_rare = interned.distinct_count() > limits.distinct_max(sample.values.len());
        if mostly_rare && distinct_at_least > distinct_max {
            return None;
        }
        let (bytes, value_bytes) = interned.encoded_bytes();
        Some(Self {
            interned,
            value_bytes,
            code_bytes: bytes - value_bytes,
            distinct_at_least,
        })
    }
}

/// Adds a dictionary of all values and one of the frequent values, if they are within the limits.
fn dictionaries<E: Element>(
    values: &[E],
    sample: &VectorSample<'_, E>,
    limits: &DictionaryLimits,
    candidates: &mut Vec<CodecCandidate>,
) {
    let Some(sampled) = Sampled::of(sample, limits) else {
        return;
    };
    let of_frequent = frequent_bytes(sample, &sampled, limits);
    let of_all = dictionary_bytes(values, sample, &sampled, limits, of_frequent);
    candidates.extend(of_all.map(|bytes| sample.candidate(CodecId::Dictionary, bytes)));
    let is_worth_it = |&bytes: &usize| of_all.is_none_or(|all| is_clearly_less(bytes, all));
    let of_frequent = of_frequent.filter(is_worth_it);
    candidates.extend(of_frequent.map(|bytes| sample.candidate(CodecId::Pdict, bytes)));
}

/// Whether a dictionary of the frequent values is worth it beside one of all.
fn is_clearly_less(of_frequent: usize, of_all: usize) -> bool {
    of_frequent <= of_all * PDICT_PERCENT_MAX / 100
}

/// Size of a payload with rare values aside, if it is within the limits.
fn frequent_bytes<E: Element>(
    sample: &VectorSample<'_, E>,
    sampled: &Sampled<E>,
    limits: &DictionaryLimits,
) -> Option<usize> {
    let (values, interned) = (&sample.values, &sampled.interned);
    if interned.distinct_count() > limits.distinct_max(values.len()) {
        return None;
    }
    let of_sample = limits.bytes * values.len() / sample.row_count.max(1);
    // What is rare in the sample may repeat elsewhere, so this is pessimistic.
    let (bytes, value_bytes) =
        fixed::bytes_with_rows_aside(values, interned, sampled.code_bytes, of_sample)?;
    let whole = sample.extrapolate(bytes - value_bytes) + value_bytes;
    Some(whole).filter(|&bytes| bytes <= limits.bytes)
}

/// Size of a dictionary payload, if it is within the limits. From the sample alone when its second half brought
/// next to no new values; otherwise all rows are counted, unless they have too many distinct values for sure, or so
/// many that rare ones are better aside.
fn dictionary_bytes<E: Element>(
    values: &[E],
    sample: &VectorSample<'_, E>,
    sampled: &Sampled<E>,
    limits: &DictionaryLimits,
    of_frequent: Option<usize>,
) -> Option<usize> {
    let distinct_max = limits.distinct_max(values.len());
    if sampled.distinct_at_least > distinct_max {
        return None;
    }
    let value_bytes = sampled.value_bytes;
    let code_bytes = sample.extrapolate(sampled.code_bytes);
    let sampled_rows = sample.values.len();
    if sampled_rows == values.len() {
        return Some(code_bytes + value_bytes).filter(|&bytes| bytes <= limits.bytes);
    }
    let (distinct, before) = sampled.interned.distinct_counts(sampled_rows / 2);
    let halves_to_come = (values.len() - sampled_rows).div_ceil((sampled_rows / 2).max(1));
    let missing = (distinct - before) * halves_to_come;
    if missing * MISSING_SHARE <= distinct {
        let bytes = code_bytes + value_bytes + value_bytes * missing / distinct.max(1);
        return Some(bytes).filter(|&bytes| bytes <= limits.bytes);
    }
    // Optimistic: codes of more distinct values are wider, too.
    let all_value_bytes = distinct::values_bytes(value_bytes, distinct, sampled.distinct_at_least);
    let bytes = code_bytes + all_value_bytes;
    let is_beaten = of_frequent.is_some_and(|frequent| is_clearly_less(frequent, bytes));
    // Beneath a block codec the larger of the two may turn out the smaller.
    if bytes > limits.bytes || is_beaten && limits.bytes < UNLIMITED_BYTES {
        return None;
    }
    let interned = fixed::intern(values, distinct_max)?;
    Some(interned.encoded_bytes().0).filter(|&bytes| bytes <= limits.bytes)
}
