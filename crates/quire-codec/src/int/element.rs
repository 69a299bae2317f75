//! The integer types, and what the codecs need of each.

use super::line::Line;
use super::scaled::ScaledDecoder;
use super::wide::WideDecoder;
use crate::kernel::exceptions::{self, Lists};
use crate::kernel::{bits, gather, order, packed_steps, running_sum, scan, select};
use crate::{Corrupt, GROUP_VALUES, PhysicalType, RowMask, VECTOR_VALUES};
use std::fmt::Debug;
use std::hash::Hash;
use std::ops::Range;
use std::sync::Arc;

/// An integer a fixed-width payload can hold. Floats are held by their bit patterns.
pub trait Element:
    Copy + Ord + Hash + Default + Debug + Send + Sync + 'static + sealed::Sealed
{
    /// Bytes of a value.
    const BYTES: usize;
    /// The smallest type of columns that holds every number of the type.
    const PHYSICAL_TYPE: PhysicalType;
    /// The smallest and the largest number of the type.
    const RANGE: (Self, Self);
    /// Decoder of patched frame-of-reference payloads of this type.
    type Packed: Packed<Self>;
    /// The value of the first [`Element::BYTES`] bytes, little endian.
    fn read(bytes: &[u8]) -> Option<Self>;
    /// Appends the value, little endian.
    fn append(self, out: &mut Vec<u8>);
    /// The value of every [`Element::BYTES`] bytes of `bytes`.
    fn read_all(bytes: &[u8], out: &mut [Self]);
    /// Writes `dictionary[code]` for each code; false when a code is out of range.
    fn gather(
        dictionary: &[Self],
        codes: &[i32; VECTOR_VALUES],
        out: &mut [Self; VECTOR_VALUES],
    ) -> bool;
    /// The values from `low` to `high`, which is not below `low`.
    fn select(values: &[Self; VECTOR_VALUES], low: Self, high: Self) -> RowMask;
    /// The sum of at most [`crate::ROWS_MAX`] values; `None` if it passes 128 bits.
    fn sum(values: &[Self]) -> Option<i128>;
    /// The number itself, in 128 bits.
    fn wide(self) -> i128;
    /// The low bits of a number.
    fn from_wide(wide: i128) -> Self;
    /// The vector itself if it is one of 32-bit integers.
    fn as_i32(values: &mut [Self; VECTOR_VALUES]) -> Option<&mut [i32; VECTOR_VALUES]>;
    /// A number that differs for different values often enough to index a hash table.
    fn hash_seed(self) -> u64;
}

/// A payload of patched frame-of-reference vectors, plain or over differences.
pub trait Packed<E: Element>: Sized + Clone + Send + Sync + Debug {
    /// Size of [`Packed::encode`]'s result, without writing it.
    fn encoded_bytes(values: &[E], delta: bool) -> usize;
    /// Appends the payload of `values`, at most [`crate::ROWS_MAX`] of them.
    fn encode(values: &[E], delta: bool, out: &mut Vec<u8>);
    /// Opens the payload of `row_count` values in `image[payload]`.
    fn open(
        image: Arc<[u8]>,
        payload: Range<usize>,
        row_count: usize,
        delta: bool,
    ) -> Result<Self, Corrupt>;
    /// Decodes vector `vector` and returns its rows; `out` beyond them is arbitrary.
    fn decode_vector(&self, vector: usize, out: &mut [E; VECTOR_VALUES]) -> Result<usize, Corrupt>;
    /// The value of row `row`, decoding at most its vector.
    fn value(&self, row: usize) -> Result<E, Corrupt>;
    /// Whether [`Packed::value`] leaves the other values of the vector alone.
    fn reads_one(&self) -> bool;
    /// Decodes rows `128 · group` and after and returns their number; `out` beyond them is arbitrary.
    fn decode_group(&self, group: usize, out: &mut [E; GROUP_VALUES]) -> Result<usize, Corrupt>;
    /// The codes of a full vector, if its values rise evenly with them.
    fn line(&self, vector: usize) -> Result<Option<Line<'_>>, Corrupt>;
    /// Marks the values of a vector from `low` to `high`, which is not below `low`; false, and `mask` arbitrary, if
    /// they must be decoded to tell.
    fn select(&self, vector: usize, low: E, high: E, mask: &mut RowMask) -> Result<bool, Corrupt> {
        let line = self.line(vector)?;
        Ok(line.is_some_and(|line| line.select(low.wide(), high.wide(), mask)))
    }
}

