//! Aggregation by keys of few values: into the slots of a row group, and from these into groups.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::common::Result;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use quire_tables::{ScanError, SelectedGroup};
use quire_vector::RowSlots;

use super::aggregates::{GroupTotal, TotalKind, VectorAggregates, VectorTotal};
use super::key_value::KeyValue;
use super::keys::{GroupKey, RowGroupKeys};
use super::program::VectorRegisters;
use super::slot_table::SlotTable;
use super::states::StateShape;

/// Row groups are taken in while there are fewer groups.
const GROUPS_MAX: usize = 1 << 16;

/// The groups of a partition, and the slots of a row group.
pub(super) struct CodedFold {
    keys: Vec<GroupKey>,
    /// The row group that is read, and its slots, which may be those of earlier ones, too; nothing for one that is not taken.
    open: Option<(usize, Option<OpenSlots>)>,
    slots: RowSlots,
    groups: FoldedGroups,
    /// The memory of the groups and of the slots.
    reservation: MemoryReservation,
}

struct OpenSlots {
    keys: RowGroupKeys,
    table: SlotTable,
}

/// The groups so far.
#[derive(Default)]
struct FoldedGroups {
    places: HashMap<Vec<KeyValue>, usize>,
    /// Each key of all groups.
    keys: Vec<Vec<KeyValue>>,
    /// Each total of all groups.
    totals: Vec<Vec<GroupTotal>>,
}

impl CodedFold {
    pub(super) fn new(
        keys: Vec<GroupKey>,
        aggregates: &VectorAggregates,
        pool: &Arc<dyn MemoryPool>,
    ) -> Self {
        let groups = FoldedGroups {
            places: HashMap::new(),
            keys: vec![Vec::new(); keys.len()],
            totals: vec![Vec::new(); aggregates.totals.len()],
        };
        Self {
            keys,
            open: None,
            slots: RowSlots::default(),
            groups,
            reservation: MemoryConsumer::new("groups of vectors").register(pool),
        }
    }

    /// Takes in the selected rows of a vector group; says whether it could.
    pub(super) fn take(
        &mut self,
        group: &mut SelectedGroup<'_>,
        aggregates: &VectorAggregates,
        registers: &mut VectorRegisters,
    ) -> std::result::Result<bool, ScanError> {
        let row_group = group.row_group();
        if self
            .open
            .as_ref()
            .is_none_or(|(open, _)| *open != row_group)
        {
            self.go_on_to(group, aggregates)?;
        }
        let Some((_, Some(open))) = &mut self.open else {
            return Ok(false);
        };
        if open.table.row_count() + group.row_count() > aggregates.summed_rows() {
            open.flush(&aggregates.totals, &mut self.groups);
        }
        open.table.expect_rows(group.row_count());
        for chunk in group.chunks() {
            open.keys.fill(group, &chunk, &mut self.slots)?;
            aggregates.program.run(registers, group, &chunk)?;
            let (totals, slots) = (&aggregates.totals, &self.slots);
            open.table.add(totals, registers, slots, group, &chunk)?;
        }
        Ok(true)
    }

    /// Goes on to another row group, with the slots of the last one if codes mean the same in both.
    fn go_on_to(
        &mut self,
        group: &mut SelectedGroup<'_>,
        aggregates: &VectorAggregates,
    ) -> std::result::Result<(), ScanError> {
        let keys = RowGroupKeys::of(&self.keys, group)?;
        if let (Some((row_group, Some(open))), Some(keys)) = (&mut self.open, &keys)
            && open.keys.mean_the_same(keys)
        {
            *row_group = group.row_group();
            return Ok(());
        }
        self.close(&aggregates.totals);
        let opened = self.open_slots(keys, aggregates);
        self.open = Some((group.row_group(), opened));
        Ok(())
    }

    fn open_slots(
        &self,
        keys: Option<RowGroupKeys>,
        aggregates: &VectorAggregates,
    ) -> Option<OpenSlots> {
        let keys = keys.filter(|_| self.groups.places.len() < GROUPS_MAX)?;
        self.reserve(keys.slot_count, &aggregates.totals)
            .then(|| OpenSlots {
                table: SlotTable::new(&aggregates.totals, keys.slot_count),
                keys,
            })
    }

    /// Reserves what the groups take if each of the slots becomes one more; says whether so much is there.
    fn reserve(&self, slot_count: usize, totals: &[VectorTotal]) -> bool {
        // Each group has its keys once more, in the map.
        let group_bytes = StateShape::group_bytes(2 * self.keys.len(), totals.len());
        let groups = (self.groups.places.len() + slot_count) * group_bytes;
        let slots = slot_count * SlotTable::slot_bytes(totals);
        self.reservation.try_resize(groups + slots).is_ok()
    }

    /// Puts the slots of the last row group to the groups.
    fn close(&mut self, totals: &[VectorTotal]) {
        if let Some((_, Some(mut open))) = self.open.take() {
            open.flush(totals, &mut self.groups);
        }
    }

    /// The partial states of all groups.
    pub(super) fn finish(
        mut self,
        aggregates: &VectorAggregates,
        shape: &StateShape,
    ) -> Result<Vec<RecordBatch>> {
        self.close(&aggregates.totals);
        let FoldedGroups {
            places,
            keys,
            totals,
        } = self.groups;
        shape.batches(aggregates, &keys, &totals, places.len())
    }
}

impl OpenSlots {
    /// Moves what the slots have to the groups.
    fn flush(&mut self, totals: &[VectorTotal], groups: &mut FoldedGroups) {
        let keys = &self.keys;
        self.table.drain(totals, |slot, found| {
            groups.merge(keys.values(slot), totals, found);
        });
    }
}

impl FoldedGroups {
    fn merge(&mut self, key: Vec<KeyValue>, totals: &[VectorTotal], found: &[GroupTotal]) {
        let next = self.places.len();
        if let Some(&place) = self.places.get(&key) {
            for ((total, known), found) in totals.iter().zip(&mut self.totals).zip(found) {
                known[place].merge(total.kind, *found);
            }
            return;
        }
        for (values, value) in self.keys.iter_mut().zip(&key) {
            values.push(value.clone());
        }
        for (known, found) in self.totals.iter_mut().zip(found) {
            known.push(*found);
        }
        self.places.insert(key, next);
    }
}

impl GroupTotal {
    /// Takes in another total of the same group.
    fn merge(&mut self, kind: TotalKind, other: GroupTotal) {
        if other.count == 0 {
            return;
        }
        self.value = match kind {
            _ if self.count == 0 => other.value,
            // 2^63 values of 64 bits fit.
            TotalKind::Count | TotalKind::Sum => self.value.wrapping_add(other.value),
            TotalKind::Minimum => self.value.min(other.value),
            TotalKind::Maximum => self.value.max(other.value),
        };
        self.count += other.count;
    }
}
