//! What a column looks like, in a few figures of a small sample: whether the analysis of some rows still holds for
//! others.

use super::ChooseOptions;
use super::fixed_width::VectorSample;
use crate::block::{self, BlockCodecId, BlockOptions, MinimumGain};
use crate::effort::SearchEffort;
use crate::float::{self, Floating, as_bits};
use crate::int::element::{Element, Packed};
use crate::{BytesSlice, BytesVector, CodecId, PhysicalType, RowGroupValues, fixed};
use std::collections::HashSet;

/// Text is looked at in this many stretches of neighbouring rows …
const STRETCHES: usize = 4;

/// … of at most so many rows and bytes each.
const STRETCH_ROWS: usize = 512;
const STRETCH_BYTES: usize = 4 << 10;

/// Two figures are alike if they differ by less than this share of the larger …
const TOLERANCE_SHARE: f32 = 0.1;

/// … or by less than this: figures are bytes a row, and shares of rows or bytes.
const TOLERANCE: f32 = 0.02;

/// Figures of a column that change when another codec might suit it better. It takes a small part of the time of
/// [`super::choose`].
#[derive(Clone, Debug, PartialEq)]
pub struct Sketch {
    physical_type: PhysicalType,
    figures: Vec<f32>,
}

impl Sketch {
    /// Looks at a few vectors, or a few thousand bytes of text.
    ///
    /// ```
    /// use quire_codec::{RowGroupValues, choose::Sketch};
    ///
    /// let days: Vec<i32> = (0..9000).map(|row| 8000 + row * 7919 % 2503).collect();
    /// let others: Vec<i32> = days.iter().map(|day| day + 365).collect();
    /// let sorted: Vec<i32> = (0..9000).map(|row| 8000 + row / 4).collect();
    /// let sketch = Sketch::of(&RowGroupValues::Int32(&days));
    /// assert!(sketch.resembles(&Sketch::of(&RowGroupValues::Int32(&others))));
    /// assert!(!sketch.resembles(&Sketch::of(&RowGroupValues::Int32(&sorted))));
    /// ```
    pub fn of(values: &RowGroupValues<'_>) -> Self {
        let figures = match values {
            RowGroupValues::Bool(values) => of_booleans(values),
            RowGroupValues::Int16(values) => of_integers(values),
            RowGroupValues::Int32(values) => of_integers(values),
            RowGroupValues::Int64(values) => of_integers(values),
            RowGroupValues::Int128(values) => of_integers(values),
            RowGroupValues::Float32(values) => of_floats(values),
            RowGroupValues::Float64(values) => of_floats(values),
            RowGroupValues::Bytes(values) => of_text(values),
        };
        Self {
            physical_type: values.physical_type(),
            figures,
        }
    }

    /// Whether columns look so much alike that what suits one suits the other.
    pub fn resembles(&self, other: &Self) -> bool {
        let are_alike = |(one, two): (&f32, &f32)| {
            (one - two).abs() <= TOLERANCE.max(TOLERANCE_SHARE * one.max(*two))
        };
        self.physical_type == other.physical_type
            && self.figures.iter().zip(&other.figures).all(are_alike)
    }
}

fn share(part: usize, whole: usize) -> f32 {
    part as f32 / whole.max(1) as f32
}

fn of_booleans(values: &[bool]) -> Vec<f32> {
    let set = values.iter().filter(|value| **value).count();
    let changes = values.windows(2).filter(|pair| pair[0] != pair[1]).count();
    vec![share(set, values.len()), share(changes, values.len())]
}

fn sampled<T: Copy>(values: &[T], physical_type: PhysicalType) -> VectorSample<'_, T> {
    let options = ChooseOptions {
        effort: SearchEffort::Fast,
        ..ChooseOptions::default()
    };
    VectorSample::take(values, physical_type, &options)
}

/// Size packed, as values and as differences; how often values change, and how many are distinct.
fn of_integers<E: Element>(values: &[E]) -> Vec<f32> {
    let sample = sampled(values, E::PHYSICAL_TYPE);
    let packed = |delta| {
        share(
            E::Packed::encoded_bytes(&sample.values, delta),
            sample.values.len(),
        )
    };
    let mut figures = vec![packed(false), packed(true)];
    figures.extend(repetition(&sample.values));
    figures
}

fn of_floats<F: Floating>(values: &[F]) -> Vec<f32> {
    let sample = sampled(values, F::PHYSICAL_TYPE);
    let decimals = float::encoded_bytes(CodecId::Alp, &sample.values);
    let mut figures = vec![share(
        decimals.unwrap_or(size_of_val(&*sample.values)),
        sample.values.len(),
    )];
    figures.extend(repetition(as_bits(&sample.values)));
    figures
}

fn repetition<E: Element>(sample: &[E]) -> [f32; 2] {
    let changes = sample.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let distinct = fixed::intern(sample, usize::MAX).map_or(0, |found| found.distinct_count());
    [share(changes, sample.len()), share(distinct, sample.len())]
}

/// Mean length; how many values are distinct, what LZ4 leaves of the bytes, and of which kinds they are.
fn of_text(values: &BytesSlice<'_>) -> Vec<f32> {
    let sample = stretches(values);
    let rows = sample.as_slice();
    let distinct: HashSet<&[u8]> = rows.iter().collect();
    let kind = |is: fn(&u8) -> bool| {
        share(
            rows.data.iter().filter(|byte| is(byte)).count(),
            rows.data.len(),
        )
    };
    vec![
        share(values.data_bytes(), values.len()),
        share(distinct.len(), rows.len()),
        compressed_share(rows.data),
        kind(u8::is_ascii_digit),
        kind(u8::is_ascii_lowercase),
        kind(u8::is_ascii_uppercase),
        kind(|byte| *byte == b' '),
    ]
}

fn stretches(values: &BytesSlice<'_>) -> BytesVector {
    let mut sample = BytesVector::new();
    for stretch in 0..STRETCHES {
        let first = values.len() * stretch / STRETCHES;
        let last = (values.len() * (stretch + 1) / STRETCHES).min(first + STRETCH_ROWS);
        let full = sample.data.len() + STRETCH_BYTES;
        for value in values.slice(first..last).iter() {
            let rest = full - sample.data.len();
            if rest == 0 || sample.push(&value[..value.len().min(rest)]).is_err() {
                break;
            }
        }
    }
    sample
}

fn compressed_share(bytes: &[u8]) -> f32 {
    let Ok(mut codec) = block::open(BlockCodecId::Lz4, &BlockOptions::default()) else {
        return 1.0;
    };
    let limit = MinimumGain::ANY.limit(bytes.len());
    let compressed = codec.compress(bytes, &mut vec![0; limit], limit);
    compressed.map_or(1.0, |length| share(length, bytes.len()))
}
