//! Aggregation by one integer key of many values: into slots for a window of the key's values.
//!
//! Where rows that lie close together have keys that lie close together, as in a table that is sorted by the key, the keys of a vector group
//! fit into a window. The totals of a window are partial states as soon as a key lies outside of it; a group that two windows have rows of
//! comes out twice. So a row costs an addition, and no search in a hash table. If all keys of the table fit, the window never moves.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::common::Result;
use datafusion::execution::memory_pool::{MemoryPool, MemoryReservation};
use quire_tables::{RowChunk, ScanError, SelectedGroup};
use quire_vector::RowSlots;

use super::super::memory_share::reserve_share;
use super::aggregates::{GroupTotal, VectorAggregates};
use super::key_value::KeyValue;
use super::keys::{WindowKey, set_null_codes};
use super::program::VectorRegisters;
use super::slot_table::SlotTable;
use super::states::StateShape;

/// Slots of a window: those of a sum and a count have 1 MiB.
const WINDOW_SLOTS: usize = 1 << 16;
/// The window of a partition takes no more than one part of so many of the memory.
const POOL_SHARES: usize = 8;

/// The totals of a window.
pub(super) struct WindowFold {
    key: WindowKey,
    /// The key of the first slot but one. The first is that of NULL.
    first: i64,
    table: SlotTable,
    /// The keys of a vector group, chunk by chunk.
    keys: Vec<[i64; 1024]>,
    slots: RowSlots,
    /// States that are to be handed on.
    states: WindowStates,
    /// The memory of the slots and of the states of one window.
    _reservation: MemoryReservation,
}

/// Groups of windows that have moved on.
struct WindowStates {
    keys: Vec<KeyValue>,
    /// Each total of all groups.
    totals: Vec<Vec<GroupTotal>>,
}

impl WindowFold {
    /// `None` if there is no memory for a window.
    pub(super) fn new(
        key: WindowKey,
        aggregates: &VectorAggregates,
        pool: &Arc<dyn MemoryPool>,
    ) -> Option<Self> {
        let totals = &aggregates.totals;
        let slot_bytes = SlotTable::slot_bytes(totals) + StateShape::group_bytes(1, totals.len());
        let bytes = slot_bytes.saturating_mul(WINDOW_SLOTS);
        Some(Self {
            _reservation: reserve_share(pool, "totals of a window", bytes, POOL_SHARES)?,
            first: key.first,
            table: SlotTable::new(totals, WINDOW_SLOTS),
            keys: Vec::new(),
            slots: RowSlots::default(),
            states: WindowStates {
                keys: Vec::new(),
                totals: vec![Vec::new(); totals.len()],
            },
            key,
        })
    }

    /// Takes in the selected rows of a vector group; says whether it could.
    pub(super) fn take(
        &mut self,
        group: &mut SelectedGroup<'_>,
        aggregates: &VectorAggregates,
        registers: &mut VectorRegisters,
    ) -> std::result::Result<bool, ScanError> {
        let chunks = group.chunks();
        let (low, high) = self.read_keys(group, &chunks)?;
        if low <= high && !self.holds(low, high) {
            if high.abs_diff(low) >= WINDOW_SLOTS as u64 - 1 {
                return Ok(false);
            }
            self.flush(aggregates);
            self.first = low;
        }
        if self.table.row_count() + group.row_count() > aggregates.summed_rows() {
            self.flush(aggregates);
        }
        self.table.expect_rows(group.row_count());
        for (number, chunk) in chunks.iter().enumerate() {
            self.fill_slots(number, group, chunk)?;
            aggregates.program.run(registers, group, chunk)?;
            let (totals, slots) = (&aggregates.totals, &self.slots);
            self.table.add(totals, registers, slots, group, chunk)?;
        }
        Ok(true)
    }

