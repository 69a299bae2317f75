//! Which rows of a vector group are still wanted.

use std::sync::{Arc, OnceLock};

use arrow_array::{Array, BooleanArray, UInt32Array};
use arrow_buffer::BooleanBuffer;
use quire_codec::{Corrupt, RowMask, VECTOR_VALUES};

use super::integers::GROUP_VECTORS;

/// Rows of one vector group, counted from its first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Selection {
    /// All rows, that many.
    All(usize),
    Some(Arc<SelectedRows>),
}

/// Some rows of a vector group.
#[derive(Debug, Default)]
pub(super) struct SelectedRows {
    /// A bit for each row. Those past the last row of the group are 0.
    masks: [RowMask; GROUP_VECTORS],
    count: usize,
    /// The same rows as ascending numbers, once a column is gathered: most selections are refined by another mask before.
    rows: OnceLock<Vec<u32>>,
}

/// The selected rows of one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VectorRows<'a> {
    /// The first rows, that many.
    First(usize),
    /// These rows, counted from the first of the vector group.
    Rows(&'a [u32]),
}

impl<'a> VectorRows<'a> {
    /// The rows, if they are at most so many.
    pub(super) fn few(self, most: usize) -> Option<&'a [u32]> {
        match self {
            VectorRows::Rows(rows) if rows.len() <= most => Some(rows),
            _ => None,
        }
    }
}

impl PartialEq for SelectedRows {
    fn eq(&self, other: &Self) -> bool {
        self.masks == other.masks
    }
}

impl Eq for SelectedRows {}

impl SelectedRows {
    fn of_masks(masks: [RowMask; GROUP_VECTORS]) -> Self {
        Self {
            count: masks.iter().map(ones).sum(),
            masks,
            rows: OnceLock::new(),
        }
    }

    fn rows(&self) -> &[u32] {
        self.rows.get_or_init(|| {
            let mut rows = Vec::with_capacity(self.count);
            for (word, &bits) in self.masks.as_flattened().iter().enumerate() {
                append_positions(bits, (word * 64) as u32, &mut rows);
            }
            rows
        })
    }

    fn contains(&self, row: u32) -> bool {
        let row = row as usize;
        self.masks[row / VECTOR_VALUES][row % VECTOR_VALUES / 64] >> (row % 64) & 1 == 1
    }
}

impl Selection {
    /// Rows of a vector group, ascending.
    pub(super) fn rows(rows: Vec<u32>) -> Self {
        let mut masks = [RowMask::default(); GROUP_VECTORS];
        for &row in &rows {
            let row = row as usize;
            masks[row / VECTOR_VALUES][row % VECTOR_VALUES / 64] |= 1 << (row % 64);
        }
        Selection::Some(Arc::new(SelectedRows {
            masks,
            count: rows.len(),
            rows: OnceLock::from(rows),
        }))
    }

    pub(super) fn none() -> Self {
        Selection::Some(Arc::default())
    }

    /// Number of selected rows.
    pub(super) fn len(&self) -> usize {
        match self {
            Selection::All(rows) => *rows,
            Selection::Some(some) => some.count,
        }
    }

    /// The numbers of the selected rows, ascending.
    pub(super) fn numbers(&self) -> Vec<u32> {
        match self {
            Selection::All(rows) => (0..*rows as u32).collect(),
            Selection::Some(some) => some.rows().to_vec(),
        }
    }

    /// The vectors that have selected rows, and which rows.
    pub(super) fn vectors(&self) -> Vec<(usize, VectorRows<'_>)> {
        let some = match self {
            Selection::All(rows) => {
                let first = |vector: usize| (rows - vector * VECTOR_VALUES).min(VECTOR_VALUES);
                return (0..rows.div_ceil(VECTOR_VALUES))
                    .map(|vector| (vector, VectorRows::First(first(vector))))
                    .collect();
            }
            Selection::Some(some) => some,
        };
        let mut vectors = Vec::with_capacity(GROUP_VECTORS);
        let mut rest = some.rows();
        for (vector, mask) in some.masks.iter().enumerate() {
            let (rows, after) = rest.split_at(ones(mask));
            if !rows.is_empty() {
                vectors.push((vector, VectorRows::Rows(rows)));
            }
            rest = after;
        }
        vectors
    }

