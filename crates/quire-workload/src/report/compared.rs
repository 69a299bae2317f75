//! Several results, a line for each, beside a base.

use super::text::load;
use super::text_table::{LatencyUnit, TextTable, bytes, rounded, shortened, thousands, wrapped};
use crate::driver::WorkloadResult;

/// Why results are not compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    #[error("there is no result to compare; name at least one")]
    NoResults,
    #[error("no result is of {base}; the targets are {known}")]
    NoBase { base: String, known: String },
    #[error("results of {one} and of {other} cannot be compared; name results of one workload")]
    Workloads { one: String, other: String },
}

/// A line for each result, with throughput, latency and size as multiples of those of the target `base`; at most 100 columns wide. Below it is what
/// the results do not have in common, such as their scale.
///
/// # Errors
/// When the results are of several workloads, or none is of `base`.
pub fn comparison(results: &[WorkloadResult], base: &str) -> Result<String, CompareError> {
    let first = of_one_workload(results)?;
    let of_base = results.iter().find(|result| result.target == base);
    let base = of_base.ok_or_else(|| no_base(results, base))?;
    let (unit, table) = LatencyUnit::that_fits(|unit| table(results, base, unit));
    let mut text = wrapped(&format!(
        "{}, scale {}, seed {}; {}; latency in {unit}, {}; × is the multiple of {}",
        first.workload,
        first.scale,
        first.seed,
        load(&first.options),
        first.latency_meaning(),
        base.target
    ));
    text.push('\n');
    text += &table.text();
    let differences = differences(results);
    if !differences.is_empty() {
        text.push('\n');
    }
    for line in differences {
        text += &wrapped(&line);
    }
    Ok(text)
}

/// The first result, if all are of its workload.
pub(super) fn of_one_workload(results: &[WorkloadResult]) -> Result<&WorkloadResult, CompareError> {
    let first = results.first().ok_or(CompareError::NoResults)?;
    match results.iter().find(|one| one.workload != first.workload) {
        Some(other) => Err(CompareError::Workloads {
            one: first.workload.clone(),
            other: other.workload.clone(),
        }),
        None => Ok(first),
    }
}

fn no_base(results: &[WorkloadResult], base: &str) -> CompareError {
    let known: Vec<&str> = results.iter().map(|one| one.target.as_str()).collect();
    CompareError::NoBase {
        base: base.to_owned(),
        known: known.join(", "),
    }
}

fn table(results: &[WorkloadResult], base: &WorkloadResult, unit: LatencyUnit) -> TextTable {
    let mut table = TextTable::new(&[
        "target", "tps", "×", "p50", "p99", "×", "CPU %", "size", "×",
    ]);
    for (name, result) in distinct_names(results).iter().zip(results) {
        let (total, of_base) = (&result.total, &base.total);
        let measured = &result.measurement;
        let groups = super::text::groups(measured);
        let used = groups
            .iter()
            .map(|(_, group)| group.user_s + group.system_s);
        let cells = [
            rounded(total.tps),
            ratio(total.tps, of_base.tps),
            unit.shown(total.latency_us_p50 as f64),
            unit.shown(total.latency_us_p99 as f64),
            ratio(total.latency_us_p99 as f64, of_base.latency_us_p99 as f64),
            format!("{:.1}", measured.percent(used.sum())),
            bytes(result.size_bytes_after),
            ratio(result.size_bytes_after as f64, base.size_bytes_after as f64),
        ];
        table.row(name, cells);
    }
    table
}

fn ratio(value: f64, base: f64) -> String {
    if base <= 0.0 {
        return "-".to_owned();
    }
    match value / base {
        ratio if ratio < 9.995 => format!("{ratio:.2}"),
        ratio => rounded(ratio),
    }
}

/// The name of each result's target; the second of one name has a number behind it, and so on.
pub(super) fn distinct_names(results: &[WorkloadResult]) -> Vec<String> {
    let name = |(at, result): (usize, &WorkloadResult)| {
        let before = results.iter().take(at);
        let same = before.filter(|one| one.target == result.target).count();
        match same {
            0 => result.target.clone(),
            // The number is kept where long names are shortened.
            _ => format!("{} ({})", shortened(&result.target, 18), same + 1),
        }
    };
    results.iter().enumerate().map(name).collect()
}

/// What the results do not have in common with the first, a line for each.
pub(super) fn differences(results: &[WorkloadResult]) -> Vec<String> {
    let conditions = |result: &WorkloadResult| {
        [
            format!("scale {}", result.scale),
            format!("seed {}", result.seed),
            load(&result.options),
            format!("{:.0} s measured", result.elapsed.as_secs_f64()),
            if result.is_cancelled {
                "cancelled"
            } else {
                "run to its end"
            }
            .to_owned(),
        ]
    };
    let Some(first) = results.first().map(conditions) else {
        return Vec::new();
    };
    let names = distinct_names(results);
    let mut lines = Vec::new();
    for (name, result) in names.iter().zip(results) {
        let own = conditions(result);
        let other = own.iter().zip(&first).filter(|(own, first)| own != first);
        let other: Vec<&str> = other.map(|(own, _)| own.as_str()).collect();
        if !other.is_empty() {
            lines.push(format!("{name} differs: {}", other.join("; ")));
        }
        if result.measurement.server.is_none() {
            lines.push(format!(
                "{name} runs in the driver's process: CPU is that of both"
            ));
        }
        if result.unstarted > 0 {
            let unstarted = thousands(result.unstarted);
            lines.push(format!(
                "{name} had no free user for {unstarted} transactions that were meant to begin"
            ));
        }
    }
    lines
}
