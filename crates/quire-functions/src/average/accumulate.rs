//! One mean, of a whole input or of a moving window frame.

use std::collections::HashSet;

use datafusion::arrow::array::{ArrayRef, AsArray};
use datafusion::arrow::datatypes::{Decimal256Type, Int64Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Accumulator;

use super::mean::{Mean, MeanTotal};
use crate::sum::Inputs;

#[derive(Debug)]
pub(super) struct RunningMean {
    mean: Mean,
    total: MeanTotal,
}

impl RunningMean {
    pub(super) fn new(mean: Mean) -> Self {
        let total = MeanTotal::default();
        Self { mean, total }
    }
}

impl Accumulator for RunningMean {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        Inputs::of(&values[0])?.for_each_value(|_, value| {
            self.total.add(value);
            Ok(())
        })
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        Inputs::of(&values[0])?.for_each_value(|_, value| {
            self.total.remove(value);
            Ok(())
        })
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let counts = states[0].as_primitive::<Int64Type>();
        let totals = states[1].as_primitive::<Decimal256Type>();
        for (count, total) in counts.iter().zip(totals) {
            if let (Some(count), Some(total)) = (count, total) {
                self.total.merge(count, total);
            }
        }
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![
            ScalarValue::Int64(Some(self.total.count())),
            self.mean.total_scalar(self.total),
        ])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.mean.scalar(self.total)
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

/// The mean of the distinct values of an input.
#[derive(Debug)]
pub(super) struct DistinctMean {
    mean: Mean,
    values: HashSet<i128>,
}

impl DistinctMean {
    pub(super) fn new(mean: Mean) -> Self {
        let values = HashSet::new();
        Self { mean, values }
    }

    fn insert_all(&mut self, values: &ArrayRef) -> Result<()> {
        Inputs::of(values)?.for_each_value(|_, value| {
            self.values.insert(value);
            Ok(())
        })
    }
}

impl Accumulator for DistinctMean {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.insert_all(&values[0])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let mut lists = states[0].as_list::<i32>().iter().flatten();
        lists.try_for_each(|values| self.insert_all(&values))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let items = self
            .values
            .iter()
            .map(|value| self.mean.value_scalar(*value));
        let items: Vec<ScalarValue> = items.collect();
        let list = ScalarValue::new_list_nullable(&items, &self.mean.value_type());
        Ok(vec![ScalarValue::List(list)])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let mut total = MeanTotal::default();
        self.values.iter().for_each(|value| total.add(*value));
        self.mean.scalar(total)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.values.capacity() * (size_of::<i128>() + 1)
    }
}
