//! What was measured, beside what the paper prints.

use quire_lab::{Axis, Chart, Figure, Paper, Positions, Series, SeriesOrigin};

use crate::tpcd::benchmark::{Both, MeasuredQuery, MeasuredTable, Results, pool_bytes};
use crate::tpcd::machine::Seconds;
use crate::tpcd::{Device, Setup, paper};

/// The tables of the paper as figures.
pub(crate) fn figures(setup: &Setup, results: &Results) -> Vec<Figure> {
    let notes = notes(setup, results);
    let mut figures = vec![
        sizes(setup, &results.tables),
        loads(setup, &results.tables),
        times(setup, results),
        processor(setup, results),
        ratios(results),
        memory(setup, results),
    ];
    for figure in &mut figures {
        figure.notes.extend(notes.iter().cloned());
    }
    figures
}

/// What it was measured on, and what is to be known of all of it.
fn notes(setup: &Setup, results: &Results) -> Vec<String> {
    let pool = pool_bytes(setup.scale) as f64 / f64::from(1 << 20);
    let keys = if setup.has_keys {
        "primary keys and two indexes"
    } else {
        "no keys and no indexes, as in the paper"
    };
    let mut notes = vec![format!(
        "scale {}, pages of 4 KiB, a pool of {pool:.1} MiB and as much for sorts and joins, {keys}",
        setup.scale
    )];
    notes.push(match setup.device {
        Device::Paper => format!(
            "seconds of the paper's machine: one second of this processor is {:.1} of its processor's (queries 1 and 6 need as much processor \
             time here as there); 6.4 MB/s from its disk, read ahead while the processor computes",
            results.slowness
        ),
        Device::Own => "seconds of this machine, which others may be using".to_owned(),
    });
    notes.push(match results.other_plans.as_slice() {
        [] => "the plans for compressed and uncompressed tables are the same".to_owned(),
        names => format!("other plans for compressed tables: {}", names.join(", ")),
    });
    notes.push(format!(
        "queries that the tuple engine left to the batch engine: {}",
        results.left
    ));
    notes
}

fn figure(
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
        notes: Vec::new(),
    }
}

const TABLE: Axis = Axis::linear("table", "");
const QUERY: Axis = Axis::linear("query", "");

const NAMES: Both<&str> = ["compressed", "uncompressed"];

/// A value of each table or query, and their sum.
fn measured<T>(name: &str, all: &[T], of: impl Fn(&T) -> f64) -> Series {
    let mut values: Vec<f64> = all.iter().map(of).collect();
    values.push(values.iter().sum());
    Series::new(name, SeriesOrigin::Measured, values)
}

/// The paper's, times `scale`, and their sum.
fn printed(name: &str, scale: f64, values: Vec<Option<f64>>) -> Series {
    let mut values: Vec<_> = values
        .into_iter()
        .map(|value| value.map(|value| value * scale))
        .collect();
    values.push(Some(values.iter().flatten().sum()));
    Series::paper(name, values)
}

fn both(of: impl Fn(&str, usize) -> Series) -> [Series; 2] {
    let [compressed, plain] = NAMES;
    [of(compressed, 0), of(plain, 1)]
}

fn pick<T: Copy>(both: &Both<T>, at: usize) -> T {
    let [compressed, plain] = *both;
    match at {
        0 => compressed,
        _ => plain,
    }
}

fn names<'a>(names: impl Iterator<Item = &'a str>) -> Positions {
    Positions::labels(names.chain(["total"]))
}

fn of_paper(name: &str) -> Option<&'static paper::PaperTable> {
    paper::TABLES.iter().find(|table| table.name == name)
}

fn sizes(setup: &Setup, tables: &[MeasuredTable]) -> Figure {
    let ours =
        both(|name, at| measured(name, tables, |table| pick(&table.bytes, at) as f64 / 1024.0));
    let papers = both(|name, at| {
        let sizes = tables
            .iter()
            .map(|table| of_paper(table.name).map(|paper| pick(&paper.kilobytes, at)));
        printed(name, setup.scale, sizes.collect())
    });
    figure(
        ("tpcd-sizes", "table 3"),
        "Sizes of the tables; the paper's times the scale".to_owned(),
        (TABLE, Axis::linear("size", "KB")),
        names(tables.iter().map(|table| table.name)),
        ours.into_iter().chain(papers).collect(),
    )
}

fn loads(setup: &Setup, tables: &[MeasuredTable]) -> Figure {
    let ours = both(|name, at| measured(name, tables, |table| pick(&table.load, at).time));
    let papers = both(|name, at| {
        let times = tables.iter().map(|table| {
            let load = of_paper(table.name).and_then(|table| table.load_seconds);
            load.map(|load| pick(&load, at))
        });
        printed(name, setup.scale, times.collect())
    });
    figure(
        ("tpcd-load", "table 4"),
        "Time to load the tables; the paper's times the scale".to_owned(),
        (TABLE, Axis::linear("time", "s")),
        names(tables.iter().map(|table| table.name)),
        ours.into_iter().chain(papers).collect(),
    )
}

