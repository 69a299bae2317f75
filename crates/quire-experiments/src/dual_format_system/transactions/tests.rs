//! The arithmetic of losses on made-up points, and a run of all points at a tiny size.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use quire_workload::workloads::sysbench::SysbenchTest;

use super::grid::{StoredPages, TransactionPoint};
use super::loss::TransactionPoints;
use super::{DualFormatTransactions, transaction_figures};

fn point(pages: StoredPages, clients: u32, tps: f64) -> TransactionPoint {
    TransactionPoint {
        pages,
        test: SysbenchTest::WriteOnly,
        clients,
        tps,
        latency_ms_mean: 1.0,
        processor_percent: 50.0,
    }
}

#[test]
fn losses_are_those_beside_rows_with_as_many_clients() {
    let [rows, r2c, ..] = StoredPages::CONVERTED;
    let points = [
        point(rows, 8, 100.0),
        point(rows, 16, 200.0),
        point(r2c, 8, 90.0),
        point(r2c, 16, 160.0),
    ];
    let points = TransactionPoints(&points);
    let test = SysbenchTest::WriteOnly;
    let close = |one: Option<f64>, other: f64| (one.unwrap() - other).abs() < 1e-9;
    assert!(close(points.loss_percent(r2c, test, 8), 10.0));
    assert!(close(points.mean_loss_percent(r2c, test, &[8, 16]), 15.0));
    assert_eq!(points.loss_percent(r2c, test, 32), None);
    assert_eq!(points.mean_loss_percent(r2c, test, &[8, 32]), None);
}

#[test]
fn all_points_are_measured() {
    let folder =
        std::env::temp_dir().join(format!("quire-dual-transactions-{}", std::process::id()));
    let setup = DualFormatTransactions {
        rows: 2_000,
        clients: vec![1, 2],
        measured: Duration::from_millis(60),
        folder: folder.clone(),
        keeps_files: false,
    };
    let figures = transaction_figures(&setup, &mut |_| {}).unwrap();
    let left = std::fs::read_dir(&folder).unwrap().count();
    let _ = std::fs::remove_dir_all(&folder);
    assert_eq!(left, 0, "files are removed");
    assert_eq!(figures.len(), 9);
    for figure in figures
        .iter()
        .filter(|one| one.stem != "paper-3-figure-10-loss")
    {
        for series in &figure.series {
            let values = series.values.iter();
            assert!(
                values.flatten().all(|value| *value > 0.0),
                "{}",
                figure.stem
            );
            assert!(series.values.iter().all(Option::is_some), "{}", figure.stem);
        }
    }
    let verdicts: usize = figures.iter().map(|one| one.verdicts.len()).sum();
    assert_eq!(verdicts, 5);
}
