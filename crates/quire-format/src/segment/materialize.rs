//! Decodes a segment as a whole.

use super::entries::SegmentEntries;
use super::materialized::MaterializedSegment;
use super::reader::SegmentReader;
use super::validity::is_valid;
use quire_codec::{BytesVector, Corrupt, RowMask, VECTOR_VALUES};
use std::sync::Arc;

impl SegmentReader {
    /// The same values, all of them decoded into memory. Its methods copy them from there; it has no dictionary and no runs, and no column can
    /// follow it. Its codec is [`CodecId::Plain`]. It takes the width of the type for each row, one byte for a boolean, and for a string four
    /// bytes and its length; up to twice its length while it is decoded.
    ///
    /// # Errors
    /// Corrupt bytes, in any vector; strings that pass 4 GiB.
    pub fn materialized(&mut self) -> Result<Self, Corrupt> {
        Ok(Arc::new(decoded(self)?).reader())
    }
}

impl MaterializedSegment {
    /// A reader of the values, as [`SegmentReader::materialized`] returns it.
    pub fn reader(self: &Arc<Self>) -> SegmentReader {
        SegmentReader::of_values(self.header(), Arc::clone(self))
    }
}

/// Decodes all vectors.
fn decoded(segment: &mut SegmentReader) -> Result<MaterializedSegment, Corrupt> {
    let header = segment.header_of_values();
    let valid = valid_rows(segment)?;
    let mut values = SegmentEntries::new(segment.physical_type());
    match &mut values {
        SegmentEntries::Bool(values) => append(values, segment, SegmentReader::decode_bool)?,
        SegmentEntries::Int16(values) => append(values, segment, SegmentReader::decode_i16)?,
        SegmentEntries::Int32(values) => append(values, segment, SegmentReader::decode_i32)?,
        SegmentEntries::Int64(values) => append(values, segment, SegmentReader::decode_i64)?,
        SegmentEntries::Int128(values) => append(values, segment, SegmentReader::decode_i128)?,
        SegmentEntries::Float32(values) => append(values, segment, SegmentReader::decode_f32)?,
        SegmentEntries::Float64(values) => append(values, segment, SegmentReader::decode_f64)?,
        SegmentEntries::Bytes(values) => append_strings(values, segment, valid.as_deref())?,
    }
    let (found, expected) = (values.len(), header.row_count);
    MaterializedSegment::of(header, values, valid).ok_or_else(|| {
        let what = format!("segment decodes to {found} rows, its header says {expected}");
        Corrupt::new(what, 4)
    })
}

/// The rows of each vector that are not NULL, if some are.
fn valid_rows(segment: &mut SegmentReader) -> Result<Option<Vec<RowMask>>, Corrupt> {
    if segment.null_count() == 0 {
        return Ok(None);
    }
    let mut valid = vec![RowMask::default(); segment.vector_count()];
    for (vector, valid) in valid.iter_mut().enumerate() {
        segment.validity(vector, valid)?;
    }
    Ok(Some(valid))
}

/// Appends all vectors, each decoded in the cache: what is written to memory is written once.
fn append<T: Copy + Default>(
    values: &mut Vec<T>,
    segment: &mut SegmentReader,
    decode: fn(&mut SegmentReader, usize, &mut [T; VECTOR_VALUES]) -> Result<usize, Corrupt>,
) -> Result<(), Corrupt> {
    let mut decoded = [T::default(); VECTOR_VALUES];
    values.reserve_exact(segment.row_count());
    for vector in 0..segment.vector_count() {
        let rows = decode(segment, vector, &mut decoded)?;
        values.extend_from_slice(decoded.get(..rows).unwrap_or_default());
    }
    Ok(())
}

/// Appends the strings of all vectors, and empty ones for NULL: what the codec has for NULL may be long.
fn append_strings(
    values: &mut BytesVector,
    segment: &mut SegmentReader,
    valid: Option<&[RowMask]>,
) -> Result<(), Corrupt> {
    values.offsets.reserve_exact(segment.row_count());
    let Some(valid) = valid else {
        for vector in 0..segment.vector_count() {
            segment.decode_bytes(vector, values)?;
        }
        values.data.shrink_to_fit();
        return Ok(());
    };
    let mut decoded = BytesVector::new();
    for (vector, valid) in valid.iter().enumerate() {
        decoded.clear();
        segment.decode_bytes(vector, &mut decoded)?;
        for (row, value) in decoded.as_slice().iter().enumerate() {
            values.push(if is_valid(valid, row) { value } else { &[] })?;
        }
    }
    values.data.shrink_to_fit();
    Ok(())
}
