//! A failed sync ends all commits.
#![allow(clippy::unwrap_used)]

mod numbered;

use std::io::ErrorKind;
use std::ops::Range;
use std::sync::Arc;

use numbered::Step;
use quire_kv::mvcc::Synchronous;
use quire_store::disk::{Fault, FaultKind};
use quire_store::{MemDisk, SimDisk};
use quire_tables::Engine;
use quire_testkit::rows::verify_engine;

fn inserts(inserted: Range<u64>) -> Step {
    Step {
        inserted,
        ..Step::default()
    }
}

fn deletes(deleted: Range<u64>) -> Step {
    Step {
        deleted,
        ..Step::default()
    }
}

fn has_rows(engine: &Engine, numbers: Range<u64>) -> bool {
    numbered::numbers(engine).into_iter().eq(numbers)
}

fn fail_next_sync(disk: &SimDisk, effect: u8) {
    disk.add_fault(Fault {
        kind: FaultKind::Sync,
        nth: disk.call_count(FaultKind::Sync),
        is_persistent: false,
        error: ErrorKind::Other,
        effect,
    });
}

/// `effect`: not 0, the sync drops what it should have kept.
fn fail_a_sync(rows: u64, effect: u8) {
    let disk = Arc::new(SimDisk::new(Vec::new()));
    let engine = numbered::open(disk.clone(), rows, false);
    for row in 0..rows {
        numbered::commit(&engine, &inserts(row..row + 1), Synchronous::Full).unwrap();
    }
    fail_next_sync(&disk, effect);
    numbered::commit(&engine, &inserts(rows..rows + 1), Synchronous::Full).unwrap_err();
    // The disk is well again, and nobody believes it.
    for synchronous in [Synchronous::Full, Synchronous::Normal, Synchronous::Off] {
        numbered::commit(&engine, &inserts(rows + 5..rows + 6), synchronous).unwrap_err();
    }
    let load = Step {
        loaded_count: 10,
        ..Step::default()
    };
    numbered::commit(&engine, &load, Synchronous::Full).unwrap_err();
    if rows > 0 {
        numbered::commit(&engine, &deletes(0..1), Synchronous::Full).unwrap_err();
    }
    engine.checkpoint().unwrap_err();
    for seed in 0..6 {
        let crashed = Arc::new(MemDisk::from_bytes(disk.crash(seed)));
        let after = numbered::open(crashed, seed + 100, false);
        let count = numbered::numbers(&after).len() as u64;
        assert!((rows..=rows + 1).contains(&count), "{count} of {rows}");
        assert!(has_rows(&after, 0..count), "{rows}, {effect}, {seed}");
        assert_eq!(numbered::loaded_count(&after), 0);
        verify_engine(&after).unwrap();
    }
}

#[test]
fn after_a_failed_sync_nothing_is_committed() {
    for effect in [0, 1] {
        for rows in 0..12 {
            fail_a_sync(rows, effect);
        }
    }
}
