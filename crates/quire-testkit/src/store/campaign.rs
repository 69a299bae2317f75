//! Crashes at every operation of many workloads, some of them followed by a crash during the
//! recovery.

use std::sync::Arc;

use quire_store::SimDisk;
use quire_store::disk::CrashImages;

use super::model::State;
use super::verify::{Expectation, verify_recovery};
use super::workload::{StoreWorkload, WorkloadOptions, volume_options};
use crate::random::TestRandom;

/// Crashes tried after each operation of a workload.
const DAMAGES_PER_OPERATION: u64 = 3;

/// One recovery in so many is itself hit by crashes.
const NESTED_ONE_IN: u64 = 16;

/// Crashes tried in such a recovery.
const NESTED_CRASHES: u64 = 4;

/// What a campaign has covered.
#[derive(Clone, Copy, Debug, Default)]
pub struct CampaignReport {
    /// Workloads run.
    pub workloads: u64,
    /// Crashes recovered from.
    pub cases: u64,
    /// Of these, crashes during or after a recovery from another crash.
    pub nested_cases: u64,
    /// Cases in which the commit in flight had survived.
    pub in_flight_survived: u64,
}

/// Crashes workloads until `case_count` cases have been recovered from and verified.
///
/// # Errors
/// What is wrong, with the numbers that repeat it.
pub fn run_campaign(
    first_seed: u64,
    case_count: u64,
    options: WorkloadOptions,
) -> Result<CampaignReport, String> {
    let mut report = CampaignReport::default();
    let mut seed = first_seed;
    while report.cases < case_count {
        crash_workload(seed, options, case_count, &mut report)
            .map_err(|what| format!("workload QUIRE_SEED={seed} (with QUIRE_CASES=1): {what}"))?;
        report.workloads += 1;
        seed += 1;
    }
    Ok(report)
}

fn crash_workload(
    seed: u64,
    options: WorkloadOptions,
    case_count: u64,
    report: &mut CampaignReport,
) -> Result<(), String> {
    let disk = Arc::new(SimDisk::recording(Vec::new()));
    let (history, result) = StoreWorkload::new(disk.clone(), seed, options, State::default()).run();
    result.map_err(|what| format!("without any fault: {what}"))?;
    let journal = disk.journal();
    let mut crashes = CrashImages::new(Vec::new(), &journal);
    let mut random = TestRandom::new(seed ^ 0xc4a5);
    loop {
        let position = crashes.position();
        let expectation = Expectation {
            allowed: history.allowed_at(position),
            may_be_blank: history.created_at.is_none_or(|created| position < created),
        };
        for _ in 0..DAMAGES_PER_OPERATION {
            let damage = random.next_u64();
            crash_once(crashes.image(damage), seed, damage, &expectation, report)
                .map_err(|what| format!("after operation {position}, damage {damage}: {what}"))?;
            // The first workload is always done to its end, so that a replay repeats it all.
            if report.cases >= case_count && report.workloads > 0 {
                return Ok(());
            }
        }
        if !crashes.advance() {
            return Ok(());
        }
    }
}

fn crash_once(
    image: Vec<u8>,
    seed: u64,
    damage: u64,
    expectation: &Expectation,
    report: &mut CampaignReport,
) -> Result<(), String> {
    let mut random = TestRandom::new(damage);
    let options = volume_options(seed);
    let (state, disk) = verify_recovery(image.clone(), &options, expectation, random.next_u64())?;
    report.cases += 1;
    let is_newest = expectation
        .allowed
        .last()
        .is_some_and(|last| Arc::ptr_eq(last, &state));
    report.in_flight_survived += u64::from(expectation.allowed.len() > 1 && is_newest);
    if random.below(NESTED_ONE_IN) > 0 {
        return Ok(());
    }
    let journal = disk.journal();
    let mut crashes = CrashImages::new(image, &journal);
    for _ in 0..NESTED_CRASHES {
        for _ in 0..random.below(4) {
            crashes.advance();
        }
        let nested_damage = random.next_u64();
        // What the first recovery wrote is in flight all the time: it may be there or not.
        let found = verify_nested(crashes.image(nested_damage), &options, &state, expectation);
        found.map_err(|what| format!("again after {}: {what}", crashes.position()))?;
        report.cases += 1;
        report.nested_cases += 1;
    }
    Ok(())
}

/// After a second crash the volume has what the first recovery found, and at most one page more.
fn verify_nested(
    image: Vec<u8>,
    options: &quire_store::VolumeOptions,
    state: &State,
    expectation: &Expectation,
) -> Result<(), String> {
    let disk = Arc::new(quire_store::MemDisk::from_bytes(image));
    let opened = if expectation.may_be_blank {
        quire_store::Volume::open_or_create(disk, options.clone())
    } else {
        quire_store::Volume::open_with(disk, quire_store::OpenMode::ReadWrite, options.clone())
    };
    let volume = opened.map_err(|error| format!("open: {error}"))?;
    let found = super::verify::read_all(&volume.pin())?;
    let is_kept = |(page, payload): (&u64, &Arc<Vec<u8>>)| found.get(page) == Some(payload);
    if !state.iter().all(is_kept) || found.len() > state.len() + 1 {
        return Err("what the first recovery found has changed".to_owned());
    }
    let torn = "superblocks_are_whole";
    match volume
        .check()
        .findings
        .iter()
        .find(|finding| finding.invariant != torn)
    {
        Some(finding) => Err(format!("check: {finding}")),
        None => Ok(()),
    }
}
