//! The integer types, and what the codecs need of each.

use super::line::LinearVector;
use crate::kernel::exceptions::Lists;
use crate::{Corrupt, GROUP_VALUES, PhysicalType, RowMask, VECTOR_VALUES};
use std::fmt::Debug;
use std::hash::Hash;
use std::ops::Range;
use std::sync::Arc;

/// An integer a fixed-width payload can hold. Floats are held by their bit patterns.
pub trait Element:
    Copy + Ord + Hash + Default + Debug + Send + Sync + 'static + sealed::SealedElement
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
    /// Decodes rows `128 · group` and after and returns their number; `out` beyond them is arbitrary.
    fn decode_group(&self, group: usize, out: &mut [E; GROUP_VALUES]) -> Result<usize, Corrupt>;
    /// The codes of a full vector, if its values rise evenly with them.
    fn line(&self, vector: usize) -> Result<Option<LinearVector<'_>>, Corrupt>;
    /// Marks the values of a vector from `low` to `high`, which is not below `low`; false, and `mask` arbitrary, if
    /// they must be decoded to tell.
    fn select(&self, vector: usize, low: E, high: E, mask: &mut RowMask) -> Result<bool, Corrupt> {
        let line = self.line(vector)?;
        Ok(line.is_some_and(|line| line.select(low.wide(), high.wide(), mask)))
    }
}

/// An integer that is packed directly, in lanes of at most 64 bits.
pub trait PackedLane: Element {
    const BITS: usize;
    /// The signed type of the same width: differences of neighbours are on both sides of 0.
    type Difference: PackedLane;
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
    /// [`crate::kernel::exceptions::of_i32::patch`] for the type.
    fn patch(lists: &Lists<'_>, out: &mut [Self; VECTOR_VALUES]) -> Option<bool>;
    /// [`crate::kernel::exceptions::of_i32::patch_group`] for the type.
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
    pub trait SealedElement {}
    impl SealedElement for i8 {}
    impl SealedElement for i16 {}
    impl SealedElement for i32 {}
    impl SealedElement for i64 {}
    impl SealedElement for i128 {}
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
