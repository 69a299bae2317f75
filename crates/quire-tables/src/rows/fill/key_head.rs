//! What most comparisons of keys are decided by.

/// The first eight bytes of a key, as a number that compares as they do.
pub(super) fn head_of(key: &[u8]) -> u64 {
    match key.first_chunk::<8>() {
        Some(first) => u64::from_be_bytes(*first),
        None => {
            let mut first = [0; 8];
            first[..key.len()].copy_from_slice(key);
            u64::from_be_bytes(first)
        }
    }
}
