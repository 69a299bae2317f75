//! Which of `n` keys does a transaction choose, and how unevenly?

use crate::SeededRandom;

/// How often each key of a range is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeyDistribution {
    /// All alike.
    Uniform,
    /// sysbench's default: 75 % of the choices fall uniformly on the middle 1 % of the keys, the others are the mean of 12 uniform ones.
    Special,
    /// The key of rank k with a probability in proportion to k^-`exponent`; rank 1 is the least key.
    Zipf { exponent: f64 },
}

impl KeyDistribution {
    /// What chooses among `count` keys, which is not 0.
    pub fn over(self, count: u64) -> KeyChooser {
        match self {
            Self::Uniform => KeyChooser::Uniform { count },
            Self::Special => KeyChooser::Special { count },
            Self::Zipf { exponent } => KeyChooser::Zipf(ZipfRanks::new(count, exponent)),
        }
    }
}

/// A distribution over a number of keys.
#[derive(Clone, Debug)]
pub enum KeyChooser {
    Uniform { count: u64 },
    Special { count: u64 },
    Zipf(ZipfRanks),
}

/// Of sysbench: `--rand-spec-pct`, `--rand-spec-res` and `--rand-spec-iter`.
const SPECIAL_SHARE_OF_KEYS: f64 = 0.01;
const SPECIAL_SHARE_OF_CHOICES: f64 = 0.75;
const SPECIAL_ITERATIONS: u32 = 12;

impl KeyChooser {
    /// A key from 1 to the count.
    pub fn choose(&self, random: &mut SeededRandom) -> i64 {
        let below = match self {
            Self::Uniform { count } => random.below(*count),
            Self::Special { count } => special(*count, random),
            Self::Zipf(ranks) => ranks.draw(random) - 1,
        };
        1 + below as i64
    }
}

fn special(count: u64, random: &mut SeededRandom) -> u64 {
    if random.happens(SPECIAL_SHARE_OF_CHOICES) {
        let special = ((count as f64 * SPECIAL_SHARE_OF_KEYS).round() as u64).max(1);
        return (count - special) / 2 + random.below(special);
    }
    let sum: f64 = (0..SPECIAL_ITERATIONS).map(|_| random.fraction()).sum();
    // The mean is below 1, but its product with a large count may be rounded up to it.
    ((sum / f64::from(SPECIAL_ITERATIONS) * count as f64) as u64).min(count - 1)
}

/// Zipf's distribution of ranks 1 to n, drawn by rejection from an integral (W. Hörmann, G. Derflinger, *Rejection-inversion to generate
/// variates from monotone discrete distributions*, ACM TOMACS 6(3), 1996): exact, in constant time and space. h(x) = x^-s, and H is its
/// integral from 1, which is continuous in s at 1.
#[derive(Clone, Debug)]
pub struct ZipfRanks {
    count: u64,
    exponent: f64,
    /// H(3/2) - h(1): rank 1 gets an interval of length h(1), so that it is never rejected.
    least: f64,
    /// H(n + 1/2).
    most: f64,
}

impl ZipfRanks {
    /// Ranks up to `count`, which is not 0; the exponent is not negative.
    pub fn new(count: u64, exponent: f64) -> Self {
        Self {
            count,
            exponent,
            least: integral(1.5, exponent) - 1.0,
            most: integral(count as f64 + 0.5, exponent),
        }
    }

    /// A rank.
    pub fn draw(&self, random: &mut SeededRandom) -> u64 {
        loop {
            let area = self.most + random.fraction() * (self.least - self.most);
            let point = inverse_of_integral(area, self.exponent);
            let rank = (point.round() as u64).clamp(1, self.count);
            // Rank k owns [H(k - 1/2), H(k + 1/2)], which is at least h(k) long as h is convex; the last h(k) of it are accepted.
            let end = integral(rank as f64 + 0.5, self.exponent);
            if area >= end - (rank as f64).powf(-self.exponent) {
                return rank;
            }
        }
    }
}

fn integral(x: f64, exponent: f64) -> f64 {
    let power = (1.0 - exponent) * x.ln();
    if power.abs() < 1e-9 {
        x.ln()
    } else {
        power.exp_m1() / (1.0 - exponent)
    }
}

fn inverse_of_integral(area: f64, exponent: f64) -> f64 {
    let scaled = area * (1.0 - exponent);
    if scaled.abs() < 1e-9 {
        area.exp()
    } else {
        // Rounding may take the argument below its least value, where the logarithm would be NaN.
        (scaled.max(-1.0 + f64::EPSILON).ln_1p() / (1.0 - exponent)).exp()
    }
}

