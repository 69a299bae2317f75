//! Figure 6.5: compression and the exception rate.

use super::columns;
use super::counted::{self, CountedPoint, CountedStems};
use super::instruction_sets::{self, BySetFigure};
use super::vectors::{CODE_BITS, RATES_PERCENT, dictionary, patched, signed};
use crate::super_scalar::{Compression, Reference, SegmentSettings, encode};
use crate::{Axis, Chart, Figure, Lab, LabError, Paper, Positions};
use quire_codec::{CodecId, VECTOR_VALUES, fixed};
use std::hint::black_box;

const COMPRESSIONS: [Compression; 3] = [
    Compression::Naive,
    Compression::Predicated,
    Compression::DoubleCursor,
];
const STEMS: CountedStems = CountedStems {
    cycles: "figure-6.5-cycles",
    instructions_per_cycle: "figure-6.5-ipc",
    branch_misses: "figure-6.5-branch-misses",
};
const NAMES: [&str; 7] = [
    "PFOR NAIVE",
    "PFOR PRED",
    "PFOR DC",
    "PDICT NAIVE",
    "PDICT PRED",
    "PDICT DC",
    "Quire pfor",
];

/// Bandwidth of compression at exception rates from 0 to 100 %, the same in cycles, what the counters say, and Quire's codec
/// by instruction set.
pub(super) fn figure_6_5(lab: &Lab) -> Result<Vec<Figure>, LabError> {
    let value_count = lab.size(32, 2) * VECTOR_VALUES;
    let encoder = dictionary()?;
    let mut lines: Vec<(&str, Vec<CountedPoint>)> =
        NAMES.map(|name| (name, Vec::new())).into_iter().collect();
    for percent in RATES_PERCENT {
        let near = columns::with_exceptions(value_count, percent, CODE_BITS, |code| code);
        let known = columns::with_exceptions(value_count, percent, CODE_BITS, columns::scattered);
        let pdict = Reference::Pdict {
            encoder: &encoder,
            reuse: false,
        };
        let references = [(&near, Reference::Pfor { base: 0 }), (&known, pdict)];
        for (at, (values, reference)) in references.into_iter().enumerate() {
            for (beside, compression) in COMPRESSIONS.into_iter().enumerate() {
                let settings = SegmentSettings {
                    compression,
                    ..patched(reference, CODE_BITS)
                };
                encode(values, &settings)?;
                lines[3 * at + beside]
                    .1
                    .push(CountedPoint::measure(lab, value_count, || {
                        black_box(encode(black_box(values), &settings).is_ok());
                    }));
            }
        }
        lines[6].1.push(stored_point(lab, &signed(&near))?);
    }
    let mut figures = counted::figures(
        lab,
        bandwidth_figure(lab, value_count, &lines),
        STEMS,
        lines,
    );
    let about = BySetFigure {
        stem: "figure-6.5-instruction-sets",
        number: "figure 6.5",
        title: "Compression bandwidth by instruction set",
        y_name: "compression bandwidth",
    };
    figures.push(instruction_sets::figure(
        lab,
        &about,
        value_count,
        |values| stored_point(lab, values),
    )?);
    Ok(figures)
}

fn stored_point(lab: &Lab, values: &[i64]) -> Result<CountedPoint, LabError> {
    fixed::encode(CodecId::Pfor, values)?;
    Ok(CountedPoint::measure(lab, values.len(), || {
        black_box(fixed::encode(CodecId::Pfor, black_box(values)).is_ok());
    }))
}

/// The figure without its series.
fn bandwidth_figure(
    lab: &Lab,
    value_count: usize,
    lines: &[(&'static str, Vec<CountedPoint>)],
) -> Figure {
    let mut notes = vec![
        lab.machine().to_owned(),
        format!(
            "{value_count} 64-bit values to codes of 8 bits; bytes of input; median of rounds. NAIVE is if-then-else, PRED \
             predication, DC predication with two cursors"
        ),
        "Quire pfor finds base and width of each vector in the same time".to_owned(),
        "the paper aims for 1 to 2 GB/s, and for more than 1 GB/s with PDICT; it draws PFOR alone and prints no values"
            .to_owned(),
    ];
    for (name, points) in lines {
        notes.push(counted::slowest(name, points, &RATES_PERCENT));
    }
    notes.extend(double_cursor_gain(lines));
    Figure {
        stem: "figure-6.5",
        title: "Compression bandwidth and the exception rate".to_owned(),
        paper: Paper::SuperScalarCompression,
        number: "figure 6.5",
        chart: Chart::Lines,
        x: Axis::linear("exception rate", "%"),
        y: Axis::linear("compression bandwidth", "GB/s"),
        positions: Positions::Numbers(super::vectors::percents()),
        series: Vec::new(),
        verdicts: Vec::new(),
        notes,
    }
}

/// What the second cursor gains: the paper's Pentium 4 much, its Opteron nothing, its Itanium less than nothing.
fn double_cursor_gain(lines: &[(&'static str, Vec<CountedPoint>)]) -> Option<String> {
    let [_, (_, one), (_, two), ..] = lines else {
        return None;
    };
    let gains = one.iter().zip(two).map(|(one, two)| two.gb_s / one.gb_s);
    let least = gains.clone().fold(f64::INFINITY, f64::min);
    let most = gains.fold(0.0, f64::max);
    Some(format!(
        "PFOR with two cursors is {least:.2} to {most:.2} times as fast as with one (the paper: faster on Pentium 4, the same \
         on Opteron, slower on Itanium)"
    ))
}
