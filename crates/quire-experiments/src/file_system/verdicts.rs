//! What the paper concludes (§4), judged by the measurements.

use quire_lab::{Figure, Verdict, VerdictCase};

use super::codecs::{COMPARED, OF_PAPER};
use super::comparison::{RunComparison, ScenarioRuns};
use super::ranking::{paper_comparisons, ranking};
use crate::tpcd::BenchmarkFailure;

/// Index of LZJB among [`COMPARED`].
const LZJB: usize = 1;

/// Gives figures their verdicts.
///
/// # Errors
/// When codecs cannot be ranked.
pub(crate) fn judge(
    figures: &mut [Figure],
    results: &[ScenarioRuns],
) -> Result<(), BenchmarkFailure> {
    let across = [
        ("paper-5-figure-6", never_slower(results)),
        ("paper-5-figure-6", falls_with_writes(results)),
        ("paper-5-figure-7", never_a_longer_response(results)),
        ("paper-5-figure-7", order_of_ratios(results)),
        ("paper-5-figure-7", order_of_overheads(results)),
    ];
    for (stem, verdict) in across {
        add(figures, stem, verdict);
    }
    let stems = ["paper-5-figure-3", "paper-5-figure-4", "paper-5-figure-5"];
    for runs in results {
        let verdict = same_best(runs)?;
        add(figures, stems[runs.scenario.index()], verdict);
    }
    Ok(())
}

fn add(figures: &mut [Figure], stem: &str, verdict: Verdict) {
    let mut figures = figures.iter_mut();
    if let Some(figure) = figures.find(|figure| figure.stem == stem) {
        figure.verdicts.push(verdict);
    }
}

fn cases(
    results: &[ScenarioRuns],
    judge: impl Fn(&ScenarioRuns, &[RunComparison]) -> (bool, f64),
) -> Vec<VerdictCase> {
    let cases = results.iter().map(|runs| {
        let (holds, value) = judge(runs, &runs.comparisons());
        VerdictCase::new(runs.scenario.name(), holds, value)
    });
    cases.collect()
}

fn never_slower(results: &[ScenarioRuns]) -> Verdict {
    let cases = cases(results, |_, compared| {
        let improvement = compared[LZJB].improvement_percent;
        (improvement >= 0.0, improvement)
    });
    Verdict::of_all(
        "LZJB never gives fewer transactions than no compression",
        &cases,
    )
}

fn never_a_longer_response(results: &[ScenarioRuns]) -> Verdict {
    let cases = cases(results, |_, compared| {
        let faster = compared[LZJB].response_percent;
        (faster >= 0.0, faster)
    });
    Verdict::of_all("LZJB never makes the slowest response slower", &cases)
}

/// By the paper's shares of reads: Calling Circle, Order Entry, Stress Test.
fn falls_with_writes(results: &[ScenarioRuns]) -> Verdict {
    const CLAIM: &str = "the more writes, the less compression improves the rate of transactions, but for ZLE between 60/40 and 50/50";
    let mut ordered: Vec<&ScenarioRuns> = results.iter().collect();
    ordered.sort_by_key(|runs| std::cmp::Reverse(runs.scenario.paper_shares()));
    let mut cases = Vec::new();
    for (index, codec) in COMPARED[..OF_PAPER].iter().enumerate() {
        for pair in ordered.windows(2) {
            let improvement = |runs: &ScenarioRuns| runs.comparisons()[index].improvement_percent;
            let (fewer, more) = (improvement(pair[0]), improvement(pair[1]));
            let shares = pair[1].scenario.paper_shares();
            // The paper's exception.
            if index == 0 && shares == "50/50" {
                continue;
            }
            let name = format!("{} at {shares}", codec.name);
            cases.push(VerdictCase::new(name, more <= fewer, more - fewer));
        }
    }
    Verdict::of_all(CLAIM, &cases)
}

fn order_of_ratios(results: &[ScenarioRuns]) -> Verdict {
    let cases = cases(results, |runs, _| {
        let ratio = |index: usize| runs.compared[index].1.ratio;
        let is_so = ratio(0) < ratio(1) && ratio(1) < ratio(2);
        (is_so, ratio(2) / ratio(1))
    });
    Verdict::of_all("LZ4 saves more than LZJB, and LZJB more than ZLE", &cases)
}

fn order_of_overheads(results: &[ScenarioRuns]) -> Verdict {
    let cases = cases(results, |_, compared| {
        let overhead = |index: usize| compared[index].overhead_percent;
        let is_so = overhead(0) <= overhead(1) && overhead(1) <= overhead(2);
        (is_so, overhead(2))
    });
    Verdict::of_all(
        "what saves more takes more processor time: LZ4 most, ZLE least",
        &cases,
    )
}

fn same_best(runs: &ScenarioRuns) -> Result<Verdict, BenchmarkFailure> {
    let names = COMPARED[..OF_PAPER].iter().map(|codec| codec.name);
    let names: Vec<&str> = names.collect();
    let best = |comparisons: &[RunComparison]| {
        let ranking = ranking(&names, comparisons)?;
        let best = ranking.best_first().next();
        Ok::<_, BenchmarkFailure>(best.map(|ranked| ranked.name.clone()).unwrap_or_default())
    };
    let here = best(&runs.comparisons()[..OF_PAPER])?;
    let there = best(&paper_comparisons(runs.scenario))?;
    Ok(Verdict::of_one(
        format!("{there} is best by benefit / cost"),
        here == there,
        format!("{here} is best here"),
    ))
}
