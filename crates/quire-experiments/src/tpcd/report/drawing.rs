//! What the figures are drawn by.

use quire_lab::{Axis, Chart, Figure, Paper, Positions, Series, SeriesOrigin};

use crate::tpcd::benchmark::{MeasuredQuery, Results};
use crate::tpcd::both::NAMES;

pub(super) fn figure(
    (stem, number): (&'static str, &'static str),
    title: String,
    (x, y): (Axis, Axis),
    positions: Positions,
    series: Vec<Series>,
) -> Figure {
    Figure {
        stem,
        title,
        paper: Paper::CompressedDatabases,
        number,
        chart: Chart::Bars,
        x,
        y,
        positions,
        series,
        verdicts: Vec::new(),
        notes: Vec::new(),
    }
}

pub(super) const TABLE: Axis = Axis::linear("table", "");
pub(super) const QUERY: Axis = Axis::linear("query", "");

/// A value of each table or query, and their sum.
pub(super) fn measured<T>(name: &str, all: &[T], of: impl Fn(&T) -> f64) -> Series {
    let mut values: Vec<f64> = all.iter().map(of).collect();
    values.push(values.iter().sum());
    Series::new(name, SeriesOrigin::Measured, values)
}

/// The paper's, times `scale`, and their sum.
pub(super) fn printed(name: &str, scale: f64, values: Vec<Option<f64>>) -> Series {
    let mut values: Vec<_> = values
        .into_iter()
        .map(|value| value.map(|value| value * scale))
        .collect();
    values.push(Some(values.iter().flatten().sum()));
    Series::paper(name, values)
}

pub(super) fn both(of: impl Fn(&str, usize) -> Series) -> [Series; 2] {
    let [compressed, plain] = NAMES;
    [of(compressed, 0), of(plain, 1)]
}

pub(super) fn names<'a>(names: impl Iterator<Item = &'a str>) -> Positions {
    Positions::labels(names.chain(["total"]))
}

/// Those of TPC-D.
pub(super) fn of_tpcd(results: &Results) -> Vec<&MeasuredQuery> {
    let queries = results.queries.iter();
    queries.filter(|query| query.is_of_tpcd).collect()
}
