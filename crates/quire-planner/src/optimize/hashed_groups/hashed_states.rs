//! The groups of one partition in memory: their keys in a hash table, their states in accumulators.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryPool, MemoryReservation};
use datafusion::logical_expr::EmitTo;
use datafusion::physical_expr_common::utils::evaluate_expressions_to_arrays;
use datafusion::physical_plan::aggregates::{PhysicalGroupBy, evaluate_group_by};
use quire_vector::GROUPS_MAX;

use super::key_table::KeyTable;
use crate::optimize::group_accumulators::GroupAccumulators;
use crate::optimize::null_keys::null_keys;
use crate::optimize::packed_keys::{PackedKeys, UnpackedKeys};

/// A table that takes no more is never refused: without it a statement with little memory would make no progress at all.
const BYTES_MIN: usize = 128 << 10;
/// More rows than a batch has.
const BATCH_ROWS_MAX: usize = 1 << 20;

pub(in crate::optimize) struct HashedStates {
    group_by: PhysicalGroupBy,
    accumulators: GroupAccumulators,
    table: KeyTable,
    /// Whether there have been rows.
    has_rows: bool,
    reservation: MemoryReservation,
    /// The groups of the rows of a batch, whose memory is used again for the next.
    groups: Vec<usize>,
}

/// What is taken out of the groups.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::optimize) enum Taken {
    States,
    Results,
}

/// The groups of a table, handed on in batches.
pub(in crate::optimize) struct TakenGroups {
    keys: UnpackedKeys,
    /// Of all groups.
    others: Vec<ArrayRef>,
    schema: SchemaRef,
    /// The groups that have not been handed on.
    left: Range<usize>,
    batch_rows: usize,
    /// What they had reserved as groups is held until the last batch has been taken.
    _reservation: MemoryReservation,
}

impl HashedStates {
    pub(in crate::optimize) fn new(
        group_by: PhysicalGroupBy,
        columns: PackedKeys,
        accumulators: GroupAccumulators,
        pool: &Arc<dyn MemoryPool>,
    ) -> Self {
        let consumer = MemoryConsumer::new("groups in a hash table").with_can_spill(true);
        Self {
            group_by,
            accumulators,
            has_rows: false,
            table: KeyTable::new(columns),
            reservation: consumer.register(pool),
            groups: Vec::new(),
        }
    }

    /// Whether a row can be handed on as a group of its own. States stay what they are.
    pub(super) fn passes_rows(&self) -> bool {
        !self.accumulators.takes_states() && self.group_by.is_single()
    }

    pub(super) fn group_count(&self) -> usize {
        self.table.key_count()
    }

    /// Puts the group of each row of a batch into `groups`. The rows are not added. There is one grouping set.
    pub(super) fn number(&mut self, batch: &RecordBatch, groups: &mut Vec<usize>) -> Result<()> {
        let mut sets = evaluate_group_by(&self.group_by, batch)?.into_iter();
        let keys = sets.next().unwrap_or_default();
        self.table.find(keys, batch.num_rows(), groups)
    }

    /// Adds the rows of a batch to the groups that [`Self::number`] has given them.
    pub(super) fn add_numbered(&mut self, batch: &RecordBatch, groups: &[usize]) -> Result<()> {
        self.has_rows |= batch.num_rows() > 0;
        let arguments = self.accumulators.arguments(batch)?;
        let count = self.table.key_count();
        self.accumulators.add(&arguments, groups, count)
    }

