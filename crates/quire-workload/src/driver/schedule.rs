//! When transactions are meant to begin, if a run has a rate.
//!
//! There is one schedule for all users. A user that is free takes the next intended start and waits for it; if it has passed, the user begins at
//! once, late. Starts that no user has taken in time wait in their order. So the users serve one queue, and a slow transaction delays
//! those behind it as it would delay requests that come from outside.

use super::options::Arrivals;
use crate::SeededRandom;
use std::time::Duration;

/// Intended starts, as times since the run began.
#[derive(Debug)]
pub(super) struct ArrivalSchedule {
    arrivals: Arrivals,
    rate: f64,
    random: SeededRandom,
    taken: u64,
    next_s: f64,
}

impl ArrivalSchedule {
    pub(super) fn new(arrivals: Arrivals, rate: f64, seed: u64) -> Self {
        let mut schedule = Self {
            arrivals,
            rate,
            random: SeededRandom::new(seed),
            taken: 0,
            next_s: 0.0,
        };
        if arrivals == Arrivals::Poisson {
            schedule.next_s = schedule.gap_s();
        }
        schedule
    }

    /// The next intended start; nobody else gets it.
    pub(super) fn take(&mut self) -> Duration {
        let taken = Duration::from_secs_f64(self.next_s);
        self.taken += 1;
        self.next_s = match self.arrivals {
            Arrivals::Poisson => self.next_s + self.gap_s(),
            // Not a sum of gaps, whose rounding errors would add up.
            Arrivals::Even => self.taken as f64 / self.rate,
        };
        taken
    }

    /// How many starts before `end` nobody has taken. They are taken now.
    pub(super) fn untaken_before(&mut self, end: Duration) -> u64 {
        let taken = self.taken;
        while self.next_s < end.as_secs_f64() {
            self.take();
        }
        self.taken - taken
    }

    /// Exponentially distributed, by inversion; the logarithm's argument is above 0.
    fn gap_s(&mut self) -> f64 {
        -(1.0 - self.random.fraction()).ln() / self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn even_starts_have_equal_distances() {
        let mut schedule = ArrivalSchedule::new(Arrivals::Even, 4.0, 1);
        let starts: Vec<u128> = (0..5).map(|_| schedule.take().as_millis()).collect();
        assert_eq!(starts, [0, 250, 500, 750, 1_000]);
        // 1.25 to 2.75.
        assert_eq!(schedule.untaken_before(Duration::from_secs(3)), 7);
        assert_eq!(schedule.untaken_before(Duration::from_secs(3)), 0);
    }

    #[test]
    fn poisson_starts_have_the_rate_and_the_spread_of_the_distribution() {
        let seed = 3;
        let mut schedule = ArrivalSchedule::new(Arrivals::Poisson, 100.0, seed);
        let mut counts = [0u32; 1_000];
        loop {
            let at = schedule.take().as_secs_f64();
            if at >= 100.0 {
                break;
            }
            counts[(at * 10.0) as usize] += 1;
        }
        // 10 starts in each tenth of a second; mean and variance of a Poisson distribution are equal.
        let mean = counts.iter().sum::<u32>() as f64 / 1e3;
        let squares = counts
            .iter()
            .map(|&count| (f64::from(count) - mean).powi(2));
        let variance = squares.sum::<f64>() / 1e3;
        assert!((9.5..10.5).contains(&mean), "{mean}, seed {seed}");
        assert!((8.0..12.0).contains(&variance), "{variance}, seed {seed}");
    }
}
