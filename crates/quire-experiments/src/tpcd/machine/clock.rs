//! A clock that goes as our processor works and as a disk lets it wait.
//!
//! The machine of the paper has one processor, which computes or waits. So time is what the processor needs, every second of ours being as many of
//! the paper's processor as that is slower, and what the disk then lets it wait. Nobody sleeps: who waits for the disk moves the clock. An
//! experiment takes as long as its computing does, and what others do on the machine is not in its times.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nix::time::{ClockId, clock_gettime};
use quire_store::disk::DeviceClock;

use super::Moment;

/// What the threads of this process have computed.
pub(crate) fn processor_time() -> Duration {
    // A clock that every system has.
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID);
    time.map_or(Duration::ZERO, Duration::from)
}

/// Processor time of another processor, and waiting.
#[derive(Debug)]
pub(crate) struct ProcessorClock {
    start: Duration,
    slowness: f64,
    waited: Mutex<Duration>,
}

impl ProcessorClock {
    /// A clock that begins now; `slowness`: how many of its seconds are one of our processor.
    pub(crate) fn new(slowness: f64) -> Self {
        Self {
            start: processor_time(),
            slowness,
            waited: Mutex::default(),
        }
    }

    /// Now.
    pub(crate) fn moment(&self) -> Moment {
        let waited = self.lock();
        let processor = self.processor();
        Moment {
            time: processor + *waited,
            processor,
            ..Moment::default()
        }
    }

    fn processor(&self) -> Duration {
        (processor_time().saturating_sub(self.start)).mul_f64(self.slowness)
    }

    fn lock(&self) -> MutexGuard<'_, Duration> {
        self.waited.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DeviceClock for ProcessorClock {
    fn now(&self) -> Duration {
        self.moment().time
    }

    fn wait_until(&self, moment: Duration) {
        let mut waited = self.lock();
        let now = self.processor() + *waited;
        *waited += moment.saturating_sub(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_passes_without_computing() {
        let clock = ProcessorClock::new(10.0);
        let before = clock.moment();
        clock.wait_until(before.time + Duration::from_secs(1_000));
        let after = clock.moment();
        assert!(after.time >= before.time + Duration::from_secs(1_000));
        // Whoever computes for 100 seconds meanwhile is no test.
        assert!(after.processor < before.processor + Duration::from_secs(1_000));
        clock.wait_until(before.time);
        assert!(clock.now() < after.time + Duration::from_secs(1_000));
    }

    #[test]
    fn computing_passes_slower_than_here() {
        let clock = ProcessorClock::new(10.0);
        let start = processor_time();
        let mut sum = 0_u64;
        while processor_time() - start < Duration::from_millis(5) {
            sum = std::hint::black_box(sum + 1);
        }
        let passed = clock.moment().processor;
        assert!(passed >= Duration::from_millis(50), "{passed:?} of {sum}");
    }
}
