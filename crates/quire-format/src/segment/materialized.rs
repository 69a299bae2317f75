//! A segment decoded as a whole: the uncompressed buffer that decompression from memory into memory fills.
//!
//! Paper 2 (§6.2.8): "Into-cache decompression is achieved by decompressing a page on a per-vector basis, always storing the result in the
//! same cache-resident result vector […]. In the page-wise approach, the full, uncompressed page is materialized in RAM." Of the stored form
//! nothing is left here: no codes, no runs, no packed bits. A vector that somebody asks for is copied from the buffer.
//!
//! The buffer takes the width of the type for each row, one byte for a boolean; for a string four bytes and its own, for which up to twice
//! as much memory is reserved while it is decoded, because their length is not known before. If rows are NULL, there is a bit for each row,
//! and NULL strings are empty.

use super::entries::SegmentEntries;
use super::plain::SegmentHeader;
use super::validity::{all_rows, is_valid};
use quire_codec::{BytesSlice, BytesVector, CodecScalar, Corrupt, RowMask};
use quire_codec::{VECTOR_VALUES, vector_rows};
use std::ops::Range;

/// All values of a segment, decoded, for any number of readers.
#[derive(Debug)]
pub struct MaterializedSegment {
    header: SegmentHeader,
    values: SegmentEntries,
    /// Which rows of each vector are not NULL; `None` when all are.
    valid: Option<Vec<RowMask>>,
}

impl MaterializedSegment {
    /// A segment of these values. `None` if there are not as many as rows.
    pub(super) fn of(
        header: SegmentHeader,
        values: SegmentEntries,
        valid: Option<Vec<RowMask>>,
    ) -> Option<Self> {
        (values.len() == header.row_count).then_some(Self {
            header,
            values,
            valid,
        })
    }

    pub(super) fn header(&self) -> SegmentHeader {
        self.header
    }

    /// Bytes of memory that it takes, those that are reserved for its values included.
    pub fn memory_bytes(&self) -> usize {
        let valid = self.valid.as_ref();
        let valid = valid.map_or(0, |valid| valid.capacity() * size_of::<RowMask>());
        size_of::<Self>() + self.values.reserved_bytes() + valid
    }

    /// Bytes of the values.
    pub(super) fn value_bytes(&self) -> usize {
        match &self.values {
            SegmentEntries::Bool(values) => values.len(),
            values => values.values().raw_bytes(),
        }
    }

    /// Copies a vector of the type that `of` picks.
    pub(super) fn decode<T: Copy>(
        &self,
        vector: usize,
        out: &mut [T; VECTOR_VALUES],
        of: impl Fn(&SegmentEntries) -> Option<&[T]>,
    ) -> Result<usize, Corrupt> {
        let rows = self.rows(vector)?;
        let values = of(&self.values).and_then(|values| values.get(rows));
        let values = values.ok_or_else(|| Corrupt::new("segment holds another type", 1))?;
        out[..values.len()].copy_from_slice(values);
        Ok(values.len())
    }

    /// Appends a vector of strings.
    pub(super) fn decode_bytes(
        &self,
        vector: usize,
        out: &mut BytesVector,
    ) -> Result<usize, Corrupt> {
        let rows = self.rows(vector)?;
        let SegmentEntries::Bytes(values) = &self.values else {
            return Err(Corrupt::new("segment holds no strings", 1));
        };
        append_slice(&values.as_slice().slice(rows.clone()), out)?;
        Ok(rows.len())
    }

    /// Which rows of a vector are not NULL, and how many are NULL.
    pub(super) fn validity(&self, vector: usize, out: &mut RowMask) -> Result<usize, Corrupt> {
        let rows = self.rows(vector)?.len();
        *out = match &self.valid {
            Some(valid) => valid.get(vector).copied().unwrap_or_default(),
            None => all_rows(rows),
        };
        let valid: u32 = out.iter().map(|word| word.count_ones()).sum();
        Ok(rows.saturating_sub(valid as usize))
    }

    /// The value of a row of the segment, `None` if it is NULL.
    pub(super) fn value(&self, row: usize) -> Result<Option<CodecScalar>, Corrupt> {
        let valid = self.valid.as_deref();
        if !valid.is_none_or(|valid| is_valid(valid.as_flattened(), row)) {
            return Ok(None);
        }
        // A segment has fewer rows than 32 bits can count.
        let value = self.values.scalar(row as u32);
        let beyond = || Corrupt::new("row is beyond the segment", 4);
        value.map(Some).ok_or_else(beyond)
    }

    /// The rows of a vector.
    fn rows(&self, vector: usize) -> Result<Range<usize>, Corrupt> {
        match vector_rows(self.header.row_count, vector) {
            0 => Err(Corrupt::new("vector is beyond the segment", 0)),
            rows => Ok(vector * VECTOR_VALUES..vector * VECTOR_VALUES + rows),
        }
    }
}

/// Appends strings that lie end to end.
fn append_slice(values: &BytesSlice<'_>, out: &mut BytesVector) -> Result<(), Corrupt> {
    let [first, ends @ ..] = values.offsets else {
        return Ok(());
    };
    let data = *first as usize..*first as usize + values.data_bytes();
    let passed = || Corrupt::new("decoded strings pass 4 GiB", 0);
    let base = u32::try_from(out.data.len()).map_err(|_| passed())?;
    u32::try_from(out.data.len() + data.len()).map_err(|_| passed())?;
    out.data
        .extend_from_slice(values.data.get(data).unwrap_or_default());
    out.offsets
        .extend(ends.iter().map(|end| base + (end - first)));
    Ok(())
}