    /// The vectors that have selected rows.
    pub(super) fn vector_numbers(&self) -> impl Iterator<Item = usize> {
        let masks = self.masks();
        (0..GROUP_VECTORS).filter(move |&vector| masks[vector] != RowMask::default())
    }

    /// The bits of the selected rows, one after the other.
    pub(super) fn gather_bits(&self, bits: &[RowMask; GROUP_VECTORS]) -> BooleanBuffer {
        match self {
            Selection::All(rows) => {
                let bytes: Vec<u8> = bits
                    .as_flattened()
                    .iter()
                    .flat_map(|word| word.to_le_bytes())
                    .collect();
                BooleanBuffer::new(bytes.into(), 0, *rows)
            }
            Selection::Some(some) => {
                let rows = some.rows();
                let bits = bits.as_flattened();
                BooleanBuffer::collect_bool(rows.len(), |index| {
                    let row = rows[index] as usize;
                    bits[row / 64] >> (row % 64) & 1 == 1
                })
            }
        }
    }

    /// Keeps the selected rows whose value is true; `kept` has one value per selected row.
    pub(super) fn refine(&self, kept: &BooleanArray) -> Selection {
        let bits = true_rows(kept);
        if bits.count_set_bits() == self.len() {
            return self.clone();
        }
        match self {
            Selection::All(_) => {
                let mut masks = [RowMask::default(); GROUP_VECTORS];
                let words = bits.bit_chunks();
                for (word, bits) in masks.as_flattened_mut().iter_mut().zip(words.iter_padded()) {
                    *word = bits;
                }
                Selection::Some(Arc::new(SelectedRows::of_masks(masks)))
            }
            Selection::Some(some) => {
                let rows = some.rows();
                Selection::rows(bits.set_indices().map(|index| rows[index]).collect())
            }
        }
    }

    /// Keeps the selected rows that are in the mask of their vector, which is asked for once per vector that has any. Bits past the rows of a
    /// vector are ignored.
    pub(super) fn refine_by_masks(
        &self,
        mut mask_of: impl FnMut(usize) -> Result<RowMask, Corrupt>,
    ) -> Result<Selection, Corrupt> {
        let mut masks = self.masks();
        for (vector, mask) in masks.iter_mut().enumerate() {
            if *mask == RowMask::default() {
                continue;
            }
            for (bits, kept) in mask.iter_mut().zip(mask_of(vector)?) {
                *bits &= kept;
            }
        }
        let some = SelectedRows::of_masks(masks);
        if some.count == self.len() {
            return Ok(self.clone());
        }
        Ok(Selection::Some(Arc::new(some)))
    }

    /// A bit for each row of each vector.
    pub(super) fn masks(&self) -> [RowMask; GROUP_VECTORS] {
        let rows = match self {
            Selection::All(rows) => *rows,
            Selection::Some(some) => return some.masks,
        };
        let mut masks = [[u64::MAX; VECTOR_VALUES / 64]; GROUP_VECTORS];
        for (word, bits) in masks.as_flattened_mut().iter_mut().enumerate() {
            let present = rows.saturating_sub(word * 64).min(64) as u32;
            *bits = u64::MAX.checked_shr(64 - present).unwrap_or(0);
        }
        masks
    }

    /// Keeps at most the first `count` selected rows.
    pub(super) fn truncate(self, count: usize) -> Selection {
        if count >= self.len() {
            return self;
        }
        let mut rows = self.numbers();
        rows.truncate(count);
        Selection::rows(rows)
    }

