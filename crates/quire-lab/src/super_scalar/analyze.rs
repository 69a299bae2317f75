//! Which scheme, with which base, dictionary and width (§6.2.10).
//!
//! For every width b the sorted sample tells which share E(b) of the values would be exceptions; the paper
//! takes the width for which b + E(b) · bits of a value is least. Two things are added here because they are
//! written too: compulsory exceptions, and what is not per value, the entry points and the dictionary. And a
//! value that a sample has once says nothing about the rest of the column, so it gets into the dictionary only
//! of a column sampled whole.

use super::bit_pack::code_mask;
use super::dictionary::VALUES_MAX as DICTIONARY_VALUES_MAX;
use super::word::{Integer, UnsignedWord};
use super::{GROUP_VALUES, SuperScalarSample, SuperScalarScheme, expected_exception_rate};

/// Bits of an entry point.
const ENTRY_BITS: f64 = 32.0;

/// Values of a sorted sample that codes of some width can hold together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WidthStretch {
    /// Index of the smallest.
    pub first: usize,
    /// How many.
    pub count: usize,
}

/// `PFOR_ANALYZE_BITS`: the first longest stretch of the ascending `sorted` whose largest and smallest value
/// differ by less than 2 to the power of `width`.
///
/// The paper's listing ends before it compares the last stretch, and so never finds one that reaches the end.
pub fn pfor_analyze_bits<T: Integer>(sorted: &[T], width: usize) -> WidthStretch {
    let mask = code_mask(width);
    let mut longest = WidthStretch::default();
    let mut first = 0;
    for (last, value) in sorted.iter().enumerate() {
        while value.bits().minus(sorted[first].bits()).wide() > mask {
            first += 1;
        }
        if last + 1 - first > longest.count {
            longest = WidthStretch {
                first,
                count: last + 1 - first,
            };
        }
    }
    longest
}

/// A scheme with its best parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct SchemeChoice<T: Integer> {
    pub chosen: Chosen<T>,
    /// Bits of a code.
    pub width: usize,
    /// Share of the sample that would be exceptions, without compulsory ones.
    pub exception_rate: f64,
    /// Estimated size over the number of values.
    pub bits_per_value: f64,
}

/// What [`super::Reference`] needs.
#[derive(Clone, Debug, PartialEq)]
pub enum Chosen<T: Integer> {
    Pfor {
        base: T,
    },
    PforDelta {
        base: T,
    },
    /// The values of the dictionary, the most frequent first.
    Pdict {
        values: Vec<T>,
    },
}

impl<T: Integer> SchemeChoice<T> {
    /// The scheme.
    pub fn scheme(&self) -> SuperScalarScheme {
        match self.chosen {
            Chosen::Pfor { .. } => SuperScalarScheme::Pfor,
            Chosen::PforDelta { .. } => SuperScalarScheme::PforDelta,
            Chosen::Pdict { .. } => SuperScalarScheme::Pdict,
        }
    }
}

/// The best parameters of each scheme for linked exceptions, the scheme with the smallest estimate first.
pub fn choose<T: Integer>(sample: &SuperScalarSample<T>) -> [SchemeChoice<T>; 3] {
    let mut choices = [pfor(sample), pfor_delta(sample), pdict(sample)];
    choices.sort_by(|one, other| one.bits_per_value.total_cmp(&other.bits_per_value));
    choices
}

fn pfor<T: Integer>(sample: &SuperScalarSample<T>) -> SchemeChoice<T> {
    let best = best_frame(sample.values());
    SchemeChoice {
        chosen: Chosen::Pfor {
            base: best.base.unwrap_or_default(),
        },
        width: best.width,
        exception_rate: best.exception_rate,
        bits_per_value: best.bits + ENTRY_BITS / GROUP_VALUES as f64,
    }
}

/// The same algorithm on the sorted differences.
fn pfor_delta<T: Integer>(sample: &SuperScalarSample<T>) -> SchemeChoice<T> {
    let best = best_frame(sample.differences());
    let entry_bits = ENTRY_BITS + T::Bits::BITS as f64;
    SchemeChoice {
        chosen: Chosen::PforDelta {
            base: best
                .base
                .map_or(T::default(), |base| T::from_bits(base.flip_sign())),
        },
        width: best.width,
        exception_rate: best.exception_rate,
        bits_per_value: best.bits + entry_bits / GROUP_VALUES as f64,
    }
}

struct BestFrame<T> {
    /// None of no values.
    base: Option<T>,
    width: usize,
    exception_rate: f64,
    bits: f64,
}

/// Of widths that cost the same the widest, because it has the fewest exceptions.
fn best_frame<T: Integer>(sorted: &[T]) -> BestFrame<T> {
    let of_width = |width| {
        let stretch = pfor_analyze_bits(sorted, width);
        let exception_rate = share(sorted.len() - stretch.count, sorted.len());
        BestFrame {
            base: sorted.get(stretch.first).copied(),
            width,
            exception_rate,
            bits: code_bits::<T>(width, exception_rate),
        }
    };
    let wider = (1..=T::Bits::BITS).map(of_width);
    wider.fold(of_width(0), |best, other| {
        if other.bits <= best.bits { other } else { best }
    })
}

/// The dictionary of width b has the first 2ᵇ buckets of the histogram.
fn pdict<T: Integer>(sample: &SuperScalarSample<T>) -> SchemeChoice<T> {
    let histogram = sample.histogram();
    let column_count = sample.column_count().max(1) as f64;
    let of_width = |width| {
        let codes = code_mask(width).min(DICTIONARY_VALUES_MAX as u64 - 1) as usize + 1;
        let buckets = &histogram[..codes.min(histogram.len())];
        let covered: usize = buckets.iter().map(|(_, count)| count).sum();
        let sample_count = sample.values().len();
        let exception_rate = share(sample_count - covered, sample_count);
        let dictionary_bits = (buckets.len() * T::Bits::BITS) as f64 / column_count;
        let bits = code_bits::<T>(width, exception_rate) + dictionary_bits;
        (width, buckets, exception_rate, bits)
    };
    let wider = (1..=T::Bits::BITS).map(of_width);
    let (width, buckets, exception_rate, bits) =
        wider.fold(
            of_width(0),
            |best, other| if other.3 <= best.3 { other } else { best },
        );
    SchemeChoice {
        chosen: Chosen::Pdict {
            values: buckets.iter().map(|(value, _)| *value).collect(),
        },
        width,
        exception_rate,
        bits_per_value: bits + ENTRY_BITS / GROUP_VALUES as f64,
    }
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// Bits of a code, and of an exception as often as there is one.
fn code_bits<T: Integer>(width: usize, exception_rate: f64) -> f64 {
    width as f64 + expected_exception_rate(exception_rate, width) * T::Bits::BITS as f64
}
