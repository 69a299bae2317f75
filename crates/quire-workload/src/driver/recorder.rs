//! What is counted of each kind of transactions.

use hdrhistogram::{CreationError, Histogram};
use std::time::Duration;

/// Values differ from those recorded by less than a thousandth.
const SIGNIFICANT_DIGITS: u8 = 3;
/// A day: no run is longer than some of them, and the histogram stays small.
const LATENCY_US_MAX: u64 = 86_400_000_000;

/// Counts and latencies of one kind, of one user or of all.
#[derive(Clone, Debug)]
pub(crate) struct KindRecorder {
    /// Microseconds. It grows with the largest value: hundreds of users have some of them each. 32 bits of a count are enough for a week.
    latencies: Histogram<u32>,
    pub(crate) latency_us_sum: u64,
    pub(crate) latency_us_max: u64,
    /// Committed or rolled back as the workload wants it.
    pub(crate) finished: u64,
    /// Of the finished, those that the workload rolled back.
    pub(crate) rolled_back: u64,
    /// Of the finished, those that ended behind the measured time.
    pub(crate) late: u64,
    pub(crate) retries: u64,
    /// Given up after the last retry; these have no latency.
    pub(crate) given_up: u64,
}

impl KindRecorder {
    /// # Errors
    /// Never: the number of digits is a constant.
    pub(crate) fn new() -> Result<Self, CreationError> {
        Ok(Self {
            latencies: Histogram::new(SIGNIFICANT_DIGITS)?,
            latency_us_sum: 0,
            latency_us_max: 0,
            finished: 0,
            rolled_back: 0,
            late: 0,
            retries: 0,
            given_up: 0,
        })
    }

    /// A transaction has finished.
    pub(crate) fn finished(&mut self, latency: Duration, is_rolled_back: bool, is_late: bool) {
        let latency_us = u64::try_from(latency.as_micros()).unwrap_or(u64::MAX);
        let latency_us = latency_us.min(LATENCY_US_MAX);
        self.finished += 1;
        self.rolled_back += u64::from(is_rolled_back);
        self.late += u64::from(is_late);
        self.latency_us_sum += latency_us;
        self.latency_us_max = self.latency_us_max.max(latency_us);
        // It fails for values that no array of this machine can index, and these are below a day.
        let _ = self.latencies.record(latency_us);
    }

    /// Adds what another user has.
    pub(crate) fn add(&mut self, other: &Self) {
        // Both grow, so each holds the other's values.
        let _ = self.latencies.add(&other.latencies);
        self.latency_us_sum += other.latency_us_sum;
        self.latency_us_max = self.latency_us_max.max(other.latency_us_max);
        self.finished += other.finished;
        self.rolled_back += other.rolled_back;
        self.late += other.late;
        self.retries += other.retries;
        self.given_up += other.given_up;
    }

    /// The least latency, in microseconds, that `quantile` of the transactions do not exceed; 0 if there are none.
    pub(crate) fn latency_us(&self, quantile: f64) -> u64 {
        let found = self.latencies.value_at_quantile(quantile);
        // The histogram answers with the upper end of a range.
        found.min(self.latency_us_max)
    }

    /// 0 if there are none.
    pub(crate) fn latency_us_mean(&self) -> f64 {
        self.latency_us_sum as f64 / self.finished.max(1) as f64
    }
}

/// What a user recorded.
#[derive(Clone, Debug)]
pub(crate) struct UserRecord {
    /// In the order of the workload's kinds.
    pub(crate) kinds: Vec<KindRecorder>,
    /// Finished transactions of each second of the measured time.
    pub(crate) finished_per_second: Vec<u64>,
}

impl UserRecord {
    /// # Errors
    /// Never.
    pub(crate) fn new(kinds_count: usize) -> Result<Self, CreationError> {
        let kinds = (0..kinds_count).map(|_| KindRecorder::new());
        Ok(Self {
            kinds: kinds.collect::<Result<_, _>>()?,
            finished_per_second: Vec::new(),
        })
    }

    /// A transaction ended in this second of the measured time.
    pub(crate) fn ended_in(&mut self, second: usize) {
        if self.finished_per_second.len() <= second {
            self.finished_per_second.resize(second + 1, 0);
        }
        self.finished_per_second[second] += 1;
    }

    /// Adds what another user has.
    pub(crate) fn add(&mut self, other: &Self) {
        for (own, others) in self.kinds.iter_mut().zip(&other.kinds) {
            own.add(others);
        }
        let seconds = self.finished_per_second.len();
        let seconds = seconds.max(other.finished_per_second.len());
        self.finished_per_second.resize(seconds, 0);
        let pairs = self.finished_per_second.iter_mut();
        for (own, others) in pairs.zip(&other.finished_per_second) {
            *own += others;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeededRandom;

    #[test]
    fn percentiles_are_those_of_sorted_values_within_a_thousandth() {
        let seed = 5;
        let mut random = SeededRandom::new(seed);
        let mut users = [KindRecorder::new().unwrap(), KindRecorder::new().unwrap()];
        let mut values = Vec::new();
        for at in 0..20_000 {
            // From microseconds to minutes.
            let value = 10f64.powf(8.0 * random.fraction()) as u64;
            values.push(value);
            users[at % 2].finished(Duration::from_micros(value), false, false);
        }
        let [mut all, other] = users;
        all.add(&other);
        values.sort_unstable();
        for quantile in [0.001, 0.5, 0.95, 0.99, 0.999, 1.0] {
            let rank = (quantile * values.len() as f64).ceil() as usize;
            let expected = values[rank - 1];
            let found = all.latency_us(quantile);
            let error_max = expected as f64 / 1e3;
            let error = found.abs_diff(expected) as f64;
            assert!(
                error <= error_max,
                "{found} for {expected} at {quantile}, seed {seed}"
            );
        }
        let mean = values.iter().sum::<u64>() as f64 / values.len() as f64;
        assert_eq!(all.latency_us_mean(), mean);
        assert_eq!(all.latency_us_max, values[values.len() - 1]);
        assert_eq!(all.finished, 20_000);
    }

    #[test]
    fn a_recorder_without_transactions_has_zeros() {
        let empty = KindRecorder::new().unwrap();
        assert_eq!(empty.latency_us(0.99), 0);
        assert_eq!(empty.latency_us_mean(), 0.0);
    }

    #[test]
    fn the_longest_times_are_kept() {
        let mut recorder = KindRecorder::new().unwrap();
        recorder.finished(Duration::MAX, true, true);
        recorder.finished(Duration::ZERO, false, false);
        assert_eq!(recorder.latency_us(1.0), LATENCY_US_MAX);
        assert_eq!(recorder.latency_us(0.5), 0);
        assert_eq!((recorder.rolled_back, recorder.late), (1, 1));
    }

    #[test]
    fn seconds_of_users_are_added() {
        let mut one = UserRecord::new(0).unwrap();
        let mut other = UserRecord::new(0).unwrap();
        one.ended_in(0);
        other.ended_in(2);
        other.ended_in(0);
        one.add(&other);
        assert_eq!(one.finished_per_second, [2, 0, 1]);
    }
}