/// The exponent with which the `hottest` most chosen of `count` keys get this share of the choices: the hit rate of a cache that holds
/// exactly these. It lies between 0 and 4.
///
/// Paper 4, table VI: hits of 81.50 % with a buffer of 1/11 of the data.
pub fn zipf_exponent_of_share(count: u64, hottest: u64, share: f64) -> f64 {
    let sum = |up_to: u64, exponent: f64| -> f64 {
        (1..=up_to).map(|rank| (rank as f64).powf(-exponent)).sum()
    };
    let (mut least, mut most) = (0.0, 4.0);
    for _ in 0..40 {
        let middle = (least + most) / 2.0;
        if sum(hottest, middle) < share * sum(count, middle) {
            least = middle;
        } else {
            most = middle;
        }
    }
    (least + most) / 2.0
}

#[cfg(test)]
mod tests {
    use super::{KeyDistribution, zipf_exponent_of_share};
    use crate::SeededRandom;

    const DRAWS: u64 = 200_000;

    fn counts(distribution: KeyDistribution, keys: u64, seed: u64) -> Vec<u64> {
        let chooser = distribution.over(keys);
        let mut random = SeededRandom::new(seed);
        let mut counts = vec![0; keys as usize];
        for _ in 0..DRAWS {
            counts[chooser.choose(&mut random) as usize - 1] += 1;
        }
        counts
    }

    /// The sum of (observed - expected)^2 / expected is about the number of ranks - 1, with a deviation of sqrt(2 · ranks).
    fn chi_square(counts: &[u64], weight: impl Fn(usize) -> f64) -> f64 {
        let total: f64 = (0..counts.len()).map(&weight).sum();
        let terms = counts.iter().enumerate().map(|(index, &count)| {
            let expected = DRAWS as f64 * weight(index) / total;
            (count as f64 - expected).powi(2) / expected
        });
        terms.sum()
    }

    #[test]
    fn zipf_is_as_its_definition_says() {
        for (seed, exponent) in [0.0, 0.5, 0.8, 1.0, 1.2, 2.0].into_iter().enumerate() {
            let counts = counts(KeyDistribution::Zipf { exponent }, 100, seed as u64);
            let chi_square = chi_square(&counts, |index| (index as f64 + 1.0).powf(-exponent));
            let bound = 99.0 + 5.0 * (2.0 * 99.0f64).sqrt();
            assert!(
                chi_square < bound,
                "exponent {exponent}, seed {seed}: {chi_square} is above {bound}"
            );
        }
    }

    #[test]
    fn the_bound_tells_zipf_from_its_neighbours() {
        let counts = counts(KeyDistribution::Zipf { exponent: 0.8 }, 100, 1);
        let chi_square = chi_square(&counts, |index| (index as f64 + 1.0).powf(-0.83));
        assert!(chi_square > 99.0 + 5.0 * (2.0 * 99.0f64).sqrt());
    }

    #[test]
    fn special_keys_get_three_quarters() {
        let counts = counts(KeyDistribution::Special, 10_000, 3);
        let middle: u64 = counts[4_950..5_050].iter().sum();
        // 75 %, and 1 % of a range around the peak of the mean of twelve: 25 % · density 4.8 · 1 %.
        let share = middle as f64 / DRAWS as f64;
        assert!((0.755..0.77).contains(&share), "{share}");
        let each = counts[4_950..5_050].iter();
        let (least, most) = (each.clone().min().unwrap(), each.max().unwrap());
        assert!(*least > 1_300 && *most < 1_750, "{least} to {most}");
    }

    #[test]
    fn distributions_stay_in_their_range_even_for_one_key() {
        let mut random = SeededRandom::new(4);
        for distribution in [
            KeyDistribution::Uniform,
            KeyDistribution::Special,
            KeyDistribution::Zipf { exponent: 0.99 },
        ] {
            for count in [1, 2, 3, u64::from(u32::MAX)] {
                let chooser = distribution.over(count);
                for _ in 0..1_000 {
                    let key = chooser.choose(&mut random);
                    assert!((1..=count as i64).contains(&key), "{distribution:?}: {key}");
                }
            }
        }
    }

    #[test]
    fn the_exponent_of_a_hit_rate_gives_that_hit_rate() {
        let exponent = zipf_exponent_of_share(1_100, 100, 0.815);
        let counts = counts(KeyDistribution::Zipf { exponent }, 1_100, 9);
        let share = counts[..100].iter().sum::<u64>() as f64 / DRAWS as f64;
        assert!((share - 0.815).abs() < 0.005, "{exponent}: {share}");
    }
}
