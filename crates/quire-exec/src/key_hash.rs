//! The hash of a key: of its bytes, or of words that are known to be all of it.

/// The golden ratio in 64 bits: an odd number whose bits are spread evenly.
pub(crate) const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

#[inline]
pub(crate) fn fold(hash: u64, word: u64) -> u64 {
    let product = u128::from(hash ^ word) * u128::from(FACTOR);
    (product as u64) ^ ((product >> 64) as u64)
}

/// A hash of some bytes: multiplied and folded, eight at a time.
#[inline]
pub(crate) fn hash_of(bytes: &[u8]) -> u64 {
    let mut hash = bytes.len() as u64 ^ FACTOR;
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let word = chunk
            .first_chunk()
            .map_or(0, |word| u64::from_le_bytes(*word));
        hash = fold(hash, word);
    }
    let rest = chunks.remainder();
    if !rest.is_empty() {
        let bytes = rest.iter().rev();
        hash = fold(
            hash,
            bytes.fold(0, |word, byte| word << 8 | u64::from(*byte)),
        );
    }
    hash
}
