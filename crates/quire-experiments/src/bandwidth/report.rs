//! Figure 6.8 as figures.

use std::thread;

use quire_lab::streams::StreamedQuery;
use quire_lab::{Axis, Chart, Figure, Lab, MeasureEffort, Paper, Positions, Series, SeriesOrigin};

use crate::bandwidth::BandwidthSetup;
use crate::bandwidth::measure::BandwidthResults;
use crate::bandwidth::times::{StreamLevel, StreamedTimes};
use crate::bandwidth::verdicts;
use crate::column_tables::ColumnCodecs;

/// What the paper prints of B with one stream at scale 1: milliseconds of the multiplication over uncompressed columns, of decompression, and of the
/// multiplication of what is in the cache.
const PAPER_PARTS_MS: [f64; 3] = [33.0, 16.0, 8.0];

/// Times of queries, the bandwidth of memory that they take, and what B consists of.
pub(crate) fn figures(setup: &BandwidthSetup, results: &BandwidthResults) -> Vec<Figure> {
    let lab = Lab::new(MeasureEffort::Quick);
    let (sql, primitives) = (&results.queries, &results.primitives.queries);
    let levels = [
        (
            ["bandwidth-times", "bandwidth-rates"],
            StreamLevel::Sql,
            sql,
        ),
        (
            ["bandwidth-primitive-times", "bandwidth-primitive-rates"],
            StreamLevel::Primitives,
            primitives,
        ),
    ];
    let mut figures = Vec::new();
    for ([times_stem, rates_stem], level, queries) in levels {
        figures.push(Figure {
            verdicts: verdicts::all(level, queries),
            ..times((times_stem, level), results, queries)
        });
        figures.push(rates((rates_stem, level), results, queries));
    }
    figures.push(parts(setup, results));
    for figure in &mut figures {
        figure.notes.extend(set_up(setup, results, &lab));
    }
    figures
}

fn set_up(setup: &BandwidthSetup, results: &BandwidthResults, lab: &Lab) -> Vec<String> {
    let mut notes = vec![
        lab.machine().to_owned(),
        format!(
            "scale {}, all in memory; each stream has one thread, and of SQL a connection, and runs {} queries, of which the middle third counts",
            setup.scale, setup.queries
        ),
        "A is query 6 of TPC-H, B the same without predicates; dates and quantities of 4 bytes, prices and discounts of 8".to_owned(),
        "primitives: vectors of 1,024 values; all streams share the columns; compressed ones are decompressed vector by vector into the cache, all values of those that the query \
         names, as in the paper; rows are drawn as the specification describes"
            .to_owned(),
    ];
    for (level, queries) in [
        (StreamLevel::Sql, &results.queries),
        (StreamLevel::Primitives, &results.primitives.queries),
    ] {
        let papers = [(144.0, 37.5), (96.0, 21.0)];
        for (times, (plain, compressed)) in queries.iter().zip(papers) {
            notes.push(format!(
                "{}, {}: {:.1} MB uncompressed, {:.1} MB compressed (the paper: {plain} and {compressed} at scale 1)",
                level.name(),
                times.query.name(),
                times.column_bytes.plain / 1e6,
                times.column_bytes.compressed / 1e6
            ));
        }
    }
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
    (stem, title): (&'static str, String),
    y: Axis,
    results: &BandwidthResults,
    series: Vec<Series>,
) -> Figure {
    Figure {
        stem,
        title,
        paper: Paper::SuperScalarCompression,
        number: "figure 6.8",
        chart: Chart::Bars,
        x: Axis::linear("streams", ""),
        y,
        positions: positions(results),
        series,
        verdicts: Vec::new(),
        notes: Vec::new(),
    }
}

/// Values of each query, compressed and not, with 1 stream, 2 streams …
fn of_queries(
    queries: &[StreamedTimes],
    value: impl Fn(&StreamedTimes, ColumnCodecs, usize, f64) -> f64,
) -> Vec<Series> {
    let mut series = Vec::new();
    for times in queries {
        for codecs in ColumnCodecs::BOTH {
            let name = format!("{}, {}", times.query.name(), codecs.name());
            let seconds = times.seconds.iter().map(|pair| *pair.get(codecs));
            let values = seconds
                .enumerate()
                .map(|(at, seconds)| value(times, codecs, at + 1, seconds));
            series.push(Series::new(name, SeriesOrigin::Measured, values.collect()));
        }
    }
    series
}

fn times(
    (stem, level): (&'static str, StreamLevel),
    results: &BandwidthResults,
    queries: &[StreamedTimes],
) -> Figure {
    let series = of_queries(queries, |_, _, _, seconds| seconds * 1e3);
    let title = format!("Time of a query beside others, {}", level.name());
    let y = Axis::linear("time", "ms");
    figure((stem, title), y, results, series)
}

fn rates(
    (stem, level): (&'static str, StreamLevel),
    results: &BandwidthResults,
    queries: &[StreamedTimes],
) -> Figure {
    let mut series = of_queries(queries, |times, codecs, streams, seconds| {
        times.column_bytes.get(codecs) * streams as f64 / seconds.max(1e-9) / 1e9
    });
    let copied = results.copied.iter().map(|rate| rate / 1e9);
    series.push(Series::new(
        "copying",
        SeriesOrigin::Measured,
        copied.collect(),
    ));
    let title = format!(
        "What all streams together read from memory, in stored bytes, {}",
        level.name()
    );
    let y = Axis::linear("bandwidth", "GB/s");
    figure((stem, title), y, results, series)
}

/// What B consists of.
fn parts(setup: &BandwidthSetup, results: &BandwidthResults) -> Figure {
    let parts = results.primitives.parts;
    let measured = [parts.plain_ns, parts.decompression_ns, parts.cached_ns];
    let series = vec![
        Series::new(
            "time",
            SeriesOrigin::Measured,
            measured.map(|ns| ns / 1e6).to_vec(),
        ),
        Series::paper(
            "time, times the scale",
            PAPER_PARTS_MS.map(|ms| Some(ms * setup.scale)).to_vec(),
        ),
    ];
    let names = [
        "multiplication, uncompressed",
        "decompression",
        "multiplication, in cache",
    ];
    let mut notes = Vec::new();
    let mut queries = results.primitives.queries.iter();
    if let Some(times) = queries.find(|times| times.query == StreamedQuery::WithoutPredicates) {
        let (plain, compressed) = (times.column_bytes.plain, times.column_bytes.compressed);
        notes.push(format!(
            "B, one thread, GB/s: the multiplication reads {:.1} of uncompressed columns in memory (the paper: 3); decompression reads {:.1} and delivers {:.1} (1.7 and 6); the \
             multiplication reads {:.1} from the cache (12)",
            plain / parts.plain_ns,
            compressed / parts.decompression_ns,
            plain / parts.decompression_ns,
            plain / parts.cached_ns
        ));
    }
    Figure {
        x: Axis::linear("part of B", ""),
        positions: Positions::labels(names),
        verdicts: Vec::new(),
        notes,
        ..figure(
            ("bandwidth-parts", "What query B consists of".to_owned()),
            Axis::linear("time", "ms"),
            results,
            series,
        )
    }
}
