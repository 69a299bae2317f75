//! Figure 6.4: decompression and the exception rate.

use super::{
    CODE_BITS, RATES_PERCENT, VectorComparison, columns, dictionary, each_vector, patched,
};
use crate::stored::{StoredColumn, Vector};
use crate::super_scalar::{Marking, Reference, Segment, SegmentSettings, encode};
use crate::{Axis, Chart, Figure, Lab, LabError, Paper, Positions, Series, SeriesOrigin};
use quire_codec::{CodecId, VECTOR_VALUES};
use std::hint::black_box;

/// Bandwidth of decompression into cache at exception rates from 0 to 100 %, and the same in cycles.
pub fn figure_6_4(lab: &Lab) -> Result<[Figure; 2], LabError> {
    let value_count = lab.size(128, 2) * VECTOR_VALUES;
    let encoder = dictionary()?;
    let mut lines = vec![Vec::new(); 5];
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
                lines[2 * at + beside].push(segment_bandwidth(lab, values, &settings)?);
            }
        }
        let signed: Vec<i64> = near.iter().map(|&value| value as i64).collect();
        lines[4].push(stored_bandwidth(lab, CodecId::Pfor, &signed)?);
    }
    let names = ["NAIVE PFOR", "PFOR", "NAIVE PDICT", "PDICT", "Quire pfor"];
    let series = names.into_iter().zip(lines);
    let bandwidth = Figure {
        stem: "figure-6.4",
        title: "Decompression bandwidth and the exception rate".to_owned(),
        paper: Paper::SuperScalarCompression,
        number: "figure 6.4",
        chart: Chart::Lines,
        x: Axis::linear("exception rate", "%"),
        y: Axis::linear("decompression bandwidth", "GB/s"),
        positions: Positions::Numbers(super::percents()),
        series: series
            .map(|(name, values)| Series::new(name, SeriesOrigin::Measured, values))
            .collect(),
        notes: vec![
            lab.machine().to_owned(),
            format!(
                "{value_count} 64-bit values in codes of 8 bits, decoded by vectors of 1,024 into one vector \
                 that stays in cache; bytes of output; median of rounds"
            ),
            "Quire pfor chooses its own widths, so with many exceptions it has none".to_owned(),
            "the paper aims for 2 to 6 GB/s; its figure has no printed values".to_owned(),
        ],
    };
    let in_cycles = in_cycles(lab, &bandwidth, "figure-6.4-cycles");
    Ok([bandwidth, in_cycles])
}

/// A figure of GB/s of 8-byte values, in cycles per value.
pub(super) fn in_cycles(lab: &Lab, figure: &Figure, stem: &'static str) -> Figure {
    figure.converted(stem, Axis::linear("time", "cycles/value"), |gb_s| {
        lab.cycles(8.0 / gb_s)
    })
}

fn segment_bandwidth(
    lab: &Lab,
    values: &[u64],
    settings: &SegmentSettings<'_, u64>,
) -> Result<f64, LabError> {
    let image = encode(values, settings)?;
    let mut segment = Segment::<u64>::open(&image, None)?;
    let Vector(out) = &mut Vector([0; VECTOR_VALUES]);
    let mut comparison = VectorComparison::with(values);
    each_vector(&mut segment, out, |vector| comparison.take(vector))?;
    comparison.finish("the paper's segment")?;
    let ns = lab.nanoseconds(|| {
        each_vector(&mut segment, out, |vector| {
            black_box(vector);
        })
    })?;
    Ok(size_of_val(values) as f64 / ns)
}

fn stored_bandwidth(lab: &Lab, codec: CodecId, values: &[i64]) -> Result<f64, LabError> {
    let mut column = StoredColumn::encode(codec, values)?;
    let Vector(out) = &mut Vector([0; VECTOR_VALUES]);
    let mut comparison = VectorComparison::with(values);
    column.each_vector(out, |vector| comparison.take(vector))?;
    comparison.finish(codec.name())?;
    let ns = lab.nanoseconds(|| {
        column.each_vector(out, |vector| {
            black_box(vector);
        })
    })?;
    Ok(size_of_val(values) as f64 / ns)
}
