//! What an aggregation computes for its groups, by DataFusion's accumulators.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, BooleanArray, RecordBatch, new_null_array};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Result};
use datafusion::logical_expr::{EmitTo, GroupsAccumulator};
use datafusion::physical_expr::aggregate::AggregateFunctionExpr;
use datafusion::physical_expr::{GroupsAccumulatorAdapter, PhysicalExpr};
use datafusion::physical_plan::aggregates::{
    AggregateExec, AggregateInputMode, AggregateMode, aggregate_expressions,
};

/// The accumulators of an aggregation, in its order.
pub(super) struct GroupAccumulators {
    /// Whether the input has states, and not rows.
    takes_states: bool,
    accumulators: Vec<FilteredAccumulator>,
}

struct FilteredAccumulator {
    arguments: Vec<Arc<dyn PhysicalExpr>>,
    /// `FILTER (WHERE …)`. A state has passed it before.
    filter: Option<Arc<dyn PhysicalExpr>>,
    accumulator: Box<dyn GroupsAccumulator>,
}

/// The values of all arguments in a batch.
pub(super) struct BatchArguments(Vec<Arguments>);

/// The values of an aggregate's arguments in a batch.
struct Arguments {
    values: Vec<ArrayRef>,
    filter: Option<BooleanArray>,
}

impl GroupAccumulators {
    /// Those of an aggregation in its own mode.
    pub(super) fn new(aggregate: &AggregateExec) -> Result<Self> {
        Self::of_mode(aggregate, *aggregate.mode())
    }

    /// Those that put the aggregation's states together.
    pub(super) fn of_states(aggregate: &AggregateExec) -> Result<Self> {
        Self::of_mode(aggregate, AggregateMode::Final)
    }

    fn of_mode(aggregate: &AggregateExec, mode: AggregateMode) -> Result<Self> {
        let takes_states = mode.input_mode() == AggregateInputMode::Partial;
        let keys = aggregate.group_expr().num_group_exprs();
        let arguments = aggregate_expressions(aggregate.aggr_expr(), &mode, keys)?;
        let filters = aggregate.filter_expr().iter();
        let accumulators = aggregate.aggr_expr().iter().zip(arguments).zip(filters);
        let accumulators = accumulators.map(|((aggregate, arguments), filter)| {
            Ok(FilteredAccumulator {
                arguments,
                filter: filter.clone().filter(|_| !takes_states),
                accumulator: accumulator_of(aggregate)?,
            })
        });
        Ok(Self {
            takes_states,
            accumulators: accumulators.collect::<Result<_>>()?,
        })
    }

    pub(super) fn takes_states(&self) -> bool {
        self.takes_states
    }

    /// What [`Self::add`] takes of the rows of a batch.
    pub(super) fn arguments(&self, batch: &RecordBatch) -> Result<BatchArguments> {
        let accumulators = self.accumulators.iter();
        let arguments = accumulators.map(|one| one.arguments_in(batch));
        Ok(BatchArguments(arguments.collect::<Result<_>>()?))
    }

    /// The same of a row that no aggregate takes: its group is as one of no rows.
    pub(super) fn arguments_of_no_row(&self, schema: &SchemaRef) -> Result<BatchArguments> {
        let mut arguments = self.arguments(&RecordBatch::new_empty(Arc::clone(schema)))?;
        for one in &mut arguments.0 {
            for values in &mut one.values {
                *values = new_null_array(values.data_type(), 1);
            }
            one.filter = Some(BooleanArray::from(vec![false]));
        }
        Ok(arguments)
    }

    /// Adds the rows of a batch, each to the group that `groups` has for it; so far there are `count` of them.
    pub(super) fn add(
        &mut self,
        arguments: &BatchArguments,
        groups: &[usize],
        count: usize,
    ) -> Result<()> {
        for (one, Arguments { values, filter }) in self.accumulators.iter_mut().zip(&arguments.0) {
            if self.takes_states {
                one.accumulator.merge_batch(values, groups, count)?;
            } else {
                let accumulator = &mut one.accumulator;
                accumulator.update_batch(values, groups, filter.as_ref(), count)?;
            }
        }
        Ok(())
    }

    /// The states of the first groups, or of all. The accumulators do not have these groups afterwards.
    pub(super) fn take_states(&mut self, groups: EmitTo) -> Result<Vec<ArrayRef>> {
        let mut columns = Vec::new();
        for one in &mut self.accumulators {
            columns.extend(one.accumulator.state(groups)?);
        }
        Ok(columns)
    }

    /// The same of their results.
    pub(super) fn take_results(&mut self, groups: EmitTo) -> Result<Vec<ArrayRef>> {
        let accumulators = self.accumulators.iter_mut();
        let results = accumulators.map(|one| one.accumulator.evaluate(groups));
        results.collect()
    }

    /// The states of groups that have one row of the batch each.
    pub(super) fn states_of_rows(&self, batch: &RecordBatch) -> Result<Vec<ArrayRef>> {
        let mut columns = Vec::new();
        for one in &self.accumulators {
            let Arguments { values, filter } = one.arguments_in(batch)?;
            columns.extend(one.accumulator.convert_to_state(&values, filter.as_ref())?);
        }
        Ok(columns)
    }

    /// What the accumulators have allocated.
    pub(super) fn allocated_bytes(&self) -> usize {
        let bytes = self.accumulators.iter().map(|one| one.accumulator.size());
        bytes.sum()
    }
}

/// The accumulator of all groups: DataFusion's own for the aggregate, or one that has an accumulator for each group.
fn accumulator_of(aggregate: &Arc<AggregateFunctionExpr>) -> Result<Box<dyn GroupsAccumulator>> {
    if aggregate.groups_accumulator_supported() {
        return aggregate.create_groups_accumulator();
    }
    let aggregate = Arc::clone(aggregate);
    let accumulator = move || aggregate.create_accumulator();
    Ok(Box::new(GroupsAccumulatorAdapter::new(accumulator)))
}

impl FilteredAccumulator {
    fn arguments_in(&self, batch: &RecordBatch) -> Result<Arguments> {
        let rows = batch.num_rows();
        let filter = self.filter.as_ref().map(|filter| {
            let passes = filter.evaluate(batch)?.into_array(rows)?;
            Ok::<_, DataFusionError>(passes.as_boolean().clone())
        });
        let filter = filter.transpose()?;
        let values = self.arguments.iter().map(|argument| {
            let value = match &filter {
                // Computed of rows that pass the filter alone, which may guard it from errors.
                Some(filter) if !argument.children().is_empty() => {
                    argument.evaluate_selection(batch, filter)?
                }
                _ => argument.evaluate(batch)?,
            };
            value.into_array(rows)
        });
        Ok(Arguments {
            values: values.collect::<Result<_>>()?,
            filter,
        })
    }
}
