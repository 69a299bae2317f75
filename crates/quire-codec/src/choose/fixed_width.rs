//! Candidates for integers and floating point numbers.

use super::{Candidate, ChooseOptions, cost};
use crate::fixed;
use crate::float::{self, Floating, as_bits};
use crate::int::element::{Element, Packed};
use crate::{CodecId, PhysicalType, VECTOR_VALUES, vector_count};
use std::borrow::Cow;

/// RLE is sized when there are at most this many runs per hundred rows.
const RUNS_PERCENT_MAX: usize = 50;

/// A dictionary is sized when at most this many per cent of the sampled values are distinct …
const DISTINCT_PERCENT_MAX: usize = 50;

/// … and proposed when it takes at most this many per cent of the smallest other candidate: reading it means
/// decoding all its values first, and writing it a hash table.
const DICTIONARY_PERCENT_MAX: usize = 90;

/// Whole vectors spread evenly over a column.
struct Sample<'a, T: Copy> {
    values: Cow<'a, [T]>,
    row_count: usize,
    physical_type: PhysicalType,
}

impl<'a, T: Copy> Sample<'a, T> {
    fn take(values: &'a [T], physical_type: PhysicalType, options: &ChooseOptions) -> Self {
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

    fn candidate(&self, codec: CodecId, estimated_bytes: usize) -> Candidate {
        let decode_ns_per_value = cost::decode_ns_per_value(codec, self.physical_type);
        Candidate {
            codec,
            estimated_bytes,
            decode_ns_per_value,
        }
    }

    fn sized(&self, codec: CodecId, sample_bytes: usize) -> Candidate {
        self.candidate(codec, self.extrapolate(sample_bytes))
    }
}

const fn integer_type<E: Element>() -> PhysicalType {
    match E::BYTES {
        2 => PhysicalType::Int16,
        4 => PhysicalType::Int32,
        8 => PhysicalType::Int64,
        _ => PhysicalType::Int128,
    }
}

pub(super) fn integers<E: Element>(values: &[E], options: &ChooseOptions) -> Vec<Candidate> {
    let sample = Sample::take(values, integer_type::<E>(), options);
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

pub(super) fn floats<F: Floating>(values: &[F], options: &ChooseOptions) -> Vec<Candidate> {
    let sample = Sample::take(values, F::PHYSICAL_TYPE, options);
    let bits = Sample::take(as_bits(values), F::PHYSICAL_TYPE, options);
    if let Some(constant) = constant(as_bits(values), &bits) {
        return vec![constant];
    }
    let mut candidates = vec![sample.candidate(CodecId::Plain, size_of_val(values))];
    if let Ok(bytes) = float::encoded_bytes(CodecId::Alp, &sample.values) {
        candidates.push(sample.sized(CodecId::Alp, bytes));
    }
    repeating(as_bits(values), &bits, options, &mut candidates);
    candidates
}

/// The constant codec, when every value is the same.
fn constant<E: Element>(values: &[E], sample: &Sample<'_, E>) -> Option<Candidate> {
    let first = values.first().copied().unwrap_or_default();
    let same = values.iter().all(|&value| value == first);
    same.then(|| sample.candidate(CodecId::Constant, E::BYTES))
}

/// Adds RLE and dictionary where values repeat.
fn repeating<E: Element>(
    values: &[E],
    sample: &Sample<'_, E>,
    options: &ChooseOptions,
    candidates: &mut Vec<Candidate>,
) {
    let forced = |codec| options.forced == Some(codec);
    let changes = sample
        .values
        .windows(2)
        .filter(|pair| pair[0] != pair[1])
        .count();
    if changes * 100 <= sample.values.len() * RUNS_PERCENT_MAX || forced(CodecId::Rle) {
        candidates.push(sample.sized(CodecId::Rle, fixed::rle_bytes(&sample.values)));
    }
    let smallest = candidates
        .iter()
        .map(|one| one.estimated_bytes)
        .min()
        .unwrap_or(usize::MAX);
    if let Some(bytes) = dictionary_bytes(values, sample, smallest, forced(CodecId::Dictionary)) {
        candidates.push(sample.candidate(CodecId::Dictionary, bytes));
    }
}

/// Exact size of a dictionary payload, if it is much smaller than `smallest` or forced.
fn dictionary_bytes<E: Element>(
    values: &[E],
    sample: &Sample<'_, E>,
    smallest: usize,
    forced: bool,
) -> Option<usize> {
    if forced {
        return fixed::encoded_bytes(CodecId::Dictionary, values).ok();
    }
    let limit = |length: usize| length * DISTINCT_PERCENT_MAX / 100;
    let sampled = fixed::intern(&sample.values, limit(sample.values.len()))?;
    let (sample_bytes, value_bytes) = sampled.encoded_bytes();
    let worthwhile = smallest * DICTIONARY_PERCENT_MAX / 100;
    if sample.values.len() == values.len() {
        return Some(sample_bytes).filter(|&bytes| bytes <= worthwhile);
    }
    // The whole column has no fewer distinct values than the sample, so this is optimistic.
    if sample.extrapolate(sample_bytes - value_bytes) + value_bytes > worthwhile {
        return None;
    }
    let interned = fixed::intern(values, limit(values.len()))?;
    Some(interned.encoded_bytes().0).filter(|&bytes| bytes <= worthwhile)
}
