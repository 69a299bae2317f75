//! Time: medians of short rounds, and the clock of the processor.

use crate::machine;
use std::convert::Infallible;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// How long to measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MeasureEffort {
    /// Small samples and few rounds: the figures have their shape, their values mean little.
    Quick,
    /// A command takes less than a minute.
    #[default]
    Full,
}

/// Measures on one machine.
#[derive(Clone, Debug)]
pub struct Lab {
    effort: MeasureEffort,
    cycles_per_ns: f64,
    machine: String,
}

/// Work that is shorter is repeated within a round.
const ROUND_NS_MIN: u64 = 20_000;
/// Work is repeated before it is measured, for caches, branch predictors and the clock.
const WARM_UP: Duration = Duration::from_millis(1);
const WARM_UP_CALLS: u32 = 3;

impl Lab {
    /// Measures the clock first.
    pub fn new(effort: MeasureEffort) -> Self {
        let cycles_per_ns = cycles_per_ns();
        Self {
            effort,
            cycles_per_ns,
            machine: machine::description(cycles_per_ns),
        }
    }

    /// How long this one measures.
    pub fn effort(&self) -> MeasureEffort {
        self.effort
    }

    /// The machine, in words.
    pub fn machine(&self) -> &str {
        &self.machine
    }

    /// Processor cycles of so many nanoseconds, by the clock measured at the beginning.
    pub fn cycles(&self, nanoseconds: f64) -> f64 {
        nanoseconds * self.cycles_per_ns
    }

    /// `full`, or `quick` where it has to be quick.
    pub(crate) fn size(&self, full: usize, quick: usize) -> usize {
        match self.effort {
            MeasureEffort::Full => full,
            MeasureEffort::Quick => quick,
        }
    }

    /// Nanoseconds that `work` takes: the median of rounds, after a warm-up.
    pub(crate) fn nanoseconds<E>(&self, mut work: impl FnMut() -> Result<(), E>) -> Result<f64, E> {
        let warm_up = Instant::now();
        let mut once = Duration::MAX;
        for call in 1.. {
            let start = Instant::now();
            work()?;
            once = once.min(start.elapsed());
            let warm = call >= WARM_UP_CALLS && warm_up.elapsed() >= WARM_UP;
            if warm || self.effort == MeasureEffort::Quick {
                break;
            }
        }
        let once_ns = once.as_nanos().clamp(1, u128::from(u64::MAX)) as u64;
        let calls = ROUND_NS_MIN.div_ceil(once_ns);
        let (budget_ns, rounds_min, rounds_max) = match self.effort {
            MeasureEffort::Full => (40_000_000, 9, 61),
            MeasureEffort::Quick => (0, 3, 3),
        };
        let rounds = (budget_ns / (once_ns * calls)).clamp(rounds_min, rounds_max);
        let mut times = Vec::new();
        for _ in 0..rounds {
            let start = Instant::now();
            for _ in 0..calls {
                work()?;
            }
            times.push(start.elapsed().as_secs_f64() * 1e9 / calls as f64);
        }
        Ok(median(&mut times))
    }

    /// As [`Lab::nanoseconds`], of work that cannot fail.
    pub(crate) fn nanoseconds_of(&self, mut work: impl FnMut()) -> f64 {
        let measured = self.nanoseconds(|| {
            work();
            Ok::<(), Infallible>(())
        });
        match measured {
            Ok(nanoseconds) => nanoseconds,
            Err(never) => match never {},
        }
    }
}

/// The middle one; never 0, so that it can be divided by.
fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times
        .get(times.len() / 2)
        .map_or(f64::MIN_POSITIVE, |middle| middle.max(1e-3))
}

/// Dependent additions per nanosecond, of the fastest of many rounds. Each waits for the one before it and takes
/// one cycle on every processor of today.
fn cycles_per_ns() -> f64 {
    const STEPS: u32 = 2_000;
    const ADDITIONS: f64 = STEPS as f64 * 16.0;
    let round = || {
        let (mut low, mut high) = (black_box(1u64), black_box(1u64));
        let start = Instant::now();
        for _ in 0..STEPS {
            // Fibonacci numbers have no shorter sum that a compiler would find.
            for _ in 0..8 {
                low = low.wrapping_add(high);
                high = high.wrapping_add(low);
            }
        }
        black_box((low, high));
        start.elapsed().as_secs_f64() * 1e9
    };
    let fastest = (0..200).map(|_| round()).fold(f64::INFINITY, f64::min);
    ADDITIONS / fastest.max(1e-3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_of_the_times() {
        assert_eq!(median(&mut [9.0, 1.0, 4.0]), 4.0);
        assert_eq!(median(&mut [7.0, 2.0, 300.0, 5.0, 1.0]), 5.0);
    }

    #[test]
    fn work_that_fails_is_not_measured() {
        let lab = Lab::new(MeasureEffort::Quick);
        assert_eq!(lab.nanoseconds(|| Err::<(), _>("broken")), Err("broken"));
    }
}
