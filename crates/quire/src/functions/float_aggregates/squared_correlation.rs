//! `regr_r2`, as the standard has it.

use datafusion::arrow::array::ArrayRef;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Accumulator;

/// DataFusion's accumulator, whose state is number of pairs, mean of x, mean of y, sum of squares of x, of y, and of products.
#[derive(Debug)]
pub(super) struct SquaredCorrelation(Box<dyn Accumulator>);

impl SquaredCorrelation {
    pub(super) fn new(accumulator: Box<dyn Accumulator>) -> Self {
        Self(accumulator)
    }
}

impl Accumulator for SquaredCorrelation {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.0.update_batch(values)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.0.merge_batch(states)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.0.state()
    }

    /// A line through values of y that are all the same explains them: 1. Values of x that are all the same have no line: NULL.
    fn evaluate(&mut self) -> Result<ScalarValue> {
        match self.0.state()?.as_slice() {
            [
                _,
                _,
                _,
                ScalarValue::Float64(Some(squares_of_x)),
                ScalarValue::Float64(Some(squares_of_y)),
                _,
            ] if *squares_of_x > 0.0 && *squares_of_y == 0.0 => Ok(ScalarValue::Float64(Some(1.0))),
            _ => self.0.evaluate(),
        }
    }

    fn size(&self) -> usize {
        self.0.size()
    }
}
