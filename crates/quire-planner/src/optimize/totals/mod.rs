//! Aggregates without keys: one row for all rows of a partition.
//!
//! What comes from a scan as vectors is aggregated there ([`crate::scan::vector_aggregate`]). This is the rest: totals of other operators' rows, and the
//! states of all partitions put together. The accumulators are DataFusion's.

mod extremes;

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::compute::filter_record_batch;
use datafusion::common::Result;
use datafusion::common::cast::as_boolean_array;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::Accumulator;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::aggregate::AggregateFunctionExpr;
use datafusion::physical_expr_common::utils::evaluate_expressions_to_arrays;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{
    AggregateExec, AggregateInputMode, AggregateOutputMode, aggregate_expressions,
};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{StreamExt, stream};

use extremes::ExtremesBound;

use super::own_rule::OwnRule;
use crate::scan::{AggregateStandIn, StandInExec, stand_in_over};

/// What the memory pool calls the accumulators.
pub const TOTALS: &str = "totals";

/// The operator.
type TotalAggregateExec = StandInExec<TotalRow>;

struct TotalRow {
    /// What it stands for.
    aggregate: Arc<AggregateExec>,
    /// What the scans below it may drop.
    bound: Option<Arc<ExtremesBound>>,
}

/// Puts the operator in the place of aggregations without keys.
pub(super) fn rule() -> OwnRule {
    OwnRule::of_operators("totals", |plan| totals(plan, |_| true))
        .switched(|options| options.totals)
}

/// Puts the operator in the place of aggregations that promise a filter to scans. There is no switch: DataFusion's operator drops rows that matter.
pub(super) fn rule_of_extremes() -> OwnRule {
    OwnRule::of_operators("extremes", |plan| {
        totals(plan, |one| !one.dynamic_expressions_produced().is_empty())
    })
}

fn totals(
    plan: &Arc<dyn ExecutionPlan>,
    is_wanted: impl Fn(&AggregateExec) -> bool,
) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let Some(aggregate) = plan.downcast_ref::<AggregateExec>() else {
        return Ok(None);
    };
    let is_plain =
        aggregate.group_expr().is_true_no_grouping() && aggregate.limit_options().is_none();
    if !is_plain || !is_wanted(aggregate) {
        return Ok(None);
    }
    let total = TotalRow::of(aggregate.clone())?;
    Ok(Some(Arc::new(TotalAggregateExec::new(total))))
}

impl TotalRow {
    fn of(aggregate: AggregateExec) -> Result<Self> {
        Ok(Self {
            bound: ExtremesBound::of(&aggregate)?.map(Arc::new),
            aggregate: Arc::new(aggregate),
        })
    }
}

impl Debug for TotalRow {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("TotalRow")
            .field("aggregate", &self.aggregate)
            .finish_non_exhaustive()
    }
}

impl AggregateStandIn for TotalRow {
    const NAME: &'static str = "TotalAggregateExec";
    const WANTS_PARTITIONS: bool = true;

    fn aggregate(&self) -> &AggregateExec {
        &self.aggregate
    }

    fn input(&self) -> &Arc<dyn ExecutionPlan> {
        self.aggregate.input()
    }

    fn over(&self, input: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
        stand_in_over(&self.aggregate, input, Self::of)
    }

    fn describe(&self, _: &mut Formatter<'_>) -> fmt::Result {
        Ok(())
    }

    fn run(
        &self,
        metrics: &ExecutionPlanMetricsSet,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let input = self.aggregate.input();
        let rows = input.execute(partition, Arc::clone(&context))?;
        let consumer = MemoryConsumer::new(format!("{TOTALS}[{partition}]"));
        let memory = consumer.register(context.memory_pool());
        let metrics = BaselineMetrics::new(metrics, partition);
        let aggregate = Arc::clone(&self.aggregate);
        let total = total(aggregate, self.bound.clone(), rows, memory, metrics);
        let schema = self.aggregate.schema();
        Ok(Box::pin(RecordBatchStreamAdapter::new(
            schema,
            stream::once(total),
        )))
    }
}

/// The row of a partition, also of one without rows.
async fn total(
    aggregate: Arc<AggregateExec>,
    bound: Option<Arc<ExtremesBound>>,
    mut rows: SendableRecordBatchStream,
    memory: MemoryReservation,
    metrics: BaselineMetrics,
) -> Result<RecordBatch> {
    let mut accumulators = accumulators(&aggregate)?;
    while let Some(batch) = rows.next().await.transpose()? {
        let _timed = metrics.elapsed_compute().timer();
        for accumulator in &mut accumulators {
            accumulator.add(&batch)?;
        }
        let bytes = accumulators.iter().map(|one| one.accumulator.size());
        memory.try_resize(bytes.sum())?;
        if let Some(bound) = &bound {
            let extremes = accumulators
                .iter_mut()
                .map(|one| one.accumulator.evaluate());
            bound.tighten(&extremes.collect::<Result<Vec<_>>>()?)?;
        }
    }
    drop(rows);
    let _timed = metrics.elapsed_compute().timer();
    let mut columns: Vec<ArrayRef> = Vec::new();
    let output = aggregate.mode().output_mode();
    for FilteredTotal { accumulator, .. } in &mut accumulators {
        let values = match output {
            AggregateOutputMode::Partial => accumulator.state()?,
            AggregateOutputMode::Final => vec![accumulator.evaluate()?],
        };
        for value in values {
            columns.push(value.to_array_of_size(1)?);
        }
    }
    metrics.record_output(1);
    Ok(RecordBatch::try_new(aggregate.schema(), columns)?)
}

struct FilteredTotal {
    /// Whether the input has states, and not rows.
    takes_states: bool,
    arguments: Vec<Arc<dyn PhysicalExpr>>,
    /// `FILTER (WHERE …)`. A state has passed it before.
    filter: Option<Arc<dyn PhysicalExpr>>,
    accumulator: Box<dyn Accumulator>,
}

fn accumulators(aggregate: &AggregateExec) -> Result<Vec<FilteredTotal>> {
    let mode = aggregate.mode();
    let takes_states = mode.input_mode() == AggregateInputMode::Partial;
    let arguments = aggregate_expressions(aggregate.aggr_expr(), mode, 0)?;
    let filters = aggregate.filter_expr().iter();
    let aggregates = aggregate.aggr_expr().iter().zip(arguments).zip(filters);
    let accumulators = aggregates.map(|((aggregate, arguments), filter)| {
        let aggregate: &AggregateFunctionExpr = aggregate;
        Ok(FilteredTotal {
            takes_states,
            arguments,
            filter: filter.clone().filter(|_| !takes_states),
            accumulator: aggregate.create_accumulator()?,
        })
    });
    accumulators.collect()
}

impl FilteredTotal {
    /// Adds rows. Arguments are computed of those alone that pass the filter, which may guard them from errors.
    fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let passing = match &self.filter {
            Some(filter) => {
                let passing = filter.evaluate(batch)?.into_array(batch.num_rows())?;
                &filter_record_batch(batch, as_boolean_array(&passing)?)?
            }
            None => batch,
        };
        let values = evaluate_expressions_to_arrays(&self.arguments, passing)?;
        if self.takes_states {
            self.accumulator.merge_batch(&values)
        } else {
            self.accumulator.update_batch(&values)
        }
    }
}
