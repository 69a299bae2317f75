//! Measured costs of reading, decoding and encoding page images.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Weight of a new measurement in an average, as a shift: 1/16.
const AVERAGE_SHIFT: u32 = 4;

/// An exponential moving average of durations, in nanoseconds; 0 before the first measurement. The update is not atomic: concurrent
/// measurements may be lost, which an average can tolerate.
#[derive(Debug, Default)]
pub(super) struct MovingAverage(AtomicU64);

impl MovingAverage {
    pub(super) fn note(&self, duration: Duration) {
        // At least 1, because 0 stands for no measurement.
        let measured = whole_ns(duration).max(1);
        let old = self.0.load(Ordering::Relaxed);
        let new = if old == 0 {
            measured
        } else {
            // Outliers are capped: the time may include one during which the thread was descheduled.
            let measured = measured.min(old.saturating_mul(16));
            old - (old >> AVERAGE_SHIFT) + (measured >> AVERAGE_SHIFT)
        };
        self.0.store(new.max(1), Ordering::Relaxed);
    }

    pub(super) fn ns(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The mean of all durations since the pool was made, in nanoseconds. Sum and count are two additions: whoever reads in between gets a mean
/// that is off by what is being noted; nothing is lost.
#[derive(Debug, Default)]
pub(super) struct MeanDuration {
    sum_ns: AtomicU64,
    count: AtomicU64,
}

impl MeanDuration {
    pub(super) fn note(&self, duration: Duration) {
        self.sum_ns.fetch_add(whole_ns(duration), Ordering::Relaxed);
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    /// The mean, rounded down; 0 before the first measurement.
    pub(super) fn ns(&self) -> u64 {
        let sum_ns = self.sum_ns.load(Ordering::Relaxed);
        let count = self.count.load(Ordering::Relaxed);
        sum_ns.checked_div(count).unwrap_or(0)
    }
}

/// A cost of paper 4's equation 2: as it is of late, for decisions (`tuner`), and its mean, for the equation.
#[derive(Debug, Default)]
pub(super) struct AccessCost {
    recent: MovingAverage,
    mean: MeanDuration,
}

impl AccessCost {
    pub(super) fn note(&self, duration: Duration) {
        self.recent.note(duration);
        self.mean.note(duration);
    }

    /// The moving average, in nanoseconds.
    pub(super) fn ns(&self) -> u64 {
        self.recent.ns()
    }

    /// The mean of all, in nanoseconds.
    pub(super) fn mean_ns(&self) -> u64 {
        self.mean.ns()
    }
}

/// Nanoseconds of a duration.
pub(super) fn whole_ns(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// The costs in the model of paper 4 (`tuner`), and the cost of encoding.
#[derive(Debug, Default)]
pub(super) struct PoolCosts {
    /// *T disk*: reading an image from the disk.
    pub(super) read: AccessCost,
    /// *T d*: decoding an image into a page.
    pub(super) decode: AccessCost,
    /// Encoding a page into an image.
    pub(super) encode: MovingAverage,
}

impl PoolCosts {
    /// Whether encoding a page is cheaper than reading its old image in order to append operations to that. False until an encoding
    /// has been measured.
    pub(super) fn is_compressing_cheaper(&self) -> bool {
        let (read, encode) = (self.read.ns(), self.encode.ns());
        encode > 0 && encode < read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_average_follows_what_it_measures_and_not_its_outliers() {
        let average = MovingAverage::default();
        assert_eq!(average.ns(), 0);
        average.note(Duration::from_nanos(1_000));
        assert_eq!(average.ns(), 1_000);
        average.note(Duration::from_secs(1));
        assert_eq!(
            average.ns(),
            1_000 - 62 + 1_000,
            "the outlier counts 16 times"
        );
        (0..200).for_each(|_| average.note(Duration::from_nanos(4_000)));
        assert!((3_900..=4_000).contains(&average.ns()), "{}", average.ns());
    }

    #[test]
    fn a_mean_counts_the_first_and_the_longest_like_all_others() {
        let cost = AccessCost::default();
        assert_eq!(cost.mean_ns(), 0);
        cost.note(Duration::from_nanos(1_000));
        (0..99).for_each(|_| cost.note(Duration::from_nanos(4_000)));
        cost.note(Duration::from_secs(1));
        assert_eq!(cost.mean_ns(), (1_000 + 99 * 4_000 + 1_000_000_000) / 101);
        assert!(cost.ns() < 10_000, "the outlier is capped: {}", cost.ns());
    }
}
