//! One sum per group, for hash aggregation.

use datafusion::arrow::array::{ArrayRef, BooleanArray};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::common::Result;
use datafusion::logical_expr::{EmitTo, GroupsAccumulator};

use super::{Inputs, SumTotal};
use crate::group_states::{passes, states_of_rows};

#[derive(Debug)]
pub(super) struct GroupedSums {
    total: SumTotal,
    sums: Vec<i128>,
    /// Whether the group has seen a value; without one its sum is NULL.
    seen: Vec<bool>,
}

impl GroupedSums {
    pub(super) fn new(total: SumTotal) -> Self {
        Self {
            total,
            sums: Vec::new(),
            seen: Vec::new(),
        }
    }

    fn add_all(
        &mut self,
        inputs: &Inputs,
        group_indices: &[usize],
        filter: Option<&BooleanArray>,
    ) -> Result<()> {
        let (total, sums, seen) = (self.total, &mut self.sums, &mut self.seen);
        inputs.for_each_value(|row, value| {
            if passes(filter, row) {
                let group = group_indices[row];
                sums[group] = total.add(sums[group], value)?;
                seen[group] = true;
            }
            Ok(())
        })
    }

    fn take(&mut self, emit_to: EmitTo) -> (Vec<i128>, Option<NullBuffer>) {
        let sums = emit_to.take_needed(&mut self.sums);
        let seen = emit_to.take_needed(&mut self.seen);
        let nulls = seen.contains(&false).then(|| NullBuffer::from(seen));
        (sums, nulls)
    }
}

impl GroupsAccumulator for GroupedSums {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.sums.resize(total_num_groups, 0);
        self.seen.resize(total_num_groups, false);
        self.add_all(&Inputs::of(&values[0])?, group_indices, opt_filter)
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        total_num_groups: usize,
    ) -> Result<()> {
        self.update_batch(values, group_indices, None, total_num_groups)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let (sums, nulls) = self.take(emit_to);
        self.total.result_array(sums, nulls)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let (sums, nulls) = self.take(emit_to);
        Ok(vec![self.total.state_array(sums, nulls)])
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        opt_filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let empty = Self::new(self.total);
        states_of_rows(empty, values, opt_filter)
    }

    fn size(&self) -> usize {
        self.sums.capacity() * size_of::<i128>() + self.seen.capacity()
    }
}
