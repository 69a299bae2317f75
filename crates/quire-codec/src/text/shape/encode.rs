//! Which shapes a column has, and its runs as columns of integers.

use super::cut::RunClass;
use super::parts::{self, ShapePart, ShapeRun, parts_of};
use super::{ALL_RUNS_MAX, NO_REST, SHAPES_MAX, VERSION};
use crate::effort::SearchEffort;
use crate::int::sequence;
use crate::text::candidates::{candidates_without_shapes, pick};
use crate::text::{self, packed, plain, section};
use crate::{BytesSlice, BytesVector, CodecId, VECTOR_VALUES, vector_count};
use std::collections::HashMap;

/// Rows that the two ways to cut are compared on.
const TRIAL_ROWS: usize = 2 * VECTOR_VALUES;
/// Rows that tell whether a column may have shapes.
const LIKELY_ROWS: usize = 64;
/// What decoding costs, roughly: a row, one that may have another shape than the row before, and a part.
const NS_PER_ROW: f32 = 3.0;
const NS_PER_CHANGE: f32 = 12.0;
const NS_PER_PART: f32 = 2.0;
/// Different shapes that are counted; values of later ones have none.
const COUNTED_SHAPES_MAX: usize = 4096;

/// Whether a column may have shapes: among some rows, most have the shape of three others.
pub(in crate::text) fn is_likely(values: &BytesSlice) -> bool {
    let step = values.len().div_ceil(LIKELY_ROWS).max(1);
    let (mut key, mut runs) = (Vec::new(), Vec::new());
    [RunClass::Digits, RunClass::Words].into_iter().any(|cut| {
        let mut counts: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut tried = 0;
        for row in (0..values.len()).step_by(step) {
            tried += 1;
            if cut.apply(values.get(row), &mut key, &mut runs) {
                *counts.entry(key.clone()).or_default() += 1;
            }
        }
        let frequent: usize = counts.values().filter(|count| **count > 3).sum();
        frequent * 2 > tried
    })
}

/// The rows of each shape.
struct Shapes {
    cut: RunClass,
    /// Keys of the shapes, most frequent first, and how many rows have each.
    keys: Vec<Vec<u8>>,
    rows: Vec<usize>,
    /// The shape of each row; the number of shapes for a row that has none.
    codes: Vec<i16>,
}

/// A shape that was met.
struct ObservedShape {
    key: Vec<u8>,
    rows: usize,
    bytes: usize,
    runs: usize,
}

impl ObservedShape {
    /// Whether a column for each run costs clearly less than the values themselves.
    fn is_worth_it(&self) -> bool {
        let overhead = 24 + self.runs * (16 + vector_count(self.rows));
        self.bytes + self.rows > 2 * overhead
    }
}

impl Shapes {
    fn find(values: &BytesSlice, cut: RunClass) -> Self {
        let (met, met_of_rows) = count_shapes(values, cut);
        let mut order: Vec<usize> = (0..met.len())
            .filter(|one| met[*one].is_worth_it())
            .collect();
        order.sort_by_key(|one| std::cmp::Reverse(met[*one].rows));
        let mut run_count = 0;
        order.retain(|one| {
            // A run may become two.
            let more = run_count + 2 * met[*one].runs;
            let fits = more <= ALL_RUNS_MAX;
            run_count = if fits { more } else { run_count };
            fits
        });
        order.truncate(SHAPES_MAX);
        let mut code_of_met = vec![order.len() as i16; met.len() + 1];
        for (code, one) in order.iter().enumerate() {
            code_of_met[*one] = code as i16;
        }
        let keys = order.iter().map(|one| met[*one].key.clone()).collect();
        let rows = order.iter().map(|one| met[*one].rows).collect();
        let code = |one: &usize| code_of_met[*one];
        let codes = met_of_rows.iter().map(code).collect();
        Self {
            cut,
            keys,
            rows,
            codes,
        }
    }

    /// Codes in use: one per shape, and one for rows without a shape if there are any.
    fn code_count(&self) -> usize {
        self.keys.len() + usize::from(self.codes.contains(&(self.keys.len() as i16)))
    }

