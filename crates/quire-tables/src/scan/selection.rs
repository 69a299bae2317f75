//! Which rows of a vector group are still wanted.

use std::sync::Arc;

use arrow_array::{Array, BooleanArray, UInt32Array};
use quire_codec::{Corrupt, RowMask, VECTOR_VALUES};

/// Rows of one vector group, counted from its first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Selection {
    /// All rows, that many.
    All(usize),
    /// These rows, ascending.
    Rows(Arc<Vec<u32>>),
}

/// The selected rows of one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VectorRows<'a> {
    /// The first rows, that many.
    First(usize),
    /// These rows, counted from the first of the vector group.
    Rows(&'a [u32]),
}

impl Selection {
    pub(super) fn rows(rows: Vec<u32>) -> Self {
        Selection::Rows(Arc::new(rows))
    }

    /// Number of selected rows.
    pub(super) fn len(&self) -> usize {
        match self {
            Selection::All(rows) => *rows,
            Selection::Rows(rows) => rows.len(),
        }
    }

    /// The vectors that have selected rows, and which rows.
    pub(super) fn vectors(&self) -> Vec<(usize, VectorRows<'_>)> {
        match self {
            Selection::All(rows) => (0..rows.div_ceil(VECTOR_VALUES))
                .map(|vector| {
                    let first = vector * VECTOR_VALUES;
                    (vector, VectorRows::First((rows - first).min(VECTOR_VALUES)))
                })
                .collect(),
            Selection::Rows(rows) => rows
                .chunk_by(|left, right| vector_of(*left) == vector_of(*right))
                .map(|rows| (vector_of(rows[0]), VectorRows::Rows(rows)))
                .collect(),
        }
    }

    /// Keeps the selected rows whose value is true; `kept` has one value per selected row.
    pub(super) fn refine(&self, kept: &BooleanArray) -> Selection {
        let bits = match kept.nulls() {
            Some(nulls) => kept.values() & nulls.inner(),
            None => kept.values().clone(),
        };
        let count = bits.count_set_bits();
        if count == self.len() {
            return self.clone();
        }
        let mut rows = Vec::with_capacity(count);
        match self {
            Selection::All(_) => rows.extend(bits.set_indices_u32()),
            Selection::Rows(old) => rows.extend(bits.set_indices().map(|index| old[index])),
        }
        Selection::rows(rows)
    }

    /// Keeps the selected rows that are in the mask of their vector, which is asked for once per vector that has any.
    pub(super) fn refine_by_masks(
        &self,
        mut mask_of: impl FnMut(usize) -> Result<RowMask, Corrupt>,
    ) -> Result<Selection, Corrupt> {
        let rows = match self {
            Selection::All(rows) => return Self::of_masks(*rows, mask_of),
            Selection::Rows(rows) => rows,
        };
        let mut kept = Vec::with_capacity(rows.len());
        for rows in rows.chunk_by(|left, right| vector_of(*left) == vector_of(*right)) {
            let mask = mask_of(vector_of(rows[0]))?;
            kept.extend(rows.iter().filter(|&&row| {
                let row = row as usize % VECTOR_VALUES;
                mask[row / 64] >> (row % 64) & 1 == 1
            }));
        }
        if kept.len() == self.len() {
            return Ok(self.clone());
        }
        Ok(Selection::rows(kept))
    }

    /// The rows, of the first `rows`, that are in the mask of their vector.
    fn of_masks(
        rows: usize,
        mut mask_of: impl FnMut(usize) -> Result<RowMask, Corrupt>,
    ) -> Result<Selection, Corrupt> {
        let mut masks = Vec::with_capacity(rows.div_ceil(VECTOR_VALUES));
        let mut count = 0;
        for vector in 0..rows.div_ceil(VECTOR_VALUES) {
            let mut mask = mask_of(vector)?;
            let left = rows - vector * VECTOR_VALUES;
            for (word, bits) in mask.iter_mut().enumerate() {
                let present = left.saturating_sub(word * 64).min(64) as u32;
                *bits &= u64::MAX.checked_shr(64 - present).unwrap_or(0);
                count += bits.count_ones() as usize;
            }
            masks.push(mask);
        }
        if count == rows {
            return Ok(Selection::All(rows));
        }
        let mut kept = Vec::with_capacity(count);
        for (word, &bits) in masks.as_flattened().iter().enumerate() {
            append_positions(bits, (word * 64) as u32, &mut kept);
        }
        Ok(Selection::rows(kept))
    }

