//! The clock of a throttled disk.

use std::fmt::Debug;
use std::time::{Duration, Instant};

/// Tells the time and waits. Tests use simulated clocks.
pub trait DeviceClock: Debug + Send + Sync {
    /// Time since a fixed moment.
    fn now(&self) -> Duration;

    /// Returns at `moment` or later.
    fn wait_until(&self, moment: Duration);
}

/// Real time.
///
/// The operating system wakes a sleeping thread some tens of microseconds late, which is as long as a solid-state disk takes for a read.
/// So the last part of each wait is spent polling; its length is the lateness measured when the clock was created.
#[derive(Debug)]
pub struct RealClock {
    start: Instant,
    late_by: Duration,
}

/// Upper limit of the polled part of a wait.
const LATE_BY_MAX: Duration = Duration::from_micros(150);

impl RealClock {
    /// A clock that starts now. Takes about a millisecond to measure how late threads are woken.
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
