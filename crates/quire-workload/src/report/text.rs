//! A result for a terminal.

use super::text_table::{LatencyUnit, TextTable, bytes, rounded, thousands, wrapped};
use crate::driver::{KindResult, RunOptions, WorkloadResult};
use crate::measure::{GroupUse, RunMeasurement};
use std::time::Duration;

/// A result, at most 100 columns wide: what was run, the transactions by kind, and what they cost.
pub fn text(result: &WorkloadResult) -> String {
    let mut text = wrapped(&format!(
        "{} on {}, scale {}, seed {}",
        result.workload, result.target, result.scale, result.seed
    ));
    let cut = if result.is_cancelled {
        ", cancelled"
    } else {
        ""
    };
    text += &wrapped(&format!(
        "{}; {:.1} s measured{cut}",
        load(&result.options),
        result.elapsed.as_secs_f64()
    ));
    text.push('\n');
    text += &latencies(result);
    text.push('\n');
    text += &outcomes(result);
    if result.unstarted > 0 {
        text += &wrapped(&format!(
            "{} transactions that were meant to begin found no free user before the end.",
            thousands(result.unstarted)
        ));
    }
    text.push('\n');
    text += &costs(&result.measurement);
    text.push('\n');
    text += &wrapped(&format!(
        "size {} before, {} after",
        bytes(result.size_bytes_before),
        bytes(result.size_bytes_after)
    ));
    text
}

/// Users, and what makes them begin, in words.
pub(super) fn load(options: &RunOptions) -> String {
    let users = match options.users {
        1 => "1 user".to_owned(),
        users => format!("{users} users"),
    };
    let (least, most) = options.think_time;
    let load = match options.rate {
        Some(rate) => format!(
            "{rate} transactions per second meant, {}",
            options.arrivals.name()
        ),
        None if most.is_zero() => "closed loop".to_owned(),
        None => format!(
            "closed loop, {} to {} s between",
            seconds(least),
            seconds(most)
        ),
    };
    format!("{users}, {load}, {} s warm-up", seconds(options.warm_up))
}

fn seconds(time: Duration) -> f64 {
    time.as_secs_f64()
}

fn latencies(result: &WorkloadResult) -> String {
    let (unit, table) = LatencyUnit::that_fits(|unit| latency_table(result, unit));
    let meaning = result.latency_meaning();
    wrapped(&format!("latency in {unit}, {meaning}")) + &table.text()
}

fn latency_table(result: &WorkloadResult, unit: LatencyUnit) -> TextTable {
    let mut table = TextTable::new(&[
        "transaction",
        "count",
        "tps",
        "mean",
        "p50",
        "p95",
        "p99",
        "p99.9",
        "max",
    ]);
    for kind in rows(result) {
        let latencies = [
            kind.latency_us_mean,
            kind.latency_us_p50 as f64,
            kind.latency_us_p95 as f64,
            kind.latency_us_p99 as f64,
            kind.latency_us_p999 as f64,
            kind.latency_us_max as f64,
        ];
        let latencies = latencies.map(|latency| match kind.finished {
            0 => "-".to_owned(),
            _ => unit.shown(latency),
        });
        let cells = [thousands(kind.finished), rounded(kind.tps)];
        table.row(&kind.name, cells.into_iter().chain(latencies));
    }
    table
}

fn outcomes(result: &WorkloadResult) -> String {
    let mut table = TextTable::new(&["transaction", "rolled back", "late", "retries", "errors"]);
    for kind in rows(result) {
        let counts = [kind.rolled_back, kind.late, kind.retries, kind.errors];
        table.row(&kind.name, counts.map(thousands));
    }
    table.text()
}

fn rows(result: &WorkloadResult) -> impl Iterator<Item = &KindResult> {
    result.kinds.iter().chain([&result.total])
}

/// Processor time and bytes of each group of processes.
fn costs(measured: &RunMeasurement) -> String {
    let mut table = TextTable::new(&[
        "processor time",
        "user s",
        "system s",
        "user %",
        "system %",
        "read",
        "written",
    ]);
    for (name, group) in groups(measured) {
        table.row(name, group_cells(measured, group));
    }
    let busy = measured.machine_busy.map_or_else(String::new, |busy| {
        format!("; the machine was {:.1} % busy", 100.0 * busy)
    });
    let note = format!("% is of {} processors{busy}", measured.processors);
    let shared = if measured.server.is_none() {
        wrapped(
            "The database runs in the driver's process: the driver's numbers are those of both.",
        )
    } else {
        String::new()
    };
    table.text() + &wrapped(&note) + &shared
}

fn group_cells(measured: &RunMeasurement, group: &GroupUse) -> [String; 6] {
    let known = |count: Option<u64>| count.map_or_else(|| "-".to_owned(), bytes);
    [
        rounded(group.user_s),
        rounded(group.system_s),
        format!("{:.1}", measured.percent(group.user_s)),
        format!("{:.1}", measured.percent(group.system_s)),
        known(group.read_bytes),
        known(group.written_bytes),
    ]
}

/// The groups that were measured, with their names.
pub(super) fn groups(measured: &RunMeasurement) -> Vec<(&'static str, &GroupUse)> {
    let driver = if measured.server.is_none() {
        "driver, database"
    } else {
        "driver"
    };
    let groups = [
        ("server", measured.server.as_ref()),
        ("others", measured.others.as_ref()),
        (driver, Some(&measured.driver)),
    ];
    let known = groups.into_iter();
    known
        .filter_map(|(name, group)| Some((name, group?)))
        .collect()
}
