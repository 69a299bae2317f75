use super::*;
use crate::column_tables::{CodecPair, TimeInMemory, TimeOnDevice};
use crate::tpch::paper::PaperTpchRow;
use crate::tpch::times::{TpchColdRun, TpchTimes, TpchVariant};
use quire_lab::{Chart, Verdict, VerdictOutcome};

const LAYOUTS: [ColumnLayout; 2] = [ColumnLayout::Dsm, ColumnLayout::Pax];

fn run(machine: TpchMachine, variant: TpchVariant, seconds: f64, disk_bytes: f64) -> TpchColdRun {
    let bandwidth = machine.profile().read_bytes_per_second as f64;
    TpchColdRun {
        machine,
        variant,
        slowness: 1.0,
        time: TimeOnDevice {
            seconds,
            device_seconds: disk_bytes / bandwidth,
            disk_bytes,
            ..TimeOnDevice::default()
        },
    }
}

/// DSM: 400 MB are read in four bytes for each compressed one; PAX: 800 MB in two. With all in memory the query takes `compressed` or `plain` seconds, half a second and a
/// fifth of it for decoding.
fn query(in_memory: [f64; 2], cold: &[(TpchMachine, TpchVariant, f64)]) -> TpchTimes {
    let [compressed, plain] = in_memory;
    let time = |seconds, decode_seconds| TimeInMemory {
        seconds,
        decode_seconds,
        decoded_bytes: 1.5e9,
    };
    let times = CodecPair {
        compressed: time(compressed, 0.5),
        plain: time(plain, 0.2),
    };
    let cold = cold.iter().map(|&(machine, variant, seconds)| {
        let disk_bytes = match variant {
            TpchVariant::DsmPlain | TpchVariant::PaxToCache => 400e6,
            TpchVariant::PaxPlain => 800e6,
            TpchVariant::DsmToCache | TpchVariant::DsmToMemory => 100e6,
        };
        run(machine, variant, seconds, disk_bytes)
    });
    TpchTimes {
        number: 6,
        in_memory: LAYOUTS.map(|layout| (layout, times)).to_vec(),
        cold: cold.collect(),
    }
}

/// A row of the paper as if it had been measured: its times, and as many bytes as its ratios say.
fn as_printed(row: &PaperTpchRow) -> TpchTimes {
    let bytes = |variant| match variant {
        TpchVariant::DsmPlain => 1e9,
        TpchVariant::DsmToCache | TpchVariant::DsmToMemory => 1e9 / row.ratios[0],
        TpchVariant::PaxPlain => 4e9,
        TpchVariant::PaxToCache => 4e9 / row.ratios[1],
    };
    let pentium4 = TpchVariant::ALL.into_iter().zip(row.pentium4);
    let mut cold: Vec<TpchColdRun> = pentium4
        .map(|(variant, seconds)| run(TpchMachine::Pentium4, variant, seconds, bytes(variant)))
        .collect();
    let [dsm_plain, dsm_to_cache, pax_plain, pax_to_cache] = row.opteron;
    let opteron = [
        (TpchVariant::DsmPlain, dsm_plain),
        (TpchVariant::DsmToCache, dsm_to_cache),
        (TpchVariant::PaxPlain, pax_plain),
        (TpchVariant::PaxToCache, pax_to_cache),
    ];
    for (variant, seconds) in opteron {
        // Its speed of decompression by the Pentium4's is that of the two processors.
        cold.push(TpchColdRun {
            slowness: row.decompression[0] / row.decompression[1],
            ..run(TpchMachine::Opteron, variant, seconds, bytes(variant))
        });
    }
    let decoding = TimeInMemory {
        seconds: 2.0,
        decode_seconds: 1.0,
        decoded_bytes: row.decompression[0] * 1e6,
    };
    let times = CodecPair {
        compressed: decoding,
        plain: decoding,
    };
    TpchTimes {
        number: row.number,
        in_memory: vec![(ColumnLayout::Dsm, times)],
        cold,
    }
}

