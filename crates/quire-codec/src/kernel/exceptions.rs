//! The exceptions of a vector, eight at a time: positions and high bits come out of their bit streams by a byte
//! permutation and a shift per lane, and are added by a gather and a scatter.
//!
//! Only AVX-512 has kernels here; `None` tells the caller to go through the streams number by number.

/// Bits of a position within a vector.
pub(crate) const POSITION_BITS: usize = 10;

/// Where the exceptions of a vector are, and their bits above the code.
#[derive(Clone, Copy)]
pub struct Lists<'a> {
    /// Ascending positions of [`POSITION_BITS`] each, a bit stream; anything may follow.
    pub positions: &'a [u8],
    /// The bits above the code, a bit stream; anything may follow.
    pub highs: &'a [u8],
    pub count: usize,
    /// Bits of a code.
    pub width: usize,
    /// Bits of a high part.
    pub high_width: usize,
}

impl Lists<'_> {
    /// A number, and the bits beside it in its first byte, must fit 64 bits.
    fn has_kernel(&self) -> bool {
        self.high_width <= 57 && super::has_avx512()
    }
}

macro_rules! exceptions {
    ($module:ident, $element:ty) => {
        pub(crate) mod $module {
            use super::Lists;

            /// Adds the high bits to their values, wrapping. `Some(false)` when positions do not ascend.
            pub(crate) fn patch(lists: &Lists<'_>, out: &mut [$element; 1024]) -> Option<bool> {
                #[cfg(target_arch = "x86_64")]
                if lists.has_kernel() {
                    // SAFETY: a kernel exists only where AVX-512 was detected.
                    return Some(unsafe { super::avx512::$module::patch(lists, out) });
                }
                let _ = (lists, out);
                None
            }

            /// Adds the high bits of exceptions among values `128 · group` to `128 · group + 127`.
            pub(crate) fn patch_group(
                lists: &Lists<'_>,
                group: usize,
                out: &mut [$element; 128],
            ) -> Option<()> {
                #[cfg(target_arch = "x86_64")]
                if lists.has_kernel() {
                    // SAFETY: a kernel exists only where AVX-512 was detected.
                    unsafe { super::avx512::$module::patch_group(lists, group, out) };
                    return Some(());
                }
                let _ = (lists, group, out);
                None
            }
        }
    };
}
exceptions!(of_i8, i8);
exceptions!(of_i16, i16);
exceptions!(of_i32, i32);
exceptions!(of_i64, i64);

