//! How small a block codec is expected to make bytes, without asking it.

/// Bytes from which on a repeat is worth a reference: fewer come again by chance in texts of few different bytes.
const REPEAT_BYTES: usize = 6;

/// Bits of a reference: length of the literals before it, distance, length.
const REFERENCE_BITS: f32 = 24.0;

/// Places that are remembered.
const PLACES_BITS: u32 = 12;

/// After so many bytes without a repeat, bytes are passed over, twice as many after twice that, as codecs do.
const PATIENCE_BYTES: usize = 64;

/// What codes of whole bits, one for all columns of a page, lose against the entropy of one of them.
const CODE_LOSS: f32 = 1.03;

/// Bits that a codec is expected to leave of `bytes`: of what does not repeat, the entropy where it codes single bytes, and
/// everything where it does not; of each repeat, a reference.
pub(super) fn left_bits(bytes: &[u8], has_entropy_coding: bool) -> usize {
    let byte_bits = if has_entropy_coding {
        CODE_LOSS * entropy_bits(bytes)
    } else {
        8.0
    };
    let (mut literals, mut references) = (0, 0);
    let mut places = vec![0_u16; 1 << PLACES_BITS];
    let (mut at, mut literals_before) = (0, 0);
    while at < bytes.len() {
        match repeat(bytes, at, &mut places) {
            0 => {
                let step =
                    (1 + (literals - literals_before) / PATIENCE_BYTES).min(bytes.len() - at);
                literals += step;
                at += step;
            }
            repeated => {
                references += 1;
                literals_before = literals;
                at += repeated;
            }
        }
    }
    (byte_bits * literals as f32 + REFERENCE_BITS * references as f32) as usize
}

/// Bytes at `at` that are those at a place before it. The place is remembered for what follows.
#[inline]
fn repeat(bytes: &[u8], at: usize, places: &mut [u16]) -> usize {
    let word_at = |at: usize| {
        let word = bytes.get(at..).and_then(<[u8]>::first_chunk)?;
        Some(u64::from_le_bytes(*word) << (u64::BITS as usize - 8 * REPEAT_BYTES))
    };
    let Some(word) = word_at(at) else {
        return 0;
    };
    let slot = word.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - PLACES_BITS);
    let Some(place) = places.get_mut(slot as usize) else {
        return 0;
    };
    let before = usize::from(std::mem::replace(place, at as u16));
    if before >= at || word_at(before) != Some(word) {
        return 0;
    }
    let (earlier, rest) = (&bytes[before..], &bytes[at..]);
    let same = earlier.iter().zip(rest);
    same.take_while(|(left, right)| left == right).count()
}

/// Bits of entropy that each byte has.
fn entropy_bits(bytes: &[u8]) -> f32 {
    let mut counts = [0_u32; 256];
    for byte in bytes {
        counts[usize::from(*byte)] += 1;
    }
    let total = bytes.len() as f32;
    let bits = |count: &u32| *count as f32 * (total / *count as f32).log2();
    let sum: f32 = counts.iter().filter(|count| **count > 0).map(bits).sum();
    sum / total.max(1.0)
}
