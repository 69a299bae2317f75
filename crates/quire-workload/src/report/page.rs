//! Several results as one page of HTML.

use super::compared::{CompareError, differences, distinct_names, of_one_workload};
use super::figures::figures;
use super::text::load;
use super::text_table::{bytes, rounded, thousands};
use crate::driver::{KindResult, WorkloadResult};
use quire_lab::{FigurePage, PageTable, render};

/// The results side by side: how they were measured, a table, and figures. The page needs no other file and no script; its colours follow the
/// reader's choice of light or dark.
///
/// # Errors
/// When there is no result, or they are of several workloads.
pub fn page(results: &[WorkloadResult]) -> Result<String, CompareError> {
    let first = of_one_workload(results)?;
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let mut facts = vec![
        fact("workload", first.workload.clone()),
        fact("scale", first.scale.to_string()),
        fact("seed", first.seed.to_string()),
        fact("load", load(&first.options)),
        fact("measured", format!("{:.1} s", first.elapsed.as_secs_f64())),
        fact("latency", first.latency_meaning().to_owned()),
        fact("processors", first.measurement.processors.to_string()),
    ];
    let differences = differences(results).into_iter();
    facts.extend(differences.map(|line| fact("note", line)));
    Ok(render::figure_page(&FigurePage {
        title: format!(
            "{} on {}",
            first.workload,
            distinct_names(results).join(", ")
        ),
        facts,
        tables: vec![totals(results), kinds(results)],
        figures: figures(results),
    }))
}

const COUNTS: [&str; 12] = [
    "count",
    "rolled back",
    "tps",
    "mean µs",
    "p50",
    "p95",
    "p99",
    "p99.9",
    "maximum",
    "late",
    "retries",
    "errors",
];

fn columns(before: &[&str], behind: &[&str]) -> Vec<String> {
    let names = before.iter().chain(&COUNTS).chain(behind);
    names.map(|&name| name.to_owned()).collect()
}

fn totals(results: &[WorkloadResult]) -> PageTable {
    let rows = distinct_names(results).into_iter().zip(results);
    let rows = rows.map(|(name, result)| {
        let mut row = vec![name];
        row.extend(counts(&result.total));
        let busy = result.measurement.machine_busy;
        row.extend([
            bytes(result.size_bytes_before),
            bytes(result.size_bytes_after),
            busy.map_or_else(|| "–".to_owned(), |busy| format!("{:.1}", 100.0 * busy)),
        ]);
        row
    });
    PageTable {
        title: "Results".to_owned(),
        columns: columns(
            &["target"],
            &["size before", "size after", "machine busy %"],
        ),
        rows: rows.collect(),
    }
}

fn kinds(results: &[WorkloadResult]) -> PageTable {
    let mut rows = Vec::new();
    for (name, result) in distinct_names(results).iter().zip(results) {
        for kind in &result.kinds {
            let mut row = vec![name.clone(), kind.name.clone()];
            row.extend(counts(kind));
            rows.push(row);
        }
    }
    PageTable {
        title: "By transaction".to_owned(),
        columns: columns(&["target", "transaction"], &[]),
        rows,
    }
}

fn counts(kind: &KindResult) -> [String; COUNTS.len()] {
    let latencies = [
        kind.latency_us_p50,
        kind.latency_us_p95,
        kind.latency_us_p99,
        kind.latency_us_p999,
        kind.latency_us_max,
    ];
    let [p50, p95, p99, p999, max] = latencies.map(thousands);
    [
        thousands(kind.finished),
        thousands(kind.rolled_back),
        rounded(kind.tps),
        thousands(kind.latency_us_mean.round() as u64),
        p50,
        p95,
        p99,
        p999,
        max,
        thousands(kind.late),
        thousands(kind.retries),
        thousands(kind.errors),
    ]
}
