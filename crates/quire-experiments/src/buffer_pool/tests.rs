use super::*;
use crate::buffer_pool::times::{NeededBytes, PoolRound, PoolSide, PoolTimes};
use quire_lab::VerdictOutcome::{Fails, Holds, NotMeasured};

/// 100 MB of stored columns, 400 MB of values.
const NEEDED: NeededBytes = NeededBytes {
    stored: 100e6,
    values: 400e6,
};

fn round(seconds: f64, disk_bytes: f64, stored_bytes: f64, decoded_bytes: f64) -> PoolRound {
    PoolRound {
        seconds,
        disk_bytes,
        stored_bytes,
        decoded_bytes,
    }
}

/// A quarter has room for the compressed columns; all have room in 100 %.
fn pools() -> Vec<PoolTimes> {
    let compressed = round(1.0, 0.0, 100e6, 400e6);
    let pool = |percent, uncompressed| PoolTimes {
        percent,
        uncompressed,
        compressed,
    };
    vec![
        pool(25, round(3.0, 100e6, 100e6, 400e6)),
        pool(50, round(2.0, 50e6, 50e6, 200e6)),
        pool(100, round(1.1, 0.0, 0.0, 0.0)),
    ]
}

#[test]
fn verdicts_hold_where_compressed_pages_need_less() {
    for verdict in verdicts::all(&pools(), &NEEDED) {
        assert_eq!(verdict.outcome, Holds, "{}", verdict.text());
    }
}

#[test]
fn verdicts_fail_on_the_opposite() {
    let exchanged = pools().into_iter().map(|pool| PoolTimes {
        uncompressed: pool.compressed,
        compressed: pool.uncompressed,
        ..pool
    });
    let exchanged: Vec<_> = exchanged.collect();
    let outcome = |verdict: quire_lab::Verdict| verdict.outcome;
    assert_eq!(outcome(verdicts::reads_less(&exchanged)), Fails);
    assert_eq!(outcome(verdicts::is_faster(&exchanged)), Fails);
    // Nothing is gained where nothing is read by either.
    let equal = pools().into_iter().map(|pool| PoolTimes {
        uncompressed: pool.compressed,
        ..pool
    });
    assert_eq!(
        outcome(verdicts::reads_less(&equal.collect::<Vec<_>>())),
        Fails
    );
    // Values that are no longer than what is stored.
    let needed = NeededBytes {
        values: 90e6,
        ..NEEDED
    };
    let all = &pools()[2..];
    assert_eq!(outcome(verdicts::moves_less(all, &needed)), Fails);
    for verdict in verdicts::all(&[], &NEEDED) {
        assert_eq!(verdict.outcome, NotMeasured);
    }
}

#[test]
fn hits_are_what_did_not_come_from_the_disk() {
    let pools = pools();
    let rates = pools.iter().map(|pool| pool.uncompressed.hit_rate(&NEEDED));
    assert_eq!(rates.collect::<Vec<_>>(), [0.0, 0.5, 1.0]);
    // With gaps between pages.
    assert_eq!(round(1.0, 110e6, 0.0, 0.0).hit_rate(&NEEDED), 0.0);
    let traffic = pools[1]
        .uncompressed
        .traffic(PoolSide::Uncompressed, &NEEDED);
    assert_eq!(traffic.sum(), 650e6);
    let traffic = pools[1].compressed.traffic(PoolSide::Compressed, &NEEDED);
    assert_eq!(traffic.sum(), 100e6);
}

#[test]
fn figures_have_a_value_for_every_pool_and_both_sides() {
    let folder = std::env::temp_dir().join(format!(
        "quire-experiments-buffer-pool-{}",
        std::process::id()
    ));
    let setup = ColumnTablesSetup {
        scale: 0.01,
        rounds: 1,
        folder: folder.clone(),
        has_files: false,
    };
    let figures = figures(&setup, &mut |_| {}).expect("figures");
    std::fs::remove_dir_all(folder).expect("the folder");
    let [hits, reads, traffic, times] = figures.as_slice() else {
        panic!("{} figures", figures.len());
    };
    for (figure, series) in [(hits, 2), (reads, 2), (traffic, 6), (times, 2)] {
        assert_eq!(figure.series.len(), series, "{}", figure.stem);
        for series in &figure.series {
            assert_eq!(series.values.len(), 4);
            let is_there = |value: &Option<f64>| value.is_some_and(|value| value >= 0.0);
            assert!(series.values.iter().all(is_there), "{series:?}");
        }
    }
    assert_eq!(hits.verdicts.len(), 3);
    let values = |figure: &Figure, name: &str| -> Vec<f64> {
        let series = figure.series.iter().find(|series| series.name == name);
        series
            .expect(name)
            .values
            .iter()
            .flatten()
            .copied()
            .collect()
    };
    for side in PoolSide::BOTH {
        let (rates, bytes) = (values(hits, side.name()), values(reads, side.name()));
        assert!(
            rates.iter().all(|rate| (0.0..=100.0).contains(rate)),
            "{rates:?}"
        );
        // Whoever reads nothing has hit everything.
        for (rate, bytes) in rates.iter().zip(&bytes) {
            assert_eq!(*rate == 100.0, *bytes == 0.0);
        }
        let seconds = values(times, side.name());
        assert!(seconds.iter().all(|seconds| *seconds > 0.0), "{seconds:?}");
    }
    // A tenth of the values is less than most columns of the only row group have: these are decoded again for each query.
    let written = values(traffic, "uncompressed pages: values to memory");
    let read = values(traffic, "uncompressed pages: values to the processor");
    assert!(written[0] > 0.5 * read[0], "{written:?} of {read:?}");
    let written = values(traffic, "compressed pages: values to memory");
    assert_eq!(written, [0.0; 4]);
}
