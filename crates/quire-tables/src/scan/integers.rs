//! Decoded integers of a vector group: several tests of one column decode a vector once.

use quire_codec::{Corrupt, VECTOR_VALUES};
use quire_format::row_group::GROUP_ROWS;
use quire_format::segment::SegmentReader;
use quire_vector::VectorInteger;

type Vector<T> = [T; VECTOR_VALUES];

/// Vectors of a vector group.
pub(super) const GROUP_VECTORS: usize = GROUP_ROWS / VECTOR_VALUES;

/// The vectors of one group of one column. Only the list of the column's type is filled.
#[derive(Default)]
pub(super) struct GroupIntegers {
    group: Option<usize>,
    is_decoded: [bool; GROUP_VECTORS],
    of_16_bits: Vec<Vector<i16>>,
    of_32_bits: Vec<Vector<i32>>,
    of_64_bits: Vec<Vector<i64>>,
}

/// An integer that a segment stores.
pub(super) trait StoredInteger: VectorInteger {
    fn decode(
        segment: &mut SegmentReader,
        vector: usize,
        out: &mut Vector<Self>,
    ) -> Result<usize, Corrupt>;

    /// The integer of one row; see [`SegmentReader::few_rows`].
    fn value(segment: &mut SegmentReader, row: usize) -> Result<Self, Corrupt>;

    fn vectors(integers: &mut GroupIntegers) -> &mut Vec<Vector<Self>>;
}

macro_rules! stored_integer {
    ($type:ty, $decode:ident, $value:ident, $vectors:ident) => {
        impl StoredInteger for $type {
            fn decode(
                segment: &mut SegmentReader,
                vector: usize,
                out: &mut Vector<Self>,
            ) -> Result<usize, Corrupt> {
                segment.$decode(vector, out)
            }

            fn value(segment: &mut SegmentReader, row: usize) -> Result<Self, Corrupt> {
                segment.$value(row)
            }

            fn vectors(integers: &mut GroupIntegers) -> &mut Vec<Vector<Self>> {
                &mut integers.$vectors
            }
        }
    };
}
stored_integer!(i16, decode_i16, value_i16, of_16_bits);
stored_integer!(i32, decode_i32, value_i32, of_32_bits);
stored_integer!(i64, decode_i64, value_i64, of_64_bits);

impl GroupIntegers {
    /// The values of a vector of a group, decoded unless they are.
    pub(super) fn vector<T: StoredInteger>(
        &mut self,
        segment: &mut SegmentReader,
        group: usize,
        vector: usize,
    ) -> Result<&Vector<T>, Corrupt> {
        if self.group != Some(group) {
            self.group = Some(group);
            self.is_decoded = [false; GROUP_VECTORS];
        }
        let is_new = !self.is_decoded[vector % GROUP_VECTORS];
        let vectors = T::vectors(self);
        vectors.resize(GROUP_VECTORS, [T::default(); VECTOR_VALUES]);
        if is_new {
            let values = &mut vectors[vector % GROUP_VECTORS];
            T::decode(segment, group * GROUP_VECTORS + vector, values)?;
            self.is_decoded[vector % GROUP_VECTORS] = true;
        }
        Ok(&T::vectors(self)[vector % GROUP_VECTORS])
    }

    /// The values of a vector of a group, if they have been decoded.
    pub(super) fn decoded<T: StoredInteger>(
        &mut self,
        group: usize,
        vector: usize,
    ) -> Option<&Vector<T>> {
        if self.group != Some(group) || !self.is_decoded[vector % GROUP_VECTORS] {
            return None;
        }
        T::vectors(self).get(vector)
    }
}
