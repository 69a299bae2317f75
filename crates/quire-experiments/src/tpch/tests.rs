use super::*;
use crate::column_tables::{CodecPair, TimeInMemory, TimeOnDevice};
use crate::tpch::measure::{TpchMachine, TpchTimes, TpchVariant};
use crate::verdict::{Verdict, VerdictOutcome};

/// 400 MB are read in four bytes for each compressed one. With all in memory the query takes `compressed` or `plain` seconds, half a second and a fifth of it
/// for decoding.
fn query(in_memory: [f64; 2], cold: &[(TpchMachine, TpchVariant, f64)]) -> TpchTimes {
    let [compressed, plain] = in_memory;
    let time = |seconds, decode_seconds| TimeInMemory {
        seconds,
        decode_seconds,
        decoded_bytes: 1.5e9,
    };
    let cold = cold.iter().map(|&(machine, variant, seconds)| {
        let disk_bytes = match variant {
            TpchVariant::DsmPlain => 400e6,
            TpchVariant::PaxPlain => 800e6,
            TpchVariant::DsmToCache | TpchVariant::DsmToMemory => 100e6,
            TpchVariant::PaxToCache => 400e6,
        };
        let bandwidth = machine.profile().read_bytes_per_second as f64;
        let time = TimeOnDevice {
            seconds,
            device_seconds: disk_bytes / bandwidth,
            disk_bytes,
            ..TimeOnDevice::default()
        };
        (machine, variant, time)
    });
    TpchTimes {
        number: 6,
        in_memory: CodecPair {
            compressed: time(compressed, 0.5),
            plain: time(plain, 0.2),
        },
        cold: cold.collect(),
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
fn speed_ups_are_judged_by_the_ratio() {
    let on = |machine, [plain, compressed]: [f64; 2]| {
        let cold = [
            (machine, TpchVariant::DsmPlain, plain),
            (machine, TpchVariant::DsmToCache, compressed),
            // Ratios are those of the first machine.
            (TpchMachine::Pentium4, TpchVariant::DsmPlain, 1.0),
            (TpchMachine::Pentium4, TpchVariant::DsmToCache, 1.0),
        ];
        query([1.0, 1.0], &cold)
    };
    let opteron = |times| on(TpchMachine::Opteron, times);
    assert_eq!(
        outcome_of_two(verdicts::slow_disk, &opteron([5.0, 1.3])),
        HOLDS
    );
    assert_eq!(
        outcome_of_two(verdicts::slow_disk, &opteron([5.0, 2.0])),
        FAILS
    );
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
    let dsm_only = query([1.0, 1.0], &[]);
    for judge in [
        verdicts::pax_ratio,
        verdicts::pax_beside_dsm,
        verdicts::memory_to_memory,
        verdicts::equation,
    ] {
        assert_eq!(outcome(judge, &dsm_only), NOT_MEASURED);
    }
}

#[test]
fn decompression_and_processing_are_judged_in_memory() {
    let fast = query([1.0, 1.0], &[]);
    assert_eq!(outcome_of_two(verdicts::decompression, &fast), HOLDS);
    let mut slow = fast.clone();
    slow.in_memory.compressed.decoded_bytes = 0.5e9;
    assert_eq!(outcome_of_two(verdicts::decompression, &slow), FAILS);
    // 0.5 s alone against 0.8 s; 1.5 s against 0.8 s.
    assert_eq!(outcome(verdicts::processing, &fast), HOLDS);
    let slow = query([2.0, 1.0], &[]);
    assert_eq!(outcome(verdicts::processing, &slow), FAILS);
}

#[test]
fn equation_is_judged_on_both_machines() {
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
}

#[test]
fn figures_have_all_rows_and_say_what_was_not_measured() {
    let folder =
        std::env::temp_dir().join(format!("quire-experiments-tpch-{}", std::process::id()));
    let setup = TpchSetup {
        scale: 0.01,
        rounds: 1,
        folder: folder.clone(),
        has_files: false,
    };
    let figures = figures(&setup, &mut |_| {}).expect("figures");
    std::fs::remove_dir_all(folder).expect("the folder");
    assert_eq!(figures.len(), 8);
    for figure in &figures {
        assert_eq!(figure.positions.count(), 11, "{}", figure.stem);
        for series in &figure.series {
            assert_eq!(series.values.len(), 11, "{}: {}", figure.stem, series.name);
        }
    }
    let on_pentium4 = figures.iter().find(|one| one.stem == "tpch-pentium4");
    let on_pentium4 = on_pentium4.expect("the times");
    // Five variants and DB2.
    assert_eq!(on_pentium4.series.len(), 11);
    for series in &on_pentium4.series[..5] {
        let is_measured = ["DSM unc.", "DSM M⇒C"].contains(&series.name.as_str());
        let is_there = |value: &Option<f64>| value.is_some_and(|value| value > 0.0);
        assert!(
            series
                .values
                .iter()
                .all(|value| is_there(value) == is_measured)
        );
    }
    let speed_ups = figures.iter().find(|one| one.stem == "tpch-speed-ups");
    let notes = &speed_ups.expect("the speed-ups").notes;
    for number in ["(i)", "(ii)", "(iii)", "(iv)", "(v)", "(vi)", "(vii)"] {
        assert!(
            notes
                .iter()
                .any(|note| note.contains(&format!(": {number} ")))
        );
    }
}