/// An integer that is packed directly, in lanes of at most 64 bits.
pub trait Lane: Element {
    const BITS: usize;
    /// The signed type of the same width: differences of neighbours are on both sides of 0.
    type Difference: Lane;
    /// Wrapped differences as what they stand for.
    fn as_differences(differences: &[Self]) -> &[Self::Difference];
    fn minus(self, other: Self) -> Self;
    fn plus(self, other: Self) -> Self;
    /// The bits, extended with zeros.
    fn bits(self) -> u64;
    /// The low bits of a number.
    fn from_bits(bits: u64) -> Self;
    fn extremes(values: &[Self]) -> (Self, Self);
    /// The difference, or the smallest value if it is below that.
    fn minus_saturating(self, other: Self) -> Self;
    /// The smallest value that is not below `floor`; the largest of the type if there is none.
    fn least_from(values: &[Self], floor: Self) -> Self;
    /// Bits of each value less `base`, wrapping and unsigned.
    fn bit_lengths(values: &[Self], base: Self, lengths: &mut [u8; VECTOR_VALUES]);
    fn pack(width: usize, values: &[Self; VECTOR_VALUES], base: Self, packed: &mut [u8]);
    fn unpack(width: usize, packed: &[u8], base: Self, out: &mut [Self; VECTOR_VALUES]);
    fn unpack_one(width: usize, packed: &[u8], base: Self, index: usize) -> Self;
    fn unpack_group(
        width: usize,
        packed: &[u8],
        base: Self,
        group: usize,
        out: &mut [Self; GROUP_VALUES],
    );
    /// Bits of the lanes in which codes of `width` bits are packed.
    fn lane_bits(width: usize) -> usize;
    /// [`exceptions::of_i32::patch`] for the type.
    fn patch(lists: &Lists<'_>, out: &mut [Self; VECTOR_VALUES]) -> Option<bool>;
    /// [`exceptions::of_i32::patch_group`] for the type.
    fn patch_group(lists: &Lists<'_>, group: usize, out: &mut [Self; GROUP_VALUES]) -> Option<()>;
    fn differences(values: &[Self; VECTOR_VALUES], out: &mut [Self; VECTOR_VALUES]);
    fn running_sum(start: Self, values: &mut [Self; VECTOR_VALUES]);
    /// Unpacks differences and adds them up at once; false, and nothing done, if there is no kernel for them.
    fn running_sum_of_packed(
        width: usize,
        packed: &[u8],
        base: Self,
        start: Self,
        out: &mut [Self; VECTOR_VALUES],
    ) -> bool;
    /// The product, wrapping.
    fn times(self, other: Self) -> Self;
    /// Replaces each value by `origin` plus `unit` times it, wrapping.
    fn rescale(origin: Self, unit: Self, values: &mut [Self; VECTOR_VALUES]);
}

pub(super) mod sealed {
    pub trait Sealed {}
    impl Sealed for i8 {}
    impl Sealed for i16 {}
    impl Sealed for i32 {}
    impl Sealed for i64 {}
    impl Sealed for i128 {}
}

macro_rules! element {
    ($type:ty, $physical_type:ident, $packed:ty, $gather:path, $select:expr, $sum:expr, $as_i32:expr, $seed:expr) => {
        impl Element for $type {
            const BYTES: usize = size_of::<$type>();
            const PHYSICAL_TYPE: PhysicalType = PhysicalType::$physical_type;
            const RANGE: (Self, Self) = (<$type>::MIN, <$type>::MAX);
            type Packed = $packed;
            #[inline]
            fn read(bytes: &[u8]) -> Option<Self> {
                bytes
                    .first_chunk()
                    .map(|bytes| <$type>::from_le_bytes(*bytes))
            }
            #[inline]
            fn append(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            #[inline]
            fn read_all(bytes: &[u8], out: &mut [Self]) {
                for (value, bytes) in out.iter_mut().zip(bytes.as_chunks().0) {
                    *value = <$type>::from_le_bytes(*bytes);
                }
            }
            #[inline]
            fn gather(
                dictionary: &[Self],
                codes: &[i32; VECTOR_VALUES],
                out: &mut [Self; VECTOR_VALUES],
            ) -> bool {
                $gather(dictionary, codes, out)
            }
            fn select(values: &[Self; VECTOR_VALUES], low: Self, high: Self) -> RowMask {
                $select(values, low, high.wrapping_sub(low))
            }
            fn sum(values: &[Self]) -> Option<i128> {
                $sum(values)
            }
            #[inline]
            fn wide(self) -> i128 {
                i128::from(self)
            }
            #[inline]
            fn from_wide(wide: i128) -> Self {
                wide as $type
            }
            #[inline]
            fn as_i32(values: &mut [Self; VECTOR_VALUES]) -> Option<&mut [i32; VECTOR_VALUES]> {
                $as_i32(values)
            }
            #[inline]
            fn hash_seed(self) -> u64 {
                $seed(self)
            }
        }
    };
}
/// The sum of values whose sum fits 64 bits.
pub(super) fn sum_of_narrow<T: Copy + Into<i64>>(values: &[T]) -> Option<i128> {
    Some(i128::from(
        values.iter().map(|&value| value.into()).sum::<i64>(),
    ))
}

pub(super) fn sum_of_wide<T: Copy + Into<i128>>(values: &[T]) -> Option<i128> {
    values
        .iter()
        .try_fold(0i128, |sum, &value| sum.checked_add(value.into()))
}

element!(
    i8,
    Int16,
    ScaledDecoder<i8>,
    gather::gather_i8,
    select::select_i8,
    sum_of_narrow,
    |_| None,
    |value: i8| value as u8 as u64
);
element!(
    i16,
    Int16,
    ScaledDecoder<i16>,
    gather::gather_i16,
    select::select_i16,
    sum_of_narrow,
    |_| None,
    |value: i16| value as u16 as u64
);
element!(
    i32,
    Int32,
    ScaledDecoder<i32>,
    gather::gather_i32,
    select::select_i32,
    sum_of_narrow,
    Some,
    |value: i32| value as u32 as u64
);
element!(
    i64,
    Int64,
    ScaledDecoder<i64>,
    gather::gather_i64,
    select::select_i64,
    sum_of_wide,
    |_| None,
    |value: i64| value as u64
);
element!(
    i128,
    Int128,
    WideDecoder,
    gather::gather_i128,
    select::select_i128,
    sum_of_wide,
    |_| None,
    |value: i128| (value as u64) ^ ((value >> 64) as u64).rotate_left(32)
);

macro_rules! lane {
    ($type:ty, $bits:ty, $kernels:ident, $running_sum:ident, $packed_sum:expr, $narrow_bits:literal: $narrow:ident) => {
        impl Lane for $type {
            const BITS: usize = <$bits>::BITS as usize;
            type Difference = Self;
            fn as_differences(differences: &[Self]) -> &[Self] {
                differences
            }
            #[inline]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline]
            fn bits(self) -> u64 {
                u64::from(self as $bits)
            }
            #[inline]
            fn from_bits(bits: u64) -> Self {
                bits as $type
            }
            fn extremes(values: &[Self]) -> (Self, Self) {
                order::$kernels::extremes(values)
            }
            fn minus_saturating(self, other: Self) -> Self {
                self.saturating_sub(other)
            }
            fn least_from(values: &[Self], floor: Self) -> Self {
                order::$kernels::least_from(values, floor)
            }
            fn bit_lengths(values: &[Self], base: Self, lengths: &mut [u8; VECTOR_VALUES]) {
                scan::$kernels::bit_lengths(values, base, lengths)
            }
            fn pack(width: usize, values: &[Self; VECTOR_VALUES], base: Self, packed: &mut [u8]) {
                if width <= $narrow_bits {
                    bits::$narrow::pack(width, values, base, packed)
                } else {
                    bits::$kernels::pack(width, values, base, packed)
                }
            }
            #[inline]
            fn unpack(width: usize, packed: &[u8], base: Self, out: &mut [Self; VECTOR_VALUES]) {
                if width <= $narrow_bits {
                    bits::$narrow::unpack(width, packed, base, out)
                } else {
                    bits::$kernels::unpack(width, packed, base, out)
                }
            }
            #[inline]
            fn unpack_one(width: usize, packed: &[u8], base: Self, index: usize) -> Self {
                if width <= $narrow_bits {
                    bits::$narrow::unpack_one(width, packed, base, index)
                } else {
                    bits::$kernels::unpack_one(width, packed, base, index)
                }
            }
            #[inline]
            fn unpack_group(
                width: usize,
                packed: &[u8],
                base: Self,
                group: usize,
                out: &mut [Self; GROUP_VALUES],
            ) {
                if width <= $narrow_bits {
                    bits::$narrow::unpack_group(width, packed, base, group, out)
                } else {
                    bits::$kernels::unpack_group(width, packed, base, group, out)
                }
            }
            #[inline]
            fn lane_bits(width: usize) -> usize {
                if width <= $narrow_bits {
                    32
                } else {
                    <$bits>::BITS as usize
                }
            }
            fn patch(lists: &Lists<'_>, out: &mut [Self; VECTOR_VALUES]) -> Option<bool> {
                exceptions::$kernels::patch(lists, out)
            }
            fn patch_group(
                lists: &Lists<'_>,
                group: usize,
                out: &mut [Self; GROUP_VALUES],
            ) -> Option<()> {
                exceptions::$kernels::patch_group(lists, group, out)
            }
            fn differences(values: &[Self; VECTOR_VALUES], out: &mut [Self; VECTOR_VALUES]) {
                scan::$kernels::differences(values, out)
            }
            fn running_sum(start: Self, values: &mut [Self; VECTOR_VALUES]) {
                running_sum::$running_sum(start, values)
            }
            fn running_sum_of_packed(
                width: usize,
                packed: &[u8],
                base: Self,
                start: Self,
                out: &mut [Self; VECTOR_VALUES],
            ) -> bool {
                $packed_sum(width, packed, base, start, out)
            }
            #[inline]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            fn rescale(origin: Self, unit: Self, values: &mut [Self; VECTOR_VALUES]) {
                scan::$kernels::rescale(origin, unit, values)
            }
        }
    };
}
lane!(i8, u8, of_i8, running_sum_i8, |_, _: &[u8], _, _, _| false, 0: of_i8);
lane!(i16, u16, of_i16, running_sum_i16, |_, _: &[u8], _, _, _| false, 0: of_i16);
lane!(i32, u32, of_i32, running_sum_i32, packed_steps::sum_i32, 0: of_i32);
lane!(i64, u64, of_i64, running_sum_i64, packed_steps::sum_i64, 32: of_i64_narrow);
