//! `percentile_cont` over many groups.
//!
//! Hash aggregation that finds its input hardly smaller hands on the state of each row. It passes all arguments of the call, and DataFusion's accumulator
//! asserts that it receives the values only: with more than 100,000 groups the statement panics. The wrapper leaves the fraction out, which is a constant
//! that the accumulator knows already.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BooleanArray};
use datafusion::arrow::datatypes::{DataType, FieldRef};
use datafusion::common::Result;
use datafusion::execution::FunctionRegistry;
use datafusion::execution::session_state::SessionState;
use datafusion::logical_expr::function::{
    AccumulatorArgs, AggregateFunctionSimplification, StateFieldsArgs,
};
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, Documentation, EmitTo, GroupsAccumulator,
    Signature,
};

/// Puts the function in the place of DataFusion's.
pub(super) fn register(state: &mut SessionState) -> Result<()> {
    let function = state.udaf("percentile_cont")?;
    state.register_udaf(AggregateUDF::from(Percentile { function }).into())?;
    Ok(())
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Percentile {
    function: Arc<AggregateUDF>,
}

impl Percentile {
    fn inner(&self) -> &dyn AggregateUDFImpl {
        self.function.inner().as_ref()
    }
}

impl AggregateUDFImpl for Percentile {
    fn name(&self) -> &str {
        self.inner().name()
    }

    fn aliases(&self) -> &[String] {
        self.inner().aliases()
    }

    fn signature(&self) -> &Signature {
        self.inner().signature()
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        self.inner().return_type(arg_types)
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        self.inner().state_fields(args)
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        self.inner().accumulator(args)
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        self.inner().groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(
        &self,
        args: AccumulatorArgs,
    ) -> Result<Box<dyn GroupsAccumulator>> {
        let groups = self.inner().create_groups_accumulator(args)?;
        Ok(Box::new(PercentileGroups(groups)))
    }

    fn simplify(&self) -> Option<AggregateFunctionSimplification> {
        self.inner().simplify()
    }

    fn supports_within_group_clause(&self) -> bool {
        self.inner().supports_within_group_clause()
    }

    fn documentation(&self) -> Option<&Documentation> {
        self.inner().documentation()
    }
}

struct PercentileGroups(Box<dyn GroupsAccumulator>);

impl GroupsAccumulator for PercentileGroups {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        self.0
            .update_batch(values, group_indices, opt_filter, total_num_groups)
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        total_num_groups: usize,
    ) -> Result<()> {
        self.0.merge_batch(values, group_indices, total_num_groups)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        self.0.evaluate(emit_to)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        self.0.state(emit_to)
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        opt_filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        self.0.convert_to_state(&values[..1], opt_filter)
    }

    fn size(&self) -> usize {
        self.0.size()
    }
}
