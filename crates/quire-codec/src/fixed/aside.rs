//! Rows kept aside: which they are, and their values as a column of their own.
//!
//! What [`super::pdict`] and [`super::sparse`] have in common: most rows are decoded by a rule that costs little,
//! and the others are then written over (`LOOP2` of Zukowski §6.2.4, without a chain to follow).
//!
//! | size | field |
//! |---|---|
//! | 4 | size of the rows |
//! | … | which rows are kept aside: a boolean RLE payload ([`crate::boolean`]) |
//! | … | their values, in the order of the rows ([`sequence`]) |
//!
//! Where no row is kept aside there is not one byte. How many there are stands before, in the payload.

use crate::boolean::{self, RowSet};
use crate::int::element::Element;
use crate::int::sequence::{self, Sequence, SequenceReader};
use crate::{
    Corrupt, GROUP_VALUES, ImageCursor, RowMask, VECTOR_VALUES, vector_count, vector_rows,
};
use std::ops::Range;
use std::sync::Arc;

/// Up to this many values of a group are read one by one rather than with their vectors.
const ONE_BY_ONE_MAX: usize = 16;

/// Rows to be kept aside.
pub(super) struct RowsAside<E> {
    row_count: usize,
    /// One bit a row, 1 if it is kept aside.
    words: Vec<u64>,
    values: Vec<E>,
}

impl<E: Element> RowsAside<E> {
    /// Those rows of `values` for whose `marks`, one a row, `is_aside` holds.
    pub(super) fn of<M: Copy>(values: &[E], marks: &[M], is_aside: impl Fn(M) -> bool) -> Self {
        assert_eq!(values.len(), marks.len(), "a mark for every row");
        let mut words = Vec::with_capacity(values.len().div_ceil(64));
        let mut aside = Vec::new();
        for (chunk, marks) in values.chunks(64).zip(marks.chunks(64)) {
            let bits = marks.iter().map(|&mark| u64::from(is_aside(mark)));
            let word = bits
                .zip(0..)
                .fold(0, |word, (bit, place)| word | bit << place);
            let mut rest: u64 = word;
            while rest != 0 {
                aside.push(chunk[rest.trailing_zeros() as usize]);
                rest &= rest - 1;
            }
            words.push(word);
        }
        Self {
            row_count: values.len(),
            words,
            values: aside,
        }
    }

    /// Number of rows kept aside.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Size of what [`RowsAside::append`] writes.
    pub(super) fn encoded_bytes(&self) -> usize {
        if self.values.is_empty() {
            return 0;
        }
        let rows = boolean::rows_bytes(&self.words, self.row_count);
        4 + rows + sequence::encoded_bytes(&self.values)
    }

    pub(super) fn append(&self, out: &mut Vec<u8>) {
        if self.values.is_empty() {
            return;
        }
        let mut rows = Vec::new();
        boolean::append_rows(&self.words, self.row_count, &mut rows);
        out.extend_from_slice(&(rows.len() as u32).to_le_bytes());
        out.extend_from_slice(&rows);
        sequence::append(&self.values, out);
    }
}

/// The rows kept aside of an open payload.
#[derive(Clone, Debug)]
pub(super) struct Aside<E: Element> {
    row_count: usize,
    rows: RowSet,
    /// How many are kept aside before each vector, and in all.
    firsts: Vec<usize>,
    values: SequenceReader<E>,
    /// Positions and values of the vector that was read last.
    positions: Box<[u16; VECTOR_VALUES]>,
    read: Box<[E; VECTOR_VALUES]>,
}

impl<E: Element> Aside<E> {
    /// Opens the `count` rows kept aside, of `row_count`, in `image[section]`; `None` if there are none. The
    /// caller has bounded `row_count`.
    pub(super) fn open(
        image: Arc<[u8]>,
        section: Range<usize>,
        row_count: usize,
        count: usize,
    ) -> Result<Option<Self>, Corrupt> {
        let end = section.end;
        let mut cursor = ImageCursor::new(&image, section)?;
        if count == 0 {
            cursor.finish("payload without rows aside")?;
            return Ok(None);
        }
        let row_bytes = cursor.u32("size of the rows kept aside")? as usize;
        let rows = cursor.take(row_bytes, "rows kept aside")?;
        let start = rows.start;
        let values = cursor.position()..end;
        let rows = RowSet::open(image.clone(), rows, row_count)?;
        let mut firsts = vec![0];
        let mut total = 0;
        for vector in 0..vector_count(row_count) {
            total += rows.true_count(vector)?;
            firsts.push(total);
        }
        if total != count {
            return Err(Corrupt::new("rows kept aside do not add up", start));
        }
        let values = SequenceReader::new(Sequence::open(image, values, count)?);
        Ok(Some(Self {
            row_count,
            rows,
            firsts,
            values,
            positions: Box::new([0; VECTOR_VALUES]),
            read: Box::new([E::default(); VECTOR_VALUES]),
        }))
    }