/// Those of TPC-D.
fn of_tpcd(results: &Results) -> Vec<&MeasuredQuery> {
    let queries = results.queries.iter();
    queries.filter(|query| query.is_of_tpcd).collect()
}

fn papers_times(
    setup: &Setup,
    queries: &[&MeasuredQuery],
    of: fn(&[f64; 2]) -> f64,
) -> [Series; 2] {
    both(|name, at| {
        let times = queries.iter().map(|query| {
            let found = paper::QUERIES.iter().find(|one| one.name == query.name);
            found.map(|one| of(&pick(&[one.compressed, one.uncompressed], at)))
        });
        printed(name, setup.scale, times.collect())
    })
}

fn table_5(
    setup: &Setup,
    results: &Results,
    (stem, title): (&'static str, &str),
    ours: fn(&Seconds) -> f64,
    papers: fn(&[f64; 2]) -> f64,
) -> Figure {
    let queries = of_tpcd(results);
    let measured =
        both(|name, at| measured(name, &queries, |query| ours(&pick(&query.seconds, at))));
    figure(
        (stem, "table 5"),
        format!("{title}; the paper's times the scale"),
        (QUERY, Axis::linear("time", "s")),
        names(queries.iter().map(|query| query.name)),
        measured
            .into_iter()
            .chain(papers_times(setup, &queries, papers))
            .collect(),
    )
}

fn times(setup: &Setup, results: &Results) -> Figure {
    table_5(
        setup,
        results,
        (
            "tpcd-times",
            "Running times of queries and update functions",
        ),
        |seconds| seconds.time,
        |[time, _]| *time,
    )
}

fn processor(setup: &Setup, results: &Results) -> Figure {
    table_5(
        setup,
        results,
        (
            "tpcd-processor",
            "Processor times of queries and update functions",
        ),
        |seconds| seconds.processor,
        |[_, processor]| *processor,
    )
}

/// The time over compressed tables by the time over others.
fn ratios(results: &Results) -> Figure {
    let ratio = |query: &MeasuredQuery| {
        let [compressed, plain] = query.seconds;
        compressed.time / plain.time.max(1e-9)
    };
    let papers = results.queries.iter().map(|query| {
        let found = paper::QUERIES.iter().find(|one| one.name == query.name);
        found.map(|one| one.compressed[0] / one.uncompressed[0])
    });
    let ours: Vec<f64> = results.queries.iter().map(ratio).collect();
    let mut figure = figure(
        ("tpcd-ratios", "table 5"),
        "Running time over compressed tables by that over uncompressed ones".to_owned(),
        (QUERY, Axis::linear("ratio", "")),
        Positions::labels(results.queries.iter().map(|query| query.name)),
        vec![
            Series::new("ours", SeriesOrigin::Measured, ours),
            Series::paper("the paper's", papers.collect()),
        ],
    );
    figure.notes.push(verdict(results));
    figure
}

/// How the 17 queries compare, as the paper says it of its own.
fn verdict(results: &Results) -> String {
    let queries = of_tpcd(results);
    let queries = queries.iter().filter(|query| query.memory.is_some());
    let times: Vec<Both<f64>> = queries
        .map(|query| query.seconds.map(|seconds| seconds.time))
        .collect();
    let total = |at| times.iter().map(|time| pick(time, at)).sum::<f64>();
    let count = |limit: f64| {
        times
            .iter()
            .filter(|[one, other]| *one <= limit * other)
            .count()
    };
    format!(
        "of {} queries of TPC-D {} are not slower over compressed tables, {} take half of the time at most; together they take {:.2} of it \
         (the paper: 17; 4, and query 1 and 15 next to it; 0.62)",
        times.len(),
        count(1.0),
        count(0.5),
        total(0) / total(1).max(1e-9)
    )
}

/// What compression costs the processor when no disk is slow.
fn memory(setup: &Setup, results: &Results) -> Figure {
    let queries = results.queries.iter();
    let queries: Vec<_> = queries.filter(|query| query.memory.is_some()).collect();
    let milliseconds = |query: &&MeasuredQuery, at: usize| {
        query.memory.map_or(0.0, |memory| pick(&memory, at) * 1e3)
    };
    let series = both(|name, at| measured(name, &queries, |query| milliseconds(query, at)));
    let mut figure = figure(
        ("tpcd-memory", "table 5"),
        format!(
            "Processor times with all tables in memory, scale {}",
            setup.scale
        ),
        (QUERY, Axis::linear("time", "ms")),
        names(queries.iter().map(|query| query.name)),
        series.into_iter().collect(),
    );
    let first = queries.first().and_then(|query| query.memory);
    if let Some([compressed, plain]) = first {
        figure.notes.push(format!(
            "query 1 needs {:.2} times as much of the processor over compressed tables (the paper: {:.2}, with reading)",
            compressed / plain.max(1e-9),
            60.6 / 40.3
        ));
    }
    figure
}
