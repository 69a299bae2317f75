//! Sums and means of the floats in a moving frame.

use datafusion::arrow::array::{ArrayRef, ArrowPrimitiveType, AsArray};
use datafusion::arrow::datatypes::{DataType, Float32Type, Float64Type};
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::logical_expr::Accumulator;

use super::queue::TotalQueue;
use crate::float_totals::{FloatResult, SummableFloat};

/// The floats of a frame; NULLs are left out.
#[derive(Debug)]
struct FloatFrame<T: ArrowPrimitiveType> {
    values: TotalQueue<T>,
    result: FloatResult,
}

/// The frames of a call whose argument is of type `argument`; `None` of what are no floats.
pub(crate) fn float_frame(
    result: FloatResult,
    argument: &DataType,
    is_distinct: bool,
) -> Result<Option<Box<dyn Accumulator>>> {
    Ok(match argument {
        DataType::Float32 | DataType::Float64 if is_distinct => {
            return exec_err!("DISTINCT over a moving window frame is not supported");
        }
        DataType::Float32 => Some(Box::new(FloatFrame::<Float32Type>::new(result))),
        DataType::Float64 => Some(Box::new(FloatFrame::<Float64Type>::new(result))),
        _ => None,
    })
}

impl<T: SummableFloat> FloatFrame<T> {
    fn new(result: FloatResult) -> Self {
        let values = TotalQueue::default();
        Self { values, result }
    }
}

impl<T: SummableFloat> Accumulator for FloatFrame<T> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let values = values[0].as_primitive::<T>();
        let mut values = values.iter().flatten();
        values.try_for_each(|value| self.values.push(value))
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let leaving = values[0].len() - values[0].null_count();
        (0..leaving).try_for_each(|_| self.values.pop())
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
        let total = self.values.total()?;
        let count = i64::try_from(self.values.len()).unwrap_or(i64::MAX);
        let result = total.and_then(|total| self.result.of::<T>(total, count));
        ScalarValue::new_primitive::<T>(result, &T::DATA_TYPE)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.values.bytes()
    }
}