    /// Where the rows of this selection are among those of `outer`, which contains it.
    pub(super) fn positions_in(&self, outer: &Selection) -> UInt32Array {
        let (Selection::Some(some), Selection::Some(outer)) = (self, outer) else {
            return UInt32Array::from(self.numbers());
        };
        let mut positions = vec![0; outer.count];
        let mut count = 0;
        // Each position is written, and counted only if it is one: no branch for a row.
        for (position, &row) in outer.rows().iter().enumerate() {
            positions[count] = position as u32;
            count += usize::from(some.contains(row));
        }
        positions.truncate(count);
        UInt32Array::from(positions)
    }
}

/// Which values are true: neither false nor NULL.
pub(super) fn true_rows(values: &BooleanArray) -> BooleanBuffer {
    match values.nulls() {
        Some(nulls) => values.values() & nulls.inner(),
        None => values.values().clone(),
    }
}

/// Number of rows in a mask.
fn ones(mask: &RowMask) -> usize {
    mask.iter().map(|bits| bits.count_ones() as usize).sum()
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
        let none = Selection::none();
        assert_eq!((none.len(), none.vectors().len()), (0, 0));
        assert_eq!(none.positions_in(&some).len(), 0);
    }

    #[test]
    fn bits_of_selected_rows_stand_one_after_the_other() {
        let mut bits = [RowMask::default(); GROUP_VECTORS];
        (bits[0][0], bits[2][3]) = (0b1_0010, 1 << 9);
        let gathered = |selection: Selection| {
            let bits = selection.gather_bits(&bits);
            assert_eq!(bits.len(), selection.len());
            bits.set_indices().collect::<Vec<_>>()
        };
        assert_eq!(gathered(Selection::All(5)), [1, 4]);
        assert_eq!(gathered(Selection::All(8192)), [1, 4, 2249]);
        let some = Selection::rows(vec![0, 4, 5, 2248, 2249]);
        assert_eq!(gathered(some), [1, 4]);
        assert!(gathered(Selection::none()).is_empty());
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
        let refined = all.refine_by_masks(mask_of).unwrap();
        assert_eq!(refined.numbers(), expected);
        assert_eq!(refined, Selection::rows(expected));
        let some: Vec<u32> = (0..2500).step_by(7).collect();
        let expected: Vec<u32> = some.iter().copied().filter(kept).collect();
        let some = Selection::rows(some);
        assert_eq!(some.refine_by_masks(mask_of), Ok(Selection::rows(expected)));
        assert_eq!(all.refine_by_masks(|_| Ok([u64::MAX; 16])), Ok(all.clone()));
        let corrupt = Corrupt::new("cut short", 7);
        assert_eq!(all.refine_by_masks(|_| Err(corrupt.clone())), Err(corrupt));
    }

    #[test]
    fn only_vectors_with_selected_rows_are_asked_for_masks() {
        let some = Selection::rows(vec![3, 1023, 4096]);
        let mut asked = Vec::new();
        let kept = some.refine_by_masks(|vector| {
            asked.push(vector);
            Ok([1 << 3; 16])
        });
        assert_eq!(kept, Ok(Selection::rows(vec![3])));
        assert_eq!(asked, [0, 4]);
    }

    #[test]
    fn vectors_cover_exactly_the_selected_rows() {
        let all = Selection::All(2500);
        let counts = [1024, 1024, 452].map(VectorRows::First);
        assert_eq!(
            all.vectors(),
            counts.into_iter().enumerate().collect::<Vec<_>>()
        );
        for count in [0, 1, 63, 64, 65, 1000, 1024, 2500] {
            let rows: Vec<u32> = (0..count).collect();
            let all = Selection::All(count as usize);
            assert_eq!(all.masks(), Selection::rows(rows).masks());
        }
        let some = Selection::rows(vec![3, 1023, 1024, 4096]);
        let expected = [(0, &[3, 1023][..]), (1, &[1024]), (4, &[4096])];
        assert_eq!(
            some.vectors(),
            expected.map(|(vector, rows)| (vector, VectorRows::Rows(rows)))
        );
    }
}