    /// How many rows of each vector have each code.
    fn counts(&self) -> Vec<u32> {
        let code_count = self.code_count();
        let mut counts = Vec::with_capacity(vector_count(self.codes.len()) * code_count);
        for vector in self.codes.chunks(VECTOR_VALUES) {
            let start = counts.len();
            counts.resize(start + code_count, 0);
            for code in vector {
                counts[start + *code as usize] += 1;
            }
        }
        counts
    }
}

/// The shapes of `values` in the order they are met, and which of them each row has; their number if none.
fn count_shapes(values: &BytesSlice, cut: RunClass) -> (Vec<ObservedShape>, Vec<usize>) {
    let mut met: Vec<ObservedShape> = Vec::new();
    let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
    let mut met_of_rows = Vec::with_capacity(values.len());
    let (mut key, mut runs) = (Vec::new(), Vec::new());
    let mut last = 0;
    for value in values.iter() {
        if !cut.apply(value, &mut key, &mut runs) {
            met_of_rows.push(usize::MAX);
            continue;
        }
        if met.get(last).is_none_or(|one| one.key != key) {
            last = match known.get(&key) {
                Some(found) => *found,
                None if met.len() == COUNTED_SHAPES_MAX => usize::MAX,
                None => {
                    known.insert(key.clone(), met.len());
                    let (key, runs) = (key.clone(), runs.len());
                    let (rows, bytes) = (0, 0);
                    met.push(ObservedShape {
                        key,
                        rows,
                        bytes,
                        runs,
                    });
                    met.len() - 1
                }
            };
        }
        if let Some(one) = met.get_mut(last) {
            one.rows += 1;
            one.bytes += value.len();
        }
        met_of_rows.push(last);
    }
    let none = met.len();
    met_of_rows.iter_mut().for_each(|one| *one = none.min(*one));
    (met, met_of_rows)
}

/// The parts of a shape, and the sequences of its runs.
fn encode_shape(
    shapes: &Shapes,
    code: usize,
    values: &BytesSlice,
) -> (Vec<ShapePart>, Vec<Vec<u8>>) {
    let texts = shapes.cut.texts(&shapes.keys[code]);
    let mut columns: Vec<Vec<&[u8]>> = vec![Vec::new(); texts.len() - 1];
    let (mut key, mut runs) = (Vec::new(), Vec::new());
    let of_shape = |row: &usize| shapes.codes[*row] as usize == code;
    for row in (0..values.len()).filter(of_shape) {
        shapes.cut.apply(values.get(row), &mut key, &mut runs);
        for (column, run) in columns.iter_mut().zip(&runs) {
            column.push(run);
        }
    }
    let (mut parts, mut sequences) = (Vec::new(), Vec::new());
    push_text(&mut parts, texts[0]);
    for (column, text) in columns.into_iter().zip(&texts[1..]) {
        for (part, pieces) in parts_of(column) {
            match part {
                ShapePart::Text(text) => push_text(&mut parts, &text),
                ShapePart::Run(run) => {
                    append_sequences(&run, &pieces, &mut sequences);
                    parts.push(ShapePart::Run(run));
                }
            }
        }
        push_text(&mut parts, text);
    }
    (parts, sequences)
}

/// Joins fixed texts, up to what the length of a part can tell.
fn push_text(parts: &mut Vec<ShapePart>, text: &[u8]) {
    for byte in text {
        match parts.last_mut() {
            Some(ShapePart::Text(before)) if before.len() < usize::from(u8::MAX) => {
                before.push(*byte)
            }
            _ => parts.push(ShapePart::Text(vec![*byte])),
        }
    }
}

fn append_sequences(run: &ShapeRun, pieces: &[&[u8]], sequences: &mut Vec<Vec<u8>>) {
    let mut append = |numbers: &[i64]| {
        let mut sequence = Vec::new();
        sequence::append(numbers, &mut sequence);
        sequences.push(sequence);
    };
    append(&run.numbers(pieces));
    if matches!(run, ShapeRun::Counted { .. }) {
        let counts: Vec<i64> = pieces.iter().map(|piece| piece.len() as i64).collect();
        append(&counts);
    }
}

/// The values without a shape.
struct ShapelessValues {
    codec: u8,
    payload: Vec<u8>,
    /// Time to decode them all, roughly.
    decode_ns: f32,
}

