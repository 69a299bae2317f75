//! Time, as a throttled disk sees it.

use std::fmt::Debug;
use std::time::{Duration, Instant};

/// Tells the time and lets it pass. Tests have clocks of their own.
pub trait DeviceClock: Debug + Send + Sync {
    /// Since some moment that stays the same.
    fn now(&self) -> Duration;

    /// Returns at that moment or after it.
    fn wait_until(&self, moment: Duration);
}

/// The time that really passes.
///
/// A thread that sleeps is woken late by some tens of microseconds, which is as long as a solid-state disk takes for a read. So the
/// last part of each wait, as long as threads were late when the clock was made, is spent asking for the time.
#[derive(Debug)]
pub struct RealClock {
    start: Instant,
    late_by: Duration,
}

/// The last part of a wait is not longer than this.
const LATE_BY_MAX: Duration = Duration::from_micros(150);

impl RealClock {
    /// A clock that begins now. Takes a millisecond to see how late threads are woken.
    #[must_use]
    pub fn new() -> Self {
        let nap = Duration::from_micros(50);
        let mut late: Vec<Duration> = (0..9)
            .map(|_| {
                let start = Instant::now();
                std::thread::sleep(nap);
                start.elapsed().saturating_sub(nap)
            })
            .collect();
        late.sort_unstable();
        Self {
            start: Instant::now(),
            late_by: late[late.len() / 2].min(LATE_BY_MAX),
        }
    }
}

impl Default for RealClock {
    fn default() -> Self {
        Self::new()
    }
}

impl DeviceClock for RealClock {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn wait_until(&self, moment: Duration) {
        loop {
            let rest = moment.saturating_sub(self.now());
            if rest.is_zero() {
                return;
            }
            match rest.checked_sub(self.late_by) {
                Some(nap) if !nap.is_zero() => std::thread::sleep(nap),
                _ => std::thread::yield_now(),
            }
        }
    }
}