fn outcome(judge: fn(&[TpchTimes]) -> Verdict, query: &TpchTimes) -> VerdictOutcome {
    judge(std::slice::from_ref(query)).outcome
}

/// Two queries: with one only, "all but one" says nothing.
fn outcome_of_two(judge: fn(&[TpchTimes]) -> Verdict, query: &TpchTimes) -> VerdictOutcome {
    judge(&[query.clone(), query.clone()]).outcome
}

const HOLDS: VerdictOutcome = VerdictOutcome::Holds;
const FAILS: VerdictOutcome = VerdictOutcome::Fails;
const NOT_MEASURED: VerdictOutcome = VerdictOutcome::NotMeasured;

#[test]
fn verdicts_on_the_numbers_of_the_paper_are_those_of_its_text() {
    let queries = paper::ROWS.map(|row| as_printed(&row));
    let expected = [
        (
            verdicts::slow_disk(&queries),
            "10 of 11; not for Q15 (0.74)",
        ),
        (verdicts::fast_disk(&queries), "11 of 11"),
        (
            verdicts::pax_ratio(&queries),
            "10 of 11; not for Q15 (0.58)",
        ),
        (
            verdicts::pax_beside_dsm(&queries),
            "8 of 11; not for Q4 (0.69), Q6 (0.97), Q18 (0.97)",
        ),
        (verdicts::memory_to_memory(&queries), "11 of 11"),
        (
            verdicts::decompression(&queries),
            "10 of 11; not for Q7 (1.46)",
        ),
        (
            verdicts::decompression_on(&queries, TpchMachine::Pentium4),
            "10 of 11; not for Q7 (1.46)",
        ),
        (
            verdicts::decompression_on(&queries, TpchMachine::Opteron),
            "10 of 11; not for Q7 (1.25)",
        ),
    ];
    for (verdict, end) in expected {
        assert_eq!(verdict.outcome, HOLDS, "{}", verdict.text());
        assert_eq!(verdict.finding, end, "{}", verdict.claim);
    }
}

#[test]
fn speed_ups_are_judged_by_the_ratio() {
    let on = |machine, [plain, compressed]: [f64; 2]| {
        let cold = [
            (machine, TpchVariant::DsmPlain, plain),
            (machine, TpchVariant::DsmToCache, compressed),
        ];
        query([1.0, 1.0], &cold)
    };
    let opteron = |times| on(TpchMachine::Opteron, times);
    let slow_disk = verdicts::slow_disk;
    assert_eq!(outcome_of_two(slow_disk, &opteron([5.0, 1.3])), HOLDS);
    assert_eq!(outcome_of_two(slow_disk, &opteron([5.0, 2.0])), FAILS);
    let pentium4 = |times| on(TpchMachine::Pentium4, times);
    assert_eq!(outcome(verdicts::fast_disk, &pentium4([1.2, 1.0])), HOLDS);
    assert_eq!(outcome(verdicts::fast_disk, &pentium4([5.0, 1.0])), FAILS);
}

#[test]
fn pax_and_memory_to_memory_are_judged_when_they_are_measured() {
    let with = |pax: [f64; 2], to_memory: f64| {
        let on = |variant, seconds| (TpchMachine::Pentium4, variant, seconds);
        let cold = [
            on(TpchVariant::DsmPlain, 1.5),
            on(TpchVariant::DsmToCache, 1.0),
            on(TpchVariant::DsmToMemory, to_memory),
            on(TpchVariant::PaxPlain, pax[0]),
            on(TpchVariant::PaxToCache, pax[1]),
        ];
        query([1.0, 1.0], &cold)
    };
    let as_in_paper = with([4.0, 2.0], 1.3);
    let otherwise = with([4.0, 3.0], 0.9);
    assert_eq!(outcome_of_two(verdicts::pax_ratio, &as_in_paper), HOLDS);
    assert_eq!(outcome_of_two(verdicts::pax_ratio, &otherwise), FAILS);
    let two = [as_in_paper.clone(), as_in_paper.clone()];
    assert_eq!(verdicts::pax_beside_dsm(&two).outcome, HOLDS);
    let two = [otherwise.clone(), otherwise.clone()];
    assert_eq!(verdicts::pax_beside_dsm(&two).outcome, FAILS);
    assert_eq!(outcome(verdicts::memory_to_memory, &as_in_paper), HOLDS);
    assert_eq!(outcome(verdicts::memory_to_memory, &otherwise), FAILS);
    let in_memory_only = query([1.0, 1.0], &[]);
    for judge in [
        verdicts::pax_ratio,
        verdicts::pax_beside_dsm,
        verdicts::memory_to_memory,
        verdicts::equation,
    ] {
        assert_eq!(outcome(judge, &in_memory_only), NOT_MEASURED);
    }
}

