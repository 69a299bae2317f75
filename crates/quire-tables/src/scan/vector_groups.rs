//! A scan read by vectors: which rows of a vector group are selected, and the integers and codes that its columns store.
//!
//! What has no stored integers, the rows of the delta, comes as batches.

use arrow_array::{ArrayRef, RecordBatch};
use quire_codec::{Corrupt, PhysicalType, RowMask, VECTOR_VALUES};

use super::SharedTableScan;
use super::column::ColumnReader;
use super::integers::StoredInteger;
use super::open_row_group::{OpenRowGroup, corrupt};
use super::selection::Selection;
use crate::error::ScanError;

/// What a reader comes to next.
pub enum ScanStep<'a> {
    /// A vector group with selected rows.
    Group(SelectedGroup<'a>),
    /// Rows that are not in a row group.
    Rows(RecordBatch),
    /// Rows of which none is selected.
    Nothing,
    End,
}

/// The selected rows of a vector group. Columns are indices into the table's definition.
pub struct SelectedGroup<'a> {
    pub(super) scan: &'a SharedTableScan,
    pub(super) open: &'a mut OpenRowGroup,
    pub(super) group: usize,
    pub(super) selection: Selection,
}

/// Up to 1,024 rows of a vector group, that are computed on at once.
pub struct RowChunk(ChunkRows);

enum ChunkRows {
    /// A vector as it is stored, of which these rows are selected.
    Vector(usize, RowMask),
    /// These rows, counted from the first of the group, one after the other.
    Gathered(Vec<u32>),
}

/// Rows are gathered if fewer than one in so many is selected.
const ROWS_PER_GATHERED: usize = 4;

impl RowChunk {
    /// The places that hold selected rows.
    pub fn mask(&self) -> RowMask {
        match &self.0 {
            ChunkRows::Vector(_, mask) => *mask,
            ChunkRows::Gathered(rows) => Selection::All(rows.len()).masks()[0],
        }
    }
}

impl SelectedGroup<'_> {
    /// The place of its row group in the table.
    pub fn row_group(&self) -> usize {
        self.open.index
    }

    /// How many rows are selected.
    pub fn row_count(&self) -> usize {
        self.selection.len()
    }

    /// The selected rows in chunks: whole vectors, or many rows of several vectors where few are selected.
    pub fn chunks(&self) -> Vec<RowChunk> {
        if self.selection.len() * ROWS_PER_GATHERED < self.open.group_rows(self.group) {
            let rows = self.selection.numbers();
            let chunks = rows.chunks(VECTOR_VALUES);
            return chunks
                .map(|rows| RowChunk(ChunkRows::Gathered(rows.to_vec())))
                .collect();
        }
        let masks = self.selection.masks();
        self.selection
            .vector_numbers()
            .map(|vector| RowChunk(ChunkRows::Vector(vector, masks[vector])))
            .collect()
    }

    /// The integers of a column that stores 16, 32 or 64 bits. NULL rows, and places without a selected row, have some value.
    ///
    /// # Errors
    /// The segment cannot be read, is damaged, or has values of another type.
    pub fn integers(
        &mut self,
        column: usize,
        chunk: &RowChunk,
        out: &mut [i64; VECTOR_VALUES],
    ) -> Result<(), ScanError> {
        let (group, index) = (self.group, self.open.index);
        let reader = self.open.column(self.scan, column)?;
        let read = match reader.physical_type() {
            PhysicalType::Int16 => read_integers::<i16>(reader, group, chunk, out),
            PhysicalType::Int32 => read_integers::<i32>(reader, group, chunk, out),
            PhysicalType::Int64 => read_integers::<i64>(reader, group, chunk, out),
            other => Err(Corrupt::new(format!("{other} values are no integers"), 0)),
        };
        read.map_err(|source| corrupt(self.scan, index, column, source))
    }

    /// The codes of a column whose segment has a dictionary. NULL rows, and places without a selected row, have some code.
    ///
    /// # Errors
    /// The segment cannot be read, is damaged, or has no dictionary.
    pub fn codes(
        &mut self,
        column: usize,
        chunk: &RowChunk,
        out: &mut [i64; VECTOR_VALUES],
    ) -> Result<(), ScanError> {
        let (group, index) = (self.group, self.open.index);
        let reader = self.open.column(self.scan, column)?;
        let mut codes = [0_u32; VECTOR_VALUES];
        let read = chunk.0.for_each_vector(|vector, places| {
            reader.mask(group, vector, true, |segment, vector, _| {
                segment.decode_codes(vector, &mut codes).map(|_| ())
            })?;
            places.copy(&codes, out);
            Ok(())
        });
        read.map_err(|source| corrupt(self.scan, index, column, source))
    }

    /// The places of a chunk whose rows are not NULL in a column.
    ///
    /// # Errors
    /// The segment cannot be read, or is damaged.
    pub fn present(&mut self, column: usize, chunk: &RowChunk) -> Result<RowMask, ScanError> {
        let (group, index) = (self.group, self.open.index);
        let reader = self.open.column(self.scan, column)?;
        let mut present = RowMask::default();
        let read = chunk.0.for_each_vector(|vector, places| {
            let of_vector = reader.present(group, vector, [u64::MAX; 16])?;
            match places {
                ChunkPlaces::All => present = of_vector,
                ChunkPlaces::From(first, rows) => {
                    for (place, row) in (first..).zip(rows) {
                        let row = *row as usize % VECTOR_VALUES;
                        let bit = of_vector[row / 64] >> (row % 64) & 1;
                        present[place / 64 % 16] |= bit << (place % 64);
                    }
                }
            }
            Ok(())
        });
        read.map_err(|source| corrupt(self.scan, index, column, source))?;
        Ok(present)
    }

    /// The values of a column's codes and a NULL behind them; `None` if the segment has no dictionary, or one of more than `most` values.
    ///
    /// # Errors
    /// The segment cannot be read, or is damaged.
    pub fn dictionary(
        &mut self,
        column: usize,
        most: usize,
    ) -> Result<Option<ArrayRef>, ScanError> {
        let index = self.open.index;
        let reader = self.open.column(self.scan, column)?;
        if reader
            .segment()
            .dictionary_len()
            .is_none_or(|length| length > most)
        {
            return Ok(None);
        }
        let dictionary = reader.dictionary();
        dictionary.map_err(|source| corrupt(self.scan, index, column, source))
    }

    /// The selected rows as a batch of the scan's output.
    ///
    /// # Errors
    /// A segment cannot be read, or is damaged.
    pub fn batch(&mut self) -> Result<RecordBatch, ScanError> {
        let scan = self.scan;
        let projection = &scan.options.projection;
        let (group, selection) = (self.group, &self.selection);
        self.open
            .batch(scan, &scan.schema, projection, group, selection)
    }
}