    /// Keeps at most the first `count` selected rows.
    pub(super) fn truncate(self, count: usize) -> Selection {
        if count >= self.len() {
            return self;
        }
        match self {
            Selection::All(_) => Selection::rows((0..count as u32).collect()),
            Selection::Rows(rows) => Selection::rows(rows[..count].to_vec()),
        }
    }

    /// Where the rows of this selection are among those of `outer`, which contains it.
    pub(super) fn positions_in(&self, outer: &Selection) -> UInt32Array {
        let rows: Vec<u32> = match (self, outer) {
            (Selection::All(rows), _) => (0..*rows as u32).collect(),
            (Selection::Rows(rows), Selection::All(_)) => rows.to_vec(),
            (Selection::Rows(rows), Selection::Rows(outer)) => {
                let mut positions = outer.iter().zip(0_u32..);
                let mut find = |row: u32| positions.find(|(outer, _)| **outer == row);
                rows.iter()
                    .filter_map(|&row| find(row))
                    .map(|(_, position)| position)
                    .collect()
            }
        };
        UInt32Array::from(rows)
    }
}

/// Bits of a word from which on its positions are written without a branch for each.
const DENSE_BITS: u32 = 16;

/// Appends the positions of the set bits, counted from `first`.
fn append_positions(mut bits: u64, first: u32, positions: &mut Vec<u32>) {
    if bits.count_ones() < DENSE_BITS {
        while bits != 0 {
            positions.push(first + bits.trailing_zeros());
            bits &= bits - 1;
        }
        return;
    }
    let mut found = [0; 64];
    let mut count = 0;
    for bit in 0..64 {
        found[count % 64] = first + bit;
        count += (bits >> bit & 1) as usize;
    }
    positions.extend_from_slice(&found[..count]);
}

fn vector_of(row: u32) -> usize {
    row as usize / VECTOR_VALUES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refining_keeps_true_and_drops_false_and_null() {
        let all = Selection::All(5);
        let kept = BooleanArray::from(vec![Some(true), None, Some(false), Some(true), Some(true)]);
        let some = all.refine(&kept);
        assert_eq!(some, Selection::rows(vec![0, 3, 4]));
        let fewer = some.refine(&BooleanArray::from(vec![false, true, true]));
        assert_eq!(fewer, Selection::rows(vec![3, 4]));
        assert_eq!(fewer.positions_in(&some).values(), &[1, 2]);
        assert_eq!(fewer.positions_in(&all).values(), &[3, 4]);
        assert_eq!(all.refine(&BooleanArray::from(vec![true; 5])), all);
        assert_eq!(fewer.truncate(1), Selection::rows(vec![3]));
        assert_eq!(all.truncate(2), Selection::rows(vec![0, 1]));
    }

    #[test]
    fn masks_keep_rows_vector_by_vector() {
        // Every third row of a vector, and all of the second.
        let mask_of = |vector: usize| {
            let mut mask = [u64::MAX; 16];
            if vector != 1 {
                for row in 0..VECTOR_VALUES {
                    mask[row / 64] &= !(u64::from(row % 3 != 0) << (row % 64));
                }
            }
            Ok(mask)
        };
        let kept = |row: &u32| row / 1024 == 1 || (row % 1024).is_multiple_of(3);
        let all = Selection::All(2500);
        let expected: Vec<u32> = (0..2500).filter(kept).collect();
        assert_eq!(all.refine_by_masks(mask_of), Ok(Selection::rows(expected)));
        let some: Vec<u32> = (0..2500).step_by(7).collect();
        let expected: Vec<u32> = some.iter().copied().filter(kept).collect();
        let some = Selection::rows(some);
        assert_eq!(some.refine_by_masks(mask_of), Ok(Selection::rows(expected)));
        assert_eq!(all.refine_by_masks(|_| Ok([u64::MAX; 16])), Ok(all.clone()));
        let corrupt = Corrupt::new("cut short", 7);
        assert_eq!(all.refine_by_masks(|_| Err(corrupt.clone())), Err(corrupt));
    }

    #[test]
    fn vectors_cover_exactly_the_selected_rows() {
        let all = Selection::All(2500);
        let counts = [1024, 1024, 452].map(VectorRows::First);
        assert_eq!(
            all.vectors(),
            counts.into_iter().enumerate().collect::<Vec<_>>()
        );
        let some = Selection::rows(vec![3, 1023, 1024, 4096]);
        let expected = [(0, &[3, 1023][..]), (1, &[1024]), (4, &[4096])];
        assert_eq!(
            some.vectors(),
            expected.map(|(vector, rows)| (vector, VectorRows::Rows(rows)))
        );
    }
}
