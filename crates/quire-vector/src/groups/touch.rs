//! Software prefetching, by loads.

/// Loads words that are needed soon. A loop that does nothing else has the cache misses of many rows in flight at once: with what is done to
/// the words in it, the processor would see no more than a few rows ahead.
#[inline(always)]
pub(super) fn touch(words: impl Iterator<Item = u64>) {
    std::hint::black_box(words.fold(0, |all, word| all ^ word));
}
