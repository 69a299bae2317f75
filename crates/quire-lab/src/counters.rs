//! Hardware counters, where the kernel gives them: cycles, instructions, mispredicted branches.

/// What the processor counted for one call of some work, in user mode.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CounterReading {
    pub(crate) cycles: f64,
    pub(crate) instructions: f64,
    pub(crate) branch_misses: f64,
}

impl CounterReading {
    pub(crate) fn instructions_per_cycle(&self) -> f64 {
        self.instructions / self.cycles.max(1.0)
    }
}

/// Counts `calls` calls of `work` and returns the mean of one.
///
/// # Errors
/// Why there are no counters: the kernel or a virtual machine refuses, or the system has no such interface.
pub(crate) fn count(calls: u32, work: impl FnMut()) -> Result<CounterReading, String> {
    system::count(calls, work)
}

#[cfg(target_os = "linux")]
mod system {
    use super::CounterReading;
    use perf_event::events::Hardware;
    use perf_event::{Builder, Counter};
    use std::io;

    pub(super) fn count(calls: u32, mut work: impl FnMut()) -> Result<CounterReading, String> {
        let refused = |error: io::Error| format!("the kernel refuses hardware counters: {error}");
        let events = [
            Hardware::CPU_CYCLES,
            Hardware::INSTRUCTIONS,
            Hardware::BRANCH_MISSES,
        ];
        let mut counters = Vec::new();
        for event in events {
            counters.push(Builder::new(event).build().map_err(refused)?);
        }
        counters
            .iter_mut()
            .try_for_each(Counter::enable)
            .map_err(refused)?;
        for _ in 0..calls {
            work();
        }
        counters
            .iter_mut()
            .try_for_each(Counter::disable)
            .map_err(refused)?;
        let mut counts = [0.0; 3];
        for (count, counter) in counts.iter_mut().zip(&mut counters) {
            *count = counter.read().map_err(refused)? as f64 / f64::from(calls.max(1));
        }
        let [cycles, instructions, branch_misses] = counts;
        if cycles == 0.0 || instructions == 0.0 {
            return Err("the machine counts no cycles or instructions".to_owned());
        }
        Ok(CounterReading {
            cycles,
            instructions,
            branch_misses,
        })
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::CounterReading;

    pub(super) fn count(_calls: u32, _work: impl FnMut()) -> Result<CounterReading, String> {
        Err("hardware counters are read on Linux alone".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    #[test]
    fn counters_count_what_is_done_or_say_why_not() {
        let work = || {
            for number in 0..10_000u64 {
                black_box(number);
            }
        };
        match count(10, work) {
            // Each of the 10,000 steps takes an instruction at least.
            Ok(reading) => assert!(reading.instructions >= 10_000.0, "{reading:?}"),
            Err(reason) => assert!(!reason.is_empty()),
        }
    }
}
