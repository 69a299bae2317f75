//! One total per group, for hash aggregation.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, Int64Array, PrimitiveArray,
};
use datafusion::arrow::datatypes::Int64Type;
use datafusion::common::Result;
use datafusion::logical_expr::{EmitTo, GroupsAccumulator};

use super::total::{FloatResult, FloatTotal, SummableFloat};
use crate::group_states::{passes, states_of_rows};

#[derive(Debug)]
pub(super) struct GroupedTotals<T: ArrowPrimitiveType> {
    result: FloatResult,
    totals: Vec<FloatTotal<T::Native>>,
}

impl<T: SummableFloat> GroupedTotals<T> {
    pub(super) fn new(result: FloatResult) -> Self {
        let totals = Vec::new();
        Self { result, totals }
    }
}

impl<T: SummableFloat> GroupsAccumulator for GroupedTotals<T> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.totals.resize(total_num_groups, FloatTotal::none());
        let values = values[0].as_primitive::<T>();
        for (row, value) in values.iter().enumerate() {
            if let (Some(value), true) = (value, passes(opt_filter, row)) {
                self.totals[group_indices[row]].add::<T>(value, 1)?;
            }
        }
        Ok(())
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        total_num_groups: usize,
    ) -> Result<()> {
        self.totals.resize(total_num_groups, FloatTotal::none());
        let (totals, counts) = (
            values[0].as_primitive::<T>(),
            values[1].as_primitive::<Int64Type>(),
        );
        for ((total, count), group) in totals.iter().zip(counts).zip(group_indices) {
            if let (Some(total), Some(count)) = (total, count) {
                self.totals[*group].add::<T>(total, count)?;
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let totals = emit_to.take_needed(&mut self.totals);
        let results = totals.iter();
        let results = results.map(|total| self.result.of::<T>(total.sum, total.count));
        Ok(Arc::new(results.collect::<PrimitiveArray<T>>()))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let totals = emit_to.take_needed(&mut self.totals);
        let sums = totals.iter().map(|total| total.sum);
        let counts = totals.iter().map(|total| total.count);
        Ok(vec![
            Arc::new(PrimitiveArray::<T>::from_iter_values(sums)),
            Arc::new(Int64Array::from_iter_values(counts)),
        ])
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        opt_filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let empty = Self::new(self.result);
        states_of_rows(empty, values, opt_filter)
    }

    fn size(&self) -> usize {
        self.totals.capacity() * size_of::<FloatTotal<T::Native>>()
    }
}
