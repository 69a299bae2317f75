//! Moving frames of any aggregate function whose partial states can be merged.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{FieldRef, Schema};
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::logical_expr::function::AccumulatorArgs;
use datafusion::logical_expr::{Accumulator, AggregateUDF};
use datafusion::physical_expr::PhysicalExpr;

/// A frame: a queue of two stacks, as [`super`] says, with states in the place of totals.
pub(crate) struct MergedFrame {
    new: NewAccumulator,
    /// States of a row and all behind it in the front; the last is that of the oldest row.
    front: Vec<Vec<ScalarValue>>,
    /// Rows behind those of the front, oldest first, in the arrays in which they came.
    back: Vec<Vec<ArrayRef>>,
    back_total: Box<dyn Accumulator>,
}

/// What an accumulator is made of.
struct NewAccumulator {
    function: Arc<AggregateUDF>,
    return_field: FieldRef,
    schema: Schema,
    name: String,
    exprs: Vec<Arc<dyn PhysicalExpr>>,
    expr_fields: Vec<FieldRef>,
}

impl NewAccumulator {
    fn make(&self) -> Result<Box<dyn Accumulator>> {
        self.function.accumulator(AccumulatorArgs {
            return_field: Arc::clone(&self.return_field),
            schema: &self.schema,
            ignore_nulls: false,
            order_bys: &[],
            is_reversed: false,
            name: &self.name,
            is_distinct: false,
            exprs: &self.exprs,
            expr_fields: &self.expr_fields,
        })
    }
}

impl MergedFrame {
    /// The frames of a function, which is called with these arguments.
    pub(crate) fn accumulator(
        function: &Arc<AggregateUDF>,
        args: &AccumulatorArgs<'_>,
    ) -> Result<Box<dyn Accumulator>> {
        if args.is_distinct {
            return exec_err!("DISTINCT over a moving window frame is not supported");
        }
        let new = NewAccumulator {
            function: Arc::clone(function),
            return_field: Arc::clone(&args.return_field),
            schema: args.schema.clone(),
            name: args.name.to_owned(),
            exprs: args.exprs.to_vec(),
            expr_fields: args.expr_fields.to_vec(),
        };
        let back_total = new.make()?;
        Ok(Box::new(Self {
            new,
            front: Vec::new(),
            back: Vec::new(),
            back_total,
        }))
    }

    fn turn_over(&mut self) -> Result<()> {
        let mut total = self.new.make()?;
        for rows in std::mem::take(&mut self.back).iter().rev() {
            for row in (0..row_count(rows)).rev() {
                let row: Vec<ArrayRef> = rows.iter().map(|values| values.slice(row, 1)).collect();
                total.update_batch(&row)?;
                self.front.push(total.state()?);
            }
        }
        self.back_total = self.new.make()?;
        Ok(())
    }
}

fn row_count(rows: &[ArrayRef]) -> usize {
    rows.first().map_or(0, |values| values.len())
}

impl Debug for MergedFrame {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("MergedFrame")
            .field("name", &self.new.name)
            .finish_non_exhaustive()
    }
}

impl Accumulator for MergedFrame {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.back.push(values.to_vec());
        self.back_total.update_batch(values)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for _ in 0..row_count(values) {
            if self.front.is_empty() {
                self.turn_over()?;
            }
            self.front.pop();
        }
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
        let mut total = self.new.make()?;
        let back = self.back_total.state()?;
        for state in self.front.last().into_iter().chain([&back]) {
            let parts = state.iter().map(ScalarValue::to_array);
            total.merge_batch(&parts.collect::<Result<Vec<_>>>()?)?;
        }
        total.evaluate()
    }

    fn size(&self) -> usize {
        let state_bytes = self.front.last().map_or(0, |state| {
            state.iter().map(ScalarValue::size).sum::<usize>()
        });
        let arrays = self.back.iter().map(Vec::len).sum::<usize>();
        size_of_val(self)
            + self.front.len() * (state_bytes + size_of::<Vec<ScalarValue>>())
            + arrays * size_of::<ArrayRef>()
    }
}
