#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use quire_lab::VerdictOutcome::{Fails, Holds, NotMeasured};

use super::chosen_keys::{ChosenKeys, exponent_for};
use super::read_test::{ReadCase, ReadRun, ReadTest};
use super::record_tree::mixed;
use super::storage::RecordStorage;
use super::write_test::{CompressionMode, WriteCase, WriteRun, WriteTest};
use super::*;

/// 600 bytes of which most are the same in all rows.
fn record(number: u64) -> Vec<u8> {
    let mut text = String::new();
    for word in 0..16 {
        text.push_str(&format!(
            "{:08x}",
            mixed(number.wrapping_add(word << 32)) as u32
        ));
        text.push_str(" is a word of this row;");
    }
    text.truncate(600);
    text.into_bytes()
}

fn tiny() -> PageCompressionSetup {
    PageCompressionSetup {
        rows: 4_000,
        read_pool_bytes: 1 << 20,
        inserted_rows: 3_000,
        write_pool_bytes: 1 << 20,
        connections: vec![1, 2],
        device: None,
        records: Arc::new(record),
    }
}

/// Everything at a tiny scale: each figure has a value at each place, and what must hold at any scale does.
#[test]
fn every_figure_has_its_values() {
    let mut lines = 0;
    let figures = figures(&tiny(), &mut |_| lines += 1).unwrap();
    assert_eq!(figures.len(), 10);
    assert!(lines > 10);
    for figure in &figures {
        assert!(!figure.series.is_empty() && !figure.notes.is_empty());
        for series in &figure.series {
            let count = figure.positions.count();
            assert_eq!(series.values.len(), count, "{}", figure.stem);
            assert!(
                series
                    .values
                    .iter()
                    .flatten()
                    .all(|value| value.is_finite())
            );
        }
    }
    let named = |stem| figures.iter().find(|figure| figure.stem == stem).unwrap();
    let values = |stem, series| named(stem).series(series).unwrap().values.clone();
    let sizes = values("paper-4-table-4", "here");
    assert_eq!(sizes[0], Some(100.0));
    assert!(
        sizes[1..].iter().flatten().all(|percent| *percent < 80.0),
        "{sizes:?}"
    );
    // Found uncompressed, or compressed, or neither.
    let (hot, warm) = (
        values("paper-4-table-6", "uncompressed pages"),
        values("paper-4-table-6", "compressed pages"),
    );
    assert_eq!(warm[0], None);
    assert!(
        (70.0..=90.0).contains(&hot[0].unwrap()),
        "calibrated to 81.5 %: {hot:?}"
    );
    for (hot, warm) in hot.iter().zip(&warm) {
        assert!((0.0..=100.0).contains(&(hot.unwrap() + warm.unwrap_or(0.0))));
    }
    let percents = values("paper-4-table-8", "here");
    assert!(
        percents
            .iter()
            .flatten()
            .all(|percent| (0.0..=100.0).contains(percent))
    );
}

#[test]
fn keys_follow_their_exponent() {
    let share_of_tenth = |exponent: f64| {
        let keys = ChosenKeys::new(1_000, exponent);
        let hot = (0..20_000).filter(|access| keys.row(*access) < 100).count();
        hot as f64 / 20_000.0
    };
    assert!((share_of_tenth(0.0) - 0.1).abs() < 0.01);
    // The integral of 1/x from 1 to 101, of that from 1 to 1,001.
    let expected = 101_f64.ln() / 1_001_f64.ln();
    assert!((share_of_tenth(1.0) - expected).abs() < 0.01);
    assert!(share_of_tenth(1.5) > 0.9);
    let found = exponent_for(0.5, |exponent| Ok::<f64, ()>(share_of_tenth(exponent))).unwrap();
    assert!((share_of_tenth(found) - 0.5).abs() < 0.02, "{found}");
}

fn read_case(storage: RecordStorage, reads_per_second: f64) -> ReadCase {
    ReadCase {
        storage,
        policy: storage.policy(),
        live_bytes: 1,
        runs: vec![ReadRun {
            reads_per_second,
            seconds: 1.0,
            traffic: Default::default(),
            stats: Default::default(),
        }],
    }
}

fn write_case(storage: RecordStorage, mode: CompressionMode, rows_per_second: f64) -> WriteCase {
    WriteCase {
        storage,
        mode,
        runs: vec![WriteRun {
            rows_per_second,
            seconds: 1.0,
            traffic: Default::default(),
            stats: Default::default(),
        }],
    }
}

#[test]
fn verdicts_hold_on_the_papers_factors_and_fail_on_the_opposite() {
    let reads = |rates: [f64; 3]| ReadTest {
        exponent: 1.0,
        cases: (RecordStorage::ALL.into_iter().zip(rates))
            .map(|(storage, rate)| read_case(storage, rate))
            .collect(),
    };
    // lz4hc over none 1.20, over zlib 1.36.
    let outcomes = |test: &ReadTest| verdicts::of_reads(test).into_iter().map(|one| one.outcome);
    assert!(outcomes(&reads([1.0, 1.2, 1.2 / 1.36])).all(|outcome| outcome == Holds));
    assert!(outcomes(&reads([1.0, 0.9, 1.1])).all(|outcome| outcome == Fails));
    let nothing = ReadTest {
        exponent: 1.0,
        cases: Vec::new(),
    };
    assert!(outcomes(&nothing).all(|outcome| outcome == NotMeasured));

    use CompressionMode::{Async, Sync};
    let writes = |[none, lz4hc, lz4hc_async, zlib, zlib_async]: [f64; 5]| WriteTest {
        cases: vec![
            write_case(RecordStorage::Uncompressed, Sync, none),
            write_case(RecordStorage::Lz4Hc, Sync, lz4hc),
            write_case(RecordStorage::Lz4Hc, Async, lz4hc_async),
            write_case(RecordStorage::Zlib, Sync, zlib),
            write_case(RecordStorage::Zlib, Async, zlib_async),
        ],
    };
    let outcomes = |test: &WriteTest| verdicts::of_writes(test).into_iter().map(|one| one.outcome);
    assert!(outcomes(&writes([0.8, 1.0, 1.2, 0.75, 1.0])).all(|outcome| outcome == Holds));
    assert!(outcomes(&writes([3.0, 1.0, 0.9, 2.0, 1.5])).all(|outcome| outcome == Fails));
}
