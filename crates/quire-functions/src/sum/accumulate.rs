//! One sum, of a whole input or of a moving window frame.

use datafusion::arrow::array::ArrayRef;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Accumulator;

use super::{Inputs, SumTotal};

#[derive(Debug)]
pub(super) struct RunningSum {
    total: SumTotal,
    sum: i128,
    /// Values in the sum; the sum of none is NULL.
    value_count: u64,
}

impl RunningSum {
    pub(super) fn new(total: SumTotal) -> Self {
        Self {
            total,
            sum: 0,
            value_count: 0,
        }
    }

    fn sum(&self) -> Option<i128> {
        (self.value_count > 0).then_some(self.sum)
    }
}

impl Accumulator for RunningSum {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (total, mut sum, mut count) = (self.total, self.sum, self.value_count);
        Inputs::of(&values[0])?.for_each_value(|_, value| {
            sum = total.add(sum, value)?;
            count += 1;
            Ok(())
        })?;
        (self.sum, self.value_count) = (sum, count);
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let (total, mut sum, mut count) = (self.total, self.sum, self.value_count);
        Inputs::of(&values[0])?.for_each_value(|_, value| {
            sum = sum.checked_sub(value).ok_or_else(|| total.overflow())?;
            count -= 1;
            Ok(())
        })?;
        (self.sum, self.value_count) = (sum, count);
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.update_batch(states)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.total.state_scalar(self.sum())])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.total.result_scalar(self.sum())
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}
