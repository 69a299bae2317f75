//! Packing 1,024 values at a fixed width, in FastLanes order.
//!
//! The packed vector is a matrix of 128-byte rows. A row is `LANES` words of the lane type (128 × 8 bits, 64 × 16
//! bits, 32 × 32 bits or 16 × 64 bits), and each lane is a bit stream of its own that runs down the rows. Value
//! `r` of lane `l` is value `FL_ORDER[r / 8] · 16 + (r % 8) · 128 + l` of the vector, so that for every lane
//! type the values with equal `r % 8` are 128 neighbours, and the values of one `r` are `LANES` neighbours:
//! one `r` is decoded by the same shift for all lanes and written as one block.

use super::dispatch;

/// Order of the 16-value blocks within 128 neighbours; its own inverse.
pub(super) const FL_ORDER: [usize; 8] = [0, 4, 2, 6, 1, 5, 3, 7];

/// Bytes of one row of the packed matrix, for every lane type.
pub(super) const ROW_BYTES: usize = 128;

/// For each position in the lanes, the block of `lanes` neighbours of the vector it stands for.
const fn blocks<const BITS: usize>() -> [usize; BITS] {
    let mut blocks = [0; BITS];
    let mut row = 0;
    while row < BITS {
        blocks[row] = (FL_ORDER[row / 8] * 16 + row % 8 * 128) / (1024 / BITS);
        row += 1;
    }
    blocks
}

/// Position in its lane of value `index` of the vector.
const fn row_of(index: usize, lanes: usize) -> usize {
    FL_ORDER[index % 128 / lanes * (lanes / 16)] * 8 + index / 128
}

