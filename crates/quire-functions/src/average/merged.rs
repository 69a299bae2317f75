//! The mean of values that have been counted and added up group by group: eager aggregation splits `avg` into a count and a sum.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BooleanArray};
use datafusion::arrow::compute::{cast, nullif};
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDFImpl, EmitTo, GroupsAccumulator, ReversedUDAF, Signature, Volatility,
};

use super::accumulate::RunningMean;
use super::groups::GroupedMeans;
use super::mean::{Mean, state_fields};

/// `avg` of the values behind pairs of a count and an exact sum, in the type that `avg` of the values themselves has.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct MergedAverage {
    result: DataType,
    signature: Signature,
}

impl MergedAverage {
    /// Of counts, and of sums of integers for a `result` that is a double, or of decimals.
    pub fn new(result: DataType) -> Self {
        Self {
            result,
            signature: Signature::user_defined(Volatility::Immutable),
        }
    }
}

fn mean_of(fields: &[FieldRef], result: &FieldRef) -> Result<Mean> {
    let mean = match (fields, result.data_type()) {
        // Sums of 64-bit integers have the type of decimals.
        ([_, sum], DataType::Float64) if *sum.data_type() == DataType::Decimal128(38, 0) => {
            Some(Mean::OfIntegers)
        }
        _ => fields.get(1..).and_then(|sums| Mean::of(sums, result)),
    };
    match mean {
        Some(mean) => Ok(mean),
        None => internal_err!("no mean is made of sums of {fields:?}"),
    }
}

impl AggregateUDFImpl for MergedAverage {
    fn name(&self) -> &str {
        "merged_avg"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arg_types: &[DataType]) -> Result<Vec<DataType>> {
        Ok(arg_types.to_vec())
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(self.result.clone())
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let mean = mean_of(args.expr_fields, &args.return_field)?;
        Ok(Box::new(RunningMergedMean {
            mean,
            running: RunningMean::new(mean),
        }))
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let mean = mean_of(args.input_fields, &args.return_field)?;
        Ok(state_fields(mean, args.name))
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        !args.is_distinct
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        let mean = mean_of(args.expr_fields, &args.return_field)?;
        Ok(Box::new(GroupedMergedMeans {
            mean,
            groups: GroupedMeans::new(mean),
        }))
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }
}

/// Counts and sums as the states of a mean. Rows that do not pass the filter count for nothing, as those whose count is NULL.
fn states(
    mean: Mean,
    values: &[ArrayRef],
    opt_filter: Option<&BooleanArray>,
) -> Result<Vec<ArrayRef>> {
    let [counts, sums] = values else {
        return internal_err!("a mean is made of {} columns", values.len());
    };
    let counts = match opt_filter {
        None => Arc::clone(counts),
        Some(filter) => {
            let is_left_out = filter.iter().map(|passes| Some(passes != Some(true)));
            nullif(counts, &is_left_out.collect())?
        }
    };
    Ok(vec![counts, cast(sums, &mean.total_type())?])
}

#[derive(Debug)]
struct RunningMergedMean {
    mean: Mean,
    running: RunningMean,
}

impl Accumulator for RunningMergedMean {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.running.merge_batch(&states(self.mean, values, None)?)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.running.merge_batch(states)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        self.running.state()
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.running.evaluate()
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

#[derive(Debug)]
struct GroupedMergedMeans {
    mean: Mean,
    groups: GroupedMeans,
}

impl GroupsAccumulator for GroupedMergedMeans {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        let states = states(self.mean, values, opt_filter)?;
        self.groups
            .merge_batch(&states, group_indices, total_num_groups)
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        total_num_groups: usize,
    ) -> Result<()> {
        self.groups
            .merge_batch(values, group_indices, total_num_groups)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        self.groups.evaluate(emit_to)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        self.groups.state(emit_to)
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        opt_filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        states(self.mean, values, opt_filter)
    }

    fn size(&self) -> usize {
        self.groups.size()
    }
}
