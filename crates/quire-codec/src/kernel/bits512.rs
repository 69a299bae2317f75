//! Unpacking with AVX-512: a function per width, chosen from a table.
//!
//! With the width known all shifts are constants, each row of the packed matrix is loaded once, and a field
//! that straddles two rows is one double shift (VBMI2). Where the base has no bit in common with the codes
//! (zero, for one), masking and adding are a single instruction of three operands.

use super::bits::{FL_ORDER, ROW_BYTES};
use std::arch::x86_64::{
    __m512i, _mm512_add_epi8, _mm512_add_epi16, _mm512_add_epi32, _mm512_add_epi64,
    _mm512_and_si512, _mm512_castsi512_si256, _mm512_cvtepi32_epi64, _mm512_cvtepu32_epi64,
    _mm512_extracti64x4_epi64, _mm512_set1_epi8, _mm512_set1_epi16, _mm512_set1_epi32,
    _mm512_set1_epi64, _mm512_shrdv_epi16, _mm512_shrdv_epi32, _mm512_shrdv_epi64,
    _mm512_sllv_epi16, _mm512_srlv_epi16, _mm512_srlv_epi32, _mm512_srlv_epi64,
    _mm512_storeu_si512, _mm512_ternarylogic_epi64,
};

/// Three-operand logic: `(a & b) | c`.
const AND_OR: i32 = 0xEA;
/// `a ? b : c`, bit by bit.
const CHOOSE: i32 = 0xCA;

/// The first value of the block of neighbours at a position in the lanes.
pub(super) const fn first_value(position: usize) -> usize {
    FL_ORDER[position / 8] * 16 + position % 8 * 128
}

