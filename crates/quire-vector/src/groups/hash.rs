//! Hashes of packed keys.
//!
//! Each word is mixed in by a multiplication to 128 bits whose halves are folded together, as in wyhash and its successors: the upper
//! bits of the result, by which [`super::GroupTable`] finds a bucket, depend on all bits of the words.
//!
//! The caller picks the seed at random, and every factor that a key has a part in depends on it. Keys chosen without knowledge of the seed
//! therefore cannot make a product 0 and fall into one bucket, which would make a `GROUP BY` of n keys take n² steps.

/// Odd numbers without a pattern: digits of pi.
const FIRST_FACTOR: u64 = 0x243f_6a88_85a3_08d3;
const SECOND_FACTOR: u64 = 0x1319_8a2e_0370_7345;

/// The hash so far with one more word.
#[inline(always)]
pub(super) fn mix(hash: u64, word: u64) -> u64 {
    fold(hash ^ word, FIRST_FACTOR)
}

/// The hash of a text.
#[inline]
pub(super) fn of_text(seed: u64, text: &[u8]) -> u64 {
    // The length is mixed in: with an exclusive-or alone, a change of the first byte could cancel it.
    let mut hash = mix(seed ^ SECOND_FACTOR, text.len() as u64);
    let (pairs, rest) = text.as_chunks::<16>();
    for pair in pairs {
        hash = mix_pair(hash, pair);
    }
    if rest.is_empty() {
        return hash;
    }
    // The last bytes once more, rather than a loop over less than a pair.
    let last = match text.last_chunk::<16>() {
        Some(last) => *last,
        None => {
            let mut padded = [0; 16];
            padded[..rest.len()].copy_from_slice(rest);
            padded
        }
    };
    mix_pair(hash, &last)
}

/// Whether two texts of the same length are equal. They are some tens of bytes, for which a call of the library takes longer than a loop.
#[inline(always)]
pub(super) fn is_same_text(left: &[u8], right: &[u8]) -> bool {
    let (Some(last_of_left), Some(last_of_right)) = (left.last_chunk::<16>(), right.last_chunk())
    else {
        return left == right;
    };
    let pairs = left.as_chunks::<16>().0.iter().zip(right.as_chunks().0);
    let difference = |(left, right): (&[u8; 16], &[u8; 16])| {
        u128::from_le_bytes(*left) ^ u128::from_le_bytes(*right)
    };
    let differences = pairs.map(difference);
    let all = differences.fold(difference((last_of_left, last_of_right)), |all, one| {
        all | one
    });
    left.len() == right.len() && all == 0
}

#[inline(always)]
fn mix_pair(hash: u64, pair: &[u8; 16]) -> u64 {
    let pair = u128::from_le_bytes(*pair);
    // Both factors contain the hash, and the product does not replace it: no pair makes the next hash independent of the seed.
    let (low, high) = (pair as u64, (pair >> 64) as u64);
    hash ^ fold(low ^ hash, high ^ hash.rotate_left(32) ^ SECOND_FACTOR)
}

#[inline(always)]
fn fold(left: u64, right: u64) -> u64 {
    let product = u128::from(left) * u128::from(right);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const SEED: u64 = 5;

    #[test]
    fn texts_that_differ_in_one_byte_or_in_length_have_other_hashes() {
        let mut hashes = HashSet::new();
        let mut count = 0;
        for len in 0..70 {
            let text = vec![b'a'; len];
            hashes.insert(of_text(SEED, &text));
            count += 1;
            for place in 0..len {
                let mut other = text.clone();
                other[place] = b'b';
                hashes.insert(of_text(SEED, &other));
                count += 1;
            }
        }
        assert_eq!(hashes.len(), count);
    }

    /// Texts made to cancel a factor of a hash that starts from a constant: either half of a pair, in each pair of the text.
    #[test]
    fn texts_that_cancel_a_constant_factor_have_different_hashes() {
        let starts = |len: u64| [0, FIRST_FACTOR, SECOND_FACTOR, mix(SECOND_FACTOR, len)];
        for (halves, first) in [(4, 0), (4, 1), (6, 2), (6, 3)] {
            for canceling in starts(8 * halves as u64) {
                let texts = (0..1000_u64).map(|number| {
                    let half = |half| if half == first { canceling } else { number };
                    (0..halves).flat_map(|at| half(at).to_le_bytes()).collect()
                });
                let hashes = texts.map(|text: Vec<u8>| of_text(SEED, &text));
                let hashes: HashSet<u64> = hashes.collect();
                assert_eq!(hashes.len(), 1000, "{halves} {first} {canceling:x}");
            }
        }
    }

    #[test]
    fn another_seed_gives_other_hashes() {
        for len in 0..70 {
            let text = vec![b'a'; len];
            let hashes: HashSet<u64> = (0..100).map(|seed| of_text(seed, &text)).collect();
            assert_eq!(hashes.len(), 100, "{len}");
            let words: HashSet<u64> = (0..100).map(|seed| mix(seed, len as u64)).collect();
            assert_eq!(words.len(), 100, "{len}");
        }
    }

    /// Neighbouring integers, and those that differ in high bits only, spread over the upper bits.
    #[test]
    fn the_upper_bits_depend_on_all_bits() {
        for shift in [0, 20, 48] {
            let places = (0..1 << 12).map(|key: u64| mix(7, key << shift) >> 48);
            let places: HashSet<u64> = places.collect();
            // Of 4,096 keys in 65,536 places, some 124 share one.
            assert!(places.len() > 3_900, "{shift}: {}", places.len());
        }
    }
}
