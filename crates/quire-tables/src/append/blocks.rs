//! How many rows a block of a PAX table gets.
//!
//! Segments of one block have the same rows, which are so many that the lengths of the segments "sum to a number close to" that of a block
//! (paper 2), and those are known only once they are encoded. So this takes the rows that would have made an earlier row group as long
//! as a block is to be.
//!
//! Which earlier one decides what a table looks like, so it must not depend on the speed of the workers: it is the one [`LAG_ROW_GROUPS`] row groups
//! before, or the first. Waiting for that one lets the workers be busy with the others. The first is cut by the last row
//! group that the table has, or else by a piece of its own rows that is encoded and thrown away.

use arrow_array::RecordBatch;
use quire_codec::VECTOR_VALUES;
use quire_format::row_group::{ROW_GROUP_ROWS, RowGroup};

use super::batch_bytes::{batch_bytes, rows_within};
use super::options::AppendOptions;
use crate::definition::TableDefinition;

/// A row group is cut by the length of the one so many before it.
pub(super) const LAG_ROW_GROUPS: usize = 8;

/// The lengths that blocks are to have.
pub(super) struct BlockPlan {
    block_bytes: usize,
    /// Rows of a row group however short its block is.
    pub(super) rows_max: usize,
    /// Rows of the first row group of an append.
    pub(super) first_rows: usize,
    /// Bytes of its rows before they are encoded.
    pub(super) first_raw_bytes: usize,
    /// Bytes of the rows of a row group before they are encoded, however short its block is.
    raw_bytes_max: usize,
}

impl BlockPlan {
    /// `None` for a table that is not kept in blocks.
    pub(super) fn new(definition: &TableDefinition, options: &AppendOptions) -> Option<Self> {
        let rows_max = options.row_group_rows.clamp(1, ROW_GROUP_ROWS);
        Some(BlockPlan {
            block_bytes: definition.options.block_bytes?,
            rows_max,
            first_rows: rows_max,
            first_raw_bytes: options.row_group_bytes.max(1),
            raw_bytes_max: options.row_group_bytes.max(1),
        })
    }

    /// Bytes of rows before they are encoded beyond which a block is cut, if `raw_bytes` are encoded in `bytes`: twice as many as should fill a block.
    /// Where rows get longer, fewer make a block, long before an earlier row group says so.
    pub(super) fn raw_bytes_like(&self, raw_bytes: u64, bytes: u64) -> usize {
        let fitting =
            2 * self.block_bytes as u128 * u128::from(raw_bytes) / u128::from(bytes.max(1));
        let fitting = usize::try_from(fitting).unwrap_or(usize::MAX);
        fitting.max(self.block_bytes).min(self.raw_bytes_max)
    }

    /// Rows of a block, if `rows` take `bytes`. Whole vectors, unless a vector is longer than a block.
    pub(super) fn rows_like(&self, rows: u64, bytes: u64) -> usize {
        let fitting = self.block_bytes as u128 * u128::from(rows) / u128::from(bytes.max(1));
        let fitting =
            usize::try_from(fitting).map_or(self.rows_max, |rows| rows.min(self.rows_max));
        let whole_vectors = fitting / VECTOR_VALUES * VECTOR_VALUES;
        if whole_vectors == 0 || fitting == self.rows_max {
            fitting.max(1)
        } else {
            whole_vectors
        }
    }

    /// Whether a row group is not to be written again: rows are rounded down to whole vectors, so a block that was cut as planned may be half empty.
    pub(super) fn is_full(&self, row_group: &RowGroup) -> bool {
        row_group.row_count >= self.rows_max as u64 || self.is_typical(row_group)
    }

    /// Whether so many bytes of blocks fill one: more of them need not be written again.
    pub(super) fn are_enough(&self, bytes: u64) -> bool {
        bytes >= self.block_bytes as u64
    }

    /// Whether a row group has so many rows that it says how long others will be.
    pub(super) fn is_typical(&self, row_group: &RowGroup) -> bool {
        row_group.encoded_bytes() >= self.block_bytes as u64 / 2
    }

    /// Some of the first rows, of about the length of a block before they are encoded. `None` if all are not longer.
    pub(super) fn sample_of(&self, batches: &[RecordBatch]) -> Option<Vec<RecordBatch>> {
        let raw_bytes: usize = batches.iter().map(batch_bytes).sum();
        if raw_bytes <= self.block_bytes {
            return None;
        }
        let mut sample = Vec::new();
        let (mut bytes_left, mut rows_left) = (self.block_bytes, self.rows_max);
        for batch in batches {
            let fitting = rows_within(batch, bytes_left).min(rows_left);
            // However long it is.
            let rows = fitting.max(usize::from(sample.is_empty()));
            let piece = batch.slice(0, rows.min(batch.num_rows()));
            bytes_left = bytes_left.saturating_sub(batch_bytes(&piece));
            rows_left = rows_left.saturating_sub(piece.num_rows());
            let is_cut = piece.num_rows() < batch.num_rows();
            sample.push(piece);
            if is_cut || rows_left == 0 {
                break;
            }
        }
        Some(sample)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_whole_vectors_where_they_can() {
        let plan = |block_bytes| BlockPlan {
            block_bytes,
            rows_max: 131_072,
            first_rows: 1,
            first_raw_bytes: 1,
            raw_bytes_max: 128 << 20,
        };
        // 16 bytes a row, 65,536 bytes: 4,096 rows.
        assert_eq!(plan(65_536).rows_like(1_000, 16_000), 4_096);
        assert_eq!(plan(65_536).rows_like(1_000, 15_900), 4_096);
        assert_eq!(plan(65_536).rows_like(1_000, 16_100), 3_072);
        // Less than a vector of 100 bytes a row.
        assert_eq!(plan(65_536).rows_like(10, 1_000), 655);
        assert_eq!(plan(65_536).rows_like(1, 1 << 30), 1);
        assert_eq!(plan(1 << 20).rows_like(131_072, 20), 131_072);
        assert_eq!(plan(1 << 20).rows_like(131_072, 0), 131_072);
        assert_eq!(plan(65_536).raw_bytes_like(4_000, 1_000), 8 * 65_536);
        assert_eq!(plan(65_536).raw_bytes_like(1, 1_000), 65_536);
        assert_eq!(plan(65_536).raw_bytes_like(1 << 40, 1), 128 << 20);
        let odd = BlockPlan {
            rows_max: 1_500,
            ..plan(1 << 20)
        };
        assert_eq!(odd.rows_like(1_000, 1), 1_500, "as asked for");
    }
}
