//! How many distinct values a column has at least, told from a sample.

use crate::fixed::Interned;
use crate::int::element::Element;

/// How often values occur in a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frequencies {
    /// Distinct values of the sample.
    pub distinct: usize,
    /// Those that occur once.
    pub once: usize,
    /// Those that occur twice.
    pub twice: usize,
    /// Values of the sample.
    pub sampled: usize,
}

impl Frequencies {
    /// Of the number of occurrences of each distinct value.
    pub(crate) fn of(counts: impl Iterator<Item = u32>) -> Self {
        let mut found = Self {
            distinct: 0,
            once: 0,
            twice: 0,
            sampled: 0,
        };
        for count in counts {
            found.distinct += 1;
            found.once += usize::from(count == 1);
            found.twice += usize::from(count == 2);
            found.sampled += count as usize;
        }
        found
    }

    /// Distinct values to expect of `row_count` rows, at the least.
    ///
    /// Chao's lower bound for a population without end (A. Chao, "Nonparametric estimation of the number of classes
    /// in a population", 1984, corrected for bias): the more values occur once and the fewer twice, the more have not
    /// been seen, f₀. The rest of the column sees of them as many as it has values that occur once, u, if it is like
    /// the sample and no value comes again; f₀ (1 - exp(-u / f₀)) if they do, which is at least f₀ u / (f₀ + u).
    /// Values that repeat in few places of the column make the result too low.
    pub(crate) fn distinct_at_least(&self, row_count: usize) -> usize {
        let other_rows = row_count.saturating_sub(self.sampled) as f64;
        let once = self.once as f64;
        let unseen = once * (once - 1.0).max(0.0) / (2 * (self.twice + 1)) as f64;
        let seen_next = once * other_rows / self.sampled.max(1) as f64;
        let both = unseen + seen_next;
        let added = if both > 0.0 {
            unseen * seen_next / both
        } else {
            0.0
        };
        self.distinct + added as usize
    }
}

/// At least what the distinct values of the whole column take, if those of a sample of it take `sample_bytes`. They
/// are stored ascending: twice as many values in the same range are a bit closer to each other.
pub(crate) fn values_bytes(sample_bytes: usize, sample: usize, all: usize) -> usize {
    if all <= sample || sample == 0 {
        return sample_bytes;
    }
    let closer_bits = all.div_ceil(sample).next_power_of_two().trailing_zeros() as usize;
    let bytes = sample_bytes as f64 * all as f64 / sample as f64;
    (bytes as usize).saturating_sub(all * closer_bits / 8)
}

/// Frequencies of interned values.
pub(crate) fn frequencies<E: Element>(interned: &Interned<E>) -> Frequencies {
    let mut counts = vec![0; interned.distinct_count()];
    for &place in interned.places() {
        counts[place as usize] += 1;
    }
    Frequencies::of(counts.into_iter())
}

#[cfg(test)]
mod tests {
    use super::{Frequencies, values_bytes};

    /// Frequencies of every eleventh of 110,000 values drawn of so many, and how many are really there.
    fn drawn(of: u64) -> (Frequencies, usize) {
        let mut state = 7_u64;
        let mut all = std::collections::HashSet::new();
        let mut counts = std::collections::HashMap::new();
        for row in 0..110_000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let value = (state >> 33) % of;
            all.insert(value);
            if row % 11 == 0 {
                *counts.entry(value).or_insert(0_u32) += 1;
            }
        }
        (Frequencies::of(counts.into_values()), all.len())
    }

    #[test]
    fn an_even_draw_has_no_fewer_than_said_and_not_many_more() {
        for of in [3, 100, 5_000, 20_000, 60_000, u64::from(u32::MAX)] {
            let (sample, there) = drawn(of);
            let ratio = sample.distinct_at_least(110_000) as f64 / there as f64;
            assert!((0.75..1.02).contains(&ratio), "{ratio} of {there}");
        }
    }

    #[test]
    fn rare_values_are_no_more_than_there_are_rows_like_theirs() {
        // Ten frequent values, and one row in a hundred has a value of its own.
        let counts = std::iter::repeat_n(990, 10).chain(std::iter::repeat_n(1, 100));
        let sample = Frequencies::of(counts);
        let estimate = sample.distinct_at_least(100_000);
        assert!((110 + 700..=110 + 900).contains(&estimate), "{estimate}");
        assert_eq!(sample.distinct_at_least(10_000), 110);
    }

    #[test]
    fn a_sample_that_is_everything_is_exact() {
        assert_eq!(values_bytes(800, 100, 100), 800);
        let empty = Frequencies::of(std::iter::empty());
        assert_eq!(empty.distinct_at_least(10), 0);
    }
}
