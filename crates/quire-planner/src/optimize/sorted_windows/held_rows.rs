//! Rows that have not been given out, because some result of theirs is not known.
//!
//! Batches that are kept while others are read get memory of their own, which is reserved: the arrays of a sort refer to the rows of
//! several batches.

use std::collections::VecDeque;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::concat_batches;
use datafusion::common::{Result, internal_err};
use datafusion::execution::memory_pool::MemoryReservation;

use crate::optimize::bounded::own_rows;

pub(super) struct HeldRows {
    /// Copies, the oldest first.
    held: VecDeque<RecordBatch>,
    held_bytes: usize,
    /// What has just been read.
    new: Option<RecordBatch>,
    reservation: MemoryReservation,
}

impl HeldRows {
    pub(super) fn new(reservation: MemoryReservation) -> Self {
        Self {
            held: VecDeque::new(),
            held_bytes: 0,
            new: None,
            reservation,
        }
    }

    /// Takes in a batch that has just been read. What was read before has been kept.
    pub(super) fn push(&mut self, batch: RecordBatch) {
        self.new = Some(batch);
    }

    /// Keeps what has not been given out. `other_bytes` are to be kept for it besides.
    pub(super) fn keep(&mut self, other_bytes: usize) -> Result<()> {
        if let Some(batch) = self.new.take() {
            let copied = own_rows(&batch, 0..batch.num_rows())?;
            self.held_bytes += copied.get_array_memory_size();
            self.held.push_back(copied);
        }
        let bytes = if self.held.is_empty() {
            0
        } else {
            self.held_bytes + other_bytes
        };
        if bytes != self.reservation.size() {
            self.reservation.try_resize(bytes)?;
        }
        Ok(())
    }

    /// The last `row_count` rows, which have been kept, and `rows` behind them, as one batch. Its memory is reserved until rows are kept again.
    pub(super) fn with_last(&mut self, row_count: usize, rows: RecordBatch) -> Result<RecordBatch> {
        if row_count == 0 {
            return Ok(rows);
        }
        let (mut missing, schema) = (row_count, rows.schema());
        let mut parts = vec![rows];
        for batch in self.held.iter().rev() {
            let taken = missing.min(batch.num_rows());
            parts.push(batch.slice(batch.num_rows() - taken, taken));
            missing -= taken;
            if missing == 0 {
                break;
            }
        }
        if missing > 0 {
            return internal_err!("a window has lost {missing} rows of a partition");
        }
        parts.reverse();
        // As many bytes at most as the batches have that are held.
        self.reservation.try_grow(self.held_bytes)?;
        Ok(concat_batches(&schema, &parts)?)
    }

    /// The next rows: at most `known_rows`, of one batch.
    pub(super) fn take(&mut self, known_rows: usize) -> Option<RecordBatch> {
        if known_rows == 0 {
            return None;
        }
        let Some(first) = self.held.pop_front() else {
            let new = self.new.take()?;
            let (given, rest) = split(new, known_rows);
            self.new = rest;
            return Some(given);
        };
        let bytes = first.get_array_memory_size();
        let (given, rest) = split(first, known_rows);
        match rest {
            Some(rest) => self.held.push_front(rest),
            None => self.held_bytes = self.held_bytes.saturating_sub(bytes),
        }
        Some(given)
    }
}

/// At most so many rows of a batch, and the rest of it.
fn split(batch: RecordBatch, row_count: usize) -> (RecordBatch, Option<RecordBatch>) {
    let left = batch.num_rows().saturating_sub(row_count);
    if left == 0 {
        return (batch, None);
    }
    (
        batch.slice(0, row_count),
        Some(batch.slice(row_count, left)),
    )
}
