//! Fine-grained access, §6.2.6: one value beside a whole vector.

use super::columns;
use super::lineitem::{LineitemValues, lineitem};
use super::vectors::{CODE_BITS, dictionary, patched, signed};
use crate::random::LabRandom;
use crate::stored::Vector;
use crate::super_scalar::{Integer, Reference, Segment, encode};
use crate::{Axis, Chart, Figure, Lab, LabError, Paper, Positions, Series, SeriesOrigin};
use quire_codec::fixed::{self, FixedDecoder};
use quire_codec::text::{self, BytesDecoder};
use quire_codec::{BytesVector, CodecId, Corrupt, ROWS_MAX, VECTOR_VALUES};
use std::hint::black_box;
use std::sync::Arc;

const PERCENTS: [u64; 6] = [0, 2, 5, 10, 20, 30];
/// Values that are read one after the other between two looks at the clock.
const ACCESSES: usize = 2_000;
/// Rounds until the same values are read again.
const ROUNDS: usize = 128;
/// Exceptions in a hundred values where codecs are compared.
const CODECS_PERCENT: u64 = 10;
const NAMES: [&str; 7] = [
    "PFOR",
    "PDICT",
    "PFOR-DELTA",
    "Quire pfor",
    "Quire pfor_delta",
    "PFOR, a vector of 1,024",
    "Quire pfor, a vector of 1,024",
];

/// Nanoseconds of one access and of the vector around it.
#[derive(Clone, Copy)]
struct AccessTimes {
    value_ns: f64,
    vector_ns: f64,
}

/// One value of each codec by exception rate, in ns and in cycles; the same from memory that no cache holds; and Quire's codecs
/// beside each other.
pub(super) fn figures(lab: &Lab) -> Result<Vec<Figure>, LabError> {
    let cached = by_rate(lab, "fine-grained", lab.size(ROWS_MAX, 4 * VECTOR_VALUES))?;
    let mut cycles = cached.converted(
        "fine-grained-cycles",
        Axis::logarithmic("time of one access", "cycles"),
        |ns| lab.cycles(ns),
    );
    cycles.notes.push(
        "the paper: 8, 9 and 11 cycles a step along the list of exceptions on its three processors, some 200 cycles at 30 %, \
         and 300 to 800 with PFOR-DELTA where memory is included"
            .to_owned(),
    );
    let cold_values = lab.size(1 << 24, 8 * VECTOR_VALUES);
    let mut cold = by_rate(lab, "fine-grained-cold", cold_values)?;
    cold.notes.push(format!(
        "{} MiB of codes are more than the caches of most processors hold, so that an access waits for memory",
        (cold_values * CODE_BITS / 8) >> 20
    ));
    Ok(vec![cached, cycles, cold, by_codec(lab)?])
}

/// The seven series over the exception rate.
fn by_rate(lab: &Lab, stem: &'static str, value_count: usize) -> Result<Figure, LabError> {
    let encoder = dictionary()?;
    let mut lines = vec![Vec::new(); NAMES.len()];
    for percent in PERCENTS {
        let near = columns::with_exceptions(value_count, percent, CODE_BITS, |code| code);
        let known = columns::with_exceptions(value_count, percent, CODE_BITS, columns::scattered);
        let sums = running_sums(&near);
        let pdict = Reference::Pdict {
            encoder: &encoder,
            reuse: false,
        };
        let pfor = segment_times(lab, &near, Reference::Pfor { base: 0 })?;
        let quire = stored_times(lab, CodecId::Pfor, &signed(&near))?;
        let row = [
            pfor.value_ns,
            segment_times(lab, &known, pdict)?.value_ns,
            segment_times(lab, &sums, Reference::PforDelta { base: 0 })?.value_ns,
            quire.value_ns,
            stored_times(lab, CodecId::PforDelta, &signed(&sums))?.value_ns,
            pfor.vector_ns,
            quire.vector_ns,
        ];
        for (line, ns) in lines.iter_mut().zip(row) {
            line.push(ns);
        }
    }
    let mut notes = vec![
        lab.machine().to_owned(),
        format!(
            "{value_count} 64-bit values in codes of 8 bits; values at random places, each access after the other; a vector is \
             decoded whole into cache. Quire's columns are in parts of {ROWS_MAX} values"
        ),
        "as in the paper, an entry point of 32 bits for 128 values is 0.25 bits a value; with the running totals of PFOR-DELTA, \
         64 bits each, it is 0.75"
            .to_owned(),
    ];
    notes.extend(break_even(&lines));
    let rates = PERCENTS.iter().map(|&rate| rate as f64).collect();
    Ok(Figure {
        stem,
        title: "Access to one value".to_owned(),
        paper: Paper::SuperScalarCompression,
        number: "§6.2.6",
        chart: Chart::Lines,
        x: Axis::linear("exception rate", "%"),
        y: Axis::logarithmic("time of one access", "ns"),
        positions: Positions::Numbers(rates),
        series: NAMES
            .into_iter()
            .zip(lines)
            .map(|(name, values)| Series::new(name, SeriesOrigin::Measured, values))
            .collect(),
        verdicts: Vec::new(),
        notes,
    })
}

