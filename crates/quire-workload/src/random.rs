//! A seeded source of numbers: the same seed gives the same rows and transactions with every version of every library.

/// SplitMix64 (Steele, Lea, Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct SeededRandom(u64);

impl SeededRandom {
    /// Numbers of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Numbers of a part of a seed, such as a table's or a user's, which do not depend on those of other parts.
    pub fn of_part(seed: u64, part: u64) -> Self {
        let mut mixed = Self(seed ^ part.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        Self(mixed.next_u64())
    }

    /// Any number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`, which is not 0. The bias is below `limit` / 2^64.
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(limit)) >> 64) as u64
    }

    /// A number from `least` to `most`, both included; `least` is not above `most`.
    pub fn between(&mut self, least: i64, most: i64) -> i64 {
        debug_assert!(least <= most);
        let values = most.wrapping_sub(least) as u64 + 1;
        least.wrapping_add(self.below(values) as i64)
    }

    /// A number from 0 to below 1.
    pub fn fraction(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Whether an event of this probability happens.
    pub fn happens(&mut self, probability: f64) -> bool {
        self.fraction() < probability
    }

    /// One of the entries, all equally likely; there is at least one.
    pub fn pick<'a, T>(&mut self, entries: &'a [T]) -> &'a T {
        &entries[self.below(entries.len() as u64) as usize]
    }

    /// The index of a weight, in proportion to the weights, of which at least one is not 0.
    pub fn weighted(&mut self, weights: &[u32]) -> usize {
        let total: u64 = weights.iter().map(|&weight| u64::from(weight)).sum();
        let mut left = self.below(total);
        for (index, &weight) in weights.iter().enumerate() {
            if left < u64::from(weight) {
                return index;
            }
            left -= u64::from(weight);
        }
        unreachable!("the weights sum to more than what is left")
    }

    /// A normally distributed number around the middle of `least` to `most`, which lies within three standard deviations on either side;
    /// others are drawn again.
    pub fn normal_between(&mut self, least: i64, most: i64) -> i64 {
        let (middle, deviation) = (
            (least as f64 + most as f64) / 2.0,
            (most as f64 - least as f64) / 6.0,
        );
        loop {
            // Box and Muller: the logarithm's argument is above 0.
            let radius = (-2.0 * (1.0 - self.fraction()).ln()).sqrt();
            let value =
                middle + deviation * radius * (std::f64::consts::TAU * self.fraction()).cos();
            let rounded = value.round();
            if rounded >= least as f64 && rounded <= most as f64 {
                return rounded as i64;
            }
        }
    }

    /// `bytes` letters from `a` to `z`.
    pub fn letters(&mut self, bytes: usize) -> String {
        (0..bytes)
            .map(|_| (b'a' + self.below(26) as u8) as char)
            .collect()
    }

    /// `bytes` digits.
    pub fn digits(&mut self, bytes: usize) -> String {
        (0..bytes)
            .map(|_| (b'0' + self.below(10) as u8) as char)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::SeededRandom;

    #[test]
    fn numbers_stay_within_their_bounds_and_reach_them() {
        let mut random = SeededRandom::new(1);
        let drawn: Vec<i64> = (0..1_000).map(|_| random.between(-2, 2)).collect();
        assert_eq!(drawn.iter().min(), Some(&-2));
        assert_eq!(drawn.iter().max(), Some(&2));
        let drawn: Vec<i64> = (0..1_000).map(|_| random.normal_between(1, 9)).collect();
        assert!(drawn.iter().all(|value| (1..=9).contains(value)));
        let middle = drawn.iter().filter(|&&value| value == 5).count();
        let edge = drawn.iter().filter(|&&value| value == 1).count();
        assert!(
            middle > 4 * edge,
            "{middle} in the middle, {edge} at an edge"
        );
    }

    #[test]
    fn weights_decide_how_often() {
        let mut random = SeededRandom::new(2);
        let mut counts = [0; 3];
        for _ in 0..3_000 {
            counts[random.weighted(&[1, 0, 2])] += 1;
        }
        assert_eq!(counts[1], 0);
        assert!((900..1_100).contains(&counts[0]), "{counts:?}");
    }

    #[test]
    fn parts_of_a_seed_differ() {
        let (mut one, mut other) = (SeededRandom::of_part(7, 0), SeededRandom::of_part(7, 1));
        assert_ne!(one.next_u64(), other.next_u64());
    }
}
