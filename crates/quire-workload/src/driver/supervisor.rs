//! What the main thread does while users work: it measures, tells the progress, and looks for a cancellation.

use super::run_state::RunState;
use crate::measure::{Meter, RunMeasurement};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

const TICK: Duration = Duration::from_secs(1);
/// How long a cancellation waits at most until it is seen.
const CANCEL_LOOK: Duration = Duration::from_millis(100);

/// How far a run is. The progress is called each second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunProgress {
    /// Whether the measured time has not begun.
    pub is_warm_up: bool,
    /// Since the run began; longer than planned while the last transactions end.
    pub elapsed: Duration,
    /// Warm-up and measured time.
    pub planned: Duration,
    /// Transactions finished per second since the last call.
    pub tps: f64,
    /// Transactions finished since the run began.
    pub finished: u64,
    /// Transactions run again since the run began.
    pub retries: u64,
}

/// What is not transactional in this channel: it closes when all users have ended, by whatever way.
pub(super) enum NothingSent {}

/// What the supervisor found.
pub(super) struct Supervised {
    /// `None` if all users ended in the warm-up.
    pub(super) measurement: Option<RunMeasurement>,
    pub(super) is_cancelled: bool,
    /// The deadline, or when the last user ended before.
    pub(super) end: Instant,
}

pub(super) struct Supervisor<'a> {
    run: &'a RunState<'a>,
    server: &'a dyn Fn() -> Vec<u32>,
    others: &'a [u32],
    cancel: &'a AtomicBool,
    progress: &'a mut dyn FnMut(RunProgress),
    meter: Option<Meter>,
    measurement: Option<RunMeasurement>,
    is_cancelled: bool,
    told_at: Instant,
    told_finished: u64,
}

impl<'a> Supervisor<'a> {
    /// `server` names the processes of the database now.
    pub(super) fn new(
        run: &'a RunState<'a>,
        server: &'a dyn Fn() -> Vec<u32>,
        others: &'a [u32],
        cancel: &'a AtomicBool,
        progress: &'a mut dyn FnMut(RunProgress),
    ) -> Self {
        let mut supervisor = Self {
            run,
            server,
            others,
            cancel,
            progress,
            meter: None,
            measurement: None,
            is_cancelled: false,
            told_at: run.clock.start,
            told_finished: 0,
        };
        supervisor.begin_measuring();
        supervisor
    }

    /// Until all users have ended.
    pub(super) fn watch(mut self, users: &Receiver<NothingSent>) -> Supervised {
        loop {
            self.look();
            let left = self.next_look().saturating_duration_since(Instant::now());
            if let Err(RecvTimeoutError::Disconnected) = users.recv_timeout(left) {
                break;
            }
        }
        let end = Instant::now().min(self.run.clock.deadline);
        self.end_measuring();
        Supervised {
            measurement: self.measurement,
            is_cancelled: self.is_cancelled,
            end,
        }
    }

    fn look(&mut self) {
        if self.cancel.load(Ordering::Relaxed) && !self.is_cancelled {
            self.is_cancelled = true;
            self.run.stop.give();
        }
        self.begin_measuring();
        let now = Instant::now();
        if now >= self.run.clock.deadline {
            self.end_measuring();
        }
        if now >= self.told_at + TICK {
            self.tell(now);
        }
    }

    fn next_look(&self) -> Instant {
        let clock = self.run.clock;
        let mut next = (Instant::now() + CANCEL_LOOK).min(self.told_at + TICK);
        if self.meter.is_none() {
            next = next.min(clock.measured_from);
        } else if self.measurement.is_none() {
            next = next.min(clock.deadline);
        }
        next
    }

    fn begin_measuring(&mut self) {
        if self.meter.is_none() && Instant::now() >= self.run.clock.measured_from {
            self.meter = Some(Meter::start(&(self.server)(), self.others));
        }
    }

    fn end_measuring(&mut self) {
        if let (Some(meter), None) = (&self.meter, &self.measurement) {
            self.measurement = Some(meter.finish(&(self.server)()));
        }
    }

    fn tell(&mut self, now: Instant) {
        let finished = self.run.finished.load(Ordering::Relaxed);
        let clock = self.run.clock;
        let since = now.duration_since(self.told_at).as_secs_f64();
        let progress = RunProgress {
            is_warm_up: now < clock.measured_from,
            elapsed: now.duration_since(clock.start),
            planned: clock.deadline.duration_since(clock.start),
            tps: finished.saturating_sub(self.told_finished) as f64 / since,
            finished,
            retries: self.run.retries.load(Ordering::Relaxed),
        };
        (self.progress)(progress);
        self.told_at = now;
        self.told_finished = finished;
    }
}
