//! Every call of the disk fails once: what a volume does then, and whether it recovers.

use std::io::ErrorKind;
use std::sync::Arc;

use quire_store::SimDisk;
use quire_store::disk::{Fault, FaultKind};

use super::model::{CommitHistory, State};
use super::verify::{Expectation, verify_recovery};
use super::workload::{StoreWorkload, WorkloadOptions, volume_options};

/// What a loop over all calls has covered.
#[derive(Clone, Copy, Debug, Default)]
pub struct FaultReport {
    /// Runs with one fault each.
    pub runs: u64,
    /// Runs that the fault ended with an error.
    pub stopped: u64,
    /// Recoveries verified.
    pub recoveries: u64,
}

/// Runs the workload of `seed` once for every call of every kind, and makes that call fail: once,
/// or from then on; with nothing or a part of a write done; with a sync that drops what it should
/// have kept. After each run the disk is sound again, and the volume must recover: from what reads
/// show, and from what a crash leaves.
///
/// # Errors
/// What is wrong, with the fault that shows it.
pub fn fail_every_call(seed: u64, options: WorkloadOptions) -> Result<FaultReport, String> {
    let counts = count_calls(seed, options)?;
    let mut report = FaultReport::default();
    for (kind, count) in counts {
        for nth in 0..count {
            for (is_persistent, effect) in [(false, 0), (false, 100), (true, 0), (true, 255)] {
                let error = ErrorKind::Other;
                let fault = Fault {
                    kind,
                    nth,
                    is_persistent,
                    error,
                    effect,
                };
                let result = fail_once(seed, options, fault, &mut report);
                result.map_err(|what| format!("workload {seed}, {fault:?}: {what}"))?;
            }
        }
    }
    Ok(report)
}

fn count_calls(seed: u64, options: WorkloadOptions) -> Result<[(FaultKind, u64); 5], String> {
    let disk = Arc::new(SimDisk::new(Vec::new()));
    let (_, result) = StoreWorkload::new(disk.clone(), seed, options, State::default()).run();
    result.map_err(|what| format!("without any fault: {what}"))?;
    let kinds = [
        FaultKind::Read,
        FaultKind::Write,
        FaultKind::Sync,
        FaultKind::SetLen,
        FaultKind::Discard,
    ];
    Ok(kinds.map(|kind| (kind, disk.call_count(kind))))
}

fn fail_once(
    seed: u64,
    options: WorkloadOptions,
    fault: Fault,
    report: &mut FaultReport,
) -> Result<(), String> {
    let disk = Arc::new(SimDisk::recording(Vec::new()));
    disk.add_fault(fault);
    let (history, result) = StoreWorkload::new(disk.clone(), seed, options, State::default()).run();
    report.runs += 1;
    report.stopped += u64::from(result.is_err());
    disk.clear_faults();
    let expectation = expectation(&history, &disk);
    let volume_options = volume_options(seed);
    for (name, image) in [
        ("a crash", disk.crash(seed)),
        ("a crash that loses all", disk.crash_losing_all()),
        ("a restart", disk.to_bytes()),
    ] {
        verify_recovery(image, &volume_options, &expectation, seed)
            .map_err(|what| format!("after {name}: {what}"))?;
        report.recoveries += 1;
    }
    restart_then_crash(disk, &expectation, seed, report)
}

/// A new process reads what the system's cache shows, although the disk never got it; what it
/// commits must not depend on that.
fn restart_then_crash(
    disk: Arc<SimDisk>,
    expectation: &Expectation,
    seed: u64,
    report: &mut FaultReport,
) -> Result<(), String> {
    let options = WorkloadOptions {
        step_count: 4,
        ..WorkloadOptions::default()
    };
    let start = match expectation.state_of(&disk) {
        Ok(state) => state,
        Err(what) => return Err(format!("at the restart: {what}")),
    };
    let history = {
        let workload = StoreWorkload::new(disk.clone(), seed ^ 0xabc, options, start);
        let (history, result) = workload.run();
        result.map_err(|what| format!("after the restart: {what}"))?;
        history
    };
    // Without a page in any commit the new process may have written nothing, not even the creation again.
    let is_empty = history.commits.iter().all(|commit| commit.state.is_empty());
    let expectation = Expectation {
        allowed: vec![history.last()],
        may_be_blank: expectation.may_be_blank && is_empty,
    };
    verify_recovery(
        disk.crash_losing_all(),
        &volume_options(seed),
        &expectation,
        seed,
    )
    .map_err(|what| format!("after a restart and a crash: {what}"))?;
    report.recoveries += 1;
    Ok(())
}

fn expectation(history: &CommitHistory, disk: &SimDisk) -> Expectation {
    Expectation {
        allowed: history.allowed_at(disk.journal_len()),
        may_be_blank: history.created_at.is_none(),
    }
}
