//! Cutting all values into phrases.

use super::dictionary;
use super::train::{TrainedPhrases, cut, train, trie_of};
use crate::text::{lengths, packed};
use crate::{BytesSlice, VECTOR_VALUES};

/// Text that phrases are trained on.
const SAMPLE_BYTES: usize = 512 << 10;
/// Text that the size of all codes is measured on.
const MEASURED_BYTES: usize = 96 << 10;
/// Both are taken in so many runs of neighbouring rows.
const SAMPLE_RUNS: usize = 64;

/// Runs of neighbouring rows.
struct PhraseSample {
    offsets: Vec<u32>,
    data: Vec<u8>,
}

impl PhraseSample {
    /// The runs start evenly spread, or at the ends of such parts of the rows, and have at most `bytes` bytes
    /// together.
    fn take(values: &BytesSlice, bytes: usize, from_ends: bool) -> Self {
        let mut sample = Self {
            offsets: vec![0],
            data: Vec::new(),
        };
        for run in 0..SAMPLE_RUNS {
            let first = values.len() * run / SAMPLE_RUNS;
            let last = values.len() * (run + 1) / SAMPLE_RUNS;
            let full = sample.data.len() + bytes / SAMPLE_RUNS;
            let mut push = |value: &[u8]| {
                let room = full - sample.data.len();
                sample
                    .data
                    .extend_from_slice(&value[..value.len().min(room)]);
                sample.offsets.push(sample.data.len() as u32);
                sample.data.len() < full
            };
            let rows = values.slice(first..last);
            if from_ends {
                (0..rows.len()).rev().all(|row| push(rows.get(row)));
            } else {
                (0..rows.len()).all(|row| push(rows.get(row)));
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

fn train_on_sample(values: &BytesSlice) -> TrainedPhrases {
    if values.data_bytes() <= SAMPLE_BYTES {
        return train(values, values);
    }
    train(
        values,
        &PhraseSample::take(values, SAMPLE_BYTES, false).as_slice(),
    )
}

pub(in crate::text) fn encode(values: &BytesSlice) -> Vec<u8> {
    let trained = train_on_sample(values);
    let trie = trie_of(&trained.phrases);
    let mut counts = Vec::with_capacity(values.len());
    let mut packed_codes = Vec::new();
    let mut codes = Vec::new();
    for start in (0..values.len()).step_by(VECTOR_VALUES) {
        codes.clear();
        for value in values.slice(start..start + VECTOR_VALUES).iter() {
            let before = codes.len();
            cut(&trie, value, |phrase| codes.push(phrase));
            counts.push((codes.len() - before) as u32);
        }
        packed::pack(&codes, 0, trained.width, &mut packed_codes);
    }
    let mut payload = vec![trained.width];
    dictionary::write(&trained.phrases, &mut payload);
    lengths::write(&counts, &mut payload);
    payload.extend_from_slice(&packed_codes);
    payload
}

/// Size of [`encode`]'s result, and how many codes a value has: exact for few bytes, else extrapolated from
/// values that the phrases were mostly not trained on.
pub(in crate::text) fn estimate(values: &BytesSlice) -> (usize, f64) {
    let trained = train_on_sample(values);
    let taken;
    let (measured, scale) = if values.data_bytes() <= SAMPLE_BYTES {
        (*values, 1.0)
    } else {
        taken = PhraseSample::take(values, MEASURED_BYTES, true);
        let measured = taken.as_slice();
        let scale = values.data_bytes() as f64 / measured.data_bytes().max(1) as f64;
        (measured, scale)
    };
    let trie = trie_of(&trained.phrases);
    let (mut counts, mut packed_bytes, mut code_count) = (Vec::new(), 0, 0);
    for start in (0..measured.len()).step_by(VECTOR_VALUES) {
        let mut codes = 0u32;
        for value in measured.slice(start..start + VECTOR_VALUES).iter() {
            let before = codes;
            cut(&trie, value, |_| codes += 1);
            counts.push(codes - before);
        }
        packed_bytes += packed::packed_bytes(codes as usize, trained.width);
        code_count += codes as usize;
    }
    let mut head = vec![trained.width];
    dictionary::write(&trained.phrases, &mut head);
    let growing = (packed_bytes + lengths::written_bytes(&counts)) as f64 * scale;
    let codes_per_value = code_count as f64 * scale / values.len().max(1) as f64;
    (head.len() + growing as usize, codes_per_value)
}
