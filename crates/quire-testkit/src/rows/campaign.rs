//! Crashes at operations of many workloads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use quire_store::SimDisk;
use quire_store::disk::{CrashImages, DiskOperation};

use super::history::{DiskActivity, RowHistory};
use super::model::ModelState;
use super::schema::Variant;
use super::verify::{recover, verify};
use super::workload::RowWorkload;
use crate::random::TestRandom;
use crate::recovery::crash_again;

/// One recovery in so many is itself hit by crashes.
const NESTED_ONE_IN: u64 = 60;

/// After one recovery in so many the work goes on, and is hit again.
const GOES_ON_ONE_IN: u64 = 30;

/// A line is said after so many recoveries.
const PROGRESS_CASES: u64 = 2_500;

/// How a campaign is run.
#[derive(Clone, Copy, Debug)]
pub struct RowCampaign {
    /// The first workload; each after it has the next seed.
    pub first_seed: u64,
    /// How many recoveries there are to be, at least.
    pub cases: u64,
    /// With threads that compress pages and make checkpoints: what happens depends on more than the seed.
    pub has_threads: bool,
    /// Threads that take workloads in turn.
    pub workers: u64,
}

/// What a campaign has covered.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowReport {
    /// Workloads run.
    pub workloads: u64,
    /// Crashes recovered from.
    pub cases: u64,
    /// Of these, crashes that left pages written ahead.
    pub staged: u64,
    /// Of these, crashes with dictionaries of pages in the file.
    pub page_dictionaries: u64,
    /// Crashes during a recovery.
    pub nested: u64,
    /// Crashes of what went on after a crash.
    pub second: u64,
    /// Crashes by what was going on ([`DiskActivity`]).
    pub activities: [u64; DiskActivity::COUNT],
    /// Commits that returned.
    pub commits: u64,
    /// Cases in which more than what was durable had survived.
    pub more_survived: u64,
    /// Cases in which commits were lost that were not durable.
    pub less_survived: u64,
    /// Runs that a fault ended.
    pub stopped: u64,
}

impl RowReport {
    fn add(&mut self, other: &Self) {
        self.workloads += other.workloads;
        self.cases += other.cases;
        self.staged += other.staged;
        self.page_dictionaries += other.page_dictionaries;
        self.nested += other.nested;
        self.second += other.second;
        for (count, other) in self.activities.iter_mut().zip(other.activities) {
            *count += other;
        }
        self.commits += other.commits;
        self.more_survived += other.more_survived;
        self.less_survived += other.less_survived;
        self.stopped += other.stopped;
    }
}

