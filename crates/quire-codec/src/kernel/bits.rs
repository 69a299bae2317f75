//! Packing 1,024 values at a fixed width, in FastLanes order.
//!
//! The packed vector is a matrix of 128-byte rows. A row is `LANES` words of the lane type (64 × 16 bits,
//! 32 × 32 bits or 16 × 64 bits), and each lane is a bit stream of its own that runs down the rows. Value
//! `r` of lane `l` is value `FL_ORDER[r / 8] · 16 + (r % 8) · 128 + l` of the vector, so that for every lane
//! type the values with equal `r % 8` are 128 neighbours, and the values of one `r` are `LANES` neighbours:
//! one `r` is decoded by the same shift for all lanes and written as one block.

use super::dispatch;

/// Order of the 16-value blocks within 128 neighbours; its own inverse.
pub(crate) const FL_ORDER: [usize; 8] = [0, 4, 2, 6, 1, 5, 3, 7];

/// Bytes of one row of the packed matrix, for every lane type.
const ROW_BYTES: usize = 128;

/// A lane type.
pub(crate) trait Word: Copy {
    const BITS: usize;
    const LANES: usize = 1024 / Self::BITS;
    const ZERO: Self;
    type Bytes: Copy;
    fn load(bytes: Self::Bytes) -> Self;
    fn store(self) -> Self::Bytes;
    fn split(bytes: &[u8]) -> &[Self::Bytes];
    fn split_mut(bytes: &mut [u8]) -> &mut [Self::Bytes];
    fn mask(width: usize) -> Self;
    fn right(self, shift: usize) -> Self;
    fn left(self, shift: usize) -> Self;
    fn or(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
}

macro_rules! word {
    ($word:ty, $bytes:literal) => {
        impl Word for $word {
            const BITS: usize = <$word>::BITS as usize;
            const ZERO: Self = 0;
            type Bytes = [u8; $bytes];
            #[inline(always)]
            fn load(bytes: Self::Bytes) -> Self {
                <$word>::from_le_bytes(bytes)
            }
            #[inline(always)]
            fn store(self) -> Self::Bytes {
                self.to_le_bytes()
            }
            #[inline(always)]
            fn split(bytes: &[u8]) -> &[Self::Bytes] {
                bytes.as_chunks::<$bytes>().0
            }
            #[inline(always)]
            fn split_mut(bytes: &mut [u8]) -> &mut [Self::Bytes] {
                bytes.as_chunks_mut::<$bytes>().0
            }
            #[inline(always)]
            fn mask(width: usize) -> Self {
                if width >= Self::BITS as usize {
                    !0
                } else {
                    (1 << width) - 1
                }
            }
            #[inline(always)]
            fn right(self, shift: usize) -> Self {
                self.wrapping_shr(shift as u32)
            }
            #[inline(always)]
            fn left(self, shift: usize) -> Self {
                self.wrapping_shl(shift as u32)
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }
        }
    };
}
word!(u16, 2);
word!(u32, 4);
word!(u64, 8);

/// Index in the vector of the first lane of matrix position `row`.
#[inline(always)]
const fn first_index(row: usize) -> usize {
    FL_ORDER[row / 8] * 16 + (row % 8) * 128
}

/// The `word`-th row of the packed matrix.
#[inline(always)]
fn packed_row<W: Word>(packed: &[u8], word: usize) -> &[W::Bytes] {
    W::split(&packed[word * ROW_BYTES..][..ROW_BYTES])
}

/// Unpacks `packed`, which must have `128 · width` bytes, and maps each value through `output`.
#[inline(always)]
fn unpack<W: Word, T>(width: usize, packed: &[u8], out: &mut [T; 1024], output: impl Fn(W) -> T) {
    assert!(width <= W::BITS && packed.len() == ROW_BYTES * width);
    if width == 0 {
        out.iter_mut().for_each(|value| *value = output(W::ZERO));
        return;
    }
    let mask = W::mask(width);
    for row in 0..W::BITS {
        let (word, shift) = (row * width / W::BITS, row * width % W::BITS);
        let target = &mut out[first_index(row)..][..W::LANES];
        let low = packed_row::<W>(packed, word);
        if shift + width <= W::BITS {
            for (value, low) in target.iter_mut().zip(low) {
                *value = output(W::load(*low).right(shift).and(mask));
            }
        } else {
            let high = packed_row::<W>(packed, word + 1);
            for ((value, low), high) in target.iter_mut().zip(low).zip(high) {
                let bits = W::load(*low)
                    .right(shift)
                    .or(W::load(*high).left(W::BITS - shift));
                *value = output(bits.and(mask));
            }
        }
    }
}

/// Packs the low `width` bits of `input(value)` into `packed`, which must have `128 · width` bytes.
#[inline(always)]
fn pack<W: Word, T: Copy>(
    width: usize,
    values: &[T; 1024],
    packed: &mut [u8],
    input: impl Fn(T) -> W,
) {
    assert!(width <= W::BITS && packed.len() == ROW_BYTES * width);
    if width == 0 {
        return;
    }
    let mask = W::mask(width);
    let mut pending = [W::ZERO; 64];
    let pending = &mut pending[..W::LANES];
    for row in 0..W::BITS {
        let (word, shift) = (row * width / W::BITS, row * width % W::BITS);
        let source = &values[first_index(row)..][..W::LANES];
        if shift + width < W::BITS {
            for (pending, value) in pending.iter_mut().zip(source) {
                *pending = pending.or(input(*value).and(mask).left(shift));
            }
            continue;
        }
        let carried = shift + width - W::BITS;
        let target = W::split_mut(&mut packed[word * ROW_BYTES..][..ROW_BYTES]);
        for ((pending, value), target) in pending.iter_mut().zip(source).zip(target) {
            let bits = input(*value).and(mask);
            *target = pending.or(bits.left(shift)).store();
            *pending = if carried == 0 {
                W::ZERO
            } else {
                bits.right(width - carried)
            };
        }
    }
}

/// Value `index` < 1024 of a packed vector, the others not touched.
#[inline(always)]
fn unpack_one<W: Word>(width: usize, packed: &[u8], index: usize) -> W {
    assert!(width <= W::BITS && packed.len() == ROW_BYTES * width && index < 1024);
    if width == 0 {
        return W::ZERO;
    }
    let lane = index % W::LANES;
    let row = FL_ORDER[index % 128 / W::LANES * (W::LANES / 16)] * 8 + index / 128;
    let (word, shift) = (row * width / W::BITS, row * width % W::BITS);
    let low = W::load(packed_row::<W>(packed, word)[lane]).right(shift);
    if shift + width <= W::BITS {
        return low.and(W::mask(width));
    }
    let high = W::load(packed_row::<W>(packed, word + 1)[lane]).left(W::BITS - shift);
    low.or(high).and(W::mask(width))
}

macro_rules! lane_kernels {
    ($unpack:ident, $pack:ident, $unpack_one:ident, $element:ty, $word:ty) => {
        dispatch! {
            /// Unpacks `128 · width` bytes and adds `base`, wrapping.
            pub(crate) fn $unpack(width: usize, packed: &[u8], base: $element, out: &mut [$element; 1024])
                = |width, packed, base: $element, out| {
                    unpack::<$word, $element>(width, packed, out, |bits| {
                        base.wrapping_add(bits as $element)
                    })
                }
        }
        dispatch! {
            /// Packs the low `width` bits of each value less `base`, wrapping, into `128 · width` bytes.
            pub(crate) fn $pack(width: usize, values: &[$element; 1024], base: $element, packed: &mut [u8])
                = |width, values, base: $element, packed| {
                    pack::<$word, $element>(width, values, packed, |value| {
                        value.wrapping_sub(base) as $word
                    })
                }
        }
        /// Value `index` of a packed vector plus `base`, wrapping.
        pub(crate) fn $unpack_one(width: usize, packed: &[u8], base: $element, index: usize) -> $element {
            base.wrapping_add(unpack_one::<$word>(width, packed, index) as $element)
        }
    };
}
lane_kernels!(unpack_i16, pack_i16, unpack_one_i16, i16, u16);
lane_kernels!(unpack_i32, pack_i32, unpack_one_i32, i32, u32);
lane_kernels!(unpack_i64, pack_i64, unpack_one_i64, i64, u64);
// 64-bit values of at most 32 bits travel in 32-bit lanes: half the work.
lane_kernels!(
    unpack_i64_narrow,
    pack_i64_narrow,
    unpack_one_i64_narrow,
    i64,
    u32
);
