//! Tables 5 to 16 and figures 3 to 7.

use quire_lab::{Axis, Chart, Figure, Lab, MeasureEffort, Paper, Positions, Series, SeriesOrigin};

use super::FileSystemSetup;
use super::codecs::{COMPARED, OF_PAPER};
use super::comparison::{DataSetRun, RunComparison, ScenarioRuns};
use super::paper::{PaperScenario, printed};
use super::ranking::{paper_comparisons, ranking};
use super::scenarios::TransactionScenario;
use super::verdicts;
use crate::tpcd::BenchmarkFailure;

/// A column of the paper's tables.
struct PrintedColumn {
    /// Behind `paper-5-SCENARIO-` in the stem.
    stems: [&'static str; 3],
    numbers: [&'static str; 3],
    y: Axis,
    /// Of each run, with the one without compression first.
    value: fn(&DataSetRun, &RunComparison) -> f64,
    printed: fn(&PaperScenario) -> [f64; 4],
}

const TPS: [&str; 3] = ["table 5", "table 9", "table 13"];
const RATIO: [&str; 3] = ["table 6", "table 10", "table 14"];
const RESPONSE: [&str; 3] = ["table 7", "table 11", "table 15"];
const PROCESSOR: [&str; 3] = ["table 8", "table 12", "table 16"];

/// Values of the compared codecs behind that of the base, of which nothing is said.
fn behind_base(values: [f64; 3]) -> [f64; 4] {
    [0.0, values[0], values[1], values[2]]
}

/// What is measured, and what follows from it, table by table.
fn columns() -> [PrintedColumn; 8] {
    [
        PrintedColumn {
            stems: ["paper-5-table-5", "paper-5-table-9", "paper-5-table-13"],
            numbers: TPS,
            y: Axis::linear("transactions", "1/s"),
            value: |run, _| run.tps,
            printed: |paper| paper.tps,
        },
        IMPROVEMENT,
        PrintedColumn {
            stems: ["paper-5-table-6", "paper-5-table-10", "paper-5-table-14"],
            numbers: RATIO,
            y: Axis::linear("compression ratio", ""),
            value: |run, _| run.ratio,
            printed: |paper| paper.ratio,
        },
        SAVING,
        PrintedColumn {
            stems: ["paper-5-table-7", "paper-5-table-11", "paper-5-table-15"],
            numbers: RESPONSE,
            y: Axis::linear("slowest response", "ms"),
            value: |run, _| run.response_ms_max,
            printed: |paper| paper.response_max,
        },
        RESPONSE_IMPROVEMENT,
        PrintedColumn {
            stems: ["paper-5-table-8", "paper-5-table-12", "paper-5-table-16"],
            numbers: PROCESSOR,
            y: Axis::linear("processor, system and user", "% of all cores"),
            value: |run, _| run.system_percent + run.user_percent,
            printed: |paper| {
                let both = |index| paper.system_percent[index] + paper.user_percent[index];
                [both(0), both(1), both(2), both(3)]
            },
        },
        OVERHEAD,
    ]
}

const IMPROVEMENT: PrintedColumn = PrintedColumn {
    stems: [
        "paper-5-table-5-improvement",
        "paper-5-table-9-improvement",
        "paper-5-table-13-improvement",
    ],
    numbers: TPS,
    y: Axis::linear("more transactions", "%"),
    value: |_, comparison| comparison.improvement_percent,
    printed: |paper| behind_base(paper.improvement_percent),
};

const SAVING: PrintedColumn = PrintedColumn {
    stems: [
        "paper-5-table-6-saving",
        "paper-5-table-10-saving",
        "paper-5-table-14-saving",
    ],
    numbers: RATIO,
    y: Axis::linear("space saved", "%"),
    value: |_, comparison| comparison.saving_percent,
    printed: |paper| behind_base(paper.saving_percent),
};

const RESPONSE_IMPROVEMENT: PrintedColumn = PrintedColumn {
    stems: [
        "paper-5-table-7-improvement",
        "paper-5-table-11-improvement",
        "paper-5-table-15-improvement",
    ],
    numbers: RESPONSE,
    y: Axis::linear("faster slowest response", "%"),
    value: |_, comparison| comparison.response_percent,
    printed: |paper| behind_base(paper.response_percent),
};

const OVERHEAD: PrintedColumn = PrintedColumn {
    stems: [
        "paper-5-table-8-overhead",
        "paper-5-table-12-overhead",
        "paper-5-table-16-overhead",
    ],
    numbers: PROCESSOR,
    y: Axis::linear("more processor time", "%"),
    value: |_, comparison| comparison.overhead_percent,
    printed: |paper| behind_base(paper.overhead_percent),
};

/// All figures of the scenarios that were measured, with verdicts.
///
/// # Errors
/// When codecs cannot be ranked.
pub(crate) fn figures(
    setup: &FileSystemSetup,
    results: &[ScenarioRuns],
) -> Result<Vec<Figure>, BenchmarkFailure> {
    let columns = columns();
    let mut figures = Vec::new();
    for runs in results {
        figures.extend(columns.iter().map(|column| of_column(runs, column)));
        figures.push(of_ranking(runs)?);
    }
    figures.push(across(
        "paper-5-figure-6",
        "figure 6",
        Axis::linear("more transactions", "%"),
        results,
        |comparison| comparison.improvement_percent,
        |paper| paper.improvement_percent,
    ));
    figures.push(across(
        "paper-5-figure-7",
        "figure 7",
        Axis::linear("faster slowest response", "%"),
        results,
        |comparison| comparison.response_percent,
        |paper| paper.response_percent,
    ));
    verdicts::judge(&mut figures, results)?;
    let notes = notes(setup);
    for figure in &mut figures {
        figure.notes.extend(notes.iter().cloned());
    }
    Ok(figures)
}

fn of_column(runs: &ScenarioRuns, column: &PrintedColumn) -> Figure {
    let nothing = RunComparison::of(&runs.base, &runs.base);
    let base = std::iter::once((column.value)(&runs.base, &nothing));
    let compared = runs.compared.iter().zip(runs.comparisons());
    let compared = compared.map(|((_, run), comparison)| (column.value)(run, &comparison));
    let values: Vec<f64> = base.chain(compared).collect();
    let paper = (column.printed)(&printed(runs.scenario));
    let index = runs.scenario.index();
    Figure {
        stem: column.stems[index],
        title: runs.scenario.name().to_owned(),
        paper: Paper::FileSystemCompression,
        number: column.numbers[index],
        chart: Chart::Bars,
        x: Axis::linear("data set", ""),
        y: column.y,
        positions: Positions::labels(
            std::iter::once("none").chain(COMPARED.map(|codec| codec.name)),
        ),
        series: vec![
            Series::new("here", SeriesOrigin::Measured, values),
            Series::paper("Oracle on ZFS", padded(paper, COMPARED.len() + 1)),
        ],
        verdicts: Vec::new(),
        notes: Vec::new(),
    }
}

/// The paper's values, and nothing for codecs that it does not have.
fn padded(values: impl IntoIterator<Item = f64>, count: usize) -> Vec<Option<f64>> {
    let mut values: Vec<Option<f64>> = values.into_iter().map(Some).collect();
    values.resize(count, None);
    values
}

/// Figures 3, 4 and 5, of the codecs that the paper has, with benefit and cost beside their quotient.
fn of_ranking(runs: &ScenarioRuns) -> Result<Figure, BenchmarkFailure> {
    let names = COMPARED[..OF_PAPER].iter().map(|codec| codec.name);
    let names: Vec<&str> = names.collect();
    let comparisons = runs.comparisons();
    let here = ranking(&names, &comparisons[..OF_PAPER])?;
    let there = ranking(&names, &paper_comparisons(runs.scenario))?;
    let values = |value: fn(&quire_decision::RankedAlternative) -> f64| {
        let ranked = here.alternatives.iter();
        ranked.map(value).collect::<Vec<f64>>()
    };
    let paper = there.alternatives.iter();
    let paper = paper.map(|ranked| Some(ranked.score())).collect();
    let (stem, number) = match runs.scenario {
        TransactionScenario::OrderEntry => ("paper-5-figure-3", "figure 3"),
        TransactionScenario::CallingCircle => ("paper-5-figure-4", "figure 4"),
        TransactionScenario::StressTest => ("paper-5-figure-5", "figure 5"),
    };
    Ok(Figure {
        stem,
        title: format!("{}: benefit, cost and benefit / cost", runs.scenario.name()),
        paper: Paper::FileSystemCompression,
        number,
        chart: Chart::Bars,
        x: Axis::linear("data set", ""),
        y: Axis::linear("priority", ""),
        positions: Positions::labels(names.iter().copied()),
        series: vec![
            Series::new(
                "benefit / cost",
                SeriesOrigin::Measured,
                values(|ranked| ranked.score()),
            ),
            Series::new(
                "benefit",
                SeriesOrigin::Measured,
                values(|ranked| ranked.benefit),
            ),
            Series::new(
                "cost",
                SeriesOrigin::Measured,
                values(|ranked| ranked.cost.unwrap_or(0.0)),
            ),
            Series::paper("benefit / cost", paper),
        ],
        verdicts: Vec::new(),
        notes: Vec::new(),
    })
}

/// A value of all scenarios, by the share of reads that the paper says.
fn across(
    stem: &'static str,
    number: &'static str,
    y: Axis,
    results: &[ScenarioRuns],
    value: fn(&RunComparison) -> f64,
    of_paper: fn(&PaperScenario) -> [f64; 3],
) -> Figure {
    let mut ordered: Vec<&ScenarioRuns> = results.iter().collect();
    ordered.sort_by_key(|runs| std::cmp::Reverse(runs.scenario.paper_shares()));
    let mut series = Vec::new();
    for (index, codec) in COMPARED.iter().enumerate() {
        let values = ordered.iter().map(|runs| value(&runs.comparisons()[index]));
        series.push(Series::new(
            codec.name,
            SeriesOrigin::Measured,
            values.collect(),
        ));
    }
    for (index, codec) in COMPARED[..OF_PAPER].iter().enumerate() {
        let values = ordered.iter();
        let values = values.map(|runs| Some(of_paper(&printed(runs.scenario))[index]));
        series.push(Series::paper(codec.name, values.collect()));
    }
    Figure {
        stem,
        title: "Workloads by reads and writes of 100 accesses".to_owned(),
        paper: Paper::FileSystemCompression,
        number,
        chart: Chart::Bars,
        x: Axis::linear("reads and writes", ""),
        y,
        positions: Positions::labels(ordered.iter().map(|runs| runs.scenario.paper_shares())),
        series,
        verdicts: Vec::new(),
        notes: Vec::new(),
    }
}

fn notes(setup: &FileSystemSetup) -> Vec<String> {
    let disk = match setup.profile {
        Some((name, _)) => format!("the data sets lie on a disk that is as slow as {name}"),
        None => "the data sets lie on the disk of the folder, behind the system's cache".to_owned(),
    };
    vec![
        Lab::new(MeasureEffort::Quick).machine().to_owned(),
        format!(
            "{} users without think time, {:.0} s on each data set, scale {}, a pool of {:.0} MiB; {disk}. The paper has 500 users, a disk of 450 GB, four cores, Oracle, and 5 or 10 minutes",
            setup.users,
            setup.measured.as_secs_f64(),
            setup.scale,
            setup.cache_bytes as f64 / f64::from(1 << 20),
        ),
        "Quire without compression of its own (page_codec = none, compression = none) on data sets with records of 128 KiB, inside one process with the users: processor time is that of \
         users, database and compression together. Ratios are read before the run, of all that the database stores; those of the paper's Stress Test are of the tables of Order Entry, which that workload does not touch"
            .to_owned(),
    ]
}
