//! Figure 6.4: decompression and the exception rate.

use super::columns;
use super::counted::{self, CountedPoint, CountedStems};
use super::instruction_sets::{self, BySetFigure};
use super::vectors::{
    CODE_BITS, RATES_PERCENT, VectorComparison, dictionary, each_vector, patched, signed,
};
use crate::stored::{StoredColumn, Vector};
use crate::super_scalar::{Marking, Reference, Segment, SegmentSettings, encode, unpack};
use crate::{Axis, Chart, Figure, Lab, LabError, Paper, Positions};
use quire_codec::{CodecId, VECTOR_VALUES};
use std::hint::black_box;

const STEMS: CountedStems = CountedStems {
    cycles: "figure-6.4-cycles",
    instructions_per_cycle: "figure-6.4-ipc",
    branch_misses: "figure-6.4-branch-misses",
};
const NAMES: [&str; 5] = ["NAIVE PFOR", "PFOR", "NAIVE PDICT", "PDICT", "Quire pfor"];

/// Bandwidth of decompression into cache at exception rates from 0 to 100 %, the same in cycles, what the counters say, and
/// Quire's codec by instruction set.
pub(super) fn figure_6_4(lab: &Lab) -> Result<Vec<Figure>, LabError> {
    let value_count = lab.size(128, 2) * VECTOR_VALUES;
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
            for (beside, marking) in [Marking::Escaped, Marking::Linked].into_iter().enumerate() {
                let settings = SegmentSettings {
                    marking,
                    ..patched(reference, CODE_BITS)
                };
                lines[2 * at + beside]
                    .1
                    .push(segment_point(lab, values, &settings)?);
            }
        }
        lines[4]
            .1
            .push(stored_point(lab, CodecId::Pfor, &signed(&near))?);
    }
    let mut figures = counted::figures(
        lab,
        bandwidth_figure(lab, value_count, &lines),
        STEMS,
        lines,
    );
    let about = BySetFigure {
        stem: "figure-6.4-instruction-sets",
        number: "figure 6.4",
        title: "Decompression bandwidth by instruction set",
        y_name: "decompression bandwidth",
    };
    figures.push(instruction_sets::figure(
        lab,
        &about,
        value_count,
        |values| stored_point(lab, CodecId::Pfor, values),
    )?);
    Ok(figures)
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
            "{value_count} 64-bit values in codes of 8 bits, decoded by vectors of 1,024 into one vector that stays in \
             cache; bytes of output; median of rounds"
        ),
        "Quire pfor chooses its own widths, so with many exceptions it has none".to_owned(),
        "the paper aims for 2 to 6 GB/s; its figure has no printed values. NAIVE's branch misses are a bell with its top at \
         50 % there, and patched decompression has none"
            .to_owned(),
        unpacking_share(lab, lines),
    ];
    for (name, points) in lines {
        notes.push(counted::slowest(name, points, &RATES_PERCENT));
    }
    Figure {
        stem: "figure-6.4",
        title: "Decompression bandwidth and the exception rate".to_owned(),
        paper: Paper::SuperScalarCompression,
        number: "figure 6.4",
        chart: Chart::Lines,
        x: Axis::linear("exception rate", "%"),
        y: Axis::linear("decompression bandwidth", "GB/s"),
        positions: Positions::Numbers(super::vectors::percents()),
        series: Vec::new(),
        verdicts: Vec::new(),
        notes,
    }
}

/// What part of decompression without exceptions is the unpacking of codes, which §6.2.4 calls moderate.
fn unpacking_share(lab: &Lab, lines: &[(&'static str, Vec<CountedPoint>)]) -> String {
    let packed = vec![0x5Au8; CODE_BITS * VECTOR_VALUES / 8];
    let Vector(codes) = &mut Vector([0u64; VECTOR_VALUES]);
    let ns = lab.nanoseconds_of(|| {
        unpack::<u64, CODE_BITS>(black_box(&packed), &mut codes[..]);
        black_box(&codes);
    });
    let whole_ns = lines
        .get(1)
        .and_then(|(_, points)| points.first())
        .map_or(f64::NAN, |point| (8 * VECTOR_VALUES) as f64 / point.gb_s);
    format!(
        "unpacking 1,024 codes of 8 bits takes {ns:.0} ns, {:.0} % of decompressing a vector of PFOR without exceptions (the \
         paper: a moderate fraction)",
        100.0 * ns / whole_ns
    )
}

fn segment_point(
    lab: &Lab,
    values: &[u64],
    settings: &SegmentSettings<'_, u64>,
) -> Result<CountedPoint, LabError> {
    let image = encode(values, settings)?;
    let mut segment = Segment::<u64>::open(&image, None)?;
    let Vector(out) = &mut Vector([0; VECTOR_VALUES]);
    let mut comparison = VectorComparison::with(values);
    each_vector(&mut segment, out, |vector| comparison.take(vector))?;
    comparison.finish("the paper's segment")?;
    Ok(CountedPoint::measure(lab, values.len(), || {
        let decoded = each_vector(&mut segment, out, |vector| {
            black_box(vector);
        });
        black_box(decoded.is_ok());
    }))
}

fn stored_point(lab: &Lab, codec: CodecId, values: &[i64]) -> Result<CountedPoint, LabError> {
    let mut column = StoredColumn::encode(codec, values)?;
    let Vector(out) = &mut Vector([0; VECTOR_VALUES]);
    let mut comparison = VectorComparison::with(values);
    column.each_vector(out, |vector| comparison.take(vector))?;
    comparison.finish(codec.name())?;
    Ok(CountedPoint::measure(lab, values.len(), || {
        let decoded = column.each_vector(out, |vector| {
            black_box(vector);
        });
        black_box(decoded.is_ok());
    }))
}
