//! Crashes at every operation of many workloads on a log, and calls of the disk that fail.

use std::io::ErrorKind;
use std::sync::Arc;

use quire_store::SimDisk;
use quire_store::disk::{CrashImages, DiskOperation, Fault, FaultKind};

use super::model::{LogExpectation, LogHistory};
use super::verify::{open_log, verify_log};
use super::workload::LogWorkload;
use crate::random::TestRandom;
use crate::store::volume_options;

const STEP_COUNT: u64 = 40;

/// Crashes tried after each operation.
const DAMAGES_PER_OPERATION: u64 = 2;

/// One recovery in so many is itself hit by crashes.
const NESTED_ONE_IN: u64 = 8;

/// Crashes tried in such a recovery.
const NESTED_CRASHES: u64 = 4;

/// What a campaign has covered.
#[derive(Clone, Copy, Debug, Default)]
pub struct LogCampaignReport {
    /// Workloads run.
    pub workloads: u64,
    /// Commits that they made.
    pub commits: u64,
    /// Crashes recovered from.
    pub cases: u64,
    /// Of these, crashes during or after a recovery from another crash.
    pub nested_cases: u64,
    /// Crashes after which a commit was there that had not been promised.
    pub more_survived: u64,
    /// Crashes of a device that lies about syncs, and how many of these the volume refused.
    pub lies: u64,
    /// Of these, files that were refused.
    pub lies_refused: u64,
}

/// Crashes workloads until `case_count` cases have been recovered from and verified.
///
/// # Errors
/// What is wrong, with the numbers that repeat it.
pub fn crash_logs(first_seed: u64, case_count: u64) -> Result<LogCampaignReport, String> {
    let mut report = LogCampaignReport::default();
    let mut seed = first_seed;
    while report.cases < case_count {
        crash_one(seed, &mut report)
            .map_err(|what| format!("workload QUIRE_SEED={seed} (with QUIRE_CASES=1): {what}"))?;
        report.workloads += 1;
        seed += 1;
    }
    Ok(report)
}

fn crash_one(seed: u64, report: &mut LogCampaignReport) -> Result<(), String> {
    let disk = Arc::new(SimDisk::recording(Vec::new()));
    let (history, result) = LogWorkload::new(disk.clone(), seed).run(STEP_COUNT);
    result.map_err(|what| format!("without any fault: {what}"))?;
    report.commits += history.commits.len() as u64;
    let journal = disk.journal();
    let mut crashes = CrashImages::new(Vec::new(), &journal);
    let mut random = TestRandom::new(seed ^ 0xc4a5);
    loop {
        let position = crashes.position();
        let expectation = history.expectation(&journal, position);
        for _ in 0..DAMAGES_PER_OPERATION {
            let damage = random.next_u64();
            recover(crashes.image(damage), seed, damage, &expectation, report)
                .map_err(|what| format!("after operation {position}, damage {damage}: {what}"))?;
        }
        if !crashes.advance() {
            break;
        }
    }
    lie(&history, &journal, seed, report)
}

fn recover(
    image: Vec<u8>,
    seed: u64,
    damage: u64,
    expectation: &LogExpectation,
    report: &mut LogCampaignReport,
) -> Result<(), String> {
    let mut random = TestRandom::new(damage);
    let options = volume_options(seed);
    let (again, disk) = verify_log(image.clone(), &options, expectation, random.next_u64())?;
    report.cases += 1;
    report.more_survived += u64::from(again.last_min > expectation.last_min);
    if random.below(NESTED_ONE_IN) > 0 {
        return Ok(());
    }
    let journal = disk.journal();
    let mut crashes = CrashImages::new(image, &journal);
    for _ in 0..NESTED_CRASHES {
        for _ in 0..random.below(5) {
            crashes.advance();
        }
        verify_log(
            crashes.image(random.next_u64()),
            &options,
            &again,
            random.next_u64(),
        )
        .map_err(|what| format!("again after {}: {what}", crashes.position()))?;
        report.cases += 1;
        report.nested_cases += 1;
    }
    Ok(())
}

