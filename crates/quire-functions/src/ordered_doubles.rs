//! `sum(x ORDER BY …)` and `avg(x ORDER BY …)` of floats: added up in that order, as what is lost depends on it.
//!
//! The values of a group are collected in their order, as `array_agg` does, and added up at the end. Sums of integers and decimals
//! are exact, whatever the order.

use std::sync::Arc;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::functions_aggregate::array_agg::ArrayAgg;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, ReversedUDAF, Signature, Volatility,
};

use super::float_totals::FloatResult;
use super::{CheckedSum, ExactAverage};

/// The function; its result is a mean, or else a sum.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct OrderedDoubles {
    is_mean: bool,
    /// A sum of REALs is one.
    floats: DataType,
    values: ArrayAgg,
    signature: Signature,
}

impl OrderedDoubles {
    /// The function for a call of `sum` or `avg`, whose argument is of type `argument`; `None` where the order does not matter.
    pub fn needed_for(call: &AggregateFunction, argument: &DataType) -> Option<Self> {
        let function = call.func.inner();
        let is_mean = function.is::<ExactAverage>();
        let is_total = is_mean || function.is::<CheckedSum>();
        let params = &call.params;
        let is_needed = is_total && !params.order_by.is_empty() && !params.distinct;
        let floats = match argument {
            DataType::Float32 if !is_mean => DataType::Float32,
            DataType::Float32 | DataType::Float64 => DataType::Float64,
            _ => return None,
        };
        is_needed.then(|| Self {
            is_mean,
            signature: Signature::exact(vec![floats.clone()], Volatility::Immutable),
            floats,
            values: ArrayAgg::default(),
        })
    }

    fn list(&self) -> FieldRef {
        let item = Field::new_list_field(self.floats.clone(), true);
        Arc::new(Field::new_list("values", item, true))
    }
}

impl AggregateUDFImpl for OrderedDoubles {
    fn name(&self) -> &str {
        if self.is_mean {
            "ordered_avg"
        } else {
            "ordered_sum"
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.floats.clone())
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        self.values.state_fields(StateFieldsArgs {
            return_field: self.list(),
            ..args
        })
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let values = self.values.accumulator(AccumulatorArgs {
            return_field: self.list(),
            ..args
        })?;
        let result = if self.is_mean {
            FloatResult::Mean
        } else {
            FloatResult::Sum
        };
        let Some(total) = result.accumulator(&self.floats, false) else {
            return exec_err!("only floats are added up in an order");
        };
        Ok(Box::new(OrderedDoublesAccumulator { values, total }))
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::NotSupported
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::SoftRequirement
    }

    /// Values are put in order, whether they come in it or not.
    fn with_beneficial_ordering(
        self: Arc<Self>,
        _: bool,
    ) -> Result<Option<Arc<dyn AggregateUDFImpl>>> {
        Ok(Some(self))
    }
}

/// The call with this function in the place of its own.
pub fn in_order(mut call: AggregateFunction, function: OrderedDoubles) -> AggregateFunction {
    call.func = Arc::new(AggregateUDF::from(function));
    call
}

#[derive(Debug)]
struct OrderedDoublesAccumulator {
    values: Box<dyn Accumulator>,
    total: Box<dyn Accumulator>,
}

impl Accumulator for OrderedDoublesAccumulator {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.values.update_batch(values)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.values.merge_batch(states)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.values.state()
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let ScalarValue::List(list) = self.values.evaluate()? else {
            return exec_err!("array_agg returned no array");
        };
        for values in list.iter().flatten() {
            self.total.update_batch(&[values])?;
        }
        self.total.evaluate()
    }

    fn size(&self) -> usize {
        self.values.size()
    }
}