macro_rules! positions {
    (8, $step:ident) => {
        positions!(@ $step 0 1 2 3 4 5 6 7);
    };
    (16, $step:ident) => {
        positions!(8, $step);
        positions!(@ $step 8 9 10 11 12 13 14 15);
    };
    (32, $step:ident) => {
        positions!(16, $step);
        positions!(@ $step 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
    };
    (64, $step:ident) => {
        positions!(32, $step);
        positions!(@ $step 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47);
        positions!(@ $step 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63);
    };
    (@ $step:ident $($position:literal)*) => {
        $($step!($position);)*
    };
}

pub(super) use positions;

/// One row of the packed matrix, in two registers.
macro_rules! row {
    ($packed:ident, $row:expr) => {{
        let at = $packed.as_ptr().wrapping_add($row * ROW_BYTES);
        // SAFETY: `$row` is below the width, and `$packed` has `ROW_BYTES · width` bytes by the assertion at
        // the start of the kernel.
        unsafe {
            [
                std::arch::x86_64::_mm512_loadu_si512(at.cast()),
                std::arch::x86_64::_mm512_loadu_si512(at.wrapping_add(64).cast()),
            ]
        }
    }};
}

pub(super) use row;

/// The fields at one position, at the bottom of their lanes with other bits above; steps to the next row.
macro_rules! fields_at {
    ($position:literal, $width:ident in $bits:literal, $packed:ident, $row:ident,
     $set:ident, $shift_right:ident, $double_shift:ident) => {{
        let (word, shift) = ($position * $width / $bits, $position * $width % $bits);
        let count = $set(shift as _);
        let low = $row;
        if shift + $width >= $bits && word + 1 < $width {
            $row = row!($packed, word + 1);
        }
        if shift + $width > $bits {
            [
                $double_shift(low[0], $row[0], count),
                $double_shift(low[1], $row[1], count),
            ]
        } else {
            [$shift_right(low[0], count), $shift_right(low[1], count)]
        }
    }};
}

pub(super) use fields_at;

/// The fields at one position, at the top of their lanes with other bits below; steps to the next row.
macro_rules! top_fields_at {
    ($position:literal, $width:ident in $bits:literal, $packed:ident, $row:ident,
     $set:ident, $shift_left:ident, $double_shift:ident) => {{
        let (word, shift) = ($position * $width / $bits, $position * $width % $bits);
        let low = $row;
        if shift + $width >= $bits && word + 1 < $width {
            $row = row!($packed, word + 1);
        }
        if shift + $width > $bits {
            let count = $set((2 * $bits - shift - $width) as _);
            [
                $double_shift($row[0], low[0], count),
                $double_shift($row[1], low[1], count),
            ]
        } else {
            let count = $set(($bits - shift - $width) as _);
            [$shift_left(low[0], count), $shift_left(low[1], count)]
        }
    }};
}
pub(super) use top_fields_at;

/// Stores 64 bytes from value `$index` on.
macro_rules! put {
    ($out:ident, $index:expr, $values:expr) => {{
        let at = $out.as_mut_ptr().wrapping_add($index);
        // SAFETY: `$index` is a multiple of the values in 64 bytes, below the values of `$out`.
        unsafe { _mm512_storeu_si512(at.cast::<__m512i>(), $values) }
    }};
}

macro_rules! same_width {
    ($name:ident, $element:ty, $bits:tt, $set:ident, $add:ident, $shift_right:ident, $double_shift:ident, $one:ident) => {
        /// Elements in lanes of their own width. `DISJOINT`: no bit of the base is below the width.
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2")]
        fn $name<const WIDTH: usize, const DISJOINT: bool>(
            packed: &[u8],
            base: $element,
            out: &mut [$element; 1024],
        ) {
            assert!(packed.len() == ROW_BYTES * WIDTH);
            let masks = $set(mask(WIDTH, $bits) as $element);
            let bases = $set(base);
            let mut row = row!(packed, 0);
            macro_rules! $one {
                ($position:literal) => {
                    let fields = fields_at!($position, WIDTH in $bits, packed, row, $set, $shift_right, $double_shift);
                    for (half, fields) in fields.into_iter().enumerate() {
                        let values = if DISJOINT {
_mm512_ternarylogic_epi64::<AND_OR>(fields, masks, bases)
} else {
$add(_mm512_and_si512(fields, masks), bases)
};
                        put!(out, first_value($position) + half * (512 / $bits), values);
                    }
                };
            }
            positions!($bits, $one);
        }
    };
}
same_width!(
    unpack_i16,
    i16,
    16,
    _mm512_set1_epi16,
    _mm512_add_epi16,
    _mm512_srlv_epi16,
    _mm512_shrdv_epi16,
    step
);
same_width!(
    unpack_i32,
    i32,
    32,
    _mm512_set1_epi32,
    _mm512_add_epi32,
    _mm512_srlv_epi32,
    _mm512_shrdv_epi32,
    step
);
same_width!(
    unpack_i64,
    i64,
    64,
    _mm512_set1_epi64,
    _mm512_add_epi64,
    _mm512_srlv_epi64,
    _mm512_shrdv_epi64,
    step
);

macro_rules! group {
    ($name:ident, $element:ty, $bits:literal, $set:ident, $add:ident, $double_shift:ident) => {
        /// The 128 neighbours of one group, for every width. Whether fields straddle two rows is left to no branch,
        /// which would be mispredicted: the rows with the first and the last bit are read, even if they are one.
        ///
        /// # Safety
        /// The processor has the features of [`super::Backend::Avx512`].
        #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2")]
        pub(super) unsafe fn $name(
            width: usize,
            packed: &[u8],
            base: $element,
            group: usize,
            out: &mut [$element; 128],
        ) {
            assert!((1..=$bits).contains(&width) && packed.len() == ROW_BYTES * width && group < 8);
            let masks = $set(mask(width, $bits) as $element);
            let bases = $set(base);
            for eighth in 0..$bits / 8 {
                let start = (eighth * 8 + group) * width;
                let low = row!(packed, start / $bits);
                let high = row!(packed, (start + width - 1) / $bits);
                let count = $set((start % $bits) as $element);
                for half in 0..2 {
                    let fields = $double_shift(low[half], high[half], count);
                    let values = $add(_mm512_and_si512(fields, masks), bases);
                    put!(out, FL_ORDER[eighth] * 16 + half * (512 / $bits), values);
                }
            }
        }
    };
}
group!(
    group_i16,
    i16,
    16,
    _mm512_set1_epi16,
    _mm512_add_epi16,
    _mm512_shrdv_epi16
);
group!(
    group_i32,
    i32,
    32,
    _mm512_set1_epi32,
    _mm512_add_epi32,
    _mm512_shrdv_epi32
);
group!(
    group_i64,
    i64,
    64,
    _mm512_set1_epi64,
    _mm512_add_epi64,
    _mm512_shrdv_epi64
);

/// 8-bit elements. There is no shift of bytes: lanes of 16 bits are shifted, and the masks remove what came from the
/// neighbouring byte along with the bits of other codes.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2")]
fn unpack_i8<const WIDTH: usize>(packed: &[u8], base: i8, out: &mut [i8; 1024]) {
    assert!(packed.len() == ROW_BYTES * WIDTH);
    let masks = _mm512_set1_epi8(mask(WIDTH, 8) as i8);
    let bases = _mm512_set1_epi8(base);
    let mut row = row!(packed, 0);
    macro_rules! step {
        ($position:literal) => {
            let (word, shift) = ($position * WIDTH / 8, $position * WIDTH % 8);
            let low = row;
            if shift + WIDTH >= 8 && word + 1 < WIDTH {
                row = row!(packed, word + 1);
            }
            let right = _mm512_set1_epi16(shift as i16);
            for (half, low) in low.into_iter().enumerate() {
                let mut fields = _mm512_srlv_epi16(low, right);
                if shift + WIDTH > 8 {
                    let left = _mm512_set1_epi16(8 - shift as i16);
                    let high = _mm512_sllv_epi16(row[half], left);
                    let from_low = _mm512_set1_epi8(mask(8 - shift, 8) as i8);
                    fields = _mm512_ternarylogic_epi64::<CHOOSE>(from_low, fields, high);
                }
                let values = _mm512_add_epi8(_mm512_and_si512(fields, masks), bases);
                put!(out, first_value($position) + half * 64, values);
            }
        };
    }
    positions!(8, step);
}

/// 64-bit elements in 32-bit lanes. `NEAR`: the sums fit 32 bits and are made there.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2")]
fn unpack_i64_narrow<const WIDTH: usize, const NEAR: bool>(
    packed: &[u8],
    base: i64,
    out: &mut [i64; 1024],
) {
    assert!(packed.len() == ROW_BYTES * WIDTH);
    let masks = _mm512_set1_epi32(mask(WIDTH, 32) as i32);
    let (near_bases, bases) = (_mm512_set1_epi32(base as i32), _mm512_set1_epi64(base));
    let mut row = row!(packed, 0);
    macro_rules! step {
        ($position:literal) => {
            let fields = fields_at!($position, WIDTH in 32, packed, row, _mm512_set1_epi32,
                _mm512_srlv_epi32, _mm512_shrdv_epi32);
            for (half, fields) in fields.into_iter().enumerate() {
                let codes = _mm512_and_si512(fields, masks);
                let index = first_value($position) + half * 16;
                if NEAR {
                    let near = _mm512_add_epi32(codes, near_bases);
                    put!(out, index, _mm512_cvtepi32_epi64(_mm512_castsi512_si256(near)));
                    let upper = _mm512_extracti64x4_epi64::<1>(near);
                    put!(out, index + 8, _mm512_cvtepi32_epi64(upper));
                } else {
                    let wide = _mm512_cvtepu32_epi64(_mm512_castsi512_si256(codes));
                    put!(out, index, _mm512_add_epi64(wide, bases));
                    let wide = _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64::<1>(codes));
                    put!(out, index + 8, _mm512_add_epi64(wide, bases));
                }
            }
        };
    }
    positions!(32, step);
}

