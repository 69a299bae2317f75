//! Sums and means of the doubles in a moving frame.

use datafusion::arrow::array::{ArrayRef, AsArray};
use datafusion::arrow::datatypes::Float64Type;
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::logical_expr::Accumulator;

use super::queue::TotalQueue;

/// What is computed of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::functions) enum DoubleFrameResult {
    Sum,
    Mean,
}

/// The doubles of a frame; NULLs are left out.
#[derive(Debug)]
pub(in crate::functions) struct DoubleFrame {
    values: TotalQueue,
    result: DoubleFrameResult,
}

impl DoubleFrame {
    pub(in crate::functions) fn accumulator(
        result: DoubleFrameResult,
        is_distinct: bool,
    ) -> Result<Box<dyn Accumulator>> {
        if is_distinct {
            return exec_err!("DISTINCT over a moving window frame is not supported");
        }
        let values = TotalQueue::default();
        Ok(Box::new(Self { values, result }))
    }
}

impl Accumulator for DoubleFrame {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let doubles = values[0].as_primitive::<Float64Type>();
        doubles
            .iter()
            .flatten()
            .for_each(|value| self.values.push(value));
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let leaving = values[0].len() - values[0].null_count();
        (0..leaving).for_each(|_| self.values.pop());
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    /// Frames are not put together of parts.
    fn merge_batch(&mut self, _: &[ArrayRef]) -> Result<()> {
        exec_err!("a window frame has no partial state")
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        exec_err!("a window frame has no partial state")
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let count = self.values.len() as f64;
        let total = self.values.total();
        Ok(ScalarValue::Float64(match self.result {
            DoubleFrameResult::Sum => total,
            DoubleFrameResult::Mean => total.map(|total| total / count),
        }))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.values.bytes()
    }
}
