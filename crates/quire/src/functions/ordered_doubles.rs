//! `sum(x ORDER BY …)` and `avg(x ORDER BY …)` of floats: added up in that order, as what is lost depends on it.
//!
//! The values of a group are collected in their order, as `array_agg` does, and added up at the end. Sums of integers and decimals
//! are exact, whatever the order.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef, Float64Type};
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::functions_aggregate::array_agg::ArrayAgg;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, ReversedUDAF, Signature, Volatility,
};

use super::{CheckedSum, ExactAverage};

/// The function; its result is a mean, or else a sum.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct OrderedDoubles {
    is_mean: bool,
    values: ArrayAgg,
    signature: Signature,
}

impl OrderedDoubles {
    /// The function for a call of `sum` or `avg`, whose argument is of type `argument`; `None` where the order does not matter.
    pub(crate) fn needed_for(call: &AggregateFunction, argument: &DataType) -> Option<Self> {
        let function = call.func.inner();
        let is_mean = function.is::<ExactAverage>();
        let is_total = is_mean || function.is::<CheckedSum>();
        let params = &call.params;
        let is_needed = is_total && !params.order_by.is_empty() && !params.distinct;
        (is_needed && *argument == DataType::Float64).then(|| Self {
            is_mean,
            values: ArrayAgg::default(),
            signature: Signature::exact(vec![DataType::Float64], Volatility::Immutable),
        })
    }

    fn list() -> FieldRef {
        let item = Field::new_list_field(DataType::Float64, true);
        Arc::new(Field::new_list("values", item, true))
    }
}

impl AggregateUDFImpl for OrderedDoubles {
    fn name(&self) -> &str {
        match self.is_mean {
            true => "ordered_avg",
            false => "ordered_sum",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        self.values.state_fields(StateFieldsArgs {
            return_field: Self::list(),
            ..args
        })
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let values = self.values.accumulator(AccumulatorArgs {
            return_field: Self::list(),
            ..args
        })?;
        Ok(Box::new(Collected {
            is_mean: self.is_mean,
            values,
        }))
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
pub(crate) fn in_order(mut call: AggregateFunction, function: OrderedDoubles) -> AggregateFunction {
    call.func = Arc::new(AggregateUDF::from(function));
    call
}

#[derive(Debug)]
struct Collected {
    is_mean: bool,
    values: Box<dyn Accumulator>,
}

impl Accumulator for Collected {
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
        let (mut sum, mut count) = (None, 0_u64);
        for values in list.iter().flatten() {
            for value in values.as_primitive::<Float64Type>().iter().flatten() {
                sum = Some(sum.map_or(value, |sum| sum + value));
                count += 1;
            }
        }
        let result = match self.is_mean {
            true => sum.map(|sum: f64| sum / count as f64),
            false => sum,
        };
        Ok(ScalarValue::Float64(result))
    }

    fn size(&self) -> usize {
        self.values.size()
    }
}
