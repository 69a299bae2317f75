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
        if pending_bits >= 64 {
            out.extend_from_slice(&(pending as u64).to_le_bytes());
            pending >>= 64;
            pending_bits -= 64;
        }
    }
    let rest = (pending as u64).to_le_bytes();
    out.extend_from_slice(&rest[..pending_bits.div_ceil(8)]);
}

/// Number `index` of a stream of `width` ≤ 64 bits; bits beyond its end read as 0.
#[inline]
pub(crate) fn get(stream: &[u8], width: usize, index: usize) -> u64 {
    if width == 0 {
        return 0;
    }
    get_at(stream, index * width) & (u64::MAX >> (64 - width.min(64)))
}

/// The 64 bits from bit `bit` on.
#[inline]
fn get_at(stream: &[u8], bit: usize) -> u64 {
    let tail = stream.get(bit / 8..).unwrap_or_default();
    let word = match tail.first_chunk::<16>() {
        Some(bytes) => u128::from_le_bytes(*bytes),
        None => {
            let mut bytes = [0u8; 16];
            bytes[..tail.len()].copy_from_slice(tail);
            u128::from_le_bytes(bytes)
        }
    };
    (word >> (bit % 8)) as u64
}

/// Numbers of a stream one after the other; beyond its end they are 0.
pub(crate) struct BitstreamReader<'a> {
    stream: &'a [u8],
    width: usize,
    mask: u64,
    /// Bit at which the next number starts.
    bit: usize,
}

impl<'a> BitstreamReader<'a> {
    /// Reads numbers of `width` ≤ 64 bits.
    pub(crate) fn new(stream: &'a [u8], width: usize) -> Self {
        let mask = if width == 0 {
            0
        } else {
            u64::MAX >> (64 - width.min(64))
        };
        Self {
            stream,
            width,
            mask,
            bit: 0,
        }
    }

    /// The next number.
    #[inline(always)]
    pub(crate) fn read(&mut self) -> u64 {
        let bit = self.bit;
        self.bit += self.width;
        match self
            .stream
            .get(bit / 8..)
            .and_then(<[u8]>::first_chunk::<8>)
        {
            Some(bytes) if self.width <= 57 => u64::from_le_bytes(*bytes) >> (bit % 8) & self.mask,
            _ => get_at(self.stream, bit) & self.mask,
        }
    }
}
