//! The sum and the extremes of packed codes, without storing them.
//!
//! For codes in 32-bit lanes, with AVX-512; `None` tells the caller to unpack.

/// The sum of all 1,024 codes.
pub(crate) fn sum(width: usize, packed: &[u8]) -> Option<u64> {
    #[cfg(target_arch = "x86_64")]
    if (1..=avx512::SUM_WIDTH_MAX).contains(&width) && super::has_avx512() {
        // SAFETY: AVX-512 was detected.
        return Some(unsafe { avx512::sum(width, packed) });
    }
    let _ = (width, packed);
    None
}

/// The smallest and the largest code.
pub(crate) fn extremes(width: usize, packed: &[u8]) -> Option<(u32, u32)> {
    #[cfg(target_arch = "x86_64")]
    if (1..=32).contains(&width) && super::has_avx512() {
        // SAFETY: AVX-512 was detected.
        return Some(unsafe { avx512::extremes(width, packed) });
    }
    let _ = (width, packed);
    None
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::super::bits::ROW_BYTES;
    use super::super::bits512::{
        fields_at, mask, positions, row, table, table_to_32, top_fields_at,
    };
    use std::arch::x86_64::{
        _mm512_add_epi32, _mm512_add_epi64, _mm512_and_si512, _mm512_castsi512_si256,
        _mm512_cvtepu32_epi64, _mm512_extracti64x4_epi64, _mm512_max_epu32, _mm512_min_epu32,
        _mm512_reduce_add_epi64, _mm512_reduce_max_epu32, _mm512_reduce_min_epu32,
        _mm512_set1_epi32, _mm512_setzero_si512, _mm512_shldv_epi32, _mm512_shrdv_epi32,
        _mm512_sllv_epi32, _mm512_srlv_epi32,
    };

    /// Up to this width the 32 codes of a lane add up within it.
    pub(super) const SUM_WIDTH_MAX: usize = 27;

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2")]
    fn extremes_width<const WIDTH: usize>(packed: &[u8]) -> (u32, u32) {
        assert!(packed.len() == ROW_BYTES * WIDTH);
        let mut lowest = [_mm512_set1_epi32(-1); 2];
        let mut highest = [_mm512_setzero_si512(); 2];
        let mut row = row!(packed, 0);
        macro_rules! step {
            ($position:literal) => {
                let fields = top_fields_at!($position, WIDTH in 32, packed, row, _mm512_set1_epi32,
                    _mm512_sllv_epi32, _mm512_shldv_epi32);
                for (half, fields) in fields.into_iter().enumerate() {
                    lowest[half] = _mm512_min_epu32(lowest[half], fields);
                    highest[half] = _mm512_max_epu32(highest[half], fields);
                }
            };
        }
        positions!(32, step);
        let lowest = _mm512_reduce_min_epu32(_mm512_min_epu32(lowest[0], lowest[1]));
        let highest = _mm512_reduce_max_epu32(_mm512_max_epu32(highest[0], highest[1]));
        (lowest >> (32 - WIDTH), highest >> (32 - WIDTH))
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2")]
    fn sum_width<const WIDTH: usize>(packed: &[u8]) -> u64 {
        assert!(packed.len() == ROW_BYTES * WIDTH);
        let masks = _mm512_set1_epi32(mask(WIDTH, 32) as i32);
        let mut sums = [_mm512_setzero_si512(); 2];
        let mut row = row!(packed, 0);
        macro_rules! step {
            ($position:literal) => {
                let fields = fields_at!($position, WIDTH in 32, packed, row, _mm512_set1_epi32,
                    _mm512_srlv_epi32, _mm512_shrdv_epi32);
                for (half, fields) in fields.into_iter().enumerate() {
                    sums[half] = _mm512_add_epi32(sums[half], _mm512_and_si512(fields, masks));
                }
            };
        }
        positions!(32, step);
        let mut total = _mm512_setzero_si512();
        for sums in sums {
            let low = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(sums));
            let high = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64::<1>(sums));
            total = _mm512_add_epi64(total, _mm512_add_epi64(low, high));
        }
        _mm512_reduce_add_epi64(total) as u64
    }

    // SAFETY: whoever calls one of these has detected the features of `Backend::Avx512`.
    type Sum = unsafe fn(&[u8]) -> u64;
    type Extremes = unsafe fn(&[u8]) -> (u32, u32);

    static EXTREMES: [Extremes; 32] = table_to_32!(extremes_width);
    static SUM: [Sum; SUM_WIDTH_MAX] = table!(sum_width: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21
        22 23 24 25 26 27);

    /// # Safety
    /// The processor has the features of [`crate::Backend::Avx512`].
    pub(super) unsafe fn sum(width: usize, packed: &[u8]) -> u64 {
        // SAFETY: as promised by the caller; the kernel checks the length of `packed`.
        unsafe { SUM[width - 1](packed) }
    }

    /// # Safety
    /// The processor has the features of [`crate::Backend::Avx512`].
    pub(super) unsafe fn extremes(width: usize, packed: &[u8]) -> (u32, u32) {
        // SAFETY: as promised by the caller; the kernel checks the length of `packed`.
        unsafe { EXTREMES[width - 1](packed) }
    }
}
