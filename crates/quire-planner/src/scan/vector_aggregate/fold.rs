//! Aggregation of one partition: into the slots of a row group, and from these into groups.

use std::collections::HashMap;

use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::common::{Result, exec_datafusion_err};
use quire_tables::{RowChunk, ScanError, SelectedGroup};
use quire_vector::RowSlots;

use super::aggregates::{GroupTotal, TotalKind, VectorAggregates, VectorTotal, integer_array};
use super::keys::{GroupKey, KeyValue, RowGroupKeys, text_array};
use super::program::VectorRegisters;

/// Row groups are taken in while there are fewer groups.
const GROUPS_MAX: usize = 1 << 16;

/// What is computed.
#[derive(Clone, Debug)]
pub(super) struct VectorAggregation {
    pub(super) keys: Vec<GroupKey>,
    pub(super) aggregates: VectorAggregates,
}

/// The groups of a partition.
#[derive(Default)]
pub(super) struct FoldedGroups {
    places: HashMap<Vec<KeyValue>, usize>,
    keys: Vec<Vec<KeyValue>>,
    totals: Vec<Vec<GroupTotal>>,
}

/// Aggregates vector groups.
pub(super) struct VectorFold {
    aggregation: VectorAggregation,
    registers: VectorRegisters,
    slots: RowSlots,
    /// The row group that the slots are of; nothing for one that is not taken.
    open: Option<(usize, Option<OpenSlots>)>,
    groups: FoldedGroups,
}

/// The slots of a row group.
struct OpenSlots {
    keys: RowGroupKeys,
    /// Rows since the sums were last taken out.
    row_count: usize,
    rows: Vec<i64>,
    totals: Vec<SlotTotals>,
}

/// A total in each slot.
struct SlotTotals {
    /// The columns of it that have NULLs here. Without one all rows of a slot count.
    nullable: Vec<usize>,
    counts: Vec<i64>,
    values: Vec<i64>,
}

impl VectorFold {
    pub(super) fn new(aggregation: VectorAggregation) -> Self {
        Self {
            registers: aggregation.aggregates.program.registers(),
            aggregation,
            slots: RowSlots::default(),
            open: None,
            groups: FoldedGroups::default(),
        }
    }

    /// Takes in the selected rows of a vector group; says whether it could.
    pub(super) fn take(
        &mut self,
        group: &mut SelectedGroup<'_>,
    ) -> std::result::Result<bool, ScanError> {
        if self
            .open
            .as_ref()
            .is_none_or(|(index, _)| *index != group.row_group())
        {
            self.close();
            let opened = self.open_slots(group)?;
            self.open = Some((group.row_group(), opened));
        }
        let Some((_, Some(open))) = &mut self.open else {
            return Ok(false);
        };
        let aggregates = &self.aggregation.aggregates;
        open.row_count += group.row_count();
        if open.row_count > aggregates.summed_rows() {
            open.flush(&aggregates.totals, &mut self.groups);
            open.row_count = group.row_count();
        }
        for chunk in group.chunks() {
            open.keys.fill(group, &chunk, &mut self.slots)?;
            aggregates.program.run(&mut self.registers, group, &chunk)?;
            let values = &self.registers;
            open.add(&aggregates.totals, values, &self.slots, group, &chunk)?;
        }
        Ok(true)
    }

    fn open_slots(
        &self,
        group: &mut SelectedGroup<'_>,
    ) -> std::result::Result<Option<OpenSlots>, ScanError> {
        if self.groups.keys.len() >= GROUPS_MAX {
            return Ok(None);
        }
        let Some(keys) = RowGroupKeys::of(&self.aggregation.keys, group)? else {
            return Ok(None);
        };
        let mut totals = Vec::new();
        for total in &self.aggregation.aggregates.totals {
            let mut nullable = Vec::new();
            for column in &total.columns {
                if group.has_nulls(*column)? {
                    nullable.push(*column);
                }
            }
            totals.push(SlotTotals {
                nullable,
                counts: vec![0; keys.slot_count],
                values: vec![start(total.kind); keys.slot_count],
            });
        }
        Ok(Some(OpenSlots {
            row_count: 0,
            rows: vec![0; keys.slot_count],
            totals,
            keys,
        }))
    }

    /// Puts the slots of the last row group to the groups.
    fn close(&mut self) {
        if let Some((_, Some(mut open))) = self.open.take() {
            open.flush(&self.aggregation.aggregates.totals, &mut self.groups);
        }
    }

