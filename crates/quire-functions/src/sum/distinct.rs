//! The sum of the distinct values of an input.

use std::collections::HashSet;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray};
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Accumulator;

use super::{Inputs, SumTotal};

#[derive(Debug)]
pub(super) struct DistinctSum {
    total: SumTotal,
    values: HashSet<i128>,
}

impl DistinctSum {
    pub(super) fn new(total: SumTotal) -> Self {
        Self {
            total,
            values: HashSet::new(),
        }
    }

    fn insert_all(&mut self, values: &ArrayRef) -> Result<()> {
        Inputs::of(values)?.for_each_value(|_, value| {
            self.values.insert(value);
            Ok(())
        })
    }
}

impl Accumulator for DistinctSum {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.insert_all(&values[0])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let lists = states[0].as_list::<i32>();
        lists
            .iter()
            .flatten()
            .try_for_each(|values| self.insert_all(&values))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let items: Vec<_> = self
            .values
            .iter()
            .map(|value| self.total.state_scalar(Some(*value)))
            .collect();
        let list = ScalarValue::new_list_nullable(&items, &self.total.state_type());
        Ok(vec![ScalarValue::List(Arc::clone(&list))])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let add = |sum, value: &i128| self.total.add(sum, *value);
        let sum = self.values.iter().try_fold(0, add)?;
        self.total
            .result_scalar((!self.values.is_empty()).then_some(sum))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.values.capacity() * (size_of::<i128>() + 1)
    }
}
