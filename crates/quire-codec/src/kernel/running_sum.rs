//! Running sums of a vector, in place: the second step of PFOR-DELTA.
//!
//! One chain of additions would take a cycle per value. AVX-512 sums within a register by doubling steps: each
//! value plus the one 1, 2, 4 and 8 places before it. Elsewhere the eight groups of 128 values are summed side
//! by side, eight chains at once, and the totals of the groups before are added afterwards.

/// Values summed by one chain.
const GROUP: usize = 128;

macro_rules! running_sum {
    ($name:ident, $side_by_side:ident, $element:ty) => {
        fn $side_by_side(start: $element, values: &mut [$element; 1024]) {
            let mut sums: [$element; 8] = [0; 8];
            for i in 0..GROUP {
                for (group, sum) in sums.iter_mut().enumerate() {
                    let value = &mut values[group * GROUP + i];
                    *sum = sum.wrapping_add(*value);
                    *value = *sum;
                }
            }
            let mut before = start;
            for (group, sum) in values.as_chunks_mut::<GROUP>().0.iter_mut().zip(sums) {
                for value in group {
                    *value = value.wrapping_add(before);
                }
                before = before.wrapping_add(sum);
            }
        }

        /// Replaces each value by `start` plus the sum of all values up to it, wrapping.
        #[inline]
        pub(crate) fn $name(start: $element, values: &mut [$element; 1024]) {
            #[cfg(target_arch = "x86_64")]
            if super::active_backend() == super::Backend::Avx512 {
                // SAFETY: the active backend never exceeds the detected one, so the processor has AVX-512.
                return unsafe { avx512::$name(start, values) };
            }
            $side_by_side(start, values);
        }
    };
}
running_sum!(running_sum_i16, side_by_side_i16, i16);
running_sum!(running_sum_i32, side_by_side_i32, i32);
running_sum!(running_sum_i64, side_by_side_i64, i64);

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::{
        __m512i, _mm512_add_epi32, _mm512_add_epi64, _mm512_alignr_epi32, _mm512_alignr_epi64,
        _mm512_loadu_si512, _mm512_permutexvar_epi32, _mm512_permutexvar_epi64, _mm512_set1_epi32,
        _mm512_set1_epi64, _mm512_setzero_si512, _mm512_storeu_si512,
    };

    /// There is no shift of whole registers by 16-bit lanes; side by side is as fast.
    #[target_feature(enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl")]
    pub(super) fn running_sum_i16(start: i16, values: &mut [i16; 1024]) {
        super::side_by_side_i16(start, values);
    }

    #[target_feature(enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl")]
    pub(super) fn running_sum_i32(start: i32, values: &mut [i32; 1024]) {
        let zero = _mm512_setzero_si512();
        let last = _mm512_set1_epi32(15);
        let mut before = _mm512_set1_epi32(start);
        for chunk in values.as_chunks_mut::<16>().0 {
            let at = chunk.as_mut_ptr().cast::<__m512i>();
            // SAFETY: `at` points to 64 readable and writable bytes, and no alignment is required.
            let mut sum = unsafe { _mm512_loadu_si512(at) };
            sum = _mm512_add_epi32(sum, _mm512_alignr_epi32::<15>(sum, zero));
            sum = _mm512_add_epi32(sum, _mm512_alignr_epi32::<14>(sum, zero));
            sum = _mm512_add_epi32(sum, _mm512_alignr_epi32::<12>(sum, zero));
            sum = _mm512_add_epi32(sum, _mm512_alignr_epi32::<8>(sum, zero));
            sum = _mm512_add_epi32(sum, before);
            // SAFETY: as for the load.
            unsafe { _mm512_storeu_si512(at, sum) };
            before = _mm512_permutexvar_epi32(last, sum);
        }
    }

    #[target_feature(enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl")]
    pub(super) fn running_sum_i64(start: i64, values: &mut [i64; 1024]) {
        let zero = _mm512_setzero_si512();
        let last = _mm512_set1_epi64(7);
        let mut before = _mm512_set1_epi64(start);
        for chunk in values.as_chunks_mut::<8>().0 {
            let at = chunk.as_mut_ptr().cast::<__m512i>();
            // SAFETY: `at` points to 64 readable and writable bytes, and no alignment is required.
            let mut sum = unsafe { _mm512_loadu_si512(at) };
            sum = _mm512_add_epi64(sum, _mm512_alignr_epi64::<7>(sum, zero));
            sum = _mm512_add_epi64(sum, _mm512_alignr_epi64::<6>(sum, zero));
            sum = _mm512_add_epi64(sum, _mm512_alignr_epi64::<4>(sum, zero));
            sum = _mm512_add_epi64(sum, before);
            // SAFETY: as for the load.
            unsafe { _mm512_storeu_si512(at, sum) };
            before = _mm512_permutexvar_epi64(last, sum);
        }
    }
}