/// A device that acknowledges syncs and does not perform them: what it leaves may be refused, but what is not refused
/// is an earlier state of the log, whole and in order.
fn lie(
    history: &LogHistory,
    journal: &[DiskOperation],
    seed: u64,
    report: &mut LogCampaignReport,
) -> Result<(), String> {
    let mut random = TestRandom::new(seed ^ 0x11e5);
    let is_kept = |operation: &DiskOperation, random: &mut TestRandom| {
        *operation != DiskOperation::Sync || random.chance(50)
    };
    let kept: Vec<(usize, DiskOperation)> = journal
        .iter()
        .cloned()
        .enumerate()
        .filter(|(_, operation)| is_kept(operation, &mut random))
        .collect();
    let operations: Vec<DiskOperation> = kept
        .iter()
        .map(|(_, operation)| operation.clone())
        .collect();
    let mut crashes = CrashImages::new(Vec::new(), &operations);
    while crashes.advance() {
        let position = kept[crashes.position() - 1].0 + 1;
        let disk = Arc::new(SimDisk::new(crashes.image(random.next_u64())));
        let expectation = history.expectation_of_a_liar(position);
        report.lies += 1;
        match open_log(disk, &volume_options(seed), true) {
            Ok((_, _, applied, found)) => {
                let compared = expectation.compare(applied, &found);
                compared.map_err(|what| format!("a liar after operation {position}: {what}"))?;
            }
            Err(_) => report.lies_refused += 1,
        }
    }
    Ok(())
}

/// Runs the workload of `seed` once for every call of every kind, and makes that call fail. Then the disk is sound
/// again, and the log must recover from what reads show and from what a crash leaves. Returns the number of runs, and
/// how many of these the fault ended.
///
/// # Errors
/// What is wrong, with the fault that shows it.
pub fn fail_log_calls(seed: u64, step_count: u64) -> Result<(u64, u64), String> {
    let disk = Arc::new(SimDisk::new(Vec::new()));
    let (_, result) = LogWorkload::new(disk.clone(), seed).run(step_count);
    result.map_err(|what| format!("without any fault: {what}"))?;
    let (mut runs, mut stopped) = (0, 0);
    for kind in [FaultKind::Write, FaultKind::Sync, FaultKind::SetLen] {
        for nth in 0..disk.call_count(kind) {
            for (error, effect) in [
                (ErrorKind::Other, 0),
                (ErrorKind::Other, 200),
                (ErrorKind::StorageFull, 100),
            ] {
                let fault = Fault {
                    kind,
                    nth,
                    is_persistent: false,
                    error,
                    effect,
                };
                let is_stopped = fail_once(seed, step_count, fault);
                let is_stopped = is_stopped
                    .map_err(|what| format!("workload QUIRE_SEED={seed}, {fault:?}: {what}"))?;
                runs += 1;
                stopped += u64::from(is_stopped);
            }
        }
    }
    Ok((runs, stopped))
}

fn fail_once(seed: u64, step_count: u64, fault: Fault) -> Result<bool, String> {
    let disk = Arc::new(SimDisk::recording(Vec::new()));
    disk.add_fault(fault);
    let (history, result) = LogWorkload::new(disk.clone(), seed).run(step_count);
    disk.clear_faults();
    let journal = disk.journal();
    let expectation = history.expectation(&journal, journal.len());
    for (name, image) in [
        ("a crash", disk.crash(seed)),
        ("a crash that loses all", disk.crash_losing_all()),
        ("a restart", disk.to_bytes()),
    ] {
        verify_log(image, &volume_options(seed), &expectation, seed)
            .map_err(|what| format!("after {name}: {what}"))?;
    }
    Ok(result.is_err())
}
