//! Paper 2, §6.2: what PFOR, PFOR-DELTA and PDICT do here, in the paper's layout and in Quire's.

mod byte_codecs;
mod cache_and_memory;
mod codec_speed;
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
mod vectors;

pub(crate) use byte_codecs::page_codec_speed;
pub use codec_speed::CodecSpeed;
pub use exceptions::figure_6_6;
pub use generic::figure_6_2;
pub(crate) use lineitem::revenues;
pub use lineitem::{LineitemColumn, LineitemValues};
pub(crate) use vectors::{VectorComparison, each_vector};

use cache_and_memory::figure_6_7;
use compression::figure_6_5;
use decompression::figure_6_4;

use crate::{Bandwidths, Figure, Lab, LabError};
use quire_codec::VECTOR_VALUES;
use std::hint::black_box;

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
