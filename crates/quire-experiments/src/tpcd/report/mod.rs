//! What was measured, beside what the paper prints.

mod drawing;
mod notes;
mod splits;
mod verdicts;

use quire_lab::{Axis, Figure, Positions, Series, SeriesOrigin, Verdict};

use crate::tpcd::benchmark::{MeasuredQuery, MeasuredTable, Results};
use crate::tpcd::both::pick;
use crate::tpcd::machine::Seconds;
use crate::tpcd::{Setup, paper};
use drawing::{QUERY, TABLE, both, figure, measured, names, of_tpcd, printed};
use verdicts::{Claim, NamedRatio};

/// The tables of the paper as figures.
pub(crate) fn figures(setup: &Setup, results: &Results) -> Vec<Figure> {
    let notes = notes::notes(setup, results);
    let mut figures = vec![
        sizes(setup, &results.tables),
        loads(setup, results),
        splits::load_utilization(&results.tables),
        times(setup, results),
        processor(setup, results),
        splits::utilization(results),
        ratios(results),
        splits::queries(results),
        splits::temporaries(results),
        memory(setup, results),
    ];
    if !results.samples.is_empty() {
        figures.push(splits::loads(results));
        figures.push(splits::fields(results));
    }
    for figure in &mut figures {
        figure.notes.extend(notes.iter().cloned());
    }
    figures
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

fn loads(setup: &Setup, results: &Results) -> Figure {
    let tables = &results.tables;
    let ours = both(|name, at| measured(name, tables, |table| pick(&table.load, at).time));
    let papers = both(|name, at| {
        let times = tables.iter().map(|table| {
            let load = of_paper(table.name).and_then(|table| table.load_seconds);
            load.map(|load| pick(&load, at))
        });
        printed(name, setup.scale, times.collect())
    });
    let mut figure = figure(
        ("tpcd-load", "table 4"),
        "Time to load the tables; the paper's times the scale".to_owned(),
        (TABLE, Axis::linear("time", "s")),
        names(tables.iter().map(|table| table.name)),
        ours.into_iter().chain(papers).collect(),
    );
    let ratios = tables
        .iter()
        .filter(|table| of_paper(table.name).is_some_and(|of| of.load_seconds.is_some()));
    let ratios: Vec<NamedRatio> = ratios
        .map(|table| NamedRatio::of(table.name, table.load.map(|load| load.time)))
        .collect();
    let verdict = verdicts::loads(&ratios).deviating_by(notes::loads(results));
    figure.verdicts.push(verdict);
    figure
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
    let mut figure = table_5(
        setup,
        results,
        (
            "tpcd-processor",
            "Processor times of queries and update functions",
        ),
        |seconds| seconds.processor,
        |[_, processor]| *processor,
    );
    let queries = of_tpcd(results).into_iter();
    let queries: Vec<&MeasuredQuery> = queries.filter(|query| query.memory.is_some()).collect();
    let total = |at: usize| {
        let seconds = queries
            .iter()
            .map(|query| pick(&query.seconds, at).processor);
        seconds.sum::<f64>()
    };
    let ratio = NamedRatio::of("17 queries", [total(0), total(1)]);
    let verdict = verdicts::processor(&ratio).deviating_by(notes::computing(results));
    figure.verdicts.push(verdict);
    figure
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
    figure.verdicts.extend(claims(results));
    figure
}

/// What the paper says of table 5, and how it fares here.
fn claims(results: &Results) -> Vec<Verdict> {
    let of = |query: &MeasuredQuery| {
        NamedRatio::of(query.name, query.seconds.map(|seconds| seconds.time))
    };
    let tpcd = of_tpcd(results);
    let (updates, queries): (Vec<&MeasuredQuery>, Vec<&MeasuredQuery>) =
        tpcd.into_iter().partition(|query| query.memory.is_none());
    let ratios: Vec<NamedRatio> = queries.iter().map(|query| of(query)).collect();
    let total = |at: usize| {
        queries
            .iter()
            .map(|query| pick(&query.seconds, at).time)
            .sum::<f64>()
    };
    let mut claims = vec![
        verdicts::never_loses(&ratios),
        verdicts::halves(&ratios),
        verdicts::saves_little(&ratios),
        verdicts::saves_a_fifth(&ratios),
        verdicts::total(&NamedRatio::of("17 queries", [total(0), total(1)])),
    ];
    for (name, claim, reason) in [
        ("UF1", Claim::UF1, notes::inserting(results)),
        ("UF2", Claim::UF2, None),
    ] {
        let found = updates.iter().find(|query| query.name == name);
        let verdict = claim.verdict(found.map(|query| of(query)));
        claims.push(verdict.deviating_by(reason));
    }
    claims
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
