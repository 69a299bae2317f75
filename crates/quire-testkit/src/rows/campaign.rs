//! Crashes at operations of many workloads.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use quire_store::SimDisk;
use quire_store::disk::{CrashImages, Operation};

use super::history::{Activity, History};
use super::model::State;
use super::verify::{recover, verify};
use super::workload::Workload;
use crate::random::Random;
use crate::recovery::crash_again;

/// One operation in so many is followed by a crash.
const CRASH_ONE_IN: u64 = 4;

/// One recovery in so many is itself hit by crashes.
const NESTED_ONE_IN: u64 = 60;

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
    /// Crashes during a recovery.
    pub nested: u64,
    /// Crashes by what was going on ([`Activity`]).
    pub activities: [u64; Activity::COUNT],
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
        self.nested += other.nested;
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
    let mut random = Random::new(seed ^ 0x0050_9619);
    let transactions = 10 + random.below(50);
    let mut workload = Workload::new(disk.clone(), seed, has_threads);
    let result = workload.run(transactions);
    result.map_err(|what| format!("without any fault: {what}"))?;
    let history = workload.end();
    let mut report = RowReport {
        workloads: 1,
        commits: history.returned_count(),
        ..RowReport::default()
    };
    let journal = disk.journal();
    let mut crashes = CrashImages::new(Vec::new(), &journal);
    let mut synced_at = 0;
    loop {
        let position = crashes.position();
        if random.below(CRASH_ONE_IN) == 0 {
            let case = Case::new(&history, position, synced_at, random.next_u64());
            crash_once(&crashes.image(case.damage), &case, &mut report).map_err(|what| {
                let (damage, activity) = (case.damage, case.activity);
                format!("after operation {position} ({activity:?}), damage {damage}: {what}")
            })?;
        }
        if journal.get(position) == Some(&Operation::Sync) {
            synced_at = position;
        }
        if !crashes.advance() {
            return Ok(report);
        }
    }
}

/// A crash.
struct Case {
    allowed: Vec<Arc<State>>,
    may_be_blank: bool,
    activity: Activity,
    damage: u64,
}

impl Case {
    fn new(history: &History, position: usize, synced_at: usize, damage: u64) -> Self {
        Self {
            allowed: history.allowed_at(position, synced_at),
            may_be_blank: history.created_at.is_none_or(|created| position < created),
            activity: history.activity_at(position),
            damage,
        }
    }
}

fn crash_once(image: &[u8], case: &Case, report: &mut RowReport) -> Result<(), String> {
    let mut random = Random::new(case.damage);
    let (allowed, seed) = (&case.allowed, random.next_u64());
    let recovered = verify(image.to_vec(), allowed, case.may_be_blank, seed)?;
    report.cases += 1;
    report.activities[case.activity as usize] += 1;
    report.staged += u64::from(recovered.was_staged);
    if allowed.iter().any(|state| state != &allowed[0]) {
        report.more_survived += u64::from(allowed[recovered.position] != allowed[0]);
        report.less_survived += u64::from(Some(&allowed[recovered.position]) != allowed.last());
    }
    let nests = random.below(NESTED_ONE_IN) == 0;
    if case.may_be_blank || !nests {
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
