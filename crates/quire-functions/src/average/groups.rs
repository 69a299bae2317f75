//! One mean per group, for hash aggregation.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, BooleanArray, Decimal256Array, Int64Array};
use datafusion::arrow::datatypes::{Decimal256Type, Int64Type};
use datafusion::common::Result;
use datafusion::logical_expr::{EmitTo, GroupsAccumulator};

use super::mean::{Mean, MeanTotal};
use crate::group_states::{passes, states_of_rows};
use crate::sum::Inputs;

#[derive(Debug)]
pub(super) struct GroupedMeans {
    mean: Mean,
    totals: Vec<MeanTotal>,
}

impl GroupedMeans {
    pub(super) fn new(mean: Mean) -> Self {
        let totals = Vec::new();
        Self { mean, totals }
    }
}

impl GroupsAccumulator for GroupedMeans {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.totals.resize(total_num_groups, MeanTotal::default());
        Inputs::of(&values[0])?.for_each_value(|row, value| {
            if passes(opt_filter, row) {
                self.totals[group_indices[row]].add(value);
            }
            Ok(())
        })
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        total_num_groups: usize,
    ) -> Result<()> {
        self.totals.resize(total_num_groups, MeanTotal::default());
        let counts = values[0].as_primitive::<Int64Type>();
        let totals = values[1].as_primitive::<Decimal256Type>();
        for ((count, total), group) in counts.iter().zip(totals).zip(group_indices) {
            if let (Some(count), Some(total)) = (count, total) {
                self.totals[*group].merge(count, total);
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        self.mean.array(&emit_to.take_needed(&mut self.totals))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let totals = emit_to.take_needed(&mut self.totals);
        let counts = totals.iter().map(|total| total.count());
        let counts = Int64Array::from_iter_values(counts);
        let totals = totals.iter().map(|total| total.wide());
        let totals = Decimal256Array::from_iter_values(totals);
        let totals = totals.with_data_type(self.mean.total_type());
        Ok(vec![Arc::new(counts), Arc::new(totals)])
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        opt_filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let empty = Self::new(self.mean);
        states_of_rows(empty, values, opt_filter)
    }

    fn size(&self) -> usize {
        self.totals.capacity() * size_of::<MeanTotal>()
    }
}