#[test]
fn decompression_and_processing_are_judged_in_memory() {
    let fast = query([1.0, 1.0], &[]);
    assert_eq!(outcome_of_two(verdicts::decompression, &fast), HOLDS);
    let mut slow = fast.clone();
    slow.in_memory[0].1.compressed.decoded_bytes = 0.5e9;
    assert_eq!(outcome_of_two(verdicts::decompression, &slow), FAILS);
    // 0.5 s alone against 0.8 s; 1.5 s against 0.8 s.
    assert_eq!(outcome(verdicts::processing, &fast), HOLDS);
    let slow = query([2.0, 1.0], &[]);
    assert_eq!(outcome(verdicts::processing, &slow), FAILS);
    // Copying took all of its 0.2 s: there is nothing to compare.
    let all_copying = query([1.0, 0.2], &[]);
    let verdict = verdicts::processing(&[all_copying]);
    assert_eq!(verdict.outcome, VerdictOutcome::NotMeasured);
}

#[test]
fn decompression_is_as_many_times_slower_as_the_processor() {
    let mut query = query(
        [1.0, 1.0],
        &[(TpchMachine::Opteron, TpchVariant::DsmPlain, 1.0)],
    );
    query.cold[0].slowness = 4.0;
    let bandwidth = |machine| query.decompression_bandwidth(machine, ColumnLayout::Dsm);
    assert_eq!(bandwidth(TpchMachine::Opteron), Some(0.75e9));
    // Nothing was measured on it.
    assert_eq!(bandwidth(TpchMachine::Pentium4), None);
    assert_eq!(
        query.in_memory[0].1.compressed.decompression_bandwidth(),
        3e9
    );
}

#[test]
fn equation_is_judged_on_each_machine() {
    // 400 MB: 1.14 and 5 s; 100 MB: 0.29 and 1.25 s. The processor needs 1 and 1.3 s.
    let cold = |opteron_compressed| {
        [
            (TpchMachine::Pentium4, TpchVariant::DsmPlain, 1.2),
            (TpchMachine::Pentium4, TpchVariant::DsmToCache, 1.3),
            (TpchMachine::Opteron, TpchVariant::DsmPlain, 5.1),
            (
                TpchMachine::Opteron,
                TpchVariant::DsmToCache,
                opteron_compressed,
            ),
        ]
    };
    let as_calculated = query([1.3, 1.0], &cold(1.4));
    assert_eq!(outcome(verdicts::equation, &as_calculated), HOLDS);
    let slower = query([1.3, 1.0], &cold(2.0));
    assert_eq!(outcome(verdicts::equation, &slower), FAILS);
    // A processor that takes twice as long needs 2.6 s.
    let mut on_slow_processor = query([1.3, 1.0], &cold(2.6));
    for run in &mut on_slow_processor.cold {
        if run.machine == TpchMachine::Opteron {
            run.slowness = 2.0;
        }
    }
    assert_eq!(outcome(verdicts::equation, &on_slow_processor), HOLDS);
}