/// Up to how many values of a vector are read faster one by one.
fn break_even(lines: &[Vec<f64>]) -> Option<String> {
    let [pfor, _, _, quire, _, pfor_vector, quire_vector] = lines else {
        return None;
    };
    let range = |values: &[f64], vectors: &[f64]| {
        let counts = values.iter().zip(vectors).map(|(one, all)| all / one);
        let least = counts.clone().fold(f64::INFINITY, f64::min);
        let most = counts.fold(0.0, f64::max);
        format!("{least:.0} to {most:.0}")
    };
    Some(format!(
        "decoding the vector costs as much as {} values of PFOR one by one, and {} of Quire pfor, by the rate",
        range(pfor, pfor_vector),
        range(quire, quire_vector)
    ))
}

fn running_sums(values: &[u64]) -> Vec<u64> {
    let mut sum = 0u64;
    let add = |&value: &u64| {
        sum = sum.wrapping_add(value);
        sum
    };
    values.iter().map(add).collect()
}

/// Places to read, the same for all codecs. Each round of a measurement reads others, so that a column that is larger than a
/// cache does not become part of it.
struct AccessPlaces {
    places: Vec<usize>,
    next: usize,
}

impl AccessPlaces {
    fn new(lab: &Lab, value_count: usize) -> Self {
        let mut random = LabRandom(64);
        let draw = |_| random.below(value_count.max(1) as u64) as usize;
        Self {
            places: (0..ACCESSES * lab.size(ROUNDS, 1)).map(draw).collect(),
            next: 0,
        }
    }

    /// Those of the next round.
    fn round(&mut self) -> &[usize] {
        let first = self.next;
        self.next = (self.next + ACCESSES) % self.places.len();
        &self.places[first..first + ACCESSES]
    }
}

/// The paper's segment.
fn segment_times<T: Integer>(
    lab: &Lab,
    values: &[T],
    reference: Reference<'_, T>,
) -> Result<AccessTimes, LabError> {
    let image = encode(values, &patched(reference, CODE_BITS))?;
    let mut segment = Segment::<T>::open(&image, None)?;
    let mut places = AccessPlaces::new(lab, values.len());
    for &place in places.round() {
        if segment.value(place)? != values[place] {
            let codec = "access to one value of the paper's segment".to_owned();
            return Err(LabError::NotRestored { codec });
        }
    }
    let values_ns = lab.nanoseconds(|| {
        for &place in places.round() {
            black_box(segment.value(place)?);
        }
        Ok::<(), Corrupt>(())
    })?;
    let Vector(out) = &mut Vector([T::default(); VECTOR_VALUES]);
    let vectors_ns = lab.nanoseconds(|| {
        for &place in places.round().iter().step_by(16) {
            segment.decode_vector(place / VECTOR_VALUES, out)?;
            black_box(&out);
        }
        Ok::<(), Corrupt>(())
    })?;
    Ok(access_times(values_ns, vectors_ns))
}

/// Of the accesses of a round, and of a vector for every 16th of them.
fn access_times(values_ns: f64, vectors_ns: f64) -> AccessTimes {
    AccessTimes {
        value_ns: values_ns / ACCESSES as f64,
        vector_ns: vectors_ns / ACCESSES.div_ceil(16) as f64,
    }
}

/// A column in Quire's codec.
fn stored_times(lab: &Lab, codec: CodecId, values: &[i64]) -> Result<AccessTimes, LabError> {
    let mut parts = Vec::new();
    for rows in values.chunks(ROWS_MAX) {
        let image: Arc<[u8]> = fixed::encode(codec, rows)?.into();
        let whole = 0..image.len();
        parts.push(FixedDecoder::<i64>::open(codec, image, whole, rows.len())?);
    }
    let mut places = AccessPlaces::new(lab, values.len());
    for &place in places.round() {
        if parts[place / ROWS_MAX].value(place % ROWS_MAX)? != values[place] {
            let codec = codec.name().to_owned();
            return Err(LabError::NotRestored { codec });
        }
    }
    let values_ns = lab.nanoseconds(|| {
        for &place in places.round() {
            black_box(parts[place / ROWS_MAX].value(place % ROWS_MAX)?);
        }
        Ok::<(), Corrupt>(())
    })?;
    let Vector(out) = &mut Vector([0; VECTOR_VALUES]);
    let vectors_ns = lab.nanoseconds(|| {
        for &place in places.round().iter().step_by(16) {
            let vector = place % ROWS_MAX / VECTOR_VALUES;
            parts[place / ROWS_MAX].decode_vector(vector, out)?;
            black_box(&out);
        }
        Ok::<(), Corrupt>(())
    })?;
    Ok(access_times(values_ns, vectors_ns))
}

