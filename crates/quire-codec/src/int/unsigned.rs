//! Unsigned integers: the machinery of the signed ones of the same width, on the same bits.
//!
//! Packing, adding a base, differences and running sums wrap, so they do not see a sign. What does is the order: a
//! base is the smallest *unsigned* value, so values on both sides of the middle of the type are as narrow as they
//! lie close together, and a dictionary ascends. Nothing is compiled twice but [`order`].

use super::element::{Element, PackedLane, sealed, sum_of_narrow, sum_of_wide};
use super::scaled::ScaledDecoder;
use crate::kernel::exceptions::Lists;
use crate::kernel::order;
use crate::{GROUP_VALUES, PhysicalType, RowMask, VECTOR_VALUES};
use bytemuck::{cast_mut, cast_ref, cast_slice, cast_slice_mut};

macro_rules! unsigned {
    ($type:ty, $signed:ty, $physical_type:ident, $kernels:ident, $sum:ident) => {
        impl sealed::SealedElement for $type {}

        impl Element for $type {
            const BYTES: usize = size_of::<$type>();
            const PHYSICAL_TYPE: PhysicalType = PhysicalType::$physical_type;
            const RANGE: (Self, Self) = (<$type>::MIN, <$type>::MAX);
            type Packed = ScaledDecoder<$type>;
            #[inline]
            fn read(bytes: &[u8]) -> Option<Self> {
                <$signed>::read(bytes).map(|value| value as $type)
            }
            #[inline]
            fn append(self, out: &mut Vec<u8>) {
                (self as $signed).append(out);
            }
            #[inline]
            fn read_all(bytes: &[u8], out: &mut [Self]) {
                <$signed>::read_all(bytes, cast_slice_mut(out));
            }
            #[inline]
            fn gather(
                dictionary: &[Self],
                codes: &[i32; VECTOR_VALUES],
                out: &mut [Self; VECTOR_VALUES],
            ) -> bool {
                <$signed>::gather(cast_slice(dictionary), codes, cast_mut(out))
            }
            fn select(values: &[Self; VECTOR_VALUES], low: Self, high: Self) -> RowMask {
                // The distance from `low` is compared, and that as an unsigned number.
                <$signed>::select(cast_ref(values), low as $signed, high as $signed)
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
                u64::from(self)
            }
        }

        impl PackedLane for $type {
            const BITS: usize = <$type>::BITS as usize;
            type Difference = $signed;
            fn as_differences(differences: &[Self]) -> &[$signed] {
                cast_slice(differences)
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
                u64::from(self)
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
                <$signed>::bit_lengths(cast_slice(values), base as $signed, lengths);
            }
            fn pack(width: usize, values: &[Self; VECTOR_VALUES], base: Self, packed: &mut [u8]) {
                <$signed>::pack(width, cast_ref(values), base as $signed, packed);
            }
            #[inline]
            fn unpack(width: usize, packed: &[u8], base: Self, out: &mut [Self; VECTOR_VALUES]) {
                <$signed>::unpack(width, packed, base as $signed, cast_mut(out));
            }
            #[inline]
            fn unpack_one(width: usize, packed: &[u8], base: Self, index: usize) -> Self {
                <$signed>::unpack_one(width, packed, base as $signed, index) as $type
            }
            #[inline]
            fn unpack_group(
                width: usize,
                packed: &[u8],
                base: Self,
                group: usize,
                out: &mut [Self; GROUP_VALUES],
            ) {
                <$signed>::unpack_group(width, packed, base as $signed, group, cast_mut(out));
            }
            #[inline]
            fn lane_bits(width: usize) -> usize {
                <$signed>::lane_bits(width)
            }
            fn patch(lists: &Lists<'_>, out: &mut [Self; VECTOR_VALUES]) -> Option<bool> {
                <$signed>::patch(lists, cast_mut(out))
            }
            fn patch_group(
                lists: &Lists<'_>,
                group: usize,
                out: &mut [Self; GROUP_VALUES],
            ) -> Option<()> {
                <$signed>::patch_group(lists, group, cast_mut(out))
            }
            fn differences(values: &[Self; VECTOR_VALUES], out: &mut [Self; VECTOR_VALUES]) {
                <$signed>::differences(cast_ref(values), cast_mut(out));
            }
            fn running_sum(start: Self, values: &mut [Self; VECTOR_VALUES]) {
                <$signed>::running_sum(start as $signed, cast_mut(values));
            }
            fn running_sum_of_packed(
                width: usize,
                packed: &[u8],
                base: Self,
                start: Self,
                out: &mut [Self; VECTOR_VALUES],
            ) -> bool {
                let (base, start) = (base as $signed, start as $signed);
                <$signed>::running_sum_of_packed(width, packed, base, start, cast_mut(out))
            }
            #[inline]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            fn rescale(origin: Self, unit: Self, values: &mut [Self; VECTOR_VALUES]) {
                <$signed>::rescale(origin as $signed, unit as $signed, cast_mut(values));
            }
        }
    };
}
unsigned!(u8, i8, Int16, of_u8, sum_of_narrow);
unsigned!(u16, i16, Int32, of_u16, sum_of_narrow);
unsigned!(u32, i32, Int64, of_u32, sum_of_narrow);
unsigned!(u64, i64, Int128, of_u64, sum_of_wide);