#[test]
fn figures_have_all_rows_and_all_columns() {
    let folder =
        std::env::temp_dir().join(format!("quire-experiments-tpch-{}", std::process::id()));
    let setup = TpchSetup {
        tables: ColumnTablesSetup {
            scale: 0.01,
            rounds: 1,
            folder: folder.clone(),
            has_files: false,
        },
        machines: TpchMachine::ALL.to_vec(),
        layouts: LAYOUTS.to_vec(),
    };
    let figures = figures(&setup, &mut |_| {}).expect("figures");
    std::fs::remove_dir_all(folder).expect("the folder");
    assert_eq!(figures.len(), 12);
    let find = |stem: &str| {
        figures
            .iter()
            .find(|one| one.stem == stem)
            .expect("a figure")
    };
    for figure in &figures {
        assert_eq!(figure.positions.count(), 11, "{}", figure.stem);
        for series in &figure.series {
            assert_eq!(series.values.len(), 11, "{}: {}", figure.stem, series.name);
            assert!(
                series.values.iter().all(Option::is_some),
                "{}: {}",
                figure.stem,
                series.name
            );
        }
        assert!(
            figure
                .notes
                .iter()
                .any(|note| note.starts_with("processors: "))
        );
    }
    // Five variants and DB2.
    assert_eq!(find("tpch-pentium4").series.len(), 11);
    assert_eq!(find("tpch-opteron").series.len(), 9);
    for stem in ["tpch-pentium4", "tpch-opteron", "tpch-own", "tpch-memory"] {
        let values = find(stem).series.iter().flat_map(|one| &one.values);
        assert!(values.flatten().all(|seconds| *seconds > 0.0), "{stem}");
    }
    let on_pentium4 = find("tpch-profile-pentium4-pax");
    assert_eq!(on_pentium4.series.len(), 6);
    assert_eq!(on_pentium4.chart, Chart::StackedBars { parts: 3 });
    let verdicts = &find("tpch-speed-ups").verdicts;
    for number in ["(i)", "(ii)", "(iii)", "(iv)", "(v)", "(vi)", "(vii)"] {
        let claim = format!("{number} ");
        assert!(verdicts.iter().any(|one| one.claim.starts_with(&claim)));
    }
    // With so few rows decompression may be all that clocks see of a query; then (vi) has nothing to compare.
    let is_measured = |one: &Verdict| one.outcome != VerdictOutcome::NotMeasured;
    let mut others = verdicts
        .iter()
        .filter(|one| !one.claim.starts_with("(vi) "));
    assert!(others.all(is_measured));
}

#[test]
fn one_machine_and_one_layout_are_measured_alone() {
    let folder =
        std::env::temp_dir().join(format!("quire-experiments-tpch-own-{}", std::process::id()));
    let setup = TpchSetup {
        tables: ColumnTablesSetup {
            scale: 0.005,
            rounds: 1,
            folder: folder.clone(),
            has_files: true,
        },
        machines: vec![TpchMachine::Own],
        layouts: vec![ColumnLayout::Pax],
    };
    let figures = figures(&setup, &mut |_| {}).expect("figures");
    assert!(folder.join("tpch-pax-compressed.quire").is_file());
    assert!(!folder.join("tpch-dsm-compressed.quire").exists());
    std::fs::remove_dir_all(folder).expect("the folder");
    let find = |stem: &str| figures.iter().find(|one| one.stem == stem);
    assert!(find("tpch-pentium4").is_none() && find("tpch-opteron").is_none());
    for series in &find("tpch-own").expect("the times").series {
        let is_pax = series.name.starts_with("PAX");
        assert!(series.values.iter().all(|value| value.is_some() == is_pax));
    }
    let verdicts = &find("tpch-speed-ups").expect("the speed-ups").verdicts;
    let missing = verdicts
        .iter()
        .filter(|one| one.outcome == VerdictOutcome::NotMeasured);
    // Only the equation speaks of our own machine and of blocks.
    assert_eq!(missing.count(), 9);
}
