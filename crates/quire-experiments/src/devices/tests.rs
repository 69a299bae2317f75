use super::*;
use crate::column_tables::{CodecPair, EquationTerms, TimeInMemory, TimeOnDevice};
use crate::devices::verdicts::QueryOnDevice;
use quire_lab::VerdictOutcome;

/// A query that the processor runs in a second, of 400 MB, compressed to 100, on a device of 100 MB/s: 4 s and 1 s.
fn on_slow_device(compressed_seconds: f64, plain_seconds: f64) -> QueryOnDevice {
    let in_memory = TimeInMemory {
        seconds: 1.0,
        decode_seconds: 0.25,
        ..TimeInMemory::default()
    };
    let on_device = |seconds, disk_bytes| TimeOnDevice {
        seconds,
        device_seconds: disk_bytes / 100e6,
        disk_bytes,
        ..TimeOnDevice::default()
    };
    let in_memory = CodecPair {
        compressed: in_memory,
        plain: in_memory,
    };
    let disk_bytes = CodecPair {
        compressed: 100e6,
        plain: 400e6,
    };
    QueryOnDevice {
        name: "Q0".to_owned(),
        in_memory,
        on_device: CodecPair {
            compressed: on_device(compressed_seconds, disk_bytes.compressed),
            plain: on_device(plain_seconds, disk_bytes.plain),
        },
        terms: EquationTerms::new(&in_memory, &disk_bytes),
    }
}

#[test]
fn overlap_allows_a_tenth_more_than_the_slower_part() {
    let verdict = verdicts::overlap(&[on_slow_device(1.09, 4.3)]);
    assert_eq!(verdict.outcome, VerdictOutcome::Holds, "{}", verdict.text());
    // Processor and device one after the other.
    let verdict = verdicts::overlap(&[on_slow_device(2.0, 4.3)]);
    assert_eq!(verdict.outcome, VerdictOutcome::Fails);
    assert!(
        verdict.finding.contains("Q0, compressed (2.00)"),
        "{}",
        verdict.finding
    );
}

#[test]
fn gain_is_judged_by_the_ratio_of_bytes_where_the_device_decides() {
    let verdict = verdicts::gain(&[on_slow_device(1.05, 4.0)]);
    assert_eq!(verdict.outcome, VerdictOutcome::Holds, "{}", verdict.text());
    let verdict = verdicts::gain(&[on_slow_device(1.5, 4.0)]);
    assert_eq!(verdict.outcome, VerdictOutcome::Fails);
    let mut on_fast_device = on_slow_device(1.5, 1.0);
    on_fast_device.on_device.compressed.device_seconds = 0.1;
    let verdict = verdicts::gain(&[on_fast_device]);
    assert_eq!(verdict.outcome, VerdictOutcome::NotMeasured);
}

#[test]
fn equation_is_judged_in_both_directions() {
    let verdict = verdicts::equation(&[on_slow_device(1.1, 4.5)]);
    assert_eq!(verdict.outcome, VerdictOutcome::Holds, "{}", verdict.text());
    for (compressed, plain) in [(1.3, 4.0), (1.0, 3.0)] {
        let verdict = verdicts::equation(&[on_slow_device(compressed, plain)]);
        assert_eq!(verdict.outcome, VerdictOutcome::Fails, "{}", verdict.text());
    }
}

#[test]
fn figures_have_a_value_for_every_query_on_every_device() {
    let folder =
        std::env::temp_dir().join(format!("quire-experiments-devices-{}", std::process::id()));
    let setup = DevicesSetup {
        tables: ColumnTablesSetup {
            scale: 0.01,
            rounds: 1,
            folder: folder.clone(),
            has_files: false,
        },
        is_quick: true,
    };
    let mut told = Vec::new();
    let figures = figures(&setup, &mut |text| told.push(text.to_owned())).expect("figures");
    std::fs::remove_dir_all(folder).expect("the folder");
    let stems: Vec<&str> = figures.iter().map(|figure| figure.stem).collect();
    assert_eq!(
        stems,
        ["devices-q1", "devices-q6", "devices-q18", "devices-times"]
    );
    let devices = measure::devices(true);
    let bandwidths = devices.iter().filter(|one| one.bandwidth.is_some()).count();
    let times = figures.last().expect("times");
    assert_eq!(times.positions.count(), 3 * devices.len());
    for figure in &figures {
        let series = if figure.stem == "devices-times" { 6 } else { 4 };
        assert_eq!(figure.series.len(), series);
        for series in &figure.series {
            assert_eq!(series.values.len(), figure.positions.count());
            let is_there = |value: &Option<f64>| value.is_some_and(|value| value > 0.0);
            assert!(series.values.iter().all(is_there), "{series:?}");
        }
    }
    assert_eq!(figures[0].positions.count(), bandwidths);
    for number in ["(i) ", "(ii) ", "(iii) "] {
        assert!(times.verdicts.iter().any(|one| one.claim.contains(number)));
    }
    assert!(told.iter().any(|text| text.starts_with("Q18 on SATA SSD")));
}
