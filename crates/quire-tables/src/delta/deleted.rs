//! The deleted rows of one row group, as bits.

use std::ops::ControlFlow;

use quire_codec::Corrupt;
use quire_format::row_group::GROUP_ROWS;
use quire_format::row_position::RowPosition;
use quire_kv::btree::Direction;
use quire_kv::mvcc::{ReadView, TreeId};

use crate::error::RowScanError;

/// Which rows of a row group are deleted: at least one.
pub(crate) struct DeletedRows {
    words: Vec<u64>,
    row_count: usize,
}

impl DeletedRows {
    /// Reads them from the tree of deletions; nothing when none is deleted.
    pub(crate) fn load(
        view: &ReadView,
        deletions: TreeId,
        row_group: u64,
        row_count: u64,
    ) -> Result<Option<Self>, RowScanError> {
        let row_count = row_count as usize;
        let mut words: Vec<u64> = Vec::new();
        let mut wrong = None;
        let (low, high) = RowPosition::range_of(row_group);
        let mut scan = view.scan(deletions, &low, &high, Direction::Forward)?;
        while scan.next_leaf(|key, _| match RowPosition::of_key(key) {
            Some(position) if (position.row as usize) < row_count => {
                words.resize(row_count.div_ceil(64), 0);
                words[position.row as usize / 64] |= 1 << (position.row % 64);
                ControlFlow::Continue(())
            }
            found => {
                wrong = Some(format!(
                    "deletion of {found:?} in row group {row_group} of {row_count} rows"
                ));
                ControlFlow::Break(())
            }
        })? {
            if let Some(what) = wrong {
                return Err(Corrupt::new(what, 0).into());
            }
        }
        Ok((!words.is_empty()).then_some(Self { words, row_count }))
    }

    /// Number of deleted rows of a vector group.
    pub(crate) fn count_in_group(&self, group: usize) -> usize {
        let ones = self.words_of(group).iter().map(|word| word.count_ones());
        ones.sum::<u32>() as usize
    }

    /// The rows of a vector group that are left, counted from its first.
    pub(crate) fn left_in_group(&self, group: usize) -> Vec<u32> {
        let first = (group * GROUP_ROWS).min(self.row_count);
        let rows = (self.row_count - first).min(GROUP_ROWS) as u32;
        let words = self.words_of(group);
        let is_left = |row: &u32| words[*row as usize / 64] >> (row % 64) & 1 == 0;
        (0..rows).filter(is_left).collect()
    }

    fn words_of(&self, group: usize) -> &[u64] {
        let first = (group * GROUP_ROWS / 64).min(self.words.len());
        let end = (first + GROUP_ROWS / 64).min(self.words.len());
        &self.words[first..end]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_know_their_own_rows() {
        let row_count = GROUP_ROWS + 100;
        let mut words = vec![0_u64; row_count.div_ceil(64)];
        for row in [0, 63, 64, GROUP_ROWS - 1, GROUP_ROWS, GROUP_ROWS + 99] {
            words[row / 64] |= 1 << (row % 64);
        }
        let deleted = DeletedRows { words, row_count };
        assert_eq!(
            [0, 1, 2].map(|group| deleted.count_in_group(group)),
            [4, 2, 0]
        );
        let first = deleted.left_in_group(0);
        assert_eq!(first.len(), GROUP_ROWS - 4);
        assert_eq!(&first[..3], [1, 2, 3]);
        assert_eq!(deleted.left_in_group(1), (1..99).collect::<Vec<u32>>());
        assert_eq!(deleted.left_in_group(2), Vec::<u32>::new());
    }
}
