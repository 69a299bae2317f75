//! Final aggregation of states sorted by the key.

use std::sync::Arc;

use datafusion::arrow::array::{RecordBatch, UInt32Array};
use datafusion::arrow::buffer::ScalarBuffer;
use datafusion::arrow::compute::{concat_batches, take};
use datafusion::common::{Result, internal_err};
use datafusion::logical_expr::EmitTo;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;

use super::runs::integer_keys;
use crate::optimize::group_accumulators::GroupAccumulators;

/// Combines adjacent states with equal keys. A group ends where the next key begins.
pub(super) struct OrderedGroups {
    aggregate: Arc<AggregateExec>,
    /// States whose groups have no results yet.
    waiting: Vec<RecordBatch>,
    waiting_rows: usize,
    batch_rows: usize,
}

impl OrderedGroups {
    pub(super) fn new(aggregate: Arc<AggregateExec>, batch_rows: usize) -> Self {
        Self {
            aggregate,
            waiting: Vec::new(),
            waiting_rows: 0,
            batch_rows,
        }
    }

    /// Adds the next states; returns the results of complete groups once there are enough for a batch.
    pub(super) fn add(&mut self, states: RecordBatch) -> Result<Option<RecordBatch>> {
        self.waiting_rows += states.num_rows();
        self.waiting.push(states);
        match self.waiting_rows > self.batch_rows {
            true => self.results_of_ended(),
            false => Ok(None),
        }
    }

    /// The results of the remaining groups.
    pub(super) fn finish(mut self) -> Result<Option<RecordBatch>> {
        let Some((states, keys)) = self.take_waiting()? else {
            return Ok(None);
        };
        self.results(&states, &keys).map(Some)
    }

    /// The results of all groups but the last one, which more states may belong to.
    fn results_of_ended(&mut self) -> Result<Option<RecordBatch>> {
        let Some((states, keys)) = self.take_waiting()? else {
            return Ok(None);
        };
        let last = keys.last().copied();
        let ended = keys.partition_point(|key| Some(*key) < last);
        self.waiting_rows = keys.len() - ended;
        self.waiting.push(states.slice(ended, self.waiting_rows));
        if ended == 0 {
            return Ok(None);
        }
        self.results(&states.slice(0, ended), &keys.slice(0, ended))
            .map(Some)
    }

    fn take_waiting(&mut self) -> Result<Option<(RecordBatch, ScalarBuffer<i64>)>> {
        let waiting = std::mem::take(&mut self.waiting);
        self.waiting_rows = 0;
        let Some(first) = waiting.first() else {
            return Ok(None);
        };
        let states = concat_batches(&first.schema(), &waiting)?;
        match integer_keys(states.column(0))? {
            Some(keys) => Ok(Some((states, keys))),
            None => internal_err!("a key in order is NULL"),
        }
    }

    fn results(&self, states: &RecordBatch, keys: &[i64]) -> Result<RecordBatch> {
        // The first state of each group, and the group of each state.
        let (mut first, mut groups) = (Vec::new(), Vec::with_capacity(keys.len()));
        for (row, key) in (0..).zip(keys) {
            if groups.is_empty() || *key != keys[row as usize - 1] {
                first.push(row);
            }
            groups.push(first.len() - 1);
        }
        let mut accumulators = GroupAccumulators::of_states(&self.aggregate)?;
        let arguments = accumulators.arguments(states)?;
        accumulators.add(&arguments, &groups, first.len())?;
        let key = take(states.column(0), &UInt32Array::from(first), None)?;
        let mut columns = vec![key];
        columns.extend(accumulators.take_results(EmitTo::All)?);
        Ok(RecordBatch::try_new(self.aggregate.schema(), columns)?)
    }
}
