//! Strings as they are: the table of lengths, then all bytes end to end.

use super::lengths::{self, Lengths};
use super::{PayloadImage, contiguous, lengths_of};
use crate::{BytesSlice, BytesVector, Corrupt};
use std::ops::Range;

pub(super) fn encode(values: &BytesSlice) -> Vec<u8> {
    let mut payload = Vec::with_capacity(values.data_bytes() + 2 * values.len());
    lengths::write(&lengths_of(values), &mut payload);
    payload.extend_from_slice(contiguous(values));
    payload
}

pub(super) fn encoded_bytes(values: &BytesSlice) -> usize {
    lengths::written_bytes(&lengths_of(values)) + values.data_bytes()
}

#[derive(Debug)]
pub(super) struct PlainDecoder {
    lengths: Lengths,
    data: Range<usize>,
}

impl PlainDecoder {
    pub(super) fn open(payload: &PayloadImage, row_count: usize) -> Result<Self, Corrupt> {
        let mut cursor = payload.cursor()?;
        let lengths = Lengths::open(&mut cursor, &payload.image, row_count)?;
        let data = cursor.take(lengths.data_bytes(), "strings")?;
        cursor.finish("strings")?;
        Ok(Self { lengths, data })
    }

    fn bytes<'a>(
        &self,
        payload: &'a PayloadImage,
        range: Range<usize>,
    ) -> Result<&'a [u8], Corrupt> {
        let range = self.data.start + range.start..self.data.start + range.end;
        let start = range.start;
        payload
            .image
            .get(range)
            .ok_or(Corrupt::new("string leaves the payload", start))
    }

    pub(super) fn decode_vector(
        &self,
        payload: &PayloadImage,
        vector: usize,
        out: &mut BytesVector,
    ) -> Result<usize, Corrupt> {
        let bytes = self.bytes(payload, self.lengths.vector_range(vector))?;
        let base = out.data.len() as u32;
        let rows = self
            .lengths
            .ends(&payload.image, vector, base, &mut out.offsets)?;
        out.data.extend_from_slice(bytes);
        Ok(rows)
    }

    pub(super) fn decode_rows(
        &self,
        payload: &PayloadImage,
        vector: usize,
        places: impl Iterator<Item = usize>,
        out: &mut BytesVector,
    ) -> Result<(), Corrupt> {
        for range in self.lengths.ranges(&payload.image, vector, places)? {
            out.push(self.bytes(payload, range)?)?;
        }
        Ok(())
    }

    pub(super) fn value(
        &self,
        payload: &PayloadImage,
        row: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), Corrupt> {
        let range = self.lengths.value_range(&payload.image, row)?;
        out.extend_from_slice(self.bytes(payload, range)?);
        Ok(())
    }
}
