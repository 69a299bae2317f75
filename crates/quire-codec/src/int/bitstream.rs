//! Short runs of numbers packed one after the other, least significant bit first.
//!
//! For what is too small for a 1,024-value vector: exceptions, and the partial last vector of a payload.

/// Bytes of `count` numbers of `width` bits.
pub(crate) const fn stream_bytes(count: usize, width: usize) -> usize {
    (count * width).div_ceil(8)
}

/// Appends the low `width` ≤ 64 bits of each number, [`stream_bytes`] bytes in all.
pub(crate) fn append(numbers: impl Iterator<Item = u64>, width: usize, out: &mut Vec<u8>) {
    if width == 0 {
        return;
    }
    let mask = u64::MAX >> (64 - width.min(64));
    let mut pending = 0u128;
    let mut pending_bits = 0;
    for number in numbers {
        pending |= u128::from(number & mask) << pending_bits;
        pending_bits += width;
        while pending_bits >= 8 {
            out.push(pending as u8);
            pending >>= 8;
            pending_bits -= 8;
        }
    }
    if pending_bits > 0 {
        out.push(pending as u8);
    }
}

/// Number `index` of a stream of `width` ≤ 64 bits; bits beyond its end read as 0.
#[inline]
pub(crate) fn get(stream: &[u8], width: usize, index: usize) -> u64 {
    if width == 0 {
        return 0;
    }
    let bit = index * width;
    let tail = stream.get(bit / 8..).unwrap_or_default();
    let word = match tail.first_chunk::<16>() {
        Some(bytes) => u128::from_le_bytes(*bytes),
        None => {
            let mut bytes = [0u8; 16];
            bytes[..tail.len()].copy_from_slice(tail);
            u128::from_le_bytes(bytes)
        }
    };
    (word >> (bit % 8)) as u64 & (u64::MAX >> (64 - width.min(64)))
}