    /// Reads the keys of all chunks; returns the smallest and the largest, in the other order if all are NULL.
    fn read_keys(
        &mut self,
        group: &mut SelectedGroup<'_>,
        chunks: &[RowChunk],
    ) -> std::result::Result<(i64, i64), ScanError> {
        self.keys
            .resize(chunks.len().max(self.keys.len()), [0; 1024]);
        let (mut low, mut high) = ([i64::MAX], [i64::MIN]);
        for (keys, chunk) in self.keys.iter_mut().zip(chunks) {
            group.integers(self.key.column, chunk, keys)?;
            self.slots.clear();
            self.slots.retain(&chunk.mask());
            if self.key.has_nulls {
                self.slots.retain(&group.present(self.key.column, chunk)?);
            }
            self.slots.lower(keys, &mut low);
            self.slots.raise(keys, &mut high);
        }
        Ok((low[0], high[0]))
    }

    /// Whether keys from `low` to `high` have slots.
    fn holds(&self, low: i64, high: i64) -> bool {
        low >= self.first && high.abs_diff(self.first) < WINDOW_SLOTS as u64 - 1
    }

    /// Puts the rows of a chunk into their slots.
    fn fill_slots(
        &mut self,
        number: usize,
        group: &mut SelectedGroup<'_>,
        chunk: &RowChunk,
    ) -> std::result::Result<(), ScanError> {
        let keys = &mut self.keys[number];
        let before_first = self.first.wrapping_sub(1);
        for key in keys.iter_mut() {
            *key = key.wrapping_sub(before_first);
        }
        if self.key.has_nulls {
            let present = group.present(self.key.column, chunk)?;
            set_null_codes(keys, &present, 0);
        }
        self.slots.clear();
        self.slots.divide(keys, WINDOW_SLOTS);
        self.slots.retain(&chunk.mask());
        Ok(())
    }

    /// Makes states of the window's totals.
    fn flush(&mut self, aggregates: &VectorAggregates) {
        let (first, states) = (self.first, &mut self.states);
        self.table.drain(&aggregates.totals, |slot, totals| {
            states.keys.push(match slot.checked_sub(1) {
                Some(distance) => KeyValue::Integer(first.wrapping_add(distance as i64)),
                None => KeyValue::Null,
            });
            for (known, total) in states.totals.iter_mut().zip(totals) {
                known.push(*total);
            }
        });
    }

    /// The states that are to be handed on.
    pub(super) fn take_states(
        &mut self,
        aggregates: &VectorAggregates,
        shape: &StateShape,
    ) -> Result<Vec<RecordBatch>> {
        let count = self.states.keys.len();
        let keys = std::mem::take(&mut self.states.keys);
        let batches = shape.batches(aggregates, &[keys], &self.states.totals, count);
        self.states.totals.iter_mut().for_each(Vec::clear);
        batches
    }

    /// The states of all that was taken in.
    pub(super) fn finish(
        mut self,
        aggregates: &VectorAggregates,
        shape: &StateShape,
    ) -> Result<Vec<RecordBatch>> {
        self.flush(aggregates);
        self.take_states(aggregates, shape)
    }
}

#[cfg(test)]
mod tests {
    use datafusion::execution::memory_pool::GreedyMemoryPool;

    use super::*;

    #[test]
    fn a_window_needs_a_share_of_the_memory() {
        let key = WindowKey {
            column: 0,
            has_nulls: false,
            first: 1,
        };
        let aggregates = VectorAggregates::default();
        // Without totals: the rows of a slot, and a key.
        let bytes = WINDOW_SLOTS * (8 + StateShape::group_bytes(1, 0));
        let open = |bytes| {
            let pool: Arc<dyn MemoryPool> = Arc::new(GreedyMemoryPool::new(bytes));
            let fold = WindowFold::new(key.clone(), &aggregates, &pool);
            fold.map(|_fold| pool.reserved())
        };
        assert_eq!(open(POOL_SHARES * bytes), Some(bytes));
        assert_eq!(open(POOL_SHARES * (bytes - 1)), None);
    }
}
