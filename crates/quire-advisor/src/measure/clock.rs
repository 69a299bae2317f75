//! What time it is, and how long processors have worked.

use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};

/// The clock of all measurements. Tests have one of their own.
pub trait AdvisorClock {
    /// Time since any fixed moment.
    fn now(&self) -> Duration;

    /// What the threads of this process have computed since any fixed moment.
    fn processor_time(&self) -> Duration;
}

/// The clocks of this machine. What other sessions of the process compute meanwhile is counted, too.
#[derive(Clone, Copy, Debug)]
pub struct MachineClock {
    start: Instant,
}

impl Default for MachineClock {
    fn default() -> Self {
        Self {
            start: Instant::now(),
        }
    }
}

impl AdvisorClock for MachineClock {
    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn processor_time(&self) -> Duration {
        // A clock that every system has.
        let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID);
        time.map_or(Duration::ZERO, Duration::from)
    }
}
