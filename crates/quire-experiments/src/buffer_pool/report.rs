//! Figure 6.1 as figures.

use quire_lab::{Axis, Chart, Figure, Lab, MeasureEffort, Paper, Positions, Series, SeriesOrigin};

use crate::buffer_pool::measure::{BufferPoolResults, DEVICE, query_names};
use crate::buffer_pool::times::{MemoryTraffic, PoolRound, PoolSide};
use crate::buffer_pool::verdicts;
use crate::column_tables::ColumnTablesSetup;

/// Hits, what comes from the disk, what is moved between memory and processor, and times.
pub(crate) fn figures(setup: &ColumnTablesSetup, results: &BufferPoolResults) -> Vec<Figure> {
    let needed = &results.needed;
    let hits = figure(
        ("buffer-pool-hits", "What need not come from the disk"),
        Axis::linear("hit rate", "%"),
        results,
        of_sides(results, |round| 100.0 * round.hit_rate(needed)),
    );
    let reads = figure(
        (
            "buffer-pool-reads",
            "Bytes from the disk, for a round of the queries",
        ),
        Axis::linear("bytes", "MB"),
        results,
        of_sides(results, |round| round.disk_bytes / 1e6),
    );
    let times = figure(
        ("buffer-pool-times", "Time of a round of the queries"),
        Axis::linear("time", "s"),
        results,
        of_sides(results, |round| round.seconds),
    );
    let hits = Figure {
        verdicts: verdicts::all(&results.pools, needed),
        ..hits
    };
    let mut figures = vec![hits, reads, traffic(results), times];
    let notes = notes(setup, results);
    for figure in &mut figures {
        figure.notes.extend(notes.iter().cloned());
    }
    figures
}

fn notes(setup: &ColumnTablesSetup, results: &BufferPoolResults) -> Vec<String> {
    let [machine, _] = setup.notes(&Lab::new(MeasureEffort::Quick));
    let needed = &results.needed;
    vec![
        machine,
        format!(
            "{} of TPC-H at scale {}, one thread, over compressed columns (DSM), behind a {} of {} MB/s; one round fills the pool, the mean of the {} rounds after it counts; plans are made before",
            query_names(),
            setup.scale,
            DEVICE.name,
            DEVICE.read_bytes_per_second / 1_000_000,
            setup.rounds.max(1)
        ),
        format!(
            "pools in percent of {:.1} MB, the values of all queried columns; a round needs {:.1} MB of stored columns, {:.1} MB of values",
            results.column_bytes / 1e6,
            needed.stored / 1e6,
            needed.values / 1e6
        ),
        "uncompressed pages: SET quire.decompression = 'pool', compressed ones: 'cache'. A page is a column of a row group. Replacement is CLOCK for both: a scan that          goes round in more than fits finds hardly anything of it, so there is little between all and nothing. A pool is divided into parts; with 100 % some of them may be too small for their pages"
            .to_owned(),
        "hit rate: the part of the stored bytes that a round needs which did not come from the disk; bytes between pages that are read together count as read".to_owned(),
        "traffic is calculated: stored bytes that are decompressed, values that decompression writes into memory, and the values of all columns of each query read from there. Compressed          pages have the first alone: their vectors stay in the cache, which is assumed and not measured"
            .to_owned(),
        "our processor, not slowed down; over compressed pages Quire also tests values as they are stored, which it cannot do over uncompressed ones".to_owned(),
    ]
}

fn figure(
    (stem, title): (&'static str, &str),
    y: Axis,
    results: &BufferPoolResults,
    series: Vec<Series>,
) -> Figure {
    let percents = results
        .pools
        .iter()
        .map(|pool| format!("{} %", pool.percent));
    Figure {
        stem,
        title: title.to_owned(),
        paper: Paper::SuperScalarCompression,
        number: "figure 6.1",
        chart: Chart::Bars,
        x: Axis::linear("pool, of the values", ""),
        y,
        positions: Positions::Labels(percents.collect()),
        series,
        verdicts: Vec::new(),
        notes: Vec::new(),
    }
}

/// A value of each pool, for both sides.
fn of_sides(results: &BufferPoolResults, value: impl Fn(&PoolRound) -> f64) -> Vec<Series> {
    let series = PoolSide::BOTH.map(|side| {
        let values = results.pools.iter().map(|pool| value(pool.of(side)));
        Series::new(side.name(), SeriesOrigin::Measured, values.collect())
    });
    series.to_vec()
}

/// The name of a way, and its bytes.
type TrafficPart = (&'static str, fn(&MemoryTraffic) -> f64);

/// The ways between memory and processor, as the left side of the figure has them.
const PARTS: [TrafficPart; 3] = [
    ("stored bytes to the processor", |traffic| traffic.stored),
    ("values to memory", |traffic| traffic.written),
    ("values to the processor", |traffic| traffic.read),
];

fn traffic(results: &BufferPoolResults) -> Figure {
    let mut series = Vec::new();
    for side in PoolSide::BOTH {
        for (part, bytes) in PARTS {
            let rounds = results.pools.iter().map(|pool| pool.of(side));
            let values = rounds.map(|round| bytes(&round.traffic(side, &results.needed)) / 1e6);
            let name = format!("{}: {part}", side.name());
            series.push(Series::new(name, SeriesOrigin::Measured, values.collect()));
        }
    }
    let title = "Bytes between memory and processor, for a round of the queries";
    Figure {
        chart: Chart::StackedBars { parts: PARTS.len() },
        ..figure(
            ("buffer-pool-traffic", title),
            Axis::linear("bytes", "MB"),
            results,
            series,
        )
    }
}
