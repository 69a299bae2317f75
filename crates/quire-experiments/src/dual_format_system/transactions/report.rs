//! Figures 10 and 1 as figures.

use quire_lab::{Axis, Chart, Figure, Lab, MeasureEffort, Paper, Positions, Series, SeriesOrigin};
use quire_workload::workloads::sysbench::SysbenchTest;

use super::DualFormatTransactions;
use super::grid::{StoredPages, TESTS, TransactionPoint};
use super::loss::{TransactionPoints, printed_losses};
use super::verdicts;

/// Stems of transactions a second and of latencies, by test.
const STEMS: [(SysbenchTest, &str, &str); 3] = [
    (
        SysbenchTest::WriteOnly,
        "paper-3-figure-10-write-only",
        "paper-3-figure-10-write-only-latency",
    ),
    (
        SysbenchTest::ReadOnly,
        "paper-3-figure-10-read-only",
        "paper-3-figure-10-read-only-latency",
    ),
    (
        SysbenchTest::ReadWrite,
        "paper-3-figure-10-read-write",
        "paper-3-figure-10-read-write-latency",
    ),
];

/// All figures, with verdicts.
pub(super) fn figures(setup: &DualFormatTransactions, points: &[TransactionPoint]) -> Vec<Figure> {
    let points = TransactionPoints(points);
    let mut figures = Vec::new();
    for (test, tps, latency) in STEMS {
        let axis = Axis::linear("transactions", "1/s");
        figures.push(by_clients(setup, &points, test, tps, axis, |one| one.tps));
        let axis = Axis::linear("mean latency", "ms");
        figures.push(by_clients(setup, &points, test, latency, axis, |one| {
            one.latency_ms_mean
        }));
    }
    figures.push(losses(setup, &points));
    figures.push(processor(setup, &points));
    figures.push(page_compression(setup, &points));
    verdicts::judge(&mut figures, setup, &points);
    let notes = notes(setup);
    for figure in &mut figures {
        figure.notes.extend(notes.iter().cloned());
    }
    figures
}

fn figure(stem: &'static str, title: String, y: Axis, positions: Positions) -> Figure {
    Figure {
        stem,
        title,
        paper: Paper::DualPageFormat,
        number: "figure 10",
        chart: Chart::Bars,
        x: Axis::linear("pages", ""),
        y,
        positions,
        series: Vec::new(),
        verdicts: Vec::new(),
        notes: Vec::new(),
    }
}

fn name_of(test: SysbenchTest) -> &'static str {
    let mut tests = TESTS.iter();
    tests
        .find(|(one, _)| *one == test)
        .map_or("", |(_, name)| name)
}

fn by_clients(
    setup: &DualFormatTransactions,
    points: &TransactionPoints<'_>,
    test: SysbenchTest,
    stem: &'static str,
    y: Axis,
    value: fn(&TransactionPoint) -> f64,
) -> Figure {
    let clients = setup.clients.iter().map(|&clients| f64::from(clients));
    let positions = Positions::Numbers(clients.collect());
    let mut figure = figure(stem, format!("sysbench, {}", name_of(test)), y, positions);
    figure.chart = Chart::Lines;
    figure.x = Axis::linear("clients", "");
    figure.series = StoredPages::CONVERTED
        .map(|pages| {
            let clients = setup.clients.iter();
            let values = clients.map(|&clients| points.of(pages, test, clients).map(value));
            measured(pages.name().to_owned(), values.collect())
        })
        .to_vec();
    figure
}

fn measured(name: String, values: Vec<Option<f64>>) -> Series {
    let mut series = Series::new(name, SeriesOrigin::Measured, Vec::new());
    series.values = values;
    series
}

/// What each scenario loses beside rows, the mean over all numbers of clients.
fn losses(setup: &DualFormatTransactions, points: &TransactionPoints<'_>) -> Figure {
    let compared = &StoredPages::CONVERTED[1..];
    let mut figure = figure(
        "paper-3-figure-10-loss",
        "Transactions lost beside rows".to_owned(),
        Axis::linear("fewer transactions", "%"),
        Positions::labels(compared.iter().map(|pages| pages.name())),
    );
    for (test, name) in TESTS {
        let values = compared.iter();
        let values = values.map(|pages| points.mean_loss_percent(*pages, test, &setup.clients));
        figure
            .series
            .push(measured(name.to_owned(), values.collect()));
        let printed = printed_losses(test).to_vec();
        figure.series.push(Series::paper(name, printed));
    }
    figure
}

fn processor(setup: &DualFormatTransactions, points: &TransactionPoints<'_>) -> Figure {
    let clients = setup.clients.last().copied().unwrap_or(0);
    let mut figure = figure(
        "paper-3-figure-10-processor",
        format!("Processor, system and user, with {clients} clients"),
        Axis::linear("processor", "% of all cores"),
        Positions::labels(StoredPages::CONVERTED.map(StoredPages::name)),
    );
    for (test, name) in TESTS {
        let values = StoredPages::CONVERTED.iter();
        let values = values.map(|pages| {
            let point = points.of(*pages, test, clients)?;
            Some(point.processor_percent)
        });
        figure
            .series
            .push(measured(name.to_owned(), values.collect()));
    }
    figure
}

/// Figure 1: of pages that a codec has compressed, and of such that none has.
fn page_compression(setup: &DualFormatTransactions, points: &TransactionPoints<'_>) -> Figure {
    let clients = setup.clients.last().copied().unwrap_or(0);
    let mut figure = figure(
        "paper-3-figure-1",
        format!("Page compression in the database, {clients} clients"),
        Axis::linear("transactions", "% of those without compression"),
        Positions::labels(StoredPages::COMPRESSED.map(StoredPages::name)),
    );
    figure.number = "figure 1";
    for (test, name) in TESTS {
        let values = StoredPages::COMPRESSED.iter();
        let values = values.map(|pages| {
            let loss = points.loss_percent(*pages, test, clients)?;
            Some(100.0 - loss)
        });
        figure
            .series
            .push(measured(name.to_owned(), values.collect()));
    }
    figure
}

fn notes(setup: &DualFormatTransactions) -> Vec<String> {
    vec![
        Lab::new(MeasureEffort::Quick).machine().to_owned(),
        format!(
            "a table of {} rows with 32 numbers and a string, inserted in random order, a pool of a sixteenth of it, {:.0} s a point; the paper has 160 GB, 32 cores, and about an hour a point. \
             WorkloadRows are chosen uniformly",
            setup.rows,
            setup.measured.as_secs_f64()
        ),
        "the drive is as slow as the paper's (csd-2021) and compresses nothing, as the paper's does it in hardware; clients and database are one process, so the processor is that of both"
            .to_owned(),
        "figure 1 is drawn without numbers in the paper; Quire's images have any length, where InnoDB rounds them up to whole blocks and punches holes"
            .to_owned(),
    ]
}
