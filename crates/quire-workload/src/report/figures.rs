//! Several results as figures.

use super::compared::distinct_names;
use super::text::groups;
use crate::driver::{KindResult, WorkloadResult};
use quire_lab::{Axis, Chart, Figure, Paper, Positions, Series, SeriesOrigin};

/// A line has at most so many points: more of them hide each other.
const POINTS_MAX: usize = 150;
const LATENCY: Axis = Axis::logarithmic("latency", "µs");

/// A percentile, and how a figure of it is called.
struct LatencyPercentile {
    stem: &'static str,
    name: &'static str,
    of: fn(&KindResult) -> u64,
}

const PERCENTILES: [LatencyPercentile; 5] = [
    LatencyPercentile {
        stem: "latency-p50",
        name: "p50",
        of: |kind| kind.latency_us_p50,
    },
    LatencyPercentile {
        stem: "latency-p95",
        name: "p95",
        of: |kind| kind.latency_us_p95,
    },
    LatencyPercentile {
        stem: "latency-p99",
        name: "p99",
        of: |kind| kind.latency_us_p99,
    },
    LatencyPercentile {
        stem: "latency-p999",
        name: "p99.9",
        of: |kind| kind.latency_us_p999,
    },
    LatencyPercentile {
        stem: "latency-max",
        name: "maximum",
        of: |kind| kind.latency_us_max,
    },
];

/// Throughput, latencies, sizes and processor time of the results.
pub(super) fn figures(results: &[WorkloadResult]) -> Vec<Figure> {
    let mut figures = vec![throughput(results), latencies_of_all(results)];
    figures.extend(PERCENTILES.iter().map(|one| by_kind(results, one)));
    figures.extend([sizes(results), processor_time(results)]);
    figures
}

fn figure(stem: &'static str, title: &str, chart: Chart, axes: (Axis, Axis)) -> Figure {
    Figure {
        stem,
        title: title.to_owned(),
        paper: Paper::None,
        number: "",
        chart,
        x: axes.0,
        y: axes.1,
        positions: Positions::Labels(Vec::new()),
        series: Vec::new(),
        verdicts: Vec::new(),
        notes: Vec::new(),
    }
}

/// A series for each result.
fn series_of(
    results: &[WorkloadResult],
    values: impl Fn(&WorkloadResult) -> Vec<Option<f64>>,
) -> Vec<Series> {
    let names = distinct_names(results).into_iter();
    let series = names.zip(results).map(|(name, result)| Series {
        name,
        origin: SeriesOrigin::Measured,
        values: values(result),
    });
    series.collect()
}

fn throughput(results: &[WorkloadResult]) -> Figure {
    let seconds = results.iter().map(|one| one.whole_seconds().len());
    let seconds = seconds.max().unwrap_or(0);
    let step = seconds.div_ceil(POINTS_MAX).max(1);
    let ends = (step..=seconds).step_by(step);
    let axes = (
        Axis::linear("time", "s"),
        Axis::linear("throughput", "transactions/s"),
    );
    let mut figure = figure("throughput", "Throughput over time", Chart::Lines, axes);
    figure.positions = Positions::Numbers(ends.clone().map(|end| end as f64).collect());
    figure.series = series_of(results, |result| {
        let mean = |end: usize| {
            let seconds = result.whole_seconds().get(end - step..end)?;
            Some(seconds.iter().sum::<u64>() as f64 / step as f64)
        };
        ends.clone().map(mean).collect()
    });
    if step > 1 {
        figure.notes = vec![format!("each point is the mean of the {step} s before it")];
    }
    figure
}

fn latencies_of_all(results: &[WorkloadResult]) -> Figure {
    let axes = (Axis::linear("percentile", ""), LATENCY);
    let title = "Latency of all transactions";
    let mut figure = figure("latency", title, Chart::Bars, axes);
    figure.positions = Positions::labels(PERCENTILES.iter().map(|one| one.name));
    figure.series = series_of(results, |result| {
        let values = PERCENTILES.iter().map(|one| latency(&result.total, one));
        values.collect()
    });
    figure.notes = latency_notes(results);
    figure
}

fn by_kind(results: &[WorkloadResult], percentile: &LatencyPercentile) -> Figure {
    let mut kinds: Vec<&str> = Vec::new();
    for kind in results.iter().flat_map(|result| &result.kinds) {
        if !kinds.contains(&kind.name.as_str()) {
            kinds.push(&kind.name);
        }
    }
    let axes = (Axis::linear("transaction", ""), LATENCY);
    let title = format!("Latency by transaction, {}", percentile.name);
    let mut figure = figure(percentile.stem, &title, Chart::Bars, axes);
    figure.series = series_of(results, |result| {
        let value = |name: &&str| {
            let kind = result.kinds.iter().find(|kind| kind.name == *name)?;
            latency(kind, percentile)
        };
        kinds.iter().map(value).collect()
    });
    figure.positions = Positions::labels(kinds);
    figure.notes = latency_notes(results);
    figure
}

/// None without transactions; a logarithmic axis has no 0, and less than a microsecond is not measured.
fn latency(kind: &KindResult, percentile: &LatencyPercentile) -> Option<f64> {
    (kind.finished > 0).then(|| (percentile.of)(kind).max(1) as f64)
}

fn latency_notes(results: &[WorkloadResult]) -> Vec<String> {
    let names = distinct_names(results).into_iter();
    let notes = names
        .zip(results)
        .map(|(name, result)| format!("{name}: {}", result.latency_meaning()));
    notes.collect()
}

fn targets(results: &[WorkloadResult]) -> Positions {
    Positions::Labels(distinct_names(results))
}

fn sizes(results: &[WorkloadResult]) -> Figure {
    let axes = (Axis::linear("target", ""), Axis::linear("size", "MiB"));
    let title = "Size of the target's files";
    let mut figure = figure("size", title, Chart::Bars, axes);
    figure.positions = targets(results);
    let series = |name, bytes: fn(&WorkloadResult) -> u64| {
        let sizes = results.iter().map(|one| bytes(one) as f64 / 1_048_576.0);
        Series::new(name, SeriesOrigin::Measured, sizes.collect())
    };
    figure.series = vec![
        series("before", |result| result.size_bytes_before),
        series("after", |result| result.size_bytes_after),
    ];
    figure
}

/// Parts of a bar: groups of processes, each as user and in the kernel.
fn processor_time(results: &[WorkloadResult]) -> Figure {
    let axes = (
        Axis::linear("target", ""),
        Axis::linear("processor time", "% of all processors"),
    );
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in results.iter().flat_map(|one| groups(&one.measurement)) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let chart = Chart::StackedBars {
        parts: 2 * names.len(),
    };
    let mut figure = figure("processor-time", "Processor time", chart, axes);
    figure.positions = targets(results);
    for name in names {
        for (part, is_user) in [("user", true), ("system", false)] {
            let percent = |result: &WorkloadResult| {
                let measured = &result.measurement;
                let groups = groups(measured);
                let (_, group) = groups.iter().find(|(own, _)| *own == name)?;
                let seconds = if is_user {
                    group.user_s
                } else {
                    group.system_s
                };
                Some(measured.percent(seconds))
            };
            figure.series.push(Series {
                name: format!("time: {name} {part}"),
                origin: SeriesOrigin::Measured,
                values: results.iter().map(percent).collect(),
            });
        }
    }
    figure
}
