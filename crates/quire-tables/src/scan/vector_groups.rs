//! A scan read by vectors: which rows of a vector group are selected, and the integers and codes that its columns store.
//!
//! What has no stored integers, the rows of the delta, comes as batches.

use arrow_array::{ArrayRef, RecordBatch};
use quire_codec::{Corrupt, PhysicalType, RowMask, VECTOR_VALUES};

use super::SharedTableScan;
use super::open_row_group::{OpenRowGroup, corrupt};
use super::selection::{Selection, VectorRows};
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

impl SelectedGroup<'_> {
    /// The place of its row group in the table.
    pub fn row_group(&self) -> usize {
        self.open.index
    }

    /// How many rows are selected.
    pub fn row_count(&self) -> usize {
        self.selection.len()
    }

    /// The vectors that have selected rows, and these rows.
    pub fn vectors(&self) -> Vec<(usize, RowMask)> {
        let vectors = self.selection.vectors().into_iter();
        vectors.map(|(vector, rows)| (vector, mask(rows))).collect()
    }

    /// Whether a row of the row group is NULL in a column.
    ///
    /// # Errors
    /// The segment cannot be read, or is damaged.
    pub fn has_nulls(&mut self, column: usize) -> Result<bool, ScanError> {
        let reader = self.open.column(self.scan, column)?;
        Ok(reader.segment().null_count() > 0)
    }

    /// The integers of a vector of a column that stores 16, 32 or 64 bits. NULL rows have some value.
    ///
    /// # Errors
    /// The segment cannot be read, is damaged, or has values of another type.
    pub fn integers(
        &mut self,
        column: usize,
        vector: usize,
        out: &mut [i64; VECTOR_VALUES],
    ) -> Result<(), ScanError> {
        let (group, index) = (self.group, self.open.index);
        let reader = self.open.column(self.scan, column)?;
        let widened = match reader.physical_type() {
            PhysicalType::Int16 => reader
                .integers::<i16>(group, vector)
                .map(|values| widen(values, out)),
            PhysicalType::Int32 => reader
                .integers::<i32>(group, vector)
                .map(|values| widen(values, out)),
            PhysicalType::Int64 => reader
                .integers::<i64>(group, vector)
                .map(|values| *out = *values),
            other => Err(Corrupt::new(format!("{other} values are no integers"), 0)),
        };
        widened.map_err(|source| corrupt(self.scan, index, column, source))
    }

    /// The codes of a vector of a column whose segment has a dictionary. NULL rows have some code.
    ///
    /// # Errors
    /// The segment cannot be read, is damaged, or has no dictionary.
    pub fn codes(
        &mut self,
        column: usize,
        vector: usize,
        out: &mut [i64; VECTOR_VALUES],
    ) -> Result<(), ScanError> {
        let (group, index) = (self.group, self.open.index);
        let reader = self.open.column(self.scan, column)?;
        let mut codes = [0_u32; VECTOR_VALUES];
        let decoded = reader.mask(group, vector, true, |segment, vector, _| {
            segment.decode_codes(vector, &mut codes).map(|_| ())
        });
        decoded.map_err(|source| corrupt(self.scan, index, column, source))?;
        widen(&codes, out);
        Ok(())
    }

    /// Takes the rows out of `rows` that are NULL in a column.
    ///
    /// # Errors
    /// The segment cannot be read, or is damaged.
    pub fn present(
        &mut self,
        column: usize,
        vector: usize,
        rows: &mut RowMask,
    ) -> Result<(), ScanError> {
        let (group, index) = (self.group, self.open.index);
        let reader = self.open.column(self.scan, column)?;
        let present = reader.present(group, vector, *rows);
        *rows = present.map_err(|source| corrupt(self.scan, index, column, source))?;
        Ok(())
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

fn widen<T: Copy + Into<i64>>(values: &[T; VECTOR_VALUES], out: &mut [i64; VECTOR_VALUES]) {
    for (out, value) in out.iter_mut().zip(values) {
        *out = (*value).into();
    }
}

fn mask(rows: VectorRows<'_>) -> RowMask {
    let mut mask = RowMask::default();
    match rows {
        VectorRows::First(count) => {
            for (word, bits) in mask.iter_mut().enumerate() {
                let present = count.saturating_sub(word * 64).min(64) as u32;
                *bits = u64::MAX.checked_shr(64 - present).unwrap_or(0);
            }
        }
        VectorRows::Rows(rows) => {
            for row in rows.iter().map(|&row| row as usize % VECTOR_VALUES) {
                mask[row / 64] |= 1 << (row % 64);
            }
        }
    }
    mask
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_mark_the_selected_rows() {
        let marked = |mask: RowMask| -> Vec<usize> {
            let is_marked = |row: &usize| mask[row / 64] >> (row % 64) & 1 == 1;
            (0..VECTOR_VALUES).filter(is_marked).collect()
        };
        for count in [0, 1, 63, 64, 65, 1000, 1024] {
            let expected: Vec<usize> = (0..count).collect();
            assert_eq!(marked(mask(VectorRows::First(count))), expected);
        }
        let rows = [1024, 1087, 1088, 2047];
        assert_eq!(marked(mask(VectorRows::Rows(&rows))), [0, 63, 64, 1023]);
    }
}
