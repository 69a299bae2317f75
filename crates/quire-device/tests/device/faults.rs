//! A call of the disk that fails, each in turn: what was synced is there, and nothing half.

use std::io::ErrorKind;
use std::sync::Arc;

use quire_device::{DataSetCodec, DataSetProperties, SynchronousWrites};
use quire_store::SimDisk;
use quire_store::disk::{Fault, FaultKind};

use crate::model::Model;
use crate::operations::{any_operation, perform_both};
use crate::random::{Random, seeds};
use crate::volumes::{check, create_on, open_on};

/// Little: batches are written in the middle of operations, too.
const DIRTY_BYTES: usize = 64 << 10;

/// Works on a disk of which call `nth` fails, until an error is told. Returns whether there were as many calls.
fn fail_once(seed: u64, kind: FaultKind, nth: u64, effect: u8) -> Result<bool, String> {
    let mut random = Random(seed);
    let disk = Arc::new(SimDisk::new(Vec::new()));
    let sets = create_on(disk.clone(), DIRTY_BYTES);
    let modes = [SynchronousWrites::Compressed, SynchronousWrites::Logged];
    let properties = DataSetProperties {
        record_bytes: Some(4096),
        compression: DataSetCodec::from_name("lzjb"),
        synchronous: Some(random.pick(&modes)),
        ..DataSetProperties::default()
    };
    sets.create_set("data", properties).unwrap();
    let set = sets.open_set("data").unwrap();
    let nth = disk.call_count(kind) + nth;
    disk.add_fault(Fault {
        kind,
        nth,
        is_persistent: false,
        error: ErrorKind::Other,
        effect,
    });
    let mut model = Model::new();
    // As of the newest sync, and after each operation since.
    let mut allowed = vec![model.clone()];
    for step in 0..60 {
        let operation = any_operation(&mut random, &model);
        let done = perform_both(&set, &mut model, &operation);
        // What could not be done because of the disk says so.
        if let Err(what) = done {
            if !what.contains("simulated") {
                return Err(format!("step {step}: {what}"));
            }
            break;
        }
        allowed.push(model.reopened());
        if random.chance(30) {
            if set.sync().is_err() {
                break;
            }
            allowed = vec![model.reopened()];
        }
    }
    drop(set);
    drop(sets);
    let image = disk.crash(random.next_u64());
    let sets = open_on(Arc::new(SimDisk::new(image)), DIRTY_BYTES)?;
    check(&sets)?;
    let set = sets.open_set("data").map_err(|error| error.to_string())?;
    if allowed.iter().all(|model| model.compare(&set).is_err()) {
        return Err("the state after no operation".to_owned());
    }
    Ok(disk.call_count(kind) > nth)
}

#[test]
fn a_call_that_fails_loses_nothing_that_was_synced() {
    for seed in seeds(2) {
        for kind in [FaultKind::Write, FaultKind::Sync, FaultKind::SetLen] {
            for nth in 0..60 {
                let effect = if nth % 2 == 0 { 0 } else { 200 };
                match fail_once(seed, kind, nth, effect) {
                    Ok(true) => {}
                    Ok(false) => break,
                    Err(what) => {
                        panic!("QUIRE_SEED={seed} QUIRE_CASES=1, {kind:?} {nth} {effect}: {what}")
                    }
                }
            }
        }
    }
}