    /// The groups as partial states, a batch at a time.
    pub(super) fn finish(
        mut self,
        schema: &SchemaRef,
        batch_rows: usize,
    ) -> Result<Vec<RecordBatch>> {
        self.close();
        let places: Vec<usize> = (0..self.groups.keys.len()).collect();
        let chunks = places.chunks(batch_rows.max(1));
        chunks.map(|places| self.batch(schema, places)).collect()
    }

    fn batch(&self, schema: &SchemaRef, places: &[usize]) -> Result<RecordBatch> {
        let types: Vec<&DataType> = schema
            .fields()
            .iter()
            .map(|field| field.data_type())
            .collect();
        let keys = self.aggregation.keys.len();
        let mut arrays = Vec::with_capacity(types.len());
        for (key, data_type) in types.iter().enumerate().take(keys) {
            let values = places.iter().map(|place| &self.groups.keys[*place][key]);
            let array = key_array(data_type, values);
            arrays.push(array.ok_or_else(|| exec_datafusion_err!("no such group key"))?);
        }
        let groups: Vec<_> = places
            .iter()
            .map(|place| self.groups.totals[*place].clone())
            .collect();
        let states = types.get(keys..).unwrap_or_default();
        arrays.extend(self.aggregation.aggregates.states(&groups, states)?);
        Ok(RecordBatch::try_new(SchemaRef::clone(schema), arrays)?)
    }
}

impl OpenSlots {
    fn add(
        &mut self,
        totals: &[VectorTotal],
        values: &VectorRegisters,
        slots: &RowSlots,
        group: &mut SelectedGroup<'_>,
        chunk: &RowChunk,
    ) -> std::result::Result<(), ScanError> {
        slots.count(&mut self.rows);
        for (total, sums) in totals.iter().zip(&mut self.totals) {
            let mut present_slots = None;
            if !sums.nullable.is_empty() {
                let mut fewer = slots.clone();
                for column in &sums.nullable {
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

    /// Moves what the slots have to the groups.
    fn flush(&mut self, totals: &[VectorTotal], groups: &mut FoldedGroups) {
        for slot in 0..self.keys.slot_count {
            let rows = std::mem::take(&mut self.rows[slot]);
            if rows == 0 {
                continue;
            }
            let found = groups.totals_of(self.keys.values(slot), totals);
            for ((total, sums), group) in totals.iter().zip(&mut self.totals).zip(found) {
                let count = if sums.nullable.is_empty() {
                    rows
                } else {
                    std::mem::take(&mut sums.counts[slot])
                };
                let value = std::mem::replace(&mut sums.values[slot], start(total.kind));
                if count > 0 {
                    group.merge(total.kind, count, i128::from(value));
                }
            }
        }
    }
}

impl FoldedGroups {
    fn totals_of(&mut self, key: Vec<KeyValue>, totals: &[VectorTotal]) -> &mut [GroupTotal] {
        let next = self.keys.len();
        let place = *self.places.entry(key.clone()).or_insert(next);
        if place == next {
            self.keys.push(key);
            let empty = GroupTotal { count: 0, value: 0 };
            self.totals.push(vec![empty; totals.len()]);
        }
        &mut self.totals[place]
    }
}

impl GroupTotal {
    /// Takes in a total of at least one value.
    fn merge(&mut self, kind: TotalKind, count: i64, value: i128) {
        self.value = match kind {
            _ if self.count == 0 => value,
            // 2^63 values of 64 bits fit.
            TotalKind::Count | TotalKind::Sum => self.value.wrapping_add(value),
            TotalKind::Minimum => self.value.min(value),
            TotalKind::Maximum => self.value.max(value),
        };
        self.count += count;
    }
}

fn start(kind: TotalKind) -> i64 {
    match kind {
        TotalKind::Count | TotalKind::Sum => 0,
        TotalKind::Minimum => i64::MAX,
        TotalKind::Maximum => i64::MIN,
    }
}

fn key_array<'a>(
    data_type: &DataType,
    values: impl Iterator<Item = &'a KeyValue>,
) -> Option<ArrayRef> {
    if *data_type == DataType::Utf8View {
        return Some(text_array(values));
    }
    let integer = |value: &KeyValue| match value {
        KeyValue::Integer(integer) => Some(i128::from(*integer)),
        KeyValue::Text(_) | KeyValue::Null => None,
    };
    integer_array(data_type, &values.map(integer).collect::<Vec<_>>())
}
