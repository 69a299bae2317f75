//! Figure 6.6: compulsory exceptions.

use super::columns;
use super::vectors::patched;
use crate::super_scalar::{
    Reference, Segment, effective_exception_rate, encode, expected_exception_rate,
};
use crate::{Axis, Chart, Figure, Lab, LabError, Paper, Positions, Series, SeriesOrigin};
use quire_codec::VECTOR_VALUES;

const PERCENTS: [u64; 10] = [1, 2, 3, 5, 8, 10, 15, 20, 25, 30];

/// The share of values written as exceptions when so many do not fit, for codes of 1 to 4 bits.
pub fn figure_6_6(lab: &Lab) -> Result<Figure, LabError> {
    let value_count = lab.size(128, 8) * VECTOR_VALUES;
    let mut series = Vec::new();
    for width in 1..=4 {
        let mut measured = Vec::new();
        for percent in PERCENTS {
            let values = columns::with_exceptions(value_count, percent, width, |code| code);
            let image = encode(&values, &patched(Reference::Pfor { base: 0 }, width))?;
            let exceptions = Segment::<u64>::open(&image, None)?.exception_count();
            measured.push(100.0 * exceptions as f64 / value_count as f64);
        }
        let by = |rate: fn(f64, usize) -> f64| -> Vec<f64> {
            PERCENTS
                .iter()
                .map(|&percent| 100.0 * rate(percent as f64 / 100.0, width))
                .collect()
        };
        let bits = format!("{width} bit{}", if width == 1 { "" } else { "s" });
        let name = |what: &str| format!("{bits}, {what}");
        series.push(Series::new(bits.clone(), SeriesOrigin::Measured, measured));
        let expected = by(expected_exception_rate);
        series.push(Series::new(
            name("exact expectation"),
            SeriesOrigin::Calculated,
            expected,
        ));
        let formula = by(effective_exception_rate);
        series.push(Series::new(
            name("the paper's formula"),
            SeriesOrigin::Calculated,
            formula,
        ));
    }
    Ok(Figure {
        stem: "figure-6.6",
        title: "The exception rate with compulsory exceptions".to_owned(),
        paper: Paper::SuperScalarCompression,
        number: "figure 6.6",
        chart: Chart::Lines,
        x: Axis::linear("exception rate of the data", "%"),
        y: Axis::linear("exception rate as written", "%"),
        positions: Positions::Numbers(PERCENTS.iter().map(|&rate| rate as f64).collect()),
        series,
        verdicts: Vec::new(),
        notes: vec![
            lab.machine().to_owned(),
            format!("{value_count} values, exceptions thrown by chance; nothing is timed"),
            "the paper prints two values of its formula: it rises to 47 % with 1 bit and to 22 % with 2 bits, \
             and from 5 bits on the effect is negligible"
                .to_owned(),
        ],
    })
}
