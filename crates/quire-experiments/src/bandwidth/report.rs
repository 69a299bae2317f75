//! Figure 6.8 as figures.

use std::thread;

use quire_lab::{Axis, Chart, Figure, Lab, MeasureEffort, Paper, Positions, Series, SeriesOrigin};

use crate::bandwidth::BandwidthSetup;
use crate::bandwidth::measure::BandwidthResults;
use crate::bandwidth::verdicts;
use crate::column_tables::ColumnCodecs;

/// Times of queries, and the bandwidth of memory that they take.
pub(crate) fn figures(setup: &BandwidthSetup, results: &BandwidthResults) -> Vec<Figure> {
    let lab = Lab::new(MeasureEffort::Quick);
    let mut figures = vec![times(results), rates(results)];
    let verdicts = verdicts::all(&results.queries).into_iter();
    let verdicts: Vec<String> = verdicts.map(|verdict| verdict.text).collect();
    for figure in &mut figures {
        figure.notes.extend(verdicts.iter().cloned());
        figure.notes.extend(set_up(setup, results, &lab));
    }
    figures
}

fn set_up(setup: &BandwidthSetup, results: &BandwidthResults, lab: &Lab) -> Vec<String> {
    let mut notes = vec![
        lab.machine().to_owned(),
        format!(
            "scale {}, all in memory; each stream has a connection and one thread and runs {} queries, of which the middle third counts",
            setup.scale, setup.queries
        ),
        "A is query 6 of TPC-H, B the same without predicates; dates and quantities of 4 bytes, prices and discounts of 8".to_owned(),
    ];
    let papers = [(144.0, 37.5), (96.0, 21.0)];
    for (times, (plain, compressed)) in results.queries.iter().zip(papers) {
        notes.push(format!(
            "{}: {:.1} MB uncompressed, {:.1} MB compressed (the paper: {plain} and {compressed} at scale 1)",
            times.query.name(),
            times.segment_bytes.plain / 1e6,
            times.segment_bytes.compressed / 1e6
        ));
    }
    notes.push(
        "the paper, B with one stream: 33 ms for the multiplication uncompressed, 16 ms for decompression and 8 ms for the multiplication compressed".to_owned(),
    );
    notes
}

fn positions(results: &BandwidthResults) -> Positions {
    let processors = thread::available_parallelism().map_or(1, usize::from);
    let names = (1..=results.copied.len()).map(|streams| match streams > processors {
        true => format!("{streams} (more than processors)"),
        false => streams.to_string(),
    });
    Positions::Labels(names.collect())
}

fn figure(
    (stem, title): (&'static str, &str),
    y: Axis,
    results: &BandwidthResults,
    series: Vec<Series>,
) -> Figure {
    Figure {
        stem,
        title: title.to_owned(),
        paper: Paper::SuperScalarCompression,
        number: "figure 6.8",
        chart: Chart::Bars,
        x: Axis::linear("streams", ""),
        y,
        positions: positions(results),
        series,
        notes: Vec::new(),
    }
}

fn times(results: &BandwidthResults) -> Figure {
    let mut series = Vec::new();
    for times in &results.queries {
        for codecs in ColumnCodecs::BOTH {
            let name = format!("{}, {}", times.query.name(), codecs.name());
            let values = times.seconds.iter().map(|one| one.get(codecs) * 1e3);
            series.push(Series::new(name, SeriesOrigin::Measured, values.collect()));
        }
    }
    let title = "Time of a query beside others";
    let y = Axis::linear("time", "ms");
    figure(("bandwidth-times", title), y, results, series)
}

fn rates(results: &BandwidthResults) -> Figure {
    let mut series = Vec::new();
    for times in &results.queries {
        for codecs in ColumnCodecs::BOTH {
            let name = format!("{}, {}", times.query.name(), codecs.name());
            let bytes = times.segment_bytes.get(codecs);
            let values = times
                .seconds
                .iter()
                .enumerate()
                .map(|(at, one)| bytes * (at + 1) as f64 / one.get(codecs).max(1e-9) / 1e9);
            series.push(Series::new(name, SeriesOrigin::Measured, values.collect()));
        }
    }
    let copied = results.copied.iter().map(|rate| rate / 1e9);
    series.push(Series::new(
        "copying",
        SeriesOrigin::Measured,
        copied.collect(),
    ));
    let title = "What all streams together read from memory, in stored bytes";
    let y = Axis::linear("bandwidth", "GB/s");
    figure(("bandwidth-rates", title), y, results, series)
}
