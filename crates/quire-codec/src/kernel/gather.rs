//! Dictionary look-up of a whole vector.
//!
//! With AVX-512 a dictionary of 64 values of four bytes, or 16 of eight, lies in registers and is looked up by
//! permuting them; a larger one is gathered from memory.

use super::dispatch;

/// Writes `dictionary[code]` for each code. False, and nothing useful written, when a code is out of range.
#[inline(always)]
fn gather<T: Copy>(dictionary: &[T], codes: &[i32; 1024], out: &mut [T; 1024]) -> bool {
    let highest = codes
        .iter()
        .fold(0, |highest, &code| highest.max(code as u32));
    if highest as usize >= dictionary.len() {
        return false;
    }
    for (value, &code) in out.iter_mut().zip(codes) {
        // SAFETY: `code as u32 <= highest < dictionary.len()` by the check above.
        *value = unsafe { *dictionary.get_unchecked(code as u32 as usize) };
    }
    true
}

dispatch! {
    pub(crate) fn gather_i8(dictionary: &[i8], codes: &[i32; 1024], out: &mut [i8; 1024]) -> bool
        = gather::<i8>
}
dispatch! {
    pub(crate) fn gather_i16(dictionary: &[i16], codes: &[i32; 1024], out: &mut [i16; 1024]) -> bool
        = gather::<i16>
}
dispatch! {
    fn gather_any_i32(dictionary: &[i32], codes: &[i32; 1024], out: &mut [i32; 1024]) -> bool
        = gather::<i32>
}
dispatch! {
    fn gather_any_i64(dictionary: &[i64], codes: &[i32; 1024], out: &mut [i64; 1024]) -> bool
        = gather::<i64>
}
dispatch! {
    pub(crate) fn gather_i128(dictionary: &[i128], codes: &[i32; 1024], out: &mut [i128; 1024]) -> bool
        = gather::<i128>
}