/// Crashes workloads until enough cases have been recovered from and verified. Tells `say` how far it is.
///
/// # Errors
/// What is wrong, with the numbers that repeat it.
pub fn crash_rows(campaign: RowCampaign, say: impl Fn(&str) + Sync) -> Result<RowReport, String> {
    let total = Mutex::new((RowReport::default(), None::<String>));
    let lock = || total.lock().unwrap_or_else(PoisonError::into_inner);
    let next_seed = AtomicU64::new(campaign.first_seed);
    let work = || {
        while lock().0.cases < campaign.cases && lock().1.is_none() {
            let seed = next_seed.fetch_add(1, Ordering::Relaxed);
            let outcome = crash_workload(seed, campaign.has_threads);
            let mut total = lock();
            match outcome {
                Ok(report) => {
                    let before = total.0.cases / PROGRESS_CASES;
                    total.0.add(&report);
                    if total.0.cases / PROGRESS_CASES > before {
                        let RowReport {
                            cases, workloads, ..
                        } = total.0;
                        say(&format!(
                            "{cases} recoveries of {workloads} workloads, QUIRE_SEED={} to {seed}",
                            campaign.first_seed
                        ));
                    }
                }
                Err(what) => {
                    let threads = if campaign.has_threads {
                        " with threads"
                    } else {
                        ""
                    };
                    total.1 = Some(format!("row workload{threads} QUIRE_SEED={seed}: {what}"));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..campaign.workers {
            scope.spawn(work);
        }
    });
    match total.into_inner().unwrap_or_else(PoisonError::into_inner) {
        (report, None) => Ok(report),
        (_, Some(what)) => Err(what),
    }
}

fn crash_workload(seed: u64, has_threads: bool) -> Result<RowReport, String> {
    let disk = Arc::new(SimDisk::recording(Vec::new()));
    let mut random = TestRandom::new(seed ^ 0x0050_9619);
    let transactions = 10 + random.below(50);
    let mut workload = RowWorkload::new(disk.clone(), seed, has_threads);
    let result = workload.run(transactions);
    result.map_err(|what| format!("without any fault: {what}"))?;
    let variant = workload.variant;
    let history = workload.end();
    let mut report = RowReport {
        workloads: 1,
        commits: history.returned_count(),
        ..RowReport::default()
    };
    let run = CrashRun {
        start: Vec::new(),
        journal: &disk.journal(),
        history: &history,
        variant,
        is_second: false,
    };
    run.crash_everywhere(&mut random, &mut report)?;
    Ok(report)
}

/// What a workload did to a disk.
struct CrashRun<'a> {
    start: Vec<u8>,
    journal: &'a [DiskOperation],
    history: &'a RowHistory,
    variant: Variant,
    /// It began after a crash.
    is_second: bool,
}

impl CrashRun<'_> {
    fn crash_everywhere(
        &self,
        random: &mut TestRandom,
        report: &mut RowReport,
    ) -> Result<(), String> {
        let mut crashes = CrashImages::new(self.start.clone(), self.journal);
        let mut synced_at = 0;
        loop {
            let position = crashes.position();
            if random.below(self.variant.crash_one_in()) == 0 {
                let case = RowCrashCase::new(self.history, position, synced_at, random.next_u64());
                self.crash_once(&crashes.image(case.damage), &case, report)
                    .map_err(|what| {
                        let (damage, activity) = (case.damage, case.activity);
                        format!(
                            "after operation {position} ({activity:?}), damage {damage}: {what}"
                        )
                    })?;
            }
            if self.journal.get(position) == Some(&DiskOperation::Sync) {
                synced_at = position;
            }
            if !crashes.advance() {
                return Ok(());
            }
        }
    }

    fn crash_once(
        &self,
        image: &[u8],
        case: &RowCrashCase,
        report: &mut RowReport,
    ) -> Result<(), String> {
        let mut random = TestRandom::new(case.damage);
        let (allowed, seed) = (&case.allowed, random.next_u64());
        let recovered = verify(image.to_vec(), allowed, case.may_be_blank, seed)?;
        report.cases += 1;
        report.second += u64::from(self.is_second);
        report.activities[case.activity as usize] += 1;
        report.staged += u64::from(recovered.was_staged);
        report.page_dictionaries += u64::from(recovered.has_page_dictionaries);
        let found = &allowed[recovered.position];
        if allowed.iter().any(|state| state != &allowed[0]) {
            report.more_survived += u64::from(found != &allowed[0]);
            report.less_survived += u64::from(Some(found) != allowed.last());
        }
        if case.may_be_blank || self.is_second {
            return Ok(());
        }
        if random.below(NESTED_ONE_IN) == 0 {
            let found = std::slice::from_ref(found);
            let nested = crash_again(
                image,
                &mut random,
                |disk| recover(disk, seed),
                |image| verify(image, found, false, seed ^ 1),
            )?;
            report.cases += nested;
            report.nested += nested;
        }
        if random.below(GOES_ON_ONE_IN) == 0 {
            self.go_on(image, found, &mut random, report)
                .map_err(|what| format!("went on: {what}"))?;
        }
        Ok(())
    }

    /// Works on with what a crash has left, and crashes that.
    fn go_on(
        &self,
        image: &[u8],
        found: &Arc<ModelState>,
        random: &mut TestRandom,
        report: &mut RowReport,
    ) -> Result<(), String> {
        let disk = Arc::new(SimDisk::recording(image.to_vec()));
        let seed = random.next_u64();
        let mut workload = RowWorkload::after_crash(disk.clone(), seed, self.variant, found);
        workload.run(3 + random.below(6))?;
        let run = CrashRun {
            start: image.to_vec(),
            journal: &disk.journal(),
            history: &workload.end(),
            variant: self.variant,
            is_second: true,
        };
        run.crash_everywhere(random, report)
    }
}

/// A crash.
struct RowCrashCase {
    allowed: Vec<Arc<ModelState>>,
    may_be_blank: bool,
    activity: DiskActivity,
    damage: u64,
}

impl RowCrashCase {
    fn new(history: &RowHistory, position: usize, synced_at: usize, damage: u64) -> Self {
        Self {
            allowed: history.allowed_at(position, synced_at),
            may_be_blank: history.created_at.is_none_or(|created| position < created),
            activity: history.activity_at(position),
            damage,
        }
    }
}
