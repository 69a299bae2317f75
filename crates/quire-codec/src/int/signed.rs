//! The signed integers: each operation is a kernel of the type.

use super::element::{Element, PackedLane, sum_of_narrow, sum_of_wide};
use super::scaled::ScaledDecoder;
use super::wide::WideDecoder;
use crate::kernel::exceptions::{self, Lists};
use crate::kernel::{bits, gather, order, packed_steps, running_sum, scan, select};
use crate::{GROUP_VALUES, PhysicalType, RowMask, VECTOR_VALUES};

macro_rules! element {
    ($type:ty, $physical_type:ident, $packed:ty, $gather:path, $select:expr, $sum:expr, $seed:expr) => {
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
            fn hash_seed(self) -> u64 {
                $seed(self)
            }
        }
    };
}

element!(
    i8,
    Int16,
    ScaledDecoder<i8>,
    gather::gather_i8,
    select::select_i8,
    sum_of_narrow,
    |value: i8| value as u8 as u64
);
element!(
    i16,
    Int16,
    ScaledDecoder<i16>,
    gather::gather_i16,
    select::select_i16,
    sum_of_narrow,
    |value: i16| value as u16 as u64
);
element!(
    i32,
    Int32,
    ScaledDecoder<i32>,
    gather::gather_i32,
    select::select_i32,
    sum_of_narrow,
    |value: i32| value as u32 as u64
);
element!(
    i64,
    Int64,
    ScaledDecoder<i64>,
    gather::gather_i64,
    select::select_i64,
    sum_of_wide,
    |value: i64| value as u64
);
element!(
    i128,
    Int128,
    WideDecoder,
    gather::gather_i128,
    select::select_i128,
    sum_of_wide,
    |value: i128| (value as u64) ^ ((value >> 64) as u64).rotate_left(32)
);

macro_rules! lane {
    ($type:ty, $bits:ty, $kernels:ident, $running_sum:ident, $packed_sum:expr, $narrow_bits:literal: $narrow:ident) => {
        impl PackedLane for $type {
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