/// Place of the exception at position `row` in the lists, if there is one.
pub(crate) fn find(lists: &Lists<'_>, row: usize) -> Option<Option<usize>> {
    #[cfg(target_arch = "x86_64")]
    if super::has_avx512() {
        // SAFETY: AVX-512 was detected.
        return Some(unsafe { avx512::find(lists, row) });
    }
    let _ = (lists, row);
    None
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use super::{Lists, POSITION_BITS};
    use std::arch::x86_64::{
        __m512i, _mm_cvtsi64_si128, _mm256_add_epi32, _mm256_setzero_si256, _mm512_add_epi8,
        _mm512_add_epi64, _mm512_alignr_epi64, _mm512_and_si512, _mm512_cmpeq_epi64_mask,
        _mm512_cmpgt_epi64_mask, _mm512_cvtepi64_epi32, _mm512_loadu_si512,
        _mm512_mask_i64gather_epi32, _mm512_mask_i64gather_epi64, _mm512_mask_i64scatter_epi32,
        _mm512_mask_i64scatter_epi64, _mm512_maskz_loadu_epi8, _mm512_mul_epu32,
        _mm512_permutexvar_epi8, _mm512_set_epi64, _mm512_set1_epi64, _mm512_setzero_si512,
        _mm512_shuffle_epi8, _mm512_sll_epi64, _mm512_srli_epi64, _mm512_srlv_epi64,
        _mm512_storeu_si512,
    };

    /// A bit stream of numbers of at most 57 bits, read eight at a time: those start at a whole byte, and the
    /// bytes of each lie at the same places in every eight.
    struct ExceptionStream<'a> {
        stream: &'a [u8],
        width: usize,
        /// For each byte of each lane, the byte it comes from.
        bytes: __m512i,
        /// Bits below the number in the first byte of its lane.
        shifts: __m512i,
        mask: __m512i,
    }

    impl<'a> ExceptionStream<'a> {
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
        fn new(stream: &'a [u8], width: usize) -> Self {
            let lanes = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
            let bits = _mm512_mul_epu32(lanes, _mm512_set1_epi64(width as i64));
            let upper = 0x0808_0808_0808_0808;
            let everywhere = _mm512_set_epi64(upper, 0, upper, 0, upper, 0, upper, 0);
            let first_bytes = _mm512_shuffle_epi8(_mm512_srli_epi64::<3>(bits), everywhere);
            let mask = u64::MAX.checked_shr(64 - width as u32).unwrap_or(0);
            Self {
                stream,
                width,
                bytes: _mm512_add_epi8(first_bytes, _mm512_set1_epi64(0x0706_0504_0302_0100)),
                shifts: _mm512_and_si512(bits, _mm512_set1_epi64(7)),
                mask: _mm512_set1_epi64(mask as i64),
            }
        }

        /// Numbers `8 · chunk` and after; those beyond the stream are 0.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
        fn eight(&self, chunk: usize) -> __m512i {
            let rest = self.stream.get(chunk * self.width..).unwrap_or_default();
            let bytes = match rest.first_chunk::<64>() {
                // SAFETY: 64 bytes are there.
                Some(bytes) => unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) },
                None => last_bytes(rest),
            };
            let lanes = _mm512_permutexvar_epi8(self.bytes, bytes);
            _mm512_and_si512(_mm512_srlv_epi64(lanes, self.shifts), self.mask)
        }
    }

    /// Fewer than 64 bytes, and zeros.
    #[cold]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    fn last_bytes(bytes: &[u8]) -> __m512i {
        let present = u64::MAX.checked_shr(64 - bytes.len() as u32).unwrap_or(0);
        // SAFETY: only the bytes of the slice are loaded.
        unsafe { _mm512_maskz_loadu_epi8(present, bytes.as_ptr().cast()) }
    }

    /// Calls `add` with eight positions at a time, their high bits in place, and which of them are valid.
    /// False when positions do not ascend.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    fn for_all(lists: &Lists<'_>, mut add: impl FnMut(__m512i, __m512i, u8)) -> bool {
        let positions = ExceptionStream::new(lists.positions, POSITION_BITS);
        let highs = ExceptionStream::new(lists.highs, lists.high_width);
        let width = _mm_cvtsi64_si128(lists.width as i64);
        let mut before = _mm512_set1_epi64(-1);
        let mut ascend = u8::MAX;
        let mut step = |chunk: usize, valid: u8| {
            let rows = positions.eight(chunk);
            let left = _mm512_alignr_epi64::<7>(rows, before);
            ascend &= _mm512_cmpgt_epi64_mask(rows, left) | !valid;
            before = rows;
            add(rows, _mm512_sll_epi64(highs.eight(chunk), width), valid);
        };
        for chunk in 0..lists.count / 8 {
            step(chunk, u8::MAX);
        }
        if !lists.count.is_multiple_of(8) {
            step(lists.count / 8, u8::MAX >> (8 - lists.count % 8));
        }
        ascend == u8::MAX
    }

    /// As [`for_all`], for the positions in one group of 128, counted from its start, and without a look at
    /// their order.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    fn for_group(lists: &Lists<'_>, group: usize, mut add: impl FnMut(__m512i, __m512i, u8)) {
        let positions = ExceptionStream::new(lists.positions, POSITION_BITS);
        let highs = ExceptionStream::new(lists.highs, lists.high_width);
        let width = _mm_cvtsi64_si128(lists.width as i64);
        let (group, within) = (_mm512_set1_epi64(group as i64), _mm512_set1_epi64(127));
        for chunk in 0..lists.count.div_ceil(8) {
            let valid = u8::MAX >> (8 - (lists.count - 8 * chunk).min(8));
            let rows = positions.eight(chunk);
            let inside = _mm512_cmpeq_epi64_mask(_mm512_srli_epi64::<7>(rows), group) & valid;
            if inside != 0 {
                let high = _mm512_sll_epi64(highs.eight(chunk), width);
                add(_mm512_and_si512(rows, within), high, inside);
            }
        }
    }

    macro_rules! by_scatter {
        ($module:ident, $element:ty, $add:ident) => {
            pub(super) mod $module {
                use super::super::Lists;
                use super::{for_all, for_group, $add};

                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
                pub(in super::super) fn patch(
                    lists: &Lists<'_>,
                    out: &mut [$element; 1024],
                ) -> bool {
                    let out = out.as_mut_ptr();
                    // SAFETY: positions have 10 bits, and there are 1,024 values.
                    for_all(lists, |rows, highs, valid| unsafe {
                        $add(out, rows, highs, valid)
                    })
                }

                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
                pub(in super::super) fn patch_group(
                    lists: &Lists<'_>,
                    group: usize,
                    out: &mut [$element; 128],
                ) {
                    let out = out.as_mut_ptr();
                    // SAFETY: positions in a group have 7 bits, and there are 128 values.
                    for_group(lists, group, |rows, highs, valid| unsafe {
                        $add(out, rows, highs, valid)
                    });
                }
            }
        };
    }
    by_scatter!(of_i8, i8, add_i8);
    by_scatter!(of_i16, i16, add_i16);
    by_scatter!(of_i32, i32, add_i32);
    by_scatter!(of_i64, i64, add_i64);

    /// There is no scatter of 8 or 16 bits.
    macro_rules! add_one_by_one {
        ($name:ident, $element:ty) => {
            /// # Safety
            /// `out` points to a value for each valid row.
            #[inline]
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
            unsafe fn $name(out: *mut $element, rows: __m512i, highs: __m512i, valid: u8) {
                let (mut row, mut high) = ([0u64; 8], [0u64; 8]);
                // SAFETY: the arrays have 64 bytes each.
                unsafe {
                    _mm512_storeu_si512(row.as_mut_ptr().cast(), rows);
                    _mm512_storeu_si512(high.as_mut_ptr().cast(), highs);
                }
                for lane in 0..8 {
                    if valid >> lane & 1 != 0 {
                        // SAFETY: as promised by the caller.
                        unsafe {
                            let value = &mut *out.add(row[lane] as usize);
                            *value = value.wrapping_add(high[lane] as $element);
                        }
                    }
                }
            }
        };
    }
    add_one_by_one!(add_i8, i8);
    add_one_by_one!(add_i16, i16);

    /// # Safety
    /// `out` points to a value for each valid row.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    unsafe fn add_i32(out: *mut i32, rows: __m512i, highs: __m512i, valid: u8) {
        // SAFETY: as promised by the caller; rows that are not valid are not touched.
        unsafe {
            let zero = _mm256_setzero_si256();
            let low = _mm512_mask_i64gather_epi32::<4>(zero, valid, rows, out);
            let whole = _mm256_add_epi32(low, _mm512_cvtepi64_epi32(highs));
            _mm512_mask_i64scatter_epi32::<4>(out, valid, rows, whole);
        }
    }

    /// # Safety
    /// `out` points to a value for each valid row.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
    unsafe fn add_i64(out: *mut i64, rows: __m512i, highs: __m512i, valid: u8) {
        // SAFETY: as promised by the caller; rows that are not valid are not touched.
        unsafe {
            let zero = _mm512_setzero_si512();
            let low = _mm512_mask_i64gather_epi64::<8>(zero, valid, rows, out);
            let whole = _mm512_add_epi64(low, highs);
            _mm512_mask_i64scatter_epi64::<8>(out, valid, rows, whole);
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    pub(super) fn find(lists: &Lists<'_>, row: usize) -> Option<usize> {
        let positions = ExceptionStream::new(lists.positions, POSITION_BITS);
        let row = _mm512_set1_epi64(row as i64);
        for chunk in 0..lists.count.div_ceil(8) {
            let valid = u8::MAX >> (8 - (lists.count - 8 * chunk).min(8));
            let found = _mm512_cmpeq_epi64_mask(positions.eight(chunk), row) & valid;
            if found != 0 {
                return Some(8 * chunk + found.trailing_zeros() as usize);
            }
        }
        None
    }
}