    /// Adds the rows of a batch to their groups, of each grouping set if there are several.
    pub(in crate::optimize) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        self.has_rows |= batch.num_rows() > 0;
        let arguments = self.accumulators.arguments(batch)?;
        for keys in evaluate_group_by(&self.group_by, batch)? {
            self.table.find(keys, batch.num_rows(), &mut self.groups)?;
            let count = self.table.key_count();
            self.accumulators.add(&arguments, &self.groups, count)?;
        }
        Ok(())
    }

    /// Adds the groups that exist without rows: those of empty grouping sets, as in `GROUP BY ROLLUP (a)`. `schema` is that of the input.
    pub(super) fn add_groups_without_rows(&mut self, schema: &SchemaRef) -> Result<()> {
        if self.has_rows || self.group_by.is_single() {
            return Ok(());
        }
        let arguments = self.accumulators.arguments_of_no_row(schema)?;
        let sets = self.group_by.groups().to_vec();
        for (set, keys) in sets.iter().zip(null_keys(&self.group_by)?) {
            if set.iter().all(|is_null| *is_null) {
                self.table.find(keys, 1, &mut self.groups)?;
                let count = self.table.key_count();
                self.accumulators.add(&arguments, &self.groups, count)?;
            }
        }
        Ok(())
    }

    /// Reserves what the groups take by now.
    pub(in crate::optimize) fn reserve(&mut self) -> Result<()> {
        self.reserve_beside(0, 0)
    }

    /// The same with another table, of `key_count` keys that take `bytes`.
    pub(super) fn reserve_beside(&mut self, key_count: usize, bytes: usize) -> Result<()> {
        let count = self.group_count().max(key_count);
        if count > GROUPS_MAX - BATCH_ROWS_MAX {
            let message = format!("a hash table holds no more than these {count} groups");
            return Err(DataFusionError::ResourcesExhausted(message));
        }
        let bytes = self.allocated_bytes() + bytes;
        match self.reservation.try_resize(bytes) {
            Err(_) if bytes <= BYTES_MIN => Ok(()),
            done => done,
        }
    }

    fn allocated_bytes(&self) -> usize {
        self.table.allocated_bytes() + self.accumulators.allocated_bytes()
    }

    /// All groups; afterwards there are none. `None` if there were none.
    pub(in crate::optimize) fn take(
        &mut self,
        taken: Taken,
        schema: &SchemaRef,
        batch_rows: usize,
    ) -> Result<Option<TakenGroups>> {
        if self.group_count() == 0 {
            return Ok(None);
        }
        let all = 0..self.group_count();
        Ok(Some(TakenGroups {
            keys: self.table.take(),
            others: self.take_others(taken, EmitTo::All)?,
            schema: Arc::clone(schema),
            left: all,
            batch_rows: batch_rows.max(1),
            _reservation: self.reservation.take(),
        }))
    }

    /// All groups but the last one, which is the only one that later rows can belong to: the input is in the order of the keys. `None` if there are none.
    pub(super) fn take_ended(
        &mut self,
        taken: Taken,
        schema: &SchemaRef,
        batch_rows: usize,
    ) -> Result<Option<TakenGroups>> {
        let ended = self.group_count().saturating_sub(1);
        if ended == 0 {
            return Ok(None);
        }
        let keys = self.table.take();
        let open = keys.columns(ended..ended + 1)?;
        self.table.find(open, 1, &mut self.groups)?;
        let others = self.take_others(taken, EmitTo::First(ended))?;
        // What is left is reserved for the open group.
        let (open, reserved) = (self.allocated_bytes(), self.reservation.size());
        Ok(Some(TakenGroups {
            keys,
            others,
            schema: Arc::clone(schema),
            left: 0..ended,
            batch_rows: batch_rows.max(1),
            _reservation: self.reservation.split(reserved.saturating_sub(open)),
        }))
    }

    /// The keys of all groups, without what was computed for them, and what was reserved.
    pub(super) fn into_keys(mut self) -> (UnpackedKeys, MemoryReservation) {
        (self.table.take(), self.reservation.take())
    }

    fn take_others(&mut self, taken: Taken, groups: EmitTo) -> Result<Vec<ArrayRef>> {
        match taken {
            Taken::States => self.accumulators.take_states(groups),
            Taken::Results => self.accumulators.take_results(groups),
        }
    }

    /// The rows of a batch as the states of groups of one row.
    pub(super) fn states_of_rows(
        &self,
        batch: &RecordBatch,
        schema: &SchemaRef,
    ) -> Result<RecordBatch> {
        let mut columns = evaluate_expressions_to_arrays(&self.group_by.input_exprs(), batch)?;
        columns.extend(self.accumulators.states_of_rows(batch)?);
        Ok(RecordBatch::try_new(Arc::clone(schema), columns)?)
    }
}

impl Iterator for TakenGroups {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let rows = self.batch_rows.min(self.left.len());
        let groups = self.left.start..self.left.start + rows;
        self.left.start = groups.end;
        (rows > 0).then(|| {
            let mut columns = self.keys.columns(groups.clone())?;
            let others = self.others.iter();
            columns.extend(others.map(|values| values.slice(groups.start, groups.len())));
            Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns)?)
        })
    }
}
