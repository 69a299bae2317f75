//! What reading, decoding and encoding an image cost, as measured.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Share of a new measurement in an average: a sixteenth.
const AVERAGE_SHIFT: u32 = 4;

/// An average that forgets, in nanoseconds; 0 before the first measurement. Threads that measure at the same time may
/// lose a measurement.
#[derive(Debug, Default)]
pub(super) struct Average(AtomicU64);

impl Average {
    pub(super) fn note(&self, duration: Duration) {
        let measured = u64::try_from(duration.as_nanos())
            .unwrap_or(u64::MAX)
            .max(1);
        let before = self.0.load(Ordering::Relaxed);
        let after = if before == 0 {
            measured
        } else {
            // A thread that was not running must not count for more than a slow disk.
            let measured = measured.min(before.saturating_mul(16));
            before - (before >> AVERAGE_SHIFT) + (measured >> AVERAGE_SHIFT)
        };
        self.0.store(after.max(1), Ordering::Relaxed);
    }

    pub(super) fn ns(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The times of paper 4's model, and that of making an image.
#[derive(Debug, Default)]
pub(super) struct PoolCosts {
    /// *T disk*: one image from the disk.
    pub(super) read: Average,
    /// *T d*: one page from its image.
    pub(super) decode: Average,
    /// One image from its page.
    pub(super) encode: Average,
}

impl PoolCosts {
    /// Whether making an image anew costs less than reading the one to which operations could be appended.
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
        let average = Average::default();
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
