//! Crashes at every operation of many workloads; disks that fail at every call.

use std::fmt;
use std::io::ErrorKind;
use std::sync::Arc;

use quire_store::SimDisk;
use quire_store::disk::{CrashImages, Fault, FaultKind};

use super::rows::EngineContents;
use super::verify::{recover, verify};
use super::workload::EngineWorkload;
use crate::random::TestRandom;
use crate::recovery::crash_again;

/// Crashes tried after each operation of a workload.
const DAMAGES_PER_OPERATION: u64 = 2;

/// One recovery in so many, of those that free what was staged, is itself hit by crashes at all its operations.
const NESTED_ONE_IN: u64 = 8;

/// What a campaign has covered.
#[derive(Clone, Copy, Debug, Default)]
pub struct EngineReport {
    /// Workloads run.
    pub workloads: u64,
    /// Crashes recovered from.
    pub cases: u64,
    /// Of these, crashes that left pages written ahead.
    pub staged: u64,
    /// Crashes during a recovery that frees such pages.
    pub nested: u64,
    /// Cases in which the commit in flight had survived.
    pub in_flight_survived: u64,
    /// Cases in which the commit in flight was lost.
    pub in_flight_lost: u64,
    /// Shared dictionaries that tables had after appends.
    pub dictionaries: u64,
}

/// Crashes workloads until `case_count` cases have been recovered from and verified.
///
/// # Errors
/// What is wrong, with the numbers that repeat it.
pub fn run_crashes(first_seed: u64, case_count: u64) -> Result<EngineReport, String> {
    let mut report = EngineReport::default();
    let mut seed = first_seed;
    while report.cases < case_count {
        crash_workload(seed, &mut report)
            .map_err(|what| format!("engine workload QUIRE_SEED={seed}: {what}"))?;
        report.workloads += 1;
        seed += 1;
    }
    Ok(report)
}

fn crash_workload(seed: u64, report: &mut EngineReport) -> Result<(), String> {
    let disk = Arc::new(SimDisk::recording(Vec::new()));
    let (history, result) = EngineWorkload::new(disk.clone(), seed).run();
    result.map_err(|what| format!("without any fault: {what}"))?;
    report.dictionaries += history.dictionaries;
    let journal = disk.journal();
    let mut crashes = CrashImages::new(Vec::new(), &journal);
    let mut random = TestRandom::new(seed ^ 0x00e9_619e);
    loop {
        let position = crashes.position();
        let allowed = history.allowed_at(position);
        let may_be_blank = history.created_at.is_none_or(|created| position < created);
        for _ in 0..DAMAGES_PER_OPERATION {
            let case = EngineCrashCase {
                allowed: &allowed,
                may_be_blank,
                damage: random.next_u64(),
            };
            crash_once(&crashes.image(case.damage), &case, report)
                .map_err(|what| format!("after operation {position}, {case}: {what}"))?;
        }
        if !crashes.advance() {
            return Ok(());
        }
    }
}

/// A crash.
struct EngineCrashCase<'a> {
    allowed: &'a [Arc<EngineContents>],
    may_be_blank: bool,
    damage: u64,
}

impl fmt::Display for EngineCrashCase<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "damage {}", self.damage)
    }
}

fn crash_once(
    image: &[u8],
    case: &EngineCrashCase<'_>,
    report: &mut EngineReport,
) -> Result<(), String> {
    let mut random = TestRandom::new(case.damage);
    let (allowed, seed) = (case.allowed, random.next_u64());
    let recovered = verify(image.to_vec(), allowed, case.may_be_blank, seed)?;
    report.cases += 1;
    report.staged += u64::from(recovered.was_staged);
    if allowed.len() > 1 && *allowed[0] != *allowed[1] {
        report.in_flight_survived += u64::from(recovered.position == 1);
        report.in_flight_lost += u64::from(recovered.position == 0);
    }
    if !recovered.was_staged || random.below(NESTED_ONE_IN) > 0 {
        return Ok(());
    }
    let found = std::slice::from_ref(&allowed[recovered.position]);
    let nested = crash_again(
        image,
        &mut random,
        |disk| recover(disk, seed),
        |image| verify(image, found, false, seed ^ 1),
    )?;
    report.cases += nested;
    report.nested += nested;
    Ok(())
}

/// Lets a call of the disk fail in each of many workloads, then crashes the machine.
///
/// # Errors
/// What is wrong, with the numbers that repeat it.
pub fn run_faults(first_seed: u64, case_count: u64) -> Result<EngineReport, String> {
    let mut report = EngineReport::default();
    for seed in first_seed..first_seed + case_count {
        fail_workload(seed, &mut report)
            .map_err(|what| format!("failing workload QUIRE_SEED={seed}: {what}"))?;
        report.workloads += 1;
    }
    Ok(report)
}

fn fail_workload(seed: u64, report: &mut EngineReport) -> Result<(), String> {
    let mut random = TestRandom::new(seed ^ 0xfa17);
    let disk = Arc::new(SimDisk::recording(Vec::new()));
    let kinds = [
        FaultKind::Read,
        FaultKind::Write,
        FaultKind::Sync,
        FaultKind::SetLen,
    ];
    let full = random.chance(20);
    if full {
        disk.set_quota(Some(8_192 + random.below(200_000)));
    } else {
        disk.add_fault(Fault {
            kind: kinds[random.below(4) as usize],
            nth: random.below(60),
            is_persistent: random.chance(50),
            error: ErrorKind::Other,
            effect: random.next_u64() as u8,
        });
    }
    let (history, result) = EngineWorkload::new(disk.clone(), seed).run();
    let failed = result.is_err();
    disk.clear_faults();
    disk.set_quota(None);
    let allowed = history.allowed_at(usize::MAX);
    let may_be_blank = history.created_at.is_none();
    // The disk as it is, and what a crash leaves of it: an acknowledged commit is in both.
    for image in [disk.to_bytes(), disk.crash(random.next_u64())] {
        let recovered = verify(image, &allowed, may_be_blank, random.next_u64())
            .map_err(|what| format!("after {result:?}: {what}"))?;
        report.cases += 1;
        report.staged += u64::from(recovered.was_staged);
        if failed && allowed.len() > 1 {
            report.in_flight_survived += u64::from(recovered.position == 1);
            report.in_flight_lost += u64::from(recovered.position == 0);
        }
    }
    Ok(())
}
