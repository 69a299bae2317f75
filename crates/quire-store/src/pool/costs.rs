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
        let measured = u64::try_from(duration.as_nanos())
            .unwrap_or(u64::MAX)
            .max(1);
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

/// The costs in the model of paper 4 (`tuner`), and the cost of encoding.
#[derive(Debug, Default)]
pub(super) struct PoolCosts {
    /// *T disk*: reading an image from the disk.
    pub(super) read: MovingAverage,
    /// *T d*: decoding an image into a page.
    pub(super) decode: MovingAverage,
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
}
