//! In which random order do `n` things come, without a table of them?

use crate::SeededRandom;

/// A random order of the numbers below a count: a Feistel network of four rounds over the smallest square of a power of two that holds
/// them, applied again to results that are too large (J. Black, P. Rogaway, *Ciphers with Arbitrary Finite Domains*, CT-RSA 2002, cycle
/// walking).
#[derive(Clone, Debug)]
pub struct Permutation {
    count: u64,
    half_bits: u32,
    keys: [u64; 4],
}

impl Permutation {
    /// One order of the numbers below `count`, which is not 0 and at most 2^62.
    pub fn new(count: u64, random: &mut SeededRandom) -> Self {
        let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
        Self {
            count,
            half_bits: bits.div_ceil(2).max(1),
            keys: std::array::from_fn(|_| random.next_u64()),
        }
    }

    /// The number at a place; both are below the count.
    pub fn at(&self, place: u64) -> u64 {
        debug_assert!(place < self.count);
        // The network maps its domain, at most 16 times the count, onto itself; the walk ends since its cycle has `place` in it.
        let mut number = self.network(place);
        while number >= self.count {
            number = self.network(number);
        }
        number
    }

    fn network(&self, number: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (number >> self.half_bits, number & mask);
        for key in self.keys {
            let round = SeededRandom::new(right ^ key).next_u64() & mask;
            (left, right) = (right, left ^ round);
        }
        left << self.half_bits | right
    }
}

#[cfg(test)]
mod tests {
    use super::Permutation;
    use crate::SeededRandom;

    #[test]
    fn every_number_comes_once() {
        for count in [1, 2, 3, 10, 1_000, 1_024, 3_000] {
            let order = Permutation::new(count, &mut SeededRandom::new(count));
            let mut numbers: Vec<u64> = (0..count).map(|place| order.at(place)).collect();
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..count), "{count} numbers");
        }
    }

    /// The mean of |number - place| is n/3 for a uniformly random order, 0 for the identity, n/2 for the reverse.
    #[test]
    fn numbers_are_far_from_their_places() {
        let order = Permutation::new(3_000, &mut SeededRandom::new(5));
        let distance: u64 = (0..3_000)
            .map(|place| order.at(place).abs_diff(place))
            .sum();
        assert!((900..1_100).contains(&(distance / 3_000)), "{distance}");
        let runs = (1..3_000).filter(|&place| order.at(place) > order.at(place - 1));
        assert!((1_400..1_600).contains(&runs.count()));
    }
}