fn encode_rest(shapes: &Shapes, values: &BytesSlice) -> ShapelessValues {
    let mut rest = BytesVector::new();
    let without = |row: &usize| shapes.codes[*row] as usize == shapes.keys.len();
    for row in (0..values.len()).filter(without) {
        rest.data.extend_from_slice(values.get(row));
        rest.offsets.push(rest.data.len() as u32);
    }
    if rest.is_empty() {
        return ShapelessValues {
            codec: NO_REST,
            payload: Vec::new(),
            decode_ns: 0.0,
        };
    }
    let candidates = candidates_without_shapes(&rest.as_slice(), SearchEffort::Normal);
    let picked = pick(&candidates);
    let codec = picked.map_or(CodecId::Plain, |one| one.codec);
    let ns_per_value = picked.map_or(0.0, |one| one.decode_cost_ns_per_value);
    // The codecs that are candidates hold any strings that this one was given.
    let (codec, payload) = match text::encode(codec, &rest.as_slice()) {
        Ok(payload) => (codec, payload),
        Err(_) => (CodecId::Plain, plain::encode(&rest.as_slice())),
    };
    ShapelessValues {
        codec: codec as u8,
        payload,
        decode_ns: ns_per_value * rest.len() as f32,
    }
}

/// What a payload consists of.
struct EncodedShapes {
    /// Version and shapes.
    head: Vec<u8>,
    body: Vec<u8>,
    /// Time to decode all values, roughly.
    decode_ns: f32,
}

fn encode_cut(values: &BytesSlice, cut: RunClass) -> EncodedShapes {
    let shapes = Shapes::find(values, cut);
    let (mut described, mut sequences) = (Vec::new(), Vec::new());
    let several = shapes.code_count() > 1;
    if several {
        let mut codes = Vec::new();
        sequence::append(&shapes.codes, &mut codes);
        sequences.push(codes);
    }
    let per_row = NS_PER_ROW + if several { NS_PER_CHANGE } else { 0.0 };
    let mut decode_ns = values.len() as f32 * per_row;
    for code in 0..shapes.keys.len() {
        let (parts, columns) = encode_shape(&shapes, code, values);
        decode_ns += parts.len() as f32 * shapes.rows[code] as f32 * NS_PER_PART;
        described.push(parts);
        sequences.extend(columns);
    }
    let mut raw = Vec::new();
    parts::write(&described, &mut raw);
    let mut head = vec![VERSION];
    section::write(&raw, &mut head);
    let rest = encode_rest(&shapes, values);
    let mut body = vec![rest.codec];
    if several {
        packed::write(&shapes.counts(), &mut body);
    }
    let mut sizes: Vec<u32> = sequences.iter().map(|one| one.len() as u32).collect();
    if rest.codec != NO_REST {
        sizes.push(rest.payload.len() as u32);
    }
    packed::write(&sizes, &mut body);
    sequences.iter().for_each(|one| body.extend_from_slice(one));
    body.extend_from_slice(&rest.payload);
    decode_ns += rest.decode_ns;
    EncodedShapes {
        head,
        body,
        decode_ns,
    }
}

fn encode_parts(values: &BytesSlice) -> EncodedShapes {
    let start = (values.len() / 2).saturating_sub(TRIAL_ROWS / 2);
    let trial = values.slice(start..start + TRIAL_ROWS);
    let [by_digits, by_words] = [RunClass::Digits, RunClass::Words].map(|cut| {
        let trial = encode_cut(&trial, cut);
        trial.head.len() + trial.body.len()
    });
    let cut = if by_words < by_digits {
        RunClass::Words
    } else {
        RunClass::Digits
    };
    encode_cut(values, cut)
}

pub(in crate::text) fn encode(values: &BytesSlice) -> Vec<u8> {
    let EncodedShapes { mut head, body, .. } = encode_parts(values);
    head.extend_from_slice(&body);
    head
}

/// What shapes cost.
pub(in crate::text) struct ShapeSizes {
    /// What all rows share.
    pub shared_bytes: usize,
    /// Everything that grows with the rows.
    pub row_bytes: usize,
    pub decode_ns_per_value: f32,
}

pub(in crate::text) fn parts(values: &BytesSlice) -> ShapeSizes {
    let encoded = encode_parts(values);
    ShapeSizes {
        shared_bytes: encoded.head.len(),
        row_bytes: encoded.body.len(),
        decode_ns_per_value: encoded.decode_ns / values.len().max(1) as f32,
    }
}
