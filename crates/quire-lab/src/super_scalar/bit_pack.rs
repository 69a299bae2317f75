//! Bit packing as in §6.2.4: one routine per width, unrolled to handle 32 codes in each iteration.
//!
//! The codes are one stream of bits, least significant first: code `i` occupies bits `i · width` to
//! `(i + 1) · width - 1`, bit `k` being bit `k % 8` of byte `k / 8`. So 32 codes are 4 · `width` bytes, and the
//! places of the 32 codes within them are constants of the routine. The paper's example works on words of 32
//! bits; these work on words of 64, the last of which is half a word when the width is odd.

use super::word::UnsignedWord;

/// Codes a routine handles in one iteration.
pub(super) const UNROLLED_CODES: usize = 32;

/// Largest number of `width` ≤ 64 bits.
#[inline]
pub(super) const fn code_mask(width: usize) -> u64 {
    match width {
        0 => 0,
        1..64 => (1 << width) - 1,
        _ => u64::MAX,
    }
}

/// Runs `$step` with `$i` as the constants 0 to 31, so that shifts and offsets are constants too.
macro_rules! unrolled {
    ($i:ident => $step:block) => {
        unrolled!($i $step 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
            16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31)
    };
    ($i:ident $step:block $($n:literal)*) => {
        $({
            const $i: usize = $n;
            $step
        })*
    };
}

/// Word `index` of 32 packed codes; the half word at the end of an odd width is extended with zeros.
#[inline(always)]
fn word(packed: &[u8], index: usize) -> u64 {
    let rest = packed.get(8 * index..).unwrap_or_default();
    match (rest.first_chunk(), rest.first_chunk()) {
        (Some(bytes), _) => u64::from_le_bytes(*bytes),
        (None, Some(bytes)) => u64::from(u32::from_le_bytes(*bytes)),
        (None, None) => 0,
    }
}

/// Code `index` of 32 packed ones.
#[inline(always)]
fn code<const WIDTH: usize>(packed: &[u8], index: usize) -> u64 {
    let bit = index * WIDTH;
    let mut code = word(packed, bit / 64) >> (bit % 64);
    if bit % 64 + WIDTH > 64 {
        code |= word(packed, bit / 64 + 1) << (64 - bit % 64);
    }
    code & code_mask(WIDTH)
}

/// Unpacks 32 codes of every 4 · `WIDTH` bytes.
pub(crate) fn unpack<U: UnsignedWord, const WIDTH: usize>(packed: &[u8], codes: &mut [U]) {
    if WIDTH == 0 {
        return codes.fill(U::default());
    }
    let codes = codes.as_chunks_mut::<UNROLLED_CODES>().0;
    for (packed, codes) in packed.chunks_exact(4 * WIDTH).zip(codes) {
        unrolled!(I => { codes[I] = U::truncate(code::<WIDTH>(packed, I)) });
    }
}

/// Packs every 32 codes, each of which fits the width, into 4 · `WIDTH` bytes.
pub(super) fn pack<U: UnsignedWord, const WIDTH: usize>(codes: &[U], packed: &mut [u8]) {
    if WIDTH == 0 {
        return;
    }
    let codes = codes.as_chunks::<UNROLLED_CODES>().0;
    for (codes, packed) in codes.iter().zip(packed.chunks_exact_mut(4 * WIDTH)) {
        let (words, half) = packed.as_chunks_mut::<8>();
        let mut pending = 0;
        unrolled!(I => {
            let (word, bit) = (I * WIDTH / 64, I * WIDTH % 64);
            pending |= codes[I].wide() << bit;
            if bit + WIDTH >= 64 {
                words[word] = pending.to_le_bytes();
                pending = codes[I].wide().checked_shr(64 - bit as u32).unwrap_or_default();
            }
        });
        if let Some(half) = half.first_chunk_mut() {
            *half = (pending as u32).to_le_bytes();
        }
    }
}

/// Code `index` of a code section, alone. Bits beyond its end read as 0.
#[inline]
pub(super) fn code_at(packed: &[u8], width: usize, index: usize) -> u64 {
    let (byte, shift) = (index * width / 8, index * width % 8);
    let rest = packed.get(byte..).unwrap_or_default();
    let bits = match rest.first_chunk() {
        Some(bytes) if width <= 57 => u64::from_le_bytes(*bytes) >> shift,
        _ => {
            let mut bytes = [0; 16];
            for (to, from) in bytes.iter_mut().zip(rest) {
                *to = *from;
            }
            (u128::from_le_bytes(bytes) >> shift) as u64
        }
    };
    bits & code_mask(width)
}
