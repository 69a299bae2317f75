use super::*;
use crate::bandwidth::measure::{StreamedQuery, StreamedTimes, middle_third};
use crate::column_tables::CodecPair;
use crate::verdict::VerdictOutcome;

/// Seconds over compressed and uncompressed tables, with 1 stream, 2 streams …
fn times(query: StreamedQuery, seconds: &[(f64, f64)]) -> StreamedTimes {
    let seconds = seconds
        .iter()
        .map(|&(compressed, plain)| CodecPair { compressed, plain });
    StreamedTimes {
        query,
        segment_bytes: CodecPair::default(),
        seconds: seconds.collect(),
    }
}

#[test]
fn the_middle_third_leaves_beginning_and_end_out() {
    assert_eq!(middle_third(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), [3.0, 4.0]);
    assert_eq!(middle_third(&[1.0, 2.0]), [1.0, 2.0]);
    assert!(middle_third(&[]).is_empty());
}

#[test]
fn verdicts_are_those_of_the_paper_on_its_numbers() {
    let results = [
        times(StreamedQuery::WithPredicates, &[(0.05, 0.04), (0.06, 0.04)]),
        times(
            StreamedQuery::WithoutPredicates,
            &[(0.024, 0.033), (0.024, 0.06)],
        ),
    ];
    for verdict in verdicts::all(&results) {
        assert_eq!(verdict.outcome, VerdictOutcome::Holds, "{}", verdict.text);
    }
}

#[test]
fn verdicts_fail_on_the_opposite() {
    let results = [
        times(StreamedQuery::WithPredicates, &[(0.03, 0.04), (0.03, 0.04)]),
        times(
            StreamedQuery::WithoutPredicates,
            &[(0.04, 0.03), (0.05, 0.03)],
        ),
    ];
    for verdict in verdicts::all(&results) {
        assert_eq!(verdict.outcome, VerdictOutcome::Fails, "{}", verdict.text);
    }
    let one_stream = [times(StreamedQuery::WithoutPredicates, &[(0.02, 0.03)])];
    let verdict = verdicts::gain_grows(&one_stream);
    assert_eq!(verdict.outcome, VerdictOutcome::NotMeasured);
}

#[test]
fn figures_have_a_value_for_every_number_of_streams() {
    let folder = std::env::temp_dir().join(format!(
        "quire-experiments-bandwidth-{}",
        std::process::id()
    ));
    let setup = BandwidthSetup {
        scale: 0.01,
        streams_max: 3,
        queries: 3,
        folder: folder.clone(),
    };
    let figures = figures(&setup, &mut |_| {}).expect("figures");
    std::fs::remove_dir_all(folder).expect("the folder");
    let [times, rates] = figures.as_slice() else {
        panic!("{} figures", figures.len());
    };
    assert_eq!((times.series.len(), rates.series.len()), (4, 5));
    for series in times.series.iter().chain(&rates.series) {
        assert_eq!(series.values.len(), 3);
        let is_there = |value: &Option<f64>| value.is_some_and(|value| value > 0.0);
        assert!(series.values.iter().all(is_there), "{series:?}");
    }
}