    /// How many are kept aside before a vector, and how many of its rows.
    fn bounds(&self, vector: usize) -> Result<(usize, usize), Corrupt> {
        match self.firsts.get(vector..).unwrap_or_default() {
            [first, end, ..] => Ok((*first, end - first)),
            _ => Err(Corrupt::new("vector is beyond the segment", 0)),
        }
    }

    /// Positions in vector `vector` of its rows kept aside, ascending, and their values.
    pub(super) fn vector(&mut self, vector: usize) -> Result<(&[u16], &[E]), Corrupt> {
        let (first, count) = self.bounds(vector)?;
        if count == 0 {
            return Ok((&[], &[]));
        }
        if self.rows.true_positions(vector, &mut self.positions)? != count {
            return Err(Corrupt::new("rows kept aside do not add up", 0));
        }
        self.values.read(first, &mut self.read[..count])?;
        Ok((&self.positions[..count], &self.read[..count]))
    }

    /// Writes the values of the rows kept aside over those of a vector.
    pub(super) fn patch(
        &mut self,
        vector: usize,
        out: &mut [E; VECTOR_VALUES],
    ) -> Result<(), Corrupt> {
        let (first, count) = self.bounds(vector)?;
        if count == vector_rows(self.row_count, vector) {
            return self.values.read(first, &mut out[..count]);
        }
        let (positions, values) = self.vector(vector)?;
        for (&position, &value) in positions.iter().zip(values) {
            out[usize::from(position) % VECTOR_VALUES] = value;
        }
        Ok(())
    }

    /// As [`Aside::patch`], for rows `128 · group` and after of the payload.
    pub(super) fn patch_group(
        &mut self,
        group: usize,
        out: &mut [E; GROUP_VALUES],
    ) -> Result<(), Corrupt> {
        let groups = VECTOR_VALUES / GROUP_VALUES;
        let (first, count) = self.bounds(group / groups)?;
        if count == 0 {
            return Ok(());
        }
        let found = self
            .rows
            .true_positions(group / groups, &mut self.positions)?;
        let positions = &self.positions[..found.min(count)];
        let start = group % groups * GROUP_VALUES;
        let before =
            |end: usize| positions.partition_point(|&position| usize::from(position) < end);
        let (skipped, end) = (before(start), before(start + GROUP_VALUES));
        if end - skipped <= ONE_BY_ONE_MAX {
            for (place, &position) in positions.iter().enumerate().take(end).skip(skipped) {
                let value = self.values.sequence().value(first + place)?;
                out[usize::from(position) % GROUP_VALUES] = value;
            }
            return Ok(());
        }
        let read = &mut self.read[..end - skipped];
        self.values.read(first + skipped, read)?;
        for (&position, &value) in positions[skipped..end].iter().zip(&*read) {
            out[usize::from(position) % GROUP_VALUES] = value;
        }
        Ok(())
    }

    /// Marks anew the rows of a vector that are kept aside: those whose values are from `low` to `high`.
    pub(super) fn mark(
        &mut self,
        vector: usize,
        low: E,
        high: E,
        mask: &mut RowMask,
    ) -> Result<(), Corrupt> {
        let (positions, values) = self.vector(vector)?;
        for (&position, value) in positions.iter().zip(values) {
            let word = &mut mask[usize::from(position) / 64 % mask.len()];
            let bit = position % 64;
            *word = *word & !(1 << bit) | u64::from((low..=high).contains(value)) << bit;
        }
        Ok(())
    }

    /// The value of row `row` of the payload, if it is kept aside.
    pub(super) fn value(&mut self, row: usize) -> Result<Option<E>, Corrupt> {
        let (vector, position) = (row / VECTOR_VALUES, row % VECTOR_VALUES);
        let (first, count) = self.bounds(vector)?;
        if count == 0 {
            return Ok(None);
        }
        let found = self.rows.true_positions(vector, &mut self.positions)?;
        let place = self.positions[..found.min(count)].binary_search(&(position as u16));
        match place {
            Ok(place) => self.values.sequence().value(first + place).map(Some),
            Err(_) => Ok(None),
        }
    }
}
