//! Paper 2, §6.2: what PFOR, PFOR-DELTA and PDICT do here, in the paper's layout and in Quire's.

mod byte_codecs;
mod cache_and_memory;
mod column_speeds;
mod columns;
mod comment_text;
mod compression;
mod counted;
mod decompression;
pub mod equation;
mod exceptions;
mod fine_grained;
mod generic;
mod instruction_sets;
mod lineitem;
mod lzrw1;

pub use exceptions::figure_6_6;
pub use generic::{CodecSpeed, figure_6_2};
pub use lineitem::{LineitemColumn, LineitemValues};

use cache_and_memory::figure_6_7;
use compression::figure_6_5;
use decompression::figure_6_4;

use crate::super_scalar::{
    Compression, DictionaryEncoder, Integer, Marking, Reference, Segment, SegmentError,
    SegmentSettings, SuperScalarDictionary,
};
use crate::{Bandwidths, Figure, Lab, LabError};
use quire_codec::VECTOR_VALUES;
use quire_codec::{Corrupt, vector_count};
use std::hint::black_box;
use std::sync::Arc;

/// Bits of a code in figures 6.4, 6.5 and 6.7.
const CODE_BITS: usize = 8;
/// Exceptions in a hundred values.
const RATES_PERCENT: [u64; 11] = [0, 1, 2, 5, 10, 20, 30, 50, 70, 90, 100];

/// All of them, equation 6.1 with the speeds of figure 6.2 on ship dates, and access to one value.
pub(crate) fn figures(lab: &Lab) -> Result<Vec<Figure>, LabError> {
    let columns = lineitem::lineitem(lab.size(1 << 17, 1 << 12));
    let (mut figures, speeds) = figure_6_2(lab, &columns)?;
    figures.extend(figure_6_4(lab)?);
    figures.extend(figure_6_5(lab)?);
    figures.push(figure_6_6(lab)?);
    figures.push(figure_6_7(lab)?);
    figures.push(equation_figure(lab, &speeds));
    figures.extend(fine_grained::figures(lab)?);
    Ok(figures)
}

/// Equation 6.1 for a query that adds up four-byte values.
fn equation_figure(lab: &Lab, speeds: &[CodecSpeed]) -> Figure {
    let values: Vec<u32> = (0..lab.size(1 << 17, 1 << 12) as u32).collect();
    let ns = lab.nanoseconds_of(|| {
        for vector in black_box(&values).chunks(VECTOR_VALUES) {
            black_box(vector.iter().fold(0u64, |sum, &one| sum + u64::from(one)));
        }
    });
    let query = size_of_val(&values[..]) as f64 / ns * 1e3;
    let codecs: Vec<(&str, Bandwidths)> = speeds
        .iter()
        .map(|speed| {
            let bandwidths = Bandwidths {
                ratio: speed.ratio,
                query,
                decompression: speed.decompression_mb_s,
            };
            (speed.name.as_str(), bandwidths)
        })
        .collect();
    let mut figure = equation::equation_6_1(lab, &codecs);
    figure.notes.push(format!(
        "the query adds up l_shipdate in cache at {query:.0} MB/s; ratios and speeds are those of figure 6.2"
    ));
    figure
}

/// The paper's segment with linked exceptions, found with two cursors.
fn patched<T: Integer>(reference: Reference<'_, T>, width: usize) -> SegmentSettings<'_, T> {
    SegmentSettings {
        reference,
        width,
        marking: Marking::Linked,
        compression: Compression::DoubleCursor,
    }
}

/// Decodes one vector after the other into `out`, and hands each over.
pub(crate) fn each_vector<T: Integer>(
    segment: &mut Segment<'_, T>,
    out: &mut [T; VECTOR_VALUES],
    mut take: impl FnMut(&[T]),
) -> Result<(), Corrupt> {
    for vector in 0..vector_count(segment.value_count()) {
        let rows = segment.decode_vector(vector, out)?;
        take(&out[..rows]);
    }
    Ok(())
}

/// Whether vectors handed over one by one are those of `values`.
pub(crate) struct VectorComparison<'a, T> {
    rest: &'a [T],
    equal: bool,
}

impl<'a, T: PartialEq> VectorComparison<'a, T> {
    pub(crate) fn with(values: &'a [T]) -> Self {
        Self {
            rest: values,
            equal: true,
        }
    }

    pub(crate) fn take(&mut self, vector: &[T]) {
        match self.rest.strip_prefix(vector) {
            Some(rest) => self.rest = rest,
            None => self.equal = false,
        }
    }

    pub(crate) fn finish(self, codec: &str) -> Result<(), LabError> {
        if self.equal && self.rest.is_empty() {
            Ok(())
        } else {
            Err(LabError::NotRestored {
                codec: codec.to_owned(),
            })
        }
    }
}

/// The 255 values that the dictionary of figures 6.4 and 6.5 has.
fn dictionary() -> Result<DictionaryEncoder<u64>, SegmentError> {
    let values: Vec<u64> = (0..255).map(columns::scattered).collect();
    Ok(DictionaryEncoder::new(Arc::new(
        SuperScalarDictionary::new(&values)?,
    )))
}

fn percents() -> Vec<f64> {
    RATES_PERCENT.iter().map(|&rate| rate as f64).collect()
}
