//! Cuts a stream of batches into row groups.

use std::sync::OnceLock;

use arrow_array::RecordBatch;
use quire_format::row_group::{ROW_GROUP_ROWS, RowGroup};

use super::batch_bytes::{batch_bytes, rows_within};
use super::dictionaries::{DictionaryChain, DictionaryTurns};
use super::options::AppendOptions;
use super::precedent::{PrecedentChain, Precedents};
use super::relations::ColumnRelations;

/// Rows that become one row group.
pub(super) struct RowGroupRows {
    pub(super) batches: Vec<RecordBatch>,
    pub(super) row_count: usize,
    pub(super) raw_bytes: usize,
    /// How columns may follow others; found when the first column is encoded.
    pub(super) relations: OnceLock<ColumnRelations>,
    pub(super) precedents: Precedents,
    pub(super) dictionaries: DictionaryTurns,
    /// Whether it was closed because it was full: then more rows may follow.
    pub(super) is_full: bool,
}

/// Gathers rows until a row group is full: by rows, or by raw bytes.
pub(super) struct Cutter {
    pub(super) rows_max: usize,
    pub(super) bytes_max: usize,
    batches: Vec<RecordBatch>,
    row_count: usize,
    raw_bytes: usize,
    chain: PrecedentChain,
    dictionaries: DictionaryChain,
}

impl RowGroupRows {
    /// Rows that follow no other row group.
    pub(super) fn alone(batches: Vec<RecordBatch>) -> Self {
        let column_count = batches.first().map_or(0, RecordBatch::num_columns);
        RowGroupRows {
            row_count: batches.iter().map(RecordBatch::num_rows).sum(),
            raw_bytes: batches.iter().map(batch_bytes).sum(),
            batches,
            relations: OnceLock::new(),
            precedents: PrecedentChain::default().next(column_count),
            dictionaries: DictionaryChain::default().next(column_count),
            is_full: false,
        }
    }
}

impl Cutter {
    pub(super) fn new(options: &AppendOptions, dictionaries: DictionaryChain) -> Self {
        Cutter {
            rows_max: options.row_group_rows.clamp(1, ROW_GROUP_ROWS),
            bytes_max: options.row_group_bytes.max(1),
            batches: Vec::new(),
            row_count: 0,
            raw_bytes: 0,
            chain: PrecedentChain::default(),
            dictionaries,
        }
    }

    /// Whether no rows have been gathered since the last full row group. Only then may `rows_max` and `bytes_max` change.
    pub(super) fn is_empty(&self) -> bool {
        self.row_count == 0
    }

    /// Takes rows from the front of `batch` until a row group is full, and returns that.
    pub(super) fn fill(&mut self, batch: &mut RecordBatch) -> Option<RowGroupRows> {
        while batch.num_rows() > 0 {
            let room = batch.num_rows().min(self.rows_max - self.row_count);
            let mut piece = batch.slice(0, room);
            let mut bytes = batch_bytes(&piece);
            if self.raw_bytes + bytes > self.bytes_max {
                // A row group takes its first row, however large it is.
                let fitting = rows_within(&piece, self.bytes_max - self.raw_bytes);
                let rows = fitting.max(usize::from(self.row_count == 0));
                piece = piece.slice(0, rows);
                bytes = batch_bytes(&piece);
            }
            let rows = piece.num_rows();
            if rows > 0 {
                self.batches.push(piece);
                self.row_count += rows;
                self.raw_bytes += bytes;
            }
            let cut_short = rows < room;
            *batch = batch.slice(rows, batch.num_rows() - rows);
            if cut_short || self.row_count == self.rows_max || self.raw_bytes >= self.bytes_max {
                let full = self.finish();
                return full.map(|rows| RowGroupRows {
                    is_full: true,
                    ..rows
                });
            }
        }
        None
    }

    /// The rows gathered since the last full row group.
    pub(super) fn finish(&mut self) -> Option<RowGroupRows> {
        let batches = std::mem::take(&mut self.batches);
        let row_count = std::mem::take(&mut self.row_count);
        let raw_bytes = std::mem::take(&mut self.raw_bytes);
        let column_count = batches.first()?.num_columns();
        Some(RowGroupRows {
            batches,
            row_count,
            raw_bytes,
            relations: OnceLock::new(),
            precedents: self.chain.next(column_count),
            dictionaries: self.dictionaries.next(column_count),
            is_full: false,
        })
    }

    /// Whether writing a row group again would not make it larger to speak of.
    pub(super) fn is_full(&self, row_group: &RowGroup) -> bool {
        let raw_bytes = raw_bytes(row_group);
        row_group.row_count >= self.rows_max as u64 || raw_bytes >= self.bytes_max as u64 / 2
    }
}

/// What the values of a row group take as plain arrays.
pub(super) fn raw_bytes(row_group: &RowGroup) -> u64 {
    let columns = row_group.columns.iter().map(|column| column.raw_bytes);
    columns.fold(0, u64::saturating_add)
}