macro_rules! gather_in_registers {
    ($name:ident, $any:ident, $element:ty) => {
        pub(crate) fn $name(
            dictionary: &[$element],
            codes: &[i32; 1024],
            out: &mut [$element; 1024],
        ) -> bool {
            #[cfg(target_arch = "x86_64")]
            if super::has_avx512() {
                // SAFETY: AVX-512 was detected.
                return unsafe { avx512::$name(dictionary, codes, out) };
            }
            $any(dictionary, codes, out)
        }
    };
}
gather_in_registers!(gather_i32, gather_any_i32, i32);
gather_in_registers!(gather_i64, gather_any_i64, i64);

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::{
        __m256i, __m512i, _mm256_loadu_si256, _mm512_cvtepu32_epi64, _mm512_i32gather_epi32,
        _mm512_i32gather_epi64, _mm512_loadu_si512, _mm512_mask_blend_epi32,
        _mm512_maskz_loadu_epi32, _mm512_maskz_loadu_epi64, _mm512_max_epu32, _mm512_min_epu32,
        _mm512_permutex2var_epi32, _mm512_permutex2var_epi64, _mm512_reduce_max_epu32,
        _mm512_set1_epi32, _mm512_setzero_si512, _mm512_storeu_si512, _mm512_test_epi32_mask,
    };

    /// Whether every code, read as unsigned, is below `length`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn all_below(length: usize, codes: &[i32; 1024]) -> bool {
        let mut highest = [_mm512_setzero_si512(); 4];
        for chunk in codes.as_chunks::<64>().0 {
            for (highest, codes) in highest.iter_mut().zip(chunk.as_chunks::<16>().0) {
                // SAFETY: 16 codes have 64 bytes.
                let codes = unsafe { _mm512_loadu_si512(codes.as_ptr().cast()) };
                *highest = _mm512_max_epu32(*highest, codes);
            }
        }
        let [a, b, c, d] = highest;
        let highest = _mm512_max_epu32(_mm512_max_epu32(a, b), _mm512_max_epu32(c, d));
        (_mm512_reduce_max_epu32(highest) as usize) < length
    }

    /// Sixteen values of a dictionary from `start` on; beyond its end they are 0.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn sixteen(dictionary: &[i32], start: usize) -> __m512i {
        let rest = dictionary.get(start..).unwrap_or_default();
        let present = u16::MAX.checked_shr(16 - rest.len().min(16) as u32);
        // SAFETY: only values of `rest` are loaded.
        unsafe { _mm512_maskz_loadu_epi32(present.unwrap_or(0), rest.as_ptr()) }
    }

    /// Eight values of a dictionary from `start` on; beyond its end they are 0.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn eight(dictionary: &[i64], start: usize) -> __m512i {
        let rest = dictionary.get(start..).unwrap_or_default();
        let present = u8::MAX.checked_shr(8 - rest.len().min(8) as u32);
        // SAFETY: only values of `rest` are loaded.
        unsafe { _mm512_maskz_loadu_epi64(present.unwrap_or(0), rest.as_ptr()) }
    }

    macro_rules! look_up_32 {
        ($codes:ident, $out:ident, |$code:ident| $value:expr) => {
            for (codes, out) in $codes.as_chunks::<16>().0.iter().zip($out.as_chunks_mut::<16>().0) {
                // SAFETY: 16 codes have 64 bytes.
                let $code = unsafe { _mm512_loadu_si512(codes.as_ptr().cast()) };
                // SAFETY: every code is below the length of the dictionary, and 16 values have 64 bytes.
                unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), $value) };
            }
        };
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    pub(super) fn gather_i32(
        dictionary: &[i32],
        codes: &[i32; 1024],
        out: &mut [i32; 1024],
    ) -> bool {
        if dictionary.len() > 64 {
            return gather_many_i32(dictionary, codes, out);
        }
        if !all_below(dictionary.len(), codes) {
            return false;
        }
        let (a, b) = (sixteen(dictionary, 0), sixteen(dictionary, 16));
        if dictionary.len() <= 32 {
            look_up_32!(codes, out, |code| _mm512_permutex2var_epi32(a, code, b));
        } else {
            let (c, d) = (sixteen(dictionary, 32), sixteen(dictionary, 48));
            let upper = _mm512_set1_epi32(32);
            look_up_32!(codes, out, |code| _mm512_mask_blend_epi32(
                _mm512_test_epi32_mask(code, upper),
                _mm512_permutex2var_epi32(a, code, b),
                _mm512_permutex2var_epi32(c, code, d),
            ));
        }
        true
    }

    /// For more values than registers hold. Codes are checked on the way: those too high read the last value, and
    /// are found out by the highest of all.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    fn gather_many_i32(dictionary: &[i32], codes: &[i32; 1024], out: &mut [i32; 1024]) -> bool {
        let values = dictionary.as_ptr();
        let last = _mm512_set1_epi32((dictionary.len() - 1) as i32);
        let mut highest = _mm512_setzero_si512();
        for (codes, out) in codes
            .as_chunks::<16>()
            .0
            .iter()
            .zip(out.as_chunks_mut::<16>().0)
        {
            // SAFETY: 16 codes have 64 bytes.
            let code = unsafe { _mm512_loadu_si512(codes.as_ptr().cast()) };
            highest = _mm512_max_epu32(highest, code);
            let below = _mm512_min_epu32(code, last);
            // SAFETY: `below` is below the length of the dictionary, and 16 values have 64 bytes.
            unsafe {
                let found = _mm512_i32gather_epi32::<4>(below, values);
                _mm512_storeu_si512(out.as_mut_ptr().cast(), found);
            }
        }
        (_mm512_reduce_max_epu32(highest) as usize) < dictionary.len()
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    pub(super) fn gather_i64(
        dictionary: &[i64],
        codes: &[i32; 1024],
        out: &mut [i64; 1024],
    ) -> bool {
        if !all_below(dictionary.len(), codes) {
            return false;
        }
        let (a, b) = (eight(dictionary, 0), eight(dictionary, 8));
        let (values, few) = (dictionary.as_ptr(), dictionary.len() <= 16);
        for (codes, out) in codes
            .as_chunks::<8>()
            .0
            .iter()
            .zip(out.as_chunks_mut::<8>().0)
        {
            // SAFETY: eight codes have 32 bytes.
            let code = unsafe { _mm256_loadu_si256(codes.as_ptr().cast::<__m256i>()) };
            let found = if few {
                _mm512_permutex2var_epi64(a, _mm512_cvtepu32_epi64(code), b)
            } else {
                // SAFETY: every code is below the length of the dictionary.
                unsafe { _mm512_i32gather_epi64::<8>(code, values) }
            };
            // SAFETY: eight values have 64 bytes.
            unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), found) };
        }
        true
    }
}