/// A string column of at most [`ROWS_MAX`] rows.
fn text_times(lab: &Lab, codec: CodecId, values: &BytesVector) -> Result<AccessTimes, LabError> {
    let values = values.as_slice();
    let image: Arc<[u8]> = text::encode(codec, &values)?.into();
    let whole = 0..image.len();
    let mut decoder = BytesDecoder::open(codec, image, whole, values.len())?;
    let mut places = AccessPlaces::new(lab, values.len());
    let mut string = Vec::new();
    for &place in places.round() {
        string.clear();
        decoder.value(place, &mut string)?;
        if string != values.get(place) {
            let codec = codec.name().to_owned();
            return Err(LabError::NotRestored { codec });
        }
    }
    let values_ns = lab.nanoseconds(|| {
        for &place in places.round() {
            string.clear();
            decoder.value(place, &mut string)?;
            black_box(&string);
        }
        Ok::<(), Corrupt>(())
    })?;
    let mut out = BytesVector::new();
    let vectors_ns = lab.nanoseconds(|| {
        for &place in places.round().iter().step_by(16) {
            out.clear();
            decoder.decode_vector(place / VECTOR_VALUES, &mut out)?;
            black_box(&out);
        }
        Ok::<(), Corrupt>(())
    })?;
    Ok(access_times(values_ns, vectors_ns))
}

/// Quire's codecs of numbers.
const NUMBERS: [CodecId; 4] = [
    CodecId::Plain,
    CodecId::Pfor,
    CodecId::PforDelta,
    CodecId::Dictionary,
];
/// Columns of strings, and codecs that hold them.
const STRINGS: [(&str, CodecId); 5] = [
    ("l_shipmode", CodecId::Plain),
    ("l_shipmode", CodecId::Dictionary),
    ("l_comment", CodecId::Plain),
    ("l_comment", CodecId::Fsst),
    ("l_comment", CodecId::Zstd),
];

/// Names of codec and column, and their times.
fn codec_times(lab: &Lab, rows: usize) -> Result<(Vec<String>, Vec<AccessTimes>), LabError> {
    let near = columns::with_exceptions(rows, CODECS_PERCENT, CODE_BITS, |code| code);
    let near = signed(&near);
    let (mut names, mut times) = (Vec::new(), Vec::new());
    for codec in NUMBERS {
        names.push(format!("{}, 64-bit numbers", codec.name()));
        times.push(stored_times(lab, codec, &near)?);
    }
    let lineitem = lineitem(rows);
    for (column, codec) in STRINGS {
        let named = lineitem.iter().find(|one| one.name == column);
        if let Some(LineitemValues::Strings(values)) = named.map(|one| &one.values) {
            names.push(format!("{}, {column}", codec.name()));
            times.push(text_times(lab, codec, values)?);
        }
    }
    Ok((names, times))
}

/// Quire's codecs of numbers at one exception rate, and those of strings on columns of `lineitem`.
fn by_codec(lab: &Lab) -> Result<Figure, LabError> {
    let rows = lab.size(1 << 16, 4 * VECTOR_VALUES);
    let (names, times) = codec_times(lab, rows)?;
    let of = |ns: fn(&AccessTimes) -> f64| times.iter().map(ns).collect();
    let series = vec![
        Series::new("one value", SeriesOrigin::Measured, of(|one| one.value_ns)),
        Series::new(
            "a vector of 1,024",
            SeriesOrigin::Measured,
            of(|one| one.vector_ns),
        ),
        Series::new(
            "values for the time of a vector",
            SeriesOrigin::Calculated,
            of(|one| one.vector_ns / one.value_ns),
        ),
    ];
    Ok(Figure {
        stem: "fine-grained-codecs",
        title: "Access to one value beside the whole vector, Quire's codecs".to_owned(),
        paper: Paper::SuperScalarCompression,
        number: "§6.2.6",
        chart: Chart::Bars,
        x: Axis::linear("codec and column", ""),
        y: Axis::logarithmic("time", "ns"),
        positions: Positions::Labels(names),
        series,
        verdicts: Vec::new(),
        notes: vec![
            lab.machine().to_owned(),
            format!(
                "{rows} rows, numbers with {CODECS_PERCENT} % exceptions; the last series has no unit: with fewer selected rows \
                 in a vector it is faster to read them one by one"
            ),
        ],
    })
}
