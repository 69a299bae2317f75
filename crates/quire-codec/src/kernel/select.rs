//! Which values of a vector lie in a range, or have a wanted code: one bit a value.

use super::dispatch;
use crate::RowMask;

/// A bit for each of 1,024 rows, set where `wanted` is true: bit `i % 64` of word `i / 64` for row `i`.
///
/// Each answer is first a byte, which vector instructions give; a product then moves the lowest bits of eight bytes
/// side by side to its top.
#[inline(always)]
pub fn mask_of(mut wanted: impl FnMut(usize) -> bool) -> RowMask {
    let mut mask = [0; 16];
    for (word, bits) in mask.iter_mut().enumerate() {
        let mut bytes = [0; 64];
        for (bit, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from(wanted(word * 64 + bit));
        }
        for (place, eight) in bytes.as_chunks::<8>().0.iter().enumerate() {
            let gathered = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080);
            *bits |= (gathered >> 56) << (8 * place);
        }
    }
    mask
}

macro_rules! select {
    ($name:ident, $any:ident, $element:ty, $bits:ty) => {
        dispatch! {
            fn $any(values: &[$element; 1024], low: $element, span: $element) -> RowMask
                = |values: &[$element; 1024], low: $element, span: $element| {
                    mask_of(|i| values[i].wrapping_sub(low) as $bits <= span as $bits)
                }
        }

        /// The values from `low` to `low + span`, wrapping; `span` is unsigned.
        pub(crate) fn $name(values: &[$element; 1024], low: $element, span: $element) -> RowMask {
            #[cfg(target_arch = "x86_64")]
            if super::has_avx512() {
                // SAFETY: AVX-512 was detected.
                return unsafe { avx512::$name(values, low, span) };
            }
            $any(values, low, span)
        }
    };
}
select!(select_i8, select_any_i8, i8, u8);
select!(select_i16, select_any_i16, i16, u16);
select!(select_i32, select_any_i32, i32, u32);
select!(select_i64, select_any_i64, i64, u64);

/// As for the narrower types.
pub(crate) fn select_i128(values: &[i128; 1024], low: i128, span: i128) -> RowMask {
    mask_of(|i| values[i].wrapping_sub(low) as u128 <= span as u128)
}

dispatch! {
    /// The codes whose bit in `wanted` is set; codes beyond it are not wanted.
    pub(crate) fn select_codes(codes: &[u32; 1024], wanted: &[u64]) -> RowMask
        = |codes: &[u32; 1024], wanted: &[u64]| {
            mask_of(|i| {
                let word = wanted.get(codes[i] as usize / 64).copied().unwrap_or(0);
                word >> (codes[i] % 64) & 1 != 0
            })
        }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use crate::RowMask;
    use std::arch::x86_64::{
        _mm512_cmple_epu8_mask, _mm512_cmple_epu16_mask, _mm512_cmple_epu32_mask,
        _mm512_cmple_epu64_mask, _mm512_loadu_si512, _mm512_set1_epi8, _mm512_set1_epi16,
        _mm512_set1_epi32, _mm512_set1_epi64, _mm512_sub_epi8, _mm512_sub_epi16, _mm512_sub_epi32,
        _mm512_sub_epi64,
    };

    macro_rules! select {
        ($name:ident, $element:ty, $lanes:literal, $set:ident, $subtract:ident, $compare:ident) => {
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
            pub(super) fn $name(
                values: &[$element; 1024],
                low: $element,
                span: $element,
            ) -> RowMask {
                let (lows, spans) = ($set(low), $set(span));
                let mut mask = [0; 16];
                for (bits, values) in mask.iter_mut().zip(values.as_chunks::<64>().0) {
                    for (part, values) in values.as_chunks::<$lanes>().0.iter().enumerate() {
                        // SAFETY: the values of a part have 64 bytes.
                        let values = unsafe { _mm512_loadu_si512(values.as_ptr().cast()) };
                        let inside = $compare($subtract(values, lows), spans);
                        *bits |= u64::from(inside) << (part * $lanes);
                    }
                }
                mask
            }
        };
    }
    select!(
        select_i8,
        i8,
        64,
        _mm512_set1_epi8,
        _mm512_sub_epi8,
        _mm512_cmple_epu8_mask
    );
    select!(
        select_i16,
        i16,
        32,
        _mm512_set1_epi16,
        _mm512_sub_epi16,
        _mm512_cmple_epu16_mask
    );
    select!(
        select_i32,
        i32,
        16,
        _mm512_set1_epi32,
        _mm512_sub_epi32,
        _mm512_cmple_epu32_mask
    );
    select!(
        select_i64,
        i64,
        8,
        _mm512_set1_epi64,
        _mm512_sub_epi64,
        _mm512_cmple_epu64_mask
    );
}
