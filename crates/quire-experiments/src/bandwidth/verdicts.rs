//! What the paper says of figure 6.8, judged by our measurements.

use quire_lab::streams::StreamedQuery;
use quire_lab::{Verdict, VerdictCase};

use crate::bandwidth::times::{StreamLevel, StreamedTimes};

/// All of them, for what runs the queries.
pub(crate) fn all(level: StreamLevel, queries: &[StreamedTimes]) -> Vec<Verdict> {
    vec![
        plain_is_ahead(level, queries),
        compressed_is_ahead(level, queries),
        gain_grows(level, queries),
    ]
}

fn gains(queries: &[StreamedTimes], query: StreamedQuery) -> Vec<f64> {
    let times = queries.iter().find(|times| times.query == query);
    let seconds = times.map_or(&[][..], |times| times.seconds.as_slice());
    let gains = seconds
        .iter()
        .map(|times| times.plain / times.compressed.max(1e-9));
    gains.collect()
}

fn cases(gains: &[f64], holds: impl Fn(f64) -> bool) -> Vec<VerdictCase> {
    let cases = gains.iter().enumerate().map(|(at, &gain)| VerdictCase {
        name: format!("{} streams", at + 1),
        holds: holds(gain),
        value: gain,
    });
    cases.collect()
}

/// A: the paper decompresses all values, also those that predicates exclude.
pub(crate) fn plain_is_ahead(level: StreamLevel, queries: &[StreamedTimes]) -> Verdict {
    let gains = gains(queries, StreamedQuery::WithPredicates);
    let reason = match level {
        StreamLevel::Sql => Some(
            "the paper decompresses all values; Quire tests stored values, and decodes vectors with survivors",
        ),
        StreamLevel::Primitives => None,
    };
    let claim = format!("{}, A: uncompressed is always ahead", level.name());
    Verdict::of_all(claim, &cases(&gains, |gain| gain < 1.0))
        .deviating_by(reason.map(str::to_owned))
}

/// B.
pub(crate) fn compressed_is_ahead(level: StreamLevel, queries: &[StreamedTimes]) -> Verdict {
    let gains = gains(queries, StreamedQuery::WithoutPredicates);
    let level = level.name();
    let statement = format!("{level}, B: compressed is ahead, also with one stream");
    Verdict::of_all(statement, &cases(&gains, |gain| gain > 1.0))
}

/// B, with many streams.
pub(crate) fn gain_grows(level: StreamLevel, queries: &[StreamedTimes]) -> Verdict {
    let gains = gains(queries, StreamedQuery::WithoutPredicates);
    let statement = format!(
        "{}, B: more streams gain more by compression than one (the paper: up to 400 % with 8)",
        level.name()
    );
    let (Some(first), Some(others)) = (gains.first(), gains.get(1..)) else {
        return Verdict::not_measured(&statement);
    };
    let more = others.iter().copied().fold(0.0, f64::max);
    let case = VerdictCase {
        name: format!("the best gain, with one stream {first:.2}"),
        holds: more > *first,
        value: more,
    };
    match others.is_empty() {
        true => Verdict::not_measured(&statement),
        false => Verdict::of_all(statement, &[case]),
    }
}
