//! Which packed codes lie in a range, without unpacking them: a bit for each.
//!
//! Codes need not be cut out to be compared: each is shifted to the top of its lane, and the bits left below it
//! decide nothing if the bounds have zeros and ones there. With AVX-512 or AVX2; false tells the caller to unpack.

use crate::RowMask;

/// Marks the codes from `low` to `low + span`, both below 2^`width`, of `128 · width` bytes in lanes of
/// `lane_bits`, which is 16, 32 or 64; false if it cannot.
pub(crate) fn select(
    lane_bits: usize,
    width: usize,
    packed: &[u8],
    low: u64,
    span: u64,
    mask: &mut RowMask,
) -> bool {
    #[cfg(target_arch = "x86_64")]
    if (1..=lane_bits).contains(&width) {
        use super::{Backend, active_backend};
        match active_backend() {
            // SAFETY: the active backend never exceeds the detected one, so the processor has AVX-512.
            Backend::Avx512 => unsafe {
                return avx512::select(lane_bits, width, packed, low, span, mask);
            },
            // SAFETY: as above, for AVX2.
            Backend::Avx2 => unsafe {
                return avx2::select(lane_bits, width, packed, low, span, mask);
            },
            Backend::Portable => {}
        }
    }
    let _ = (lane_bits, width, packed, low, span, mask);
    false
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::super::bits::ROW_BYTES;
    use super::super::bits512::{first_value, positions, row, table, table_to_32, top_fields_at};
    use crate::RowMask;
    use std::arch::x86_64::{
        _mm512_cmple_epu16_mask, _mm512_cmple_epu32_mask, _mm512_cmple_epu64_mask,
        _mm512_set1_epi16, _mm512_set1_epi32, _mm512_set1_epi64, _mm512_shldv_epi16,
        _mm512_shldv_epi32, _mm512_shldv_epi64, _mm512_sllv_epi16, _mm512_sllv_epi32,
        _mm512_sllv_epi64, _mm512_sub_epi16, _mm512_sub_epi32, _mm512_sub_epi64,
    };

    /// A kernel per width. A register gives `$part` of the mask.
    macro_rules! per_width {
        ($name:ident, $bits:tt, $code:ty, $signed:ty, $part:ty, $set:ident, $shift_left:ident,
         $double_shift:ident, $subtract:ident, $compare:ident, $step:ident) => {
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2")]
            fn $name<const WIDTH: usize>(
                packed: &[u8],
                low: $code,
                span: $code,
                parts: &mut [$part; $bits * 2],
            ) {
                assert!(packed.len() == ROW_BYTES * WIDTH);
                let below = $bits - WIDTH;
                let lows = $set((low << below) as $signed);
                let spans = $set((span << below | ((1 << below) - 1)) as $signed);
                let mut row = row!(packed, 0);
                macro_rules! $step {
                    ($position:literal) => {
                        let fields = top_fields_at!($position, WIDTH in $bits, packed, row, $set, $shift_left,
                            $double_shift);
                        for (half, fields) in fields.into_iter().enumerate() {
                            parts[first_value($position) * $bits / 512 + half] =
                                $compare($subtract(fields, lows), spans);
                        }
                    };
                }
                positions!($bits, $step);
            }
        };
    }
    per_width!(
        lanes_of_16,
        16,
        u16,
        i16,
        u32,
        _mm512_set1_epi16,
        _mm512_sllv_epi16,
        _mm512_shldv_epi16,
        _mm512_sub_epi16,
        _mm512_cmple_epu16_mask,
        step
    );
    per_width!(
        lanes_of_32,
        32,
        u32,
        i32,
        u16,
        _mm512_set1_epi32,
        _mm512_sllv_epi32,
        _mm512_shldv_epi32,
        _mm512_sub_epi32,
        _mm512_cmple_epu32_mask,
        step
    );
    per_width!(
        lanes_of_64,
        64,
        u64,
        i64,
        u8,
        _mm512_set1_epi64,
        _mm512_sllv_epi64,
        _mm512_shldv_epi64,
        _mm512_sub_epi64,
        _mm512_cmple_epu64_mask,
        step
    );

    // SAFETY: whoever calls one of these has detected the features of `Backend::Avx512`.
    type Select<Code, Parts> = unsafe fn(&[u8], Code, Code, &mut Parts);

    static OF_16: [Select<u16, [u32; 32]>; 16] =
        table!(lanes_of_16: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
    static OF_32: [Select<u32, [u16; 64]>; 32] = table_to_32!(lanes_of_32);
    /// From 33 bits on: fewer are in narrow lanes.
    static OF_64: [Select<u64, [u8; 128]>; 32] = table!(lanes_of_64: 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47
        48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64);

    /// # Safety
    /// The processor has the features of [`crate::Backend::Avx512`].
    pub(super) unsafe fn select(
        lane_bits: usize,
        width: usize,
        packed: &[u8],
        low: u64,
        span: u64,
        mask: &mut RowMask,
    ) -> bool {
        // SAFETY: as promised by the caller; the kernels check the length of `packed`. The parts of the mask are
        // in the order of this little-endian processor.
        unsafe {
            match lane_bits {
                16 => {
                    let parts = bytemuck::cast_mut(mask);
                    OF_16[width - 1](packed, low as u16, span as u16, parts);
                }
                32 => {
                    let parts = bytemuck::cast_mut(mask);
                    OF_32[width - 1](packed, low as u32, span as u32, parts);
                }
                64 if width > 32 => {
                    OF_64[width - 33](packed, low, span, bytemuck::cast_mut(mask));
                }
                _ => return false,
            }
        }
        true
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use super::super::bits::{FL_ORDER, ROW_BYTES};
    use crate::RowMask;
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_cvtsi64_si128, _mm256_castsi256_pd, _mm256_castsi256_ps,
        _mm256_cmpgt_epi16, _mm256_cmpgt_epi32, _mm256_cmpgt_epi64, _mm256_loadu_si256,
        _mm256_movemask_epi8, _mm256_movemask_pd, _mm256_movemask_ps, _mm256_or_si256,
        _mm256_packs_epi16, _mm256_permute4x64_epi64, _mm256_set1_epi16, _mm256_set1_epi32,
        _mm256_set1_epi64x, _mm256_sll_epi16, _mm256_sll_epi32, _mm256_sll_epi64, _mm256_srl_epi16,
        _mm256_srl_epi32, _mm256_srl_epi64, _mm256_sub_epi16, _mm256_sub_epi32, _mm256_sub_epi64,
    };

    /// A quarter of a row of the packed matrix.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn quarter(row: &[u8; ROW_BYTES], quarter: usize) -> __m256i {
        // SAFETY: a row has four quarters of 32 bytes.
        unsafe { _mm256_loadu_si256(row.as_ptr().add(quarter % 4 * 32).cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn bits_of_16(outside: [__m256i; 4]) -> u64 {
        let [a, b, c, d] = outside;
        let bytes = |left, right| {
            // Packing works within halves of registers; the permutation puts the quarters in order.
            let packed = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packs_epi16(left, right));
            u64::from(_mm256_movemask_epi8(packed) as u32)
        };
        bytes(a, b) | bytes(c, d) << 32
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn bits_of_32(outside: [__m256i; 4]) -> u32 {
        let bits = |values| _mm256_movemask_ps(_mm256_castsi256_ps(values)) as u32;
        let [a, b, c, d] = outside.map(bits);
        a | b << 8 | c << 16 | d << 24
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn bits_of_64(outside: [__m256i; 4]) -> u16 {
        let bits = |values| _mm256_movemask_pd(_mm256_castsi256_pd(values)) as u16;
        let [a, b, c, d] = outside.map(bits);
        a | b << 4 | c << 8 | d << 12
    }

    macro_rules! any_width {
        ($name:ident, $bits:literal, $code:ty, $signed:ty, $part:ty, $set:ident, $left:ident, $right:ident,
         $subtract:ident, $above:ident, $bits_of:ident) => {
            /// Compares as signed: the top bit of both sides is flipped, on one by way of what is subtracted.
            #[target_feature(enable = "avx2")]
            fn $name(width: usize, packed: &[u8], low: u64, span: u64, parts: &mut [$part; $bits]) {
                const LANES: usize = 1024 / $bits;
                const TOP: $code = 1 << ($bits - 1);
                let rows = packed.as_chunks::<ROW_BYTES>().0;
                assert!((1..=$bits).contains(&width) && rows.len() == width);
                let below = $bits - width;
                let lows = $set(((low as $code) << below ^ TOP) as $signed);
                let spans =
                    $set((((span as $code) << below | ((1 << below) - 1)) ^ TOP) as $signed);
                let count = |bits: usize| -> __m128i { _mm_cvtsi64_si128(bits as i64) };
                for position in 0..$bits {
                    // The words with the first and the last bit: the same one, unless a field straddles two. Then
                    // what comes from the first twice lies below the field.
                    let (start, end) = (position * width, (position + 1) * width);
                    let (first, last) = (&rows[start / $bits], &rows[(end - 1) / $bits]);
                    let left = end.wrapping_neg() % $bits;
                    let (left, right) = (count(left), count($bits - left));
                    let outside = [0, 1, 2, 3].map(|place| {
                        let high = $left(quarter(last, place), left);
                        let field = _mm256_or_si256(high, $right(quarter(first, place), right));
                        $above($subtract(field, lows), spans)
                    });
                    let first_value = FL_ORDER[position / 8] * 16 + position % 8 * 128;
                    parts[first_value / LANES % $bits] = !$bits_of(outside);
                }
            }
        };
    }
    any_width!(
        lanes_of_16,
        16,
        u16,
        i16,
        u64,
        _mm256_set1_epi16,
        _mm256_sll_epi16,
        _mm256_srl_epi16,
        _mm256_sub_epi16,
        _mm256_cmpgt_epi16,
        bits_of_16
    );
    any_width!(
        lanes_of_32,
        32,
        u32,
        i32,
        u32,
        _mm256_set1_epi32,
        _mm256_sll_epi32,
        _mm256_srl_epi32,
        _mm256_sub_epi32,
        _mm256_cmpgt_epi32,
        bits_of_32
    );
    any_width!(
        lanes_of_64,
        64,
        u64,
        i64,
        u16,
        _mm256_set1_epi64x,
        _mm256_sll_epi64,
        _mm256_srl_epi64,
        _mm256_sub_epi64,
        _mm256_cmpgt_epi64,
        bits_of_64
    );

    /// # Safety
    /// The processor has AVX2.
    pub(super) unsafe fn select(
        lane_bits: usize,
        width: usize,
        packed: &[u8],
        low: u64,
        span: u64,
        mask: &mut RowMask,
    ) -> bool {
        // SAFETY: as promised by the caller. The parts of the mask are in the order of this little-endian
        // processor.
        unsafe {
            match lane_bits {
                16 => lanes_of_16(width, packed, low, span, mask),
                32 => lanes_of_32(width, packed, low, span, bytemuck::cast_mut(mask)),
                64 => lanes_of_64(width, packed, low, span, bytemuck::cast_mut(mask)),
                _ => return false,
            }
        }
        true
    }
}
