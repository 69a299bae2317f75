//! Lengths of strings, so that a vector or one value is found without touching the others.
//!
//! Layout: the lengths ([`super::packed`]), then the data bytes of each vector ([`super::packed`] again,
//! one number per vector).

use super::DATA_BYTES_MAX;
use super::packed::{self, PackedNumbers};
use crate::{BytesVector, Corrupt, ImageCursor, VECTOR_VALUES, vector_count};
use std::ops::Range;

fn vector_sums(lengths: &[u32]) -> Vec<u32> {
    // The data of a payload is below 4 GiB, which `text::encode` has checked.
    lengths
        .chunks(VECTOR_VALUES)
        .map(|vector| vector.iter().sum())
        .collect()
}

/// Appends the table of `lengths`.
pub(super) fn write(lengths: &[u32], out: &mut Vec<u8>) {
    packed::write(lengths, out);
    packed::write(&vector_sums(lengths), out);
}

/// Bytes that [`write()`] appends.
pub(super) fn written_bytes(lengths: &[u32]) -> usize {
    packed::written_bytes(lengths) + packed::written_bytes(&vector_sums(lengths))
}

/// The end of a row that has been appended. `before` is where the first row of the vector began.
pub(super) fn end_row(out: &mut BytesVector, before: usize, offset: usize) -> Result<(), Corrupt> {
    let end = out.data.len();
    match u32::try_from(end) {
        Ok(position) if end - before <= DATA_BYTES_MAX => {
            out.offsets.push(position);
            Ok(())
        }
        _ => Err(Corrupt::new("strings of a vector pass 1 GiB", offset)),
    }
}

/// What [`end_row`] checks, for rows that were appended together.
pub(super) fn end_vector(out: &BytesVector, before: usize, offset: usize) -> Result<(), Corrupt> {
    match out.data.len() - before {
        ..=DATA_BYTES_MAX => Ok(()),
        _ => Err(Corrupt::new("strings of a vector pass 1 GiB", offset)),
    }
}

/// Where a string of a vector is within the vector's data, given the ends of all.
pub(super) fn string_range(ends: &[u32], place: usize) -> Option<Range<usize>> {
    let end = *ends.get(place)? as usize;
    let before = place.checked_sub(1).and_then(|before| ends.get(before));
    Some(before.map_or(0, |start| *start as usize)..end)
}

/// A table written by [`write()`].
#[derive(Clone, Debug)]
pub(super) struct Lengths {
    lengths: PackedNumbers,
    /// Where the data of each vector starts, and at last where all data ends.
    starts: Vec<u32>,
    offset: usize,
}

impl Lengths {
    /// Reads the table of `row_count` strings.
    pub(super) fn open(
        cursor: &mut ImageCursor<'_>,
        image: &[u8],
        row_count: usize,
    ) -> Result<Self, Corrupt> {
        let offset = cursor.position();
        let lengths = PackedNumbers::open(cursor, row_count)?;
        let vectors = vector_count(row_count);
        let sums = PackedNumbers::open(cursor, vectors)?.to_vec(image);
        let mut starts = Vec::with_capacity(vectors + 1);
        let mut end = 0u32;
        starts.push(end);
        for sum in sums {
            end = end
                .checked_add(sum)
                .ok_or(Corrupt::new("strings pass 4 GiB", offset))?;
            starts.push(end);
        }
        Ok(Self {
            lengths,
            starts,
            offset,
        })
    }

    /// Bytes of all strings together.
    pub(super) fn data_bytes(&self) -> usize {
        self.starts.last().map_or(0, |end| *end as usize)
    }

    /// Where the strings of vector `vector` are within the data.
    pub(super) fn vector_range(&self, vector: usize) -> Range<usize> {
        match self.starts.get(vector..) {
            Some([start, end, ..]) => *start as usize..*end as usize,
            _ => 0..0,
        }
    }

    /// Appends to `ends` where each string of the vector ends, counted from `base` at its start.
    /// Returns the number of strings.
    pub(super) fn ends(
        &self,
        image: &[u8],
        vector: usize,
        base: u32,
        ends: &mut Vec<u32>,
    ) -> Result<usize, Corrupt> {
        let mut lengths = [0u32; VECTOR_VALUES];
        let rows = self.lengths.unpack(image, vector, &mut lengths);
        let total: u64 = lengths[..rows]
            .iter()
            .map(|length| u64::from(*length))
            .sum();
        if total != self.vector_range(vector).len() as u64 {
            return Err(Corrupt::new(
                "string lengths do not add up to the vector's bytes",
                self.offset,
            ));
        }
        if u64::from(base) + total > u64::from(u32::MAX) {
            return Err(Corrupt::new("decoded strings pass 4 GiB", self.offset));
        }
        let mut end = base;
        ends.extend(lengths[..rows].iter().map(|length| {
            end += length;
            end
        }));
        Ok(rows)
    }

    /// Where strings of the vector are within the data, in the order of `places`.
    pub(super) fn ranges<I: Iterator<Item = usize>>(
        &self,
        image: &[u8],
        vector: usize,
        places: I,
    ) -> Result<impl Iterator<Item = Range<usize>> + use<I>, Corrupt> {
        let mut ends = Vec::with_capacity(VECTOR_VALUES);
        self.ends(image, vector, 0, &mut ends)?;
        let base = self.vector_range(vector).start;
        Ok(places.map(move |place| {
            let range = string_range(&ends, place).unwrap_or(0..0);
            base + range.start..base + range.end
        }))
    }

    /// Where the string of row `row` is within the data.
    pub(super) fn value_range(&self, image: &[u8], row: usize) -> Result<Range<usize>, Corrupt> {
        let vector = row / VECTOR_VALUES;
        let mut ends = Vec::with_capacity(VECTOR_VALUES);
        self.ends(image, vector, 0, &mut ends)?;
        let within = string_range(&ends, row % VECTOR_VALUES)
            .ok_or(Corrupt::new("row beyond the payload", self.offset))?;
        let base = self.vector_range(vector).start;
        Ok(base + within.start..base + within.end)
    }
}
