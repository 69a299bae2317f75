//! What the paper says of figures 1 and 10 (§II-A, §V-B), judged by the measurements.

use quire_lab::{Figure, Verdict, VerdictCase};
use quire_workload::workloads::sysbench::SysbenchTest;

use super::DualFormatTransactions;
use super::grid::{StoredPages, TESTS};
use super::loss::TransactionPoints;

/// Points of per cent within which losses are the same.
const SAME_LOSS_PERCENT: f64 = 3.0;

/// Points of per cent of all cores within which processors are as busy.
const SAME_PROCESSOR_PERCENT: f64 = 5.0;

const CLT: StoredPages = StoredPages::CONVERTED[3];
const XOR: StoredPages = StoredPages::CONVERTED[4];

/// The scenarios that transform columns, which R2C does not.
const TRANSFORMED: [StoredPages; 4] = [
    StoredPages::CONVERTED[2],
    CLT,
    XOR,
    StoredPages::CONVERTED[5],
];

pub(super) fn judge(
    figures: &mut [Figure],
    setup: &DualFormatTransactions,
    points: &TransactionPoints<'_>,
) {
    let verdicts = [
        (
            "paper-3-figure-10-loss",
            independent_of_clients(setup, points),
        ),
        ("paper-3-figure-10-loss", writes_lose_more(setup, points)),
        ("paper-3-figure-10-loss", clt_most_xor_least(setup, points)),
        ("paper-3-figure-10-processor", as_busy(setup, points)),
        ("paper-3-figure-1", compression_costs(setup, points)),
    ];
    for (stem, verdict) in verdicts {
        let mut figures = figures.iter_mut();
        if let Some(figure) = figures.find(|figure| figure.stem == stem) {
            figure.verdicts.push(verdict);
        }
    }
}

fn independent_of_clients(
    setup: &DualFormatTransactions,
    points: &TransactionPoints<'_>,
) -> Verdict {
    let mut cases = Vec::new();
    for (test, name) in TESTS {
        for pages in &StoredPages::CONVERTED[1..] {
            let losses = setup.clients.iter();
            let losses = losses.filter_map(|&clients| points.loss_percent(*pages, test, clients));
            let losses: Vec<f64> = losses.collect();
            let least = losses.iter().copied().fold(f64::INFINITY, f64::min);
            let most = losses.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let spread = most - least;
            let holds = spread <= SAME_LOSS_PERCENT;
            let name = format!("{}, {name}", pages.name());
            cases.push(VerdictCase::new(name, holds, spread));
        }
    }
    Verdict::of_all(
        "what is lost hardly depends on the number of clients (within 3 points)",
        &cases,
    )
}

fn writes_lose_more(setup: &DualFormatTransactions, points: &TransactionPoints<'_>) -> Verdict {
    let cases = StoredPages::CONVERTED[1..].iter().filter_map(|pages| {
        let loss = |test| points.mean_loss_percent(*pages, test, &setup.clients);
        let (write, read) = (
            loss(SysbenchTest::WriteOnly)?,
            loss(SysbenchTest::ReadOnly)?,
        );
        Some(VerdictCase::new(pages.name(), write > read, write - read))
    });
    let cases: Vec<VerdictCase> = cases.collect();
    Verdict::of_all(
        "transactions that write lose more than those that read",
        &cases,
    )
}

fn clt_most_xor_least(setup: &DualFormatTransactions, points: &TransactionPoints<'_>) -> Verdict {
    let cases = TESTS.iter().filter_map(|(test, name)| {
        let loss = |pages| points.mean_loss_percent(pages, *test, &setup.clients);
        let losses = TRANSFORMED.map(loss);
        let losses: Vec<f64> = losses.into_iter().collect::<Option<_>>()?;
        let (clt, xor) = (loss(CLT)?, loss(XOR)?);
        let holds = losses.iter().all(|&loss| xor <= loss && loss <= clt);
        Some(VerdictCase::new(*name, holds, clt - xor))
    });
    let cases: Vec<VerdictCase> = cases.collect();
    Verdict::of_all(
        "losses follow the times of conversion: CLT loses most, XOR least of the transforms",
        &cases,
    )
}

fn as_busy(setup: &DualFormatTransactions, points: &TransactionPoints<'_>) -> Verdict {
    let clients = setup.clients.last().copied().unwrap_or(0);
    let mut cases = Vec::new();
    for (test, name) in TESTS {
        let busy = |pages| {
            points
                .of(pages, test, clients)
                .map(|one| one.processor_percent)
        };
        let Some(rows) = busy(StoredPages::CONVERTED[0]) else {
            continue;
        };
        for pages in &StoredPages::CONVERTED[1..] {
            let Some(other) = busy(*pages) else {
                continue;
            };
            let name = format!("{}, {name}", pages.name());
            let holds = (other - rows).abs() <= SAME_PROCESSOR_PERCENT;
            cases.push(VerdictCase::new(name, holds, other - rows));
        }
    }
    Verdict::of_all(
        "conversions hardly change how busy the processors are (within 5 points)",
        &cases,
    )
}

fn compression_costs(setup: &DualFormatTransactions, points: &TransactionPoints<'_>) -> Verdict {
    let clients = setup.clients.last().copied().unwrap_or(0);
    let cases = TESTS.iter().filter_map(|(test, name)| {
        let [_, lz4, zlib] = StoredPages::COMPRESSED;
        let loss = |pages| points.loss_percent(pages, *test, clients);
        let (lz4, zlib) = (loss(lz4)?, loss(zlib)?);
        Some(VerdictCase::new(*name, 0.0 < lz4 && lz4 < zlib, zlib))
    });
    let cases: Vec<VerdictCase> = cases.collect();
    Verdict::of_all(
        "page compression in the database costs transactions, zlib more than LZ4",
        &cases,
    )
}
