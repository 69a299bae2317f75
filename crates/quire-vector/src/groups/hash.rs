//! Hashes of packed keys.
//!
//! Each word is mixed in by a multiplication to 128 bits whose halves are folded together, as in wyhash and its successors: the upper
//! bits of the result, by which [`super::GroupTable`] finds an entry, depend on all bits of the words.

/// Odd numbers without a pattern: digits of pi.
const FIRST_FACTOR: u64 = 0x243f_6a88_85a3_08d3;
const SECOND_FACTOR: u64 = 0x1319_8a2e_0370_7345;

/// The hash so far with one more word.
#[inline(always)]
pub(super) fn mix(hash: u64, word: u64) -> u64 {
    fold(hash ^ word, FIRST_FACTOR)
}

/// The hash of a text; two texts with the same bytes have the same.
#[inline]
pub(super) fn of_text(text: &[u8]) -> u64 {
    // Mixed, as the length would else cancel out a change of the first byte.
    let mut hash = mix(SECOND_FACTOR, text.len() as u64);
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
    fold(pair as u64 ^ hash, (pair >> 64) as u64 ^ SECOND_FACTOR)
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

    #[test]
    fn texts_that_differ_in_one_byte_or_in_length_have_other_hashes() {
        let mut hashes = HashSet::new();
        let mut count = 0;
        for len in 0..70 {
            let text = vec![b'a'; len];
            hashes.insert(of_text(&text));
            count += 1;
            for place in 0..len {
                let mut other = text.clone();
                other[place] = b'b';
                hashes.insert(of_text(&other));
                count += 1;
            }
        }
        assert_eq!(hashes.len(), count);
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
