//! Figure 6.5: compression and the exception rate.

use super::decompression::in_cycles;
use super::{CODE_BITS, RATES_PERCENT, columns, dictionary, patched};
use crate::super_scalar::{Compression, Reference, SegmentError, SegmentSettings, encode};
use crate::{Axis, Chart, Figure, Lab, LabError, Paper, Positions, Series, SeriesOrigin};
use quire_codec::{CodecId, EncodeError, VECTOR_VALUES, fixed};
use std::hint::black_box;

const COMPRESSIONS: [Compression; 3] = [
    Compression::Naive,
    Compression::Predicated,
    Compression::DoubleCursor,
];

/// Bandwidth of compression at exception rates from 0 to 100 %, and the same in cycles.
pub fn figure_6_5(lab: &Lab) -> Result<[Figure; 2], LabError> {
    let value_count = lab.size(32, 2) * VECTOR_VALUES;
    let encoder = dictionary()?;
    let mut lines = vec![Vec::new(); 7];
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
                let ns = lab.nanoseconds(|| {
                    black_box(encode(black_box(values), &settings)?);
                    Ok::<(), SegmentError>(())
                })?;
                lines[3 * at + beside].push(size_of_val(&values[..]) as f64 / ns);
            }
        }
        let signed: Vec<i64> = near.iter().map(|&value| value as i64).collect();
        let ns = lab.nanoseconds(|| {
            black_box(fixed::encode(CodecId::Pfor, black_box(&signed))?);
            Ok::<(), EncodeError>(())
        })?;
        lines[6].push(size_of_val(&signed[..]) as f64 / ns);
    }
    let names = [
        "PFOR NAIVE",
        "PFOR PRED",
        "PFOR DC",
        "PDICT NAIVE",
        "PDICT PRED",
        "PDICT DC",
        "Quire pfor",
    ];
    let series = names.into_iter().zip(lines);
    let bandwidth = Figure {
        stem: "figure-6.5",
        title: "Compression bandwidth and the exception rate".to_owned(),
        paper: Paper::SuperScalarCompression,
        number: "figure 6.5",
        chart: Chart::Lines,
        x: Axis::linear("exception rate", "%"),
        y: Axis::linear("compression bandwidth", "GB/s"),
        positions: Positions::Numbers(super::percents()),
        series: series
            .map(|(name, values)| Series::new(name, SeriesOrigin::Measured, values))
            .collect(),
        notes: vec![
            lab.machine().to_owned(),
            format!(
                "{value_count} 64-bit values to codes of 8 bits; bytes of input; median of rounds. NAIVE is \
                 if-then-else, PRED predication, DC predication with two cursors"
            ),
            "Quire pfor finds base and width of each vector in the same time".to_owned(),
            "the paper aims for 1 to 2 GB/s; it draws PFOR alone and prints no values".to_owned(),
        ],
    };
    let in_cycles = in_cycles(lab, &bandwidth, "figure-6.5-cycles");
    Ok([bandwidth, in_cycles])
}
