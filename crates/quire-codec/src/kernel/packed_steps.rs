//! Running sums of small packed differences, which are summed two to a lane before they are cut apart.
//!
//! [`super::running_sum`] spends two instructions per doubling on 16 values. Differences of at most 11 bits leave
//! room for more: sums of 16 of them fit 16 bits, so a 32-bit lane carries one value of each half of the vector,
//! and the same instructions serve 32. The sum of the first half, which the second starts from, is known before:
//! it is gathered while the fields are paired.
//!
//! For codes in 32-bit lanes, with AVX-512; false tells the caller to unpack and add.

/// Codes of at most so many bits: 32 of the largest add up within 16 bits.
#[cfg(target_arch = "x86_64")]
const WIDTH_MAX: usize = 11;

/// Differences are at most so far from zero: 16 of them add up within 16 bits, signed.
#[cfg(target_arch = "x86_64")]
const STEP_MAX: i64 = 2047;

macro_rules! steps {
    ($name:ident, $element:ty) => {
        /// Value `i` is `start` plus the sum of differences 0 to `i`, wrapping; a difference is `base` plus its code
        /// of `width` bits. False, and nothing done, if there is no kernel for them.
        #[inline]
        pub(crate) fn $name(
            width: usize,
            packed: &[u8],
            base: $element,
            start: $element,
            out: &mut [$element; 1024],
        ) -> bool {
            #[cfg(target_arch = "x86_64")]
            if (1..=WIDTH_MAX).contains(&width) && super::has_avx512() {
                let base = i64::from(base);
                let last = base.saturating_add((1 << width) - 1);
                if base >= -STEP_MAX && last <= STEP_MAX {
                    // SAFETY: AVX-512 was detected.
                    unsafe { avx512::$name(width, packed, base as i16, start, out) };
                    return true;
                }
            }
            let _ = (width, packed, base, start, out);
            false
        }
    };
}
steps!(sum_i32, i32);
steps!(sum_i64, i64);

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::super::bits::ROW_BYTES;
    use super::super::bits512::{first_value, mask, row, table};
    use super::WIDTH_MAX;
    use std::arch::x86_64::{
        __m512i, _mm512_add_epi16, _mm512_add_epi32, _mm512_add_epi64, _mm512_alignr_epi32,
        _mm512_and_si512, _mm512_castsi512_si256, _mm512_cvtepi32_epi64, _mm512_extracti64x4_epi64,
        _mm512_madd_epi16, _mm512_reduce_add_epi32, _mm512_set1_epi16, _mm512_set1_epi32,
        _mm512_set1_epi64, _mm512_setzero_si512, _mm512_shrdv_epi32, _mm512_sllv_epi32,
        _mm512_srai_epi32, _mm512_srlv_epi32, _mm512_storeu_si512, _mm512_ternarylogic_epi32,
    };
    use std::mem::MaybeUninit;

    /// The codes of both halves of a vector: register `i` holds codes `16 · i` and after in the low 16 bits of its
    /// lanes, and those 512 further on in the high ones.
    type Pairs = [MaybeUninit<__m512i>; 32];

    /// Three-operand logic: `a ? b : c`, bit by bit.
    const CHOOSE: i32 = 0xCA;

    /// The field at a position, its lowest bit at bit `$at` of the lane, with other bits around it.
    macro_rules! field_at {
        ($position:expr, $at:literal, $packed:ident) => {{
            let (word, shift) = ($position * WIDTH / 32, ($position * WIDTH % 32) as i32);
            let low = row!($packed, word);
            let count = _mm512_set1_epi32((shift - $at).abs());
            if shift + WIDTH as i32 > 32 {
                // A field of 11 bits that straddles starts at bit 22 or above.
                let high = row!($packed, word + 1);
                [
                    _mm512_shrdv_epi32(low[0], high[0], count),
                    _mm512_shrdv_epi32(low[1], high[1], count),
                ]
            } else if shift >= $at {
                [
                    _mm512_srlv_epi32(low[0], count),
                    _mm512_srlv_epi32(low[1], count),
                ]
            } else {
                [
                    _mm512_sllv_epi32(low[0], count),
                    _mm512_sllv_epi32(low[1], count),
                ]
            }
        }};
    }

    /// Writes all pairs of codes, and adds up those of the first half.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2")]
    fn pair_width<const WIDTH: usize>(packed: &[u8], pairs: &mut Pairs) -> i32 {
        assert!(packed.len() == ROW_BYTES * WIDTH);
        let code = mask(WIDTH, 32) as i32;
        let (masks, lower) = (
            _mm512_set1_epi32(code << 16 | code),
            _mm512_set1_epi32(0xFFFF),
        );
        let mut total = _mm512_setzero_si512();
        macro_rules! step {
            ($($position:literal)*) => {
                $(
                    let first = field_at!($position, 0, packed);
                    let second = field_at!(($position + 4), 16, packed);
                    for half in 0..2 {
                        let both = _mm512_ternarylogic_epi32::<CHOOSE>(lower, first[half], second[half]);
                        let both = _mm512_and_si512(both, masks);
                        total = _mm512_add_epi16(total, both);
                        pairs[first_value($position) / 16 + half].write(both);
                    }
                )*
            };
        }
        step!(0 1 2 3 8 9 10 11 16 17 18 19 24 25 26 27);
        _mm512_reduce_add_epi32(_mm512_and_si512(total, lower))
    }

    // SAFETY: whoever calls one has detected the features of `Backend::Avx512`.
    type Pair = unsafe fn(&[u8], &mut Pairs) -> i32;

    static PAIR: [Pair; WIDTH_MAX] = table!(pair_width: 1 2 3 4 5 6 7 8 9 10 11);

    /// Calls `put` with the index of every 16 values and what they are above the start, those of the first half
    /// and of the second in turn.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2")]
    fn for_all_sums(
        width: usize,
        packed: &[u8],
        base: i16,
        start: i32,
        mut put: impl FnMut(usize, __m512i),
    ) {
        let mut pairs: Pairs = [MaybeUninit::uninit(); 32];
        // SAFETY: the features were detected, as for this function; the kernel checks the length of `packed`.
        let codes = unsafe { PAIR[width - 1](packed, &mut pairs) };
        let half = codes + 512 * i32::from(base);
        let mut sums = [
            _mm512_set1_epi32(start),
            _mm512_set1_epi32(start.wrapping_add(half)),
        ];
        let (bases, first) = (_mm512_set1_epi16(base), _mm512_set1_epi32(1));
        let zero = _mm512_setzero_si512();
        let (mut ones, mut twos, mut fours, mut eights) = (zero, zero, zero, zero);
        for (index, codes) in pairs.iter().enumerate() {
            // SAFETY: `pair_width` has written every pair.
            let codes = unsafe { codes.assume_init() };
            let one = _mm512_add_epi16(codes, bases);
            let two = _mm512_add_epi16(one, _mm512_alignr_epi32::<15>(one, ones));
            let four = _mm512_add_epi16(two, _mm512_alignr_epi32::<14>(two, twos));
            let eight = _mm512_add_epi16(four, _mm512_alignr_epi32::<12>(four, fours));
            let sixteen = _mm512_add_epi16(eight, _mm512_alignr_epi32::<8>(eight, eights));
            (ones, twos, fours, eights) = (one, two, four, eight);
            // The low halves are extended by multiplying them by one, and the high ones by zero.
            sums[0] = _mm512_add_epi32(sums[0], _mm512_madd_epi16(sixteen, first));
            sums[1] = _mm512_add_epi32(sums[1], _mm512_srai_epi32::<16>(sixteen));
            put(16 * index, sums[0]);
            put(16 * index + 512, sums[1]);
        }
    }

    /// # Safety
    /// The processor has the features of [`crate::Backend::Avx512`].
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2")]
    pub(super) unsafe fn sum_i32(
        width: usize,
        packed: &[u8],
        base: i16,
        start: i32,
        out: &mut [i32; 1024],
    ) {
        let out = out.as_mut_ptr();
        for_all_sums(width, packed, base, start, |index, sums| {
            // SAFETY: `index` is a multiple of 16 below the 1,024 values.
            unsafe { _mm512_storeu_si512(out.wrapping_add(index).cast(), sums) };
        });
    }

    /// # Safety
    /// The processor has the features of [`crate::Backend::Avx512`].
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2")]
    pub(super) unsafe fn sum_i64(
        width: usize,
        packed: &[u8],
        base: i16,
        start: i64,
        out: &mut [i64; 1024],
    ) {
        let (out, starts) = (out.as_mut_ptr(), _mm512_set1_epi64(start));
        for_all_sums(width, packed, base, 0, |index, sums| {
            let low = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(sums));
            let high = _mm512_cvtepi32_epi64(_mm512_extracti64x4_epi64::<1>(sums));
            let at = out.wrapping_add(index);
            // SAFETY: `index` is a multiple of 16 below the 1,024 values.
            unsafe {
                _mm512_storeu_si512(at.cast(), _mm512_add_epi64(low, starts));
                _mm512_storeu_si512(at.wrapping_add(8).cast(), _mm512_add_epi64(high, starts));
            }
        });
    }
}
