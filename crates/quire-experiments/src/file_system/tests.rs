//! The paper's own numbers through the arithmetic, and a run on a tiny scale.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use quire_lab::VerdictOutcome;

use super::comparison::{DataSetRun, RunComparison};
use super::paper::printed;
use super::ranking::{paper_comparisons, ranking};
use super::{FileSystemSetup, TransactionScenario, disk_profile, figures};

fn printed_run(scenario: TransactionScenario, index: usize) -> DataSetRun {
    let paper = printed(scenario);
    DataSetRun {
        tps: paper.tps[index],
        ratio: paper.ratio[index],
        response_ms_max: paper.response_max[index],
        system_percent: paper.system_percent[index],
        user_percent: paper.user_percent[index],
    }
}

/// What the paper prints beside its measured values follows from them, within the rounding of what they are computed of.
#[test]
fn printed_percentages_follow_from_printed_values() {
    for scenario in TransactionScenario::ALL {
        let base = printed_run(scenario, 0);
        for (index, paper) in paper_comparisons(scenario).into_iter().enumerate() {
            let ours = RunComparison::of(&base, &printed_run(scenario, index + 1));
            let pairs = [
                (ours.improvement_percent, paper.improvement_percent, 0.02),
                // Ratios have two digits behind the point.
                (ours.saving_percent, paper.saving_percent, 0.25),
                (ours.response_percent, paper.response_percent, 0.02),
                (ours.overhead_percent, paper.overhead_percent, 0.02),
            ];
            for (ours, paper, tolerance) in pairs {
                let codec = index + 1;
                assert!(
                    (ours - paper).abs() <= tolerance,
                    "{scenario:?}, codec {codec}: {ours} and {paper}"
                );
            }
        }
    }
}

/// The order of the codecs as the paper concludes it (figures 3 to 5).
#[test]
fn printed_values_give_the_printed_order() {
    let names = ["ZLE", "LZJB", "LZ4"];
    for (scenario, expected) in [
        (TransactionScenario::OrderEntry, ["LZJB", "ZLE", "LZ4"]),
        (TransactionScenario::CallingCircle, ["ZLE", "LZ4", "LZJB"]),
        (TransactionScenario::StressTest, ["LZ4", "LZJB", "ZLE"]),
    ] {
        let ranking = ranking(&names, &paper_comparisons(scenario)).unwrap();
        let order: Vec<&str> = ranking.best_first().map(|one| one.name.as_str()).collect();
        assert_eq!(order, expected, "{scenario:?}");
    }
}

#[test]
fn disks_are_named() {
    assert!(disk_profile("none").unwrap().is_none());
    assert_eq!(disk_profile("sata-ssd").unwrap().unwrap().0, "sata-ssd");
    assert!(
        disk_profile("floppy")
            .unwrap_err()
            .to_string()
            .contains("floppy")
    );
}

/// All data sets of all scenarios, for a moment each: the figures are whole, and every verdict has been judged.
#[test]
fn every_table_and_figure_is_measured() {
    let folder = std::env::temp_dir().join(format!("quire-file-system-{}", std::process::id()));
    let setup = FileSystemSetup {
        scenarios: TransactionScenario::ALL.to_vec(),
        scale: 0.0005,
        users: 3,
        measured: Duration::from_millis(300),
        profile: None,
        cache_bytes: 16 << 20,
        seed: 5,
        folder: folder.clone(),
        keeps_files: false,
    };
    let figures = figures(&setup, &mut |_| {}).unwrap();
    assert!(!folder.join("order-entry").exists(), "files are removed");
    let _ = std::fs::remove_dir_all(&folder);
    for table in 5..=16 {
        let stem = format!("paper-5-table-{table}");
        assert!(figures.iter().any(|one| one.stem == stem), "{stem}");
    }
    for figure in &figures {
        for series in &figure.series {
            assert_eq!(
                series.values.len(),
                figure.positions.count(),
                "{}",
                figure.stem
            );
        }
    }
    let ratios = figures
        .iter()
        .find(|one| one.stem == "paper-5-table-6")
        .unwrap();
    let ratios: Vec<f64> = ratios.series[0]
        .values
        .iter()
        .map(|one| one.unwrap())
        .collect();
    // none, ZLE, LZJB, LZ4, gzip-6, zstd-3
    assert!(ratios[0] <= 1.05 && ratios[1] >= 1.0, "{ratios:?}");
    assert!(ratios[3] > ratios[1] && ratios[4] > ratios[3], "{ratios:?}");
    let verdicts = figures.iter().flat_map(|one| &one.verdicts);
    let verdicts: Vec<_> = verdicts.collect();
    assert_eq!(verdicts.len(), 8);
    let is_judged = |outcome| outcome != VerdictOutcome::NotMeasured;
    assert!(verdicts.iter().all(|one| is_judged(one.outcome)));
}