/// The rows of one vector in a chunk.
#[derive(Clone, Copy)]
enum ChunkPlaces<'a> {
    /// All of them, each in its place.
    All,
    /// These rows, from this place on.
    From(usize, &'a [u32]),
}

impl ChunkPlaces<'_> {
    fn copy<T: Copy + Into<i64>>(
        self,
        values: &[T; VECTOR_VALUES],
        out: &mut [i64; VECTOR_VALUES],
    ) {
        match self {
            ChunkPlaces::All => {
                for (out, value) in out.iter_mut().zip(values) {
                    *out = (*value).into();
                }
            }
            ChunkPlaces::From(first, rows) => {
                for (out, row) in out.iter_mut().skip(first).zip(rows) {
                    *out = values[*row as usize % VECTOR_VALUES].into();
                }
            }
        }
    }
}

impl ChunkRows {
    /// Visits each vector that has rows of the chunk.
    fn for_each_vector(
        &self,
        mut visit: impl FnMut(usize, ChunkPlaces<'_>) -> Result<(), Corrupt>,
    ) -> Result<(), Corrupt> {
        let rows = match self {
            ChunkRows::Vector(vector, _) => return visit(*vector, ChunkPlaces::All),
            ChunkRows::Gathered(rows) => rows,
        };
        let vector_of = |row: u32| row as usize / VECTOR_VALUES;
        let mut first = 0;
        for rows in rows.chunk_by(|left, right| vector_of(*left) == vector_of(*right)) {
            visit(vector_of(rows[0]), ChunkPlaces::From(first, rows))?;
            first += rows.len();
        }
        Ok(())
    }
}

fn read_integers<T: StoredInteger>(
    reader: &mut ColumnReader,
    group: usize,
    chunk: &RowChunk,
    out: &mut [i64; VECTOR_VALUES],
) -> Result<(), Corrupt> {
    chunk.0.for_each_vector(|vector, places| {
        places.copy(reader.integers::<T>(group, vector)?, out);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gathered_rows_stand_one_after_the_other() {
        let rows: Vec<u32> = (0..4000).step_by(13).collect();
        let mut out = [-1; VECTOR_VALUES];
        let visited = ChunkRows::Gathered(rows.clone()).for_each_vector(|vector, places| {
            let values: [i64; VECTOR_VALUES] =
                std::array::from_fn(|row| (vector * 1024 + row) as i64);
            places.copy(&values, &mut out);
            Ok(())
        });
        assert_eq!(visited, Ok(()));
        let expected: Vec<i64> = rows.iter().map(|&row| row.into()).collect();
        assert_eq!(out[..rows.len()], expected);
        assert!(out[rows.len()..].iter().all(|&value| value == -1));
    }
}