/// Kernels for elements of one type in lanes of one type. All widths share one loop over the positions in the
/// lanes; everything that depends on the width is computed once per position, for all lanes. With AVX-512
/// widths from `$own_from` on have unpacking functions of their own ([`super::bits512`]).
macro_rules! lane_kernels {
    ($module:ident, $element:ty, $word:ty, $bits:literal, $own_from:literal, $own_group:expr) => {
        pub(crate) mod $module {
            #[cfg(target_arch = "x86_64")]
            use super::super::{bits512, has_avx512};
            use super::{FL_ORDER, ROW_BYTES, blocks, dispatch, row_of};

            const LANES: usize = 1024 / $bits;
            const WORD_BYTES: usize = $bits / 8;
            static BLOCKS: [usize; $bits] = blocks();

            type Row = [[u8; WORD_BYTES]; LANES];

            const fn mask(width: usize) -> $word {
                if width >= $bits { !0 } else { (1 << width) - 1 }
            }

            #[inline(always)]
            fn rows(packed: &[u8]) -> &[Row] {
                packed.as_chunks::<WORD_BYTES>().0.as_chunks::<LANES>().0
            }

            /// Unpacks the block at one position in the lanes.
            #[inline(always)]
            fn unpack_block(
                width: usize,
                rows: &[Row],
                position: usize,
                base: $element,
                target: &mut [$element; LANES],
            ) {
                let mask = mask(width);
                let bit = position * width;
                let (word, shift) = (bit / $bits, bit % $bits);
                let low = &rows[word];
                if shift + width <= $bits {
                    for lane in 0..LANES {
                        let bits = <$word>::from_le_bytes(low[lane]) >> shift & mask;
                        target[lane] = base.wrapping_add(bits as $element);
                    }
                } else {
                    let high = &rows[word + 1];
                    let left = ($bits - shift) % $bits;
                    for lane in 0..LANES {
                        let low = <$word>::from_le_bytes(low[lane]) >> shift;
                        let high = <$word>::from_le_bytes(high[lane]) << left;
                        target[lane] = base.wrapping_add(((low | high) & mask) as $element);
                    }
                }
            }

            #[inline(always)]
            fn unpack_rows(
                width: usize,
                packed: &[u8],
                base: $element,
                out: &mut [$element; 1024],
            ) {
                let rows = rows(packed);
                let out = out.as_chunks_mut::<LANES>().0;
                for (position, &block) in BLOCKS.iter().enumerate() {
                    unpack_block(width, rows, position, base, &mut out[block % $bits]);
                }
            }

            /// One block of a group that is asked for at random: whether its fields straddle two words cannot be
            /// predicted, so both are always read. They are the same word when the fields lie within one.
            #[inline(always)]
            fn unpack_block_unpredicted(
                width: usize,
                rows: &[Row],
                position: usize,
                base: $element,
                target: &mut [$element; LANES],
            ) {
                let mask = mask(width);
                let (word, next, shift) = words_of(width, position);
                let (low, high) = (&rows[word], &rows[next]);
                for lane in 0..LANES {
                    let low = <$word>::from_le_bytes(low[lane]) >> shift;
                    let high = <$word>::from_le_bytes(high[lane]) << 1 << ($bits - 1 - shift);
                    target[lane] = base.wrapping_add(((low | high) & mask) as $element);
                }
            }

            /// The words with the first and the last bit of the field at a position, and its shift in the first.
            #[inline(always)]
            fn words_of(width: usize, position: usize) -> (usize, usize, usize) {
                let bit = position * width;
                let (word, shift) = (bit / $bits, bit % $bits);
                (word, word + usize::from(shift + width > $bits), shift)
            }

            #[inline(always)]
            fn unpack_group_rows(
                width: usize,
                packed: &[u8],
                base: $element,
                group: usize,
                out: &mut [$element; 128],
            ) {
                let rows = rows(packed);
                let out = out.as_chunks_mut::<LANES>().0;
                let blocks = out.len();
                for eighth in 0..blocks {
                    let block = FL_ORDER[eighth % 8] * 16 / LANES;
                    let target = &mut out[block % blocks];
                    unpack_block_unpredicted(width, rows, eighth * 8 + group, base, target);
                }
            }

            #[inline(always)]
            fn pack_rows(
                width: usize,
                values: &[$element; 1024],
                base: $element,
                packed: &mut [u8],
            ) {
                assert!(width <= $bits && packed.len() == ROW_BYTES * width);
                if width == 0 {
                    return;
                }
                let rows = packed
                    .as_chunks_mut::<WORD_BYTES>()
                    .0
                    .as_chunks_mut::<LANES>()
                    .0;
                let values = values.as_chunks::<LANES>().0;
                let mask = mask(width);
                let mut pending: [$word; LANES] = [0; LANES];
                for (position, &block) in BLOCKS.iter().enumerate() {
                    let bit = position * width;
                    let (word, shift) = (bit / $bits, bit % $bits);
                    let source = &values[block % $bits];
                    for lane in 0..LANES {
                        let bits = source[lane].wrapping_sub(base) as $word & mask;
                        pending[lane] |= bits << shift;
                    }
                    if shift + width < $bits {
                        continue;
                    }
                    // The row is full; what did not fit starts the next one.
                    let carried = shift + width - $bits;
                    let target = &mut rows[word];
                    for lane in 0..LANES {
                        target[lane] = pending[lane].to_le_bytes();
                        let bits = source[lane].wrapping_sub(base) as $word & mask;
                        pending[lane] = if carried == 0 {
                            0
                        } else {
                            bits >> (width - carried)
                        };
                    }
                }
            }

            dispatch! {
                fn unpack_any_width(
                    width: usize,
                    packed: &[u8],
                    base: $element,
                    out: &mut [$element; 1024],
                ) = unpack_rows
            }

            /// Unpacks `128 · width` bytes and adds `base`, wrapping.
            #[inline]
            pub(crate) fn unpack(
                width: usize,
                packed: &[u8],
                base: $element,
                out: &mut [$element; 1024],
            ) {
                assert!(width <= $bits && packed.len() == ROW_BYTES * width);
                if width == 0 {
                    return out.fill(base);
                }
                #[cfg(target_arch = "x86_64")]
                if width >= $own_from && has_avx512() {
                    // SAFETY: the active backend never exceeds the detected one, so the processor has AVX-512.
                    return unsafe { bits512::$module(width, packed, base, out) };
                }
                unpack_any_width(width, packed, base, out);
            }

            /// Unpacks with a kernel of AVX-512, which was detected; false if there is none.
            #[cfg(target_arch = "x86_64")]
            #[inline]
            fn own_group(
                width: usize,
                packed: &[u8],
                base: $element,
                group: usize,
                out: &mut [$element; 128],
            ) -> bool {
                let kernel: Option<bits512::UnpackGroup<$element>> = $own_group;
                let Some(kernel) = kernel else {
                    return false;
                };
                // SAFETY: the caller has detected AVX-512.
                unsafe { kernel(width, packed, base, group, out) };
                true
            }

            dispatch! {
                fn unpack_group_any_width(
                    width: usize,
                    packed: &[u8],
                    base: $element,
                    group: usize,
                    out: &mut [$element; 128],
                ) = unpack_group_rows
            }

            /// Unpacks values `128 · group` to `128 · group + 127`, `group` below 8, from those rows of the
            /// matrix alone that hold them.
            pub(crate) fn unpack_group(
                width: usize,
                packed: &[u8],
                base: $element,
                group: usize,
                out: &mut [$element; 128],
            ) {
                assert!(width <= $bits && packed.len() == ROW_BYTES * width && group < 8);
                if width == 0 {
                    return out.fill(base);
                }
                #[cfg(target_arch = "x86_64")]
                if has_avx512() && own_group(width, packed, base, group, out) {
                    return;
                }
                unpack_group_any_width(width, packed, base, group, out);
            }

            dispatch! {
                /// Packs the low `width` bits of each value less `base`, wrapping, into `128 · width` bytes.
                pub(crate) fn pack(
                    width: usize,
                    values: &[$element; 1024],
                    base: $element,
                    packed: &mut [u8],
                ) = pack_rows
            }

            /// Value `index` < 1024 of a packed vector plus `base`, wrapping; the others are not touched.
            #[inline]
            pub(crate) fn unpack_one(
                width: usize,
                packed: &[u8],
                base: $element,
                index: usize,
            ) -> $element {
                assert!(width <= $bits && packed.len() == ROW_BYTES * width && index < 1024);
                if width == 0 {
                    return base;
                }
                let (rows, lane) = (rows(packed), index % LANES);
                let (word, next, shift) = words_of(width, row_of(index, LANES));
                let low = <$word>::from_le_bytes(rows[word][lane]) >> shift;
                let high = <$word>::from_le_bytes(rows[next][lane]) << 1 << ($bits - 1 - shift);
                let bits = low | high;
                base.wrapping_add((bits & mask(width)) as $element)
            }
        }
    };
}
lane_kernels!(of_i8, i8, u8, 8, 1, None);
lane_kernels!(of_i16, i16, u16, 16, 1, Some(bits512::group_i16));
lane_kernels!(of_i32, i32, u32, 32, 1, Some(bits512::group_i32));
lane_kernels!(of_i64, i64, u64, 64, 33, Some(bits512::group_i64));
// 64-bit values of at most 32 bits travel in 32-bit lanes: half the work.
lane_kernels!(of_i64_narrow, i64, u32, 32, 1, None);
