//! May a flush take its time, or does somebody wait for its end?

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Whether the flush in progress takes its time.
#[derive(Default)]
pub(super) struct FlushPace {
    state: Mutex<PaceState>,
    hurried: Condvar,
}

#[derive(Default)]
struct PaceState {
    is_slow: bool,
    /// How many wait for its end.
    waiting: usize,
}

/// As long as it lives, flushes hurry.
pub(super) struct Hurry<'a>(&'a FlushPace);

/// As long as it lives, flushes take their time, unless somebody waits.
pub(super) struct Slowly<'a>(&'a FlushPace);

impl FlushPace {
    pub(super) fn hurry(&self) -> Hurry<'_> {
        self.lock().waiting += 1;
        self.hurried.notify_all();
        Hurry(self)
    }

    pub(super) fn slowly(&self) -> Slowly<'_> {
        self.lock().is_slow = true;
        Slowly(self)
    }

    pub(super) fn is_slow(&self) -> bool {
        self.lock().is_slow()
    }

    /// Waits so long, or until somebody waits for the end of the flush.
    pub(super) fn rest(&self, time: Duration) {
        let rested = self
            .hurried
            .wait_timeout_while(self.lock(), time, |state| state.is_slow());
        drop(rested.unwrap_or_else(PoisonError::into_inner));
    }

    fn lock(&self) -> MutexGuard<'_, PaceState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PaceState {
    fn is_slow(&self) -> bool {
        self.is_slow && self.waiting == 0
    }
}

impl Drop for Hurry<'_> {
    fn drop(&mut self) {
        self.0.lock().waiting -= 1;
    }
}

impl Drop for Slowly<'_> {
    fn drop(&mut self) {
        self.0.lock().is_slow = false;
    }
}
