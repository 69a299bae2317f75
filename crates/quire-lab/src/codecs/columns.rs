//! Columns to compress, with a given rate of exceptions.

use crate::random::LabRandom;

/// A value that no frame of reference can hold together with its like.
pub(super) fn scattered(code: u64) -> u64 {
    code.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// `count` values. In `percent` of 100 cases, by chance, one that is far from all others; else `value` of a code
/// of `width` bits. The largest code is left out: naive segments need it to escape.
pub(super) fn with_exceptions(
    count: usize,
    percent: u64,
    width: usize,
    value: impl Fn(u64) -> u64,
) -> Vec<u64> {
    let mut random = LabRandom(61 + percent);
    let codes = (1u64 << width) - 1;
    let mut next = || {
        if random.below(100) < percent {
            random.next() | 1 << 63
        } else {
            value(random.below(codes))
        }
    };
    (0..count).map(|_| next()).collect()
}
