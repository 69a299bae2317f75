//! A line for each instruction set, in place of the paper's three processors.
//!
//! The paper's segments are compiled once, for the baseline of the target. Quire's kernels are compiled for each set.

use super::columns;
use super::counted::CountedPoint;
use super::vectors::{CODE_BITS, RATES_PERCENT, percents, signed};
use crate::{Axis, Chart, Figure, Lab, LabError, Paper, Positions, Series, SeriesOrigin};
use quire_codec::{Backend, active_backend, limit_backend};

/// Sets that kernels are compiled for, as this processor has them, and what a line is called.
fn instruction_sets() -> impl Iterator<Item = (Backend, &'static str)> {
    let all = [
        (Backend::Portable, "Quire pfor, portable"),
        (Backend::Avx2, "Quire pfor, AVX2"),
        (Backend::Avx512, "Quire pfor, AVX-512"),
    ];
    let detected = Backend::detected();
    all.into_iter()
        .filter(move |(backend, _)| *backend <= detected)
}

/// Kernels of the whole process are limited while it lives.
struct BackendLimit {
    before: Backend,
}

impl BackendLimit {
    fn new(limit: Backend) -> Self {
        let before = active_backend();
        limit_backend(limit);
        Self { before }
    }
}

impl Drop for BackendLimit {
    fn drop(&mut self) {
        limit_backend(self.before);
    }
}

/// What a figure by instruction set is about.
pub(super) struct BySetFigure {
    pub(super) stem: &'static str,
    pub(super) number: &'static str,
    pub(super) title: &'static str,
    pub(super) y_name: &'static str,
}

/// What `measure` takes for values with so many exceptions in a hundred, for each instruction set.
pub(super) fn figure(
    lab: &Lab,
    about: &BySetFigure,
    value_count: usize,
    measure: impl Fn(&[i64]) -> Result<CountedPoint, LabError>,
) -> Result<Figure, LabError> {
    let gb_s = |percent| {
        let near = columns::with_exceptions(value_count, percent, CODE_BITS, |code| code);
        Ok(measure(&signed(&near))?.gb_s)
    };
    let mut series = Vec::new();
    for (backend, name) in instruction_sets() {
        let _limit = BackendLimit::new(backend);
        let values = RATES_PERCENT.into_iter().map(gb_s);
        let values = values.collect::<Result<_, LabError>>()?;
        series.push(Series::new(name, SeriesOrigin::Measured, values));
    }
    Ok(Figure {
        stem: about.stem,
        title: about.title.to_owned(),
        paper: Paper::SuperScalarCompression,
        number: about.number,
        chart: Chart::Lines,
        x: Axis::linear("exception rate", "%"),
        y: Axis::linear(about.y_name, "GB/s"),
        positions: Positions::Numbers(percents()),
        series,
        verdicts: Vec::new(),
        notes: vec![
            lab.machine().to_owned(),
            "the paper has three processors here; this is one, restricted to older instruction sets. Only Quire's kernels \
             are compiled for each of them"
                .to_owned(),
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_ends_with_its_life() {
        let before = active_backend();
        {
            let _limit = BackendLimit::new(Backend::Portable);
            assert_eq!(active_backend(), Backend::Portable);
        }
        assert_eq!(active_backend(), before);
        assert_eq!(
            instruction_sets().next().map(|(set, _)| set),
            Some(Backend::Portable)
        );
    }
}