/// The low `width` of `bits` bits.
pub(super) const fn mask(width: usize, bits: usize) -> u64 {
    u64::MAX >> (64 - width) & u64::MAX >> (64 - bits)
}

/// Unpacks into elements of one type and adds a base.
// SAFETY: whoever calls one has detected the features of `Backend::Avx512`.
type Unpack<E> = unsafe fn(&[u8], E, &mut [E; 1024]);
/// Unpacks one group at any width.
pub(super) type UnpackGroup<E> = unsafe fn(usize, &[u8], E, usize, &mut [E; 128]);

/// One kernel at every width listed.
macro_rules! table {
    ($kernel:ident: $($width:literal)*) => {
        [$($kernel::<$width>),*]
    };
    ($kernel:ident, $flag:literal: $($width:literal)*) => {
        [$($kernel::<$width, $flag>),*]
    };
}
pub(super) use table;

/// One kernel at the widths of 32-bit lanes.
macro_rules! table_to_32 {
    ($kernel:ident $(, $flag:literal)?) => {
        table!($kernel $(, $flag)?: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29
            30 31 32)
    };
}
pub(super) use table_to_32;

static UNPACK_I8: [Unpack<i8>; 8] = table!(unpack_i8: 1 2 3 4 5 6 7 8);
static UNPACK_I16: [Unpack<i16>; 16] =
    table!(unpack_i16, false: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
/// By whether the base is disjoint.
static UNPACK_I32: [[Unpack<i32>; 32]; 2] = [
    table_to_32!(unpack_i32, false),
    table_to_32!(unpack_i32, true),
];
/// By whether the sums are near.
static UNPACK_I64_NARROW: [[Unpack<i64>; 32]; 2] = [
    table_to_32!(unpack_i64_narrow, false),
    table_to_32!(unpack_i64_narrow, true),
];
/// From 33 bits on: fewer are in narrow lanes.
static UNPACK_I64: [Unpack<i64>; 32] = table!(unpack_i64, false: 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48
    49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64);

/// Width 1 to 8.
///
/// # Safety
/// The processor has the features of [`super::Backend::Avx512`].
pub(super) unsafe fn of_i8(width: usize, packed: &[u8], base: i8, out: &mut [i8; 1024]) {
    // SAFETY: as promised by the caller; the kernel checks the length of `packed`.
    unsafe { UNPACK_I8[width - 1](packed, base, out) }
}

/// Width 1 to 16.
///
/// # Safety
/// The processor has the features of [`super::Backend::Avx512`].
pub(super) unsafe fn of_i16(width: usize, packed: &[u8], base: i16, out: &mut [i16; 1024]) {
    // SAFETY: as promised by the caller; the kernel checks the length of `packed`.
    unsafe { UNPACK_I16[width - 1](packed, base, out) }
}

/// Width 1 to 32.
///
/// # Safety
/// The processor has the features of [`super::Backend::Avx512`].
pub(super) unsafe fn of_i32(width: usize, packed: &[u8], base: i32, out: &mut [i32; 1024]) {
    // At whole bytes a byte shuffle moves and masks at once, and then adding is as good.
    let disjoint = !width.is_multiple_of(8) && base as u64 & mask(width, 32) == 0;
    // SAFETY: as promised by the caller; the kernel checks the length of `packed`.
    unsafe { UNPACK_I32[usize::from(disjoint)][width - 1](packed, base, out) }
}

/// Width 33 to 64.
///
/// # Safety
/// The processor has the features of [`super::Backend::Avx512`].
pub(super) unsafe fn of_i64(width: usize, packed: &[u8], base: i64, out: &mut [i64; 1024]) {
    // SAFETY: as promised by the caller; the kernel checks the length of `packed`.
    unsafe { UNPACK_I64[width - 33](packed, base, out) }
}

/// Width 1 to 32.
///
/// # Safety
/// The processor has the features of [`super::Backend::Avx512`].
pub(super) unsafe fn of_i64_narrow(width: usize, packed: &[u8], base: i64, out: &mut [i64; 1024]) {
    let highest = base.checked_add(mask(width, 32) as i64);
    let near = i32::try_from(base).is_ok() && highest.is_some_and(|one| i32::try_from(one).is_ok());
    // SAFETY: as promised by the caller; the kernel checks the length of `packed`.
    unsafe { UNPACK_I64_NARROW[usize::from(near)][width - 1](packed, base, out) }
}
