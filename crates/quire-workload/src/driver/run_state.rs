//! What the users of a run share: its clock, its schedule, its end.

use super::options::RunOptions;
use super::schedule::ArrivalSchedule;
use crate::{SeededRandom, TransactionKind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The moments of a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunClock {
    pub(super) start: Instant,
    /// The end of the warm-up.
    pub(super) measured_from: Instant,
    pub(super) deadline: Instant,
}

impl RunClock {
    pub(super) fn starting_now(options: &RunOptions) -> Self {
        let start = Instant::now();
        let measured_from = start + options.warm_up;
        Self {
            start,
            measured_from,
            deadline: measured_from + options.measured,
        }
    }
}

/// Ends a run early: after a failure, or when it is cancelled. Users that wait are woken.
#[derive(Debug, Default)]
pub(super) struct StopSignal {
    is_given: AtomicBool,
    lock: Mutex<()>,
    wake: Condvar,
}

impl StopSignal {
    pub(super) fn give(&self) {
        // Under the lock: a user that has looked at the flag already waits, and is woken.
        let _lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_given.store(true, Ordering::Relaxed);
        self.wake.notify_all();
    }

    pub(super) fn is_given(&self) -> bool {
        self.is_given.load(Ordering::Relaxed)
    }

    /// Waits until then, or for the signal.
    pub(super) fn wait_until(&self, moment: Instant) {
        let mut lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while !self.is_given() {
            let left = moment.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let woken = self.wake.wait_timeout(lock, left);
            lock = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// What the users of a run share.
#[derive(Debug)]
pub(super) struct RunState<'a> {
    pub(super) options: &'a RunOptions,
    pub(super) kinds: &'a [TransactionKind],
    pub(super) clock: RunClock,
    pub(super) stop: StopSignal,
    schedule: Option<Mutex<ArrivalSchedule>>,
    /// For the progress only: during the warm-up, too.
    pub(super) finished: AtomicU64,
    pub(super) retries: AtomicU64,
}

impl<'a> RunState<'a> {
    pub(super) fn starting_now(options: &'a RunOptions, kinds: &'a [TransactionKind]) -> Self {
        let schedule = options.rate.map(|rate| {
            // Users have the parts from 0 on.
            let seed = SeededRandom::of_part(options.seed, u64::MAX).next_u64();
            Mutex::new(ArrivalSchedule::new(options.arrivals, rate, seed))
        });
        Self {
            options,
            kinds,
            clock: RunClock::starting_now(options),
            stop: StopSignal::default(),
            schedule,
            finished: AtomicU64::new(0),
            retries: AtomicU64::new(0),
        }
    }

    /// Whether users begin no more transactions.
    pub(super) fn is_over(&self) -> bool {
        self.stop.is_given() || Instant::now() >= self.clock.deadline
    }

    /// Waits for the next intended start and returns it; without a rate it is now. `None` if the run is over before.
    pub(super) fn next_start(&self) -> Option<Instant> {
        let Some(schedule) = &self.schedule else {
            return (!self.is_over()).then(Instant::now);
        };
        if self.is_over() {
            return None;
        }
        let start = {
            let mut schedule = schedule.lock().unwrap_or_else(PoisonError::into_inner);
            self.clock.start + schedule.take()
        };
        self.stop.wait_until(start.min(self.clock.deadline));
        // A start before the deadline that a user has taken is made, however late: nothing that was meant to happen is left out.
        (!self.stop.is_given() && start < self.clock.deadline).then_some(start)
    }

    /// Intended starts before `end` that no user was free for.
    pub(super) fn unstarted_before(&self, end: Instant) -> u64 {
        let Some(schedule) = &self.schedule else {
            return 0;
        };
        let mut schedule = schedule.lock().unwrap_or_else(PoisonError::into_inner);
        schedule.untaken_before(end.saturating_duration_since(self.clock.start))
    }

    /// Waits for so long, but not beyond the end of the run.
    pub(super) fn pause(&self, time: Duration) {
        if !time.is_zero() {
            let end = Instant::now() + time;
            self.stop.wait_until(end.min(self.clock.deadline));
        }
    }
}
