//! Running sums of a vector, in place: the second step of PFOR-DELTA.
//!
//! One chain of additions would take a cycle per value. AVX-512 doubles windows: sums of the last 2, 4, 8 and 16
//! values at each place, those that reach into the register before taken from there by a double-register shift.
//! A register of sums is then the one before it plus the windows of a whole register: one addition a register
//! is all that waits for another. Elsewhere the eight groups of 128 values are summed side by side, eight chains
//! at once, and the totals of the groups before are added afterwards.

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
running_sum!(running_sum_i8, side_by_side_i8, i8);
running_sum!(running_sum_i16, side_by_side_i16, i16);
running_sum!(running_sum_i32, side_by_side_i32, i32);
running_sum!(running_sum_i64, side_by_side_i64, i64);

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::{
        __m512i, _mm512_add_epi32, _mm512_add_epi64, _mm512_alignr_epi32, _mm512_alignr_epi64,
        _mm512_loadu_si512, _mm512_set1_epi32, _mm512_set1_epi64, _mm512_setzero_si512,
        _mm512_storeu_si512,
    };

    /// As for 16 bits.
    #[target_feature(enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl")]
    pub(super) fn running_sum_i8(start: i8, values: &mut [i8; 1024]) {
        super::side_by_side_i8(start, values);
    }

    /// There is no shift of whole registers by 16-bit lanes; side by side is as fast.
    #[target_feature(enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl")]
    pub(super) fn running_sum_i16(start: i16, values: &mut [i16; 1024]) {
        super::side_by_side_i16(start, values);
    }

    #[target_feature(enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl")]
    pub(super) fn running_sum_i32(start: i32, values: &mut [i32; 1024]) {
        let zero = _mm512_setzero_si512();
        let (mut ones, mut twos, mut fours, mut eights) = (zero, zero, zero, zero);
        let mut sums = _mm512_set1_epi32(start);
        for chunk in values.as_chunks_mut::<16>().0 {
            let at = chunk.as_mut_ptr().cast::<__m512i>();
            // SAFETY: `at` points to 64 readable and writable bytes, and no alignment is required.
            let one = unsafe { _mm512_loadu_si512(at) };
            let two = _mm512_add_epi32(one, _mm512_alignr_epi32::<15>(one, ones));
            let four = _mm512_add_epi32(two, _mm512_alignr_epi32::<14>(two, twos));
            let eight = _mm512_add_epi32(four, _mm512_alignr_epi32::<12>(four, fours));
            let sixteen = _mm512_add_epi32(eight, _mm512_alignr_epi32::<8>(eight, eights));
            sums = _mm512_add_epi32(sums, sixteen);
            // SAFETY: as for the load.
            unsafe { _mm512_storeu_si512(at, sums) };
            (ones, twos, fours, eights) = (one, two, four, eight);
        }
    }

    #[target_feature(enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl")]
    pub(super) fn running_sum_i64(start: i64, values: &mut [i64; 1024]) {
        let zero = _mm512_setzero_si512();
        let (mut ones, mut twos, mut fours) = (zero, zero, zero);
        let mut sums = _mm512_set1_epi64(start);
        for chunk in values.as_chunks_mut::<8>().0 {
            let at = chunk.as_mut_ptr().cast::<__m512i>();
            // SAFETY: `at` points to 64 readable and writable bytes, and no alignment is required.
            let one = unsafe { _mm512_loadu_si512(at) };
            let two = _mm512_add_epi64(one, _mm512_alignr_epi64::<7>(one, ones));
            let four = _mm512_add_epi64(two, _mm512_alignr_epi64::<6>(two, twos));
            let eight = _mm512_add_epi64(four, _mm512_alignr_epi64::<4>(four, fours));
            sums = _mm512_add_epi64(sums, eight);
            // SAFETY: as for the load.
            unsafe { _mm512_storeu_si512(at, sums) };
            (ones, twos, fours) = (one, two, four);
        }
    }
}
