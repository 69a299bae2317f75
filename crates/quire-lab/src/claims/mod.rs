//! What the papers claim of their figures, judged by ours.
//!
//! A claim looks at a finished figure: series and positions by their names. Where the paper says "about" or "several times", the claim
//! says which bound decides.

mod compressed_databases;
mod dual_page_format;
mod page_compression;
mod super_scalar_compression;

pub use dual_page_format::PACKED_TUPLES;

use crate::figure::{Figure, Positions, Series, SeriesOrigin};
use crate::verdict::VerdictCase;

/// Gives each figure the verdicts on what its paper claims of it.
pub fn judge(figures: &mut [Figure]) {
    for figure in figures.iter_mut() {
        let verdicts = match figure.stem {
            "length-decoding" => compressed_databases::length_decoding(figure),
            "whole-tuples" => compressed_databases::whole_tuples(figure),
            "uncompressed-tuples" => compressed_databases::uncompressed_tuples(figure),
            "iterator-models" => compressed_databases::iterator_models(figure),
            "figure-6.2-decompression" => super_scalar_compression::figure_6_2(figure),
            "figure-6.4" => super_scalar_compression::figure_6_4(figure),
            "figure-6.5" => super_scalar_compression::figure_6_5(figure),
            "figure-6.6" => super_scalar_compression::figure_6_6(figure),
            "figure-6.7" => super_scalar_compression::figure_6_7(figure),
            "fine-grained-cycles" => super_scalar_compression::fine_grained(figure),
            "table-6.2-ratio" => super_scalar_compression::table_6_2_ratio(figure),
            "table-6.2-decompression" => super_scalar_compression::table_6_2_speed(figure),
            "retrieval-device-350" => super_scalar_compression::retrieval(figure),
            "retrieval-equation-6.1" => super_scalar_compression::equation_6_1(figure),
            "paper-3-figure-4" => dual_page_format::figure_4(figure),
            "paper-3-figure-5" => dual_page_format::figure_5(figure),
            "paper-3-figure-7" | "paper-3-figure-7-fields" | "paper-3-figure-7-leaf" => {
                dual_page_format::figure_7(figure)
            }
            "paper-3-figure-8a" | "paper-3-figure-8b" => dual_page_format::figure_8(figure),
            "paper-3-figure-9" => dual_page_format::figure_9(figure),
            "paper-3-figure-11" => dual_page_format::figure_11(figure),
            "paper-3-figure-11-system" => dual_page_format::figure_11_system(figure),
            "paper-3-figure-11-full" => dual_page_format::figure_11_full(figure),
            "paper-4-table-7" => page_compression::table_7(figure),
            "paper-4-figure-3" => page_compression::figure_3(figure),
            "paper-4-figure-4" => page_compression::figure_4(figure),
            _ => continue,
        };
        figure.verdicts.extend(verdicts);
    }
    judge_pairs(figures);
}

/// Claims about two figures: the second has the verdict.
fn judge_pairs(figures: &mut [Figure]) {
    let place = |stem| figures.iter().position(|figure| figure.stem == stem);
    let places = (place("paper-3-figure-8a"), place("paper-3-figure-8b"));
    if let (Some(large), Some(small)) = places {
        let verdict = dual_page_format::figures_8(&figures[large], &figures[small]);
        figures[small].verdicts.push(verdict);
    }
}

/// Values of ours with their positions; none of a series that the figure does not have.
fn values<'a>(figure: &'a Figure, series: &str) -> Vec<(String, Option<f64>)> {
    let of_that_name = |one: &&'a Series| one.name == series && one.origin != SeriesOrigin::Paper;
    let found = figure.series.iter().find(of_that_name);
    let names = match &figure.positions {
        Positions::Numbers(_) => {
            let names = figure.positions.names().into_iter();
            let names = names.map(|name| format!("{name} {}", figure.x.unit));
            names.map(|name| name.trim_end().to_owned()).collect()
        }
        Positions::Labels(labels) => labels.clone(),
    };
    let values = found.into_iter().flat_map(|series| &series.values).copied();
    names.into_iter().zip(values).collect()
}

/// The value at a position, as [`values`] names it.
fn value(figure: &Figure, series: &str, position: &str) -> Option<f64> {
    let mut values = values(figure, series).into_iter();
    values.find(|(name, _)| name == position)?.1
}

/// A case for each position: the first series by the second.
fn compared(
    figure: &Figure,
    [one, other]: [&str; 2],
    holds: impl Fn(f64) -> bool,
) -> Vec<VerdictCase> {
    let ones = values(figure, one).into_iter();
    let both = ones.zip(values(figure, other));
    let cases = both.filter_map(|((name, one), (_, other))| {
        let ratio = one? / other?;
        Some(VerdictCase::new(name, holds(ratio), ratio))
    });
    cases.collect()
}

/// The same cases with what they are of.
fn named(what: &str, cases: Vec<VerdictCase>) -> impl Iterator<Item = VerdictCase> {
    let cases = cases.into_iter();
    cases.map(move |case| VerdictCase {
        name: format!("{what}, {}", case.name),
        ..case
    })
}

/// Names of the series of ours.
fn measured_series(figure: &Figure) -> impl Iterator<Item = &str> {
    let series = figure.series.iter();
    let measured = series.filter(|one| one.origin == SeriesOrigin::Measured);
    measured.map(|one| one.name.as_str())
}

#[cfg(test)]
mod tests;
