//! Totals in slots: what the rows of a slot come to, added up a chunk at a time.

use quire_tables::{RowChunk, ScanError, SelectedGroup};
use quire_vector::RowSlots;

use super::aggregates::{GroupTotal, TotalKind, VectorTotal};
use super::program::VectorRegisters;

/// The totals of each slot.
pub(super) struct SlotTable {
    /// Rows since the totals were last taken out.
    row_count: usize,
    /// Of each slot.
    rows: Vec<i64>,
    totals: Vec<SlotTotals>,
}

/// One total in each slot.
struct SlotTotals {
    /// The values that are not NULL; empty if all rows count.
    counts: Vec<i64>,
    values: Vec<i64>,
}

impl SlotTable {
    pub(super) fn new(totals: &[VectorTotal], slot_count: usize) -> Self {
        let slots_of = |total: &VectorTotal| SlotTotals {
            counts: if total.nullable.is_empty() {
                Vec::new()
            } else {
                vec![0; slot_count]
            },
            values: vec![start(total.kind); slot_count],
        };
        Self {
            row_count: 0,
            rows: vec![0; slot_count],
            totals: totals.iter().map(slots_of).collect(),
        }
    }

    /// The bytes of a slot.
    pub(super) fn slot_bytes(totals: &[VectorTotal]) -> usize {
        let integers = |total: &VectorTotal| 1 + usize::from(!total.nullable.is_empty());
        let integers = 1 + totals.iter().map(integers).sum::<usize>();
        integers * size_of::<i64>()
    }

    /// Rows that were added since the totals were last taken out.
    pub(super) fn row_count(&self) -> usize {
        self.row_count
    }

    /// Counts rows that are to be added.
    pub(super) fn expect_rows(&mut self, count: usize) {
        self.row_count += count;
    }

    /// Adds the rows of a chunk, whose values and slots are given.
    pub(super) fn add(
        &mut self,
        totals: &[VectorTotal],
        values: &VectorRegisters,
        slots: &RowSlots,
        group: &mut SelectedGroup<'_>,
        chunk: &RowChunk,
    ) -> Result<(), ScanError> {
        slots.count(&mut self.rows);
        for (total, sums) in totals.iter().zip(&mut self.totals) {
            let mut present_slots = None;
            if !total.nullable.is_empty() {
                let mut fewer = slots.clone();
                for column in &total.nullable {
                    fewer.retain(&group.present(*column, chunk)?);
                }
                fewer.count(&mut sums.counts);
                present_slots = Some(fewer);
            }
            let slots = present_slots.as_ref().unwrap_or(slots);
            if let Some(register) = total.register {
                let values = values.values(register);
                match total.kind {
                    TotalKind::Count => {}
                    TotalKind::Sum => slots.sum(values, &mut sums.values),
                    TotalKind::Minimum => slots.lower(values, &mut sums.values),
                    TotalKind::Maximum => slots.raise(values, &mut sums.values),
                }
            }
        }
        Ok(())
    }

    /// Takes out the totals of the slots that have rows: `take` receives each of these slots and its totals.
    pub(super) fn drain(
        &mut self,
        totals: &[VectorTotal],
        mut take: impl FnMut(usize, &[GroupTotal]),
    ) {
        self.row_count = 0;
        let mut found = Vec::with_capacity(totals.len());
        for (slot, rows) in self.rows.iter_mut().enumerate() {
            let rows = std::mem::take(rows);
            if rows == 0 {
                continue;
            }
            found.clear();
            for (total, sums) in totals.iter().zip(&mut self.totals) {
                let count = match sums.counts.get_mut(slot) {
                    Some(count) => std::mem::take(count),
                    None => rows,
                };
                let value = std::mem::replace(&mut sums.values[slot], start(total.kind));
                let value = i128::from(value);
                found.push(GroupTotal { count, value });
            }
            take(slot, &found);
        }
    }
}

fn start(kind: TotalKind) -> i64 {
    match kind {
        TotalKind::Count | TotalKind::Sum => 0,
        TotalKind::Minimum => i64::MAX,
        TotalKind::Maximum => i64::MIN,
    }
}
