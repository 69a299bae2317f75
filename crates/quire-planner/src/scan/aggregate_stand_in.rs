//! Operators that stand for an aggregation: they have its schema, its properties and its statistics, and compute the same in another way.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics, internal_err};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr_common::sort_expr::OrderingRequirements;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, InputDistributionRequirements, PlanProperties,
    replace_children_if_necessary,
};
use futures::{Stream, TryStreamExt};

/// How such an operator computes.
pub(crate) trait AggregateStandIn: Debug + Send + Sync + Sized + 'static {
    const NAME: &'static str;
    /// Whether more partitions of the input are worth while.
    const WANTS_PARTITIONS: bool;

    /// What it stands for.
    fn aggregate(&self) -> &AggregateExec;

    /// What it reads.
    fn input(&self) -> &Arc<dyn ExecutionPlan>;

    /// The same for another input, in a state of its own.
    fn over(&self, input: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>>;

    /// What it asks of the input's partitions.
    fn distribution(&self) -> InputDistributionRequirements {
        self.aggregate().input_distribution_requirements()
    }

    /// What `EXPLAIN` shows between the mode and the aggregates.
    fn describe(&self, f: &mut Formatter<'_>) -> fmt::Result;

    /// The rows of a partition.
    fn run(
        &self,
        metrics: &ExecutionPlanMetricsSet,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream>;
}

/// What stands for `aggregate` over another input, in a state of its own: `stand_in` computes what the aggregation over that input does.
pub(crate) fn stand_in_over<S: AggregateStandIn>(
    aggregate: &AggregateExec,
    input: Arc<dyn ExecutionPlan>,
    stand_in: impl FnOnce(AggregateExec) -> Result<S>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let aggregate = Arc::new(aggregate.clone()).reset_state()?;
    let aggregate = replace_children_if_necessary(aggregate, vec![input])?;
    Ok(match aggregate.downcast_ref::<AggregateExec>() {
        Some(aggregate) => Arc::new(StandInExec::new(stand_in(aggregate.clone())?)),
        None => aggregate,
    })
}

/// The rows that an operator returns, counted in its metrics.
pub(crate) fn counted_rows(
    rows: impl Stream<Item = Result<RecordBatch>> + Send + 'static,
    schema: SchemaRef,
    metrics: BaselineMetrics,
) -> SendableRecordBatchStream {
    let counted = rows.inspect_ok(move |batch| metrics.record_output(batch.num_rows()));
    Box::pin(RecordBatchStreamAdapter::new(schema, counted))
}

/// The operator.
#[derive(Debug)]
pub(crate) struct StandInExec<S> {
    pub(crate) stand_in: S,
    metrics: ExecutionPlanMetricsSet,
}

impl<S: AggregateStandIn> StandInExec<S> {
    pub(crate) fn new(stand_in: S) -> Self {
        Self {
            stand_in,
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }
}

impl<S: AggregateStandIn> DisplayAs for StandInExec<S> {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut Formatter<'_>) -> fmt::Result {
        let aggregate = self.stand_in.aggregate();
        write!(f, "{}: mode={:?}, ", S::NAME, aggregate.mode())?;
        let keys = aggregate.group_expr().expr().iter();
        let keys: Vec<&str> = keys.map(|(_, name)| name.as_str()).collect();
        write!(f, "groups=[{}], ", keys.join(", "))?;
        self.stand_in.describe(f)?;
        let aggregates = aggregate.aggr_expr().iter();
        let aggregates: Vec<&str> = aggregates.map(|aggregate| aggregate.name()).collect();
        write!(f, "aggregates=[{}]", aggregates.join(", "))
    }
}

impl<S: AggregateStandIn> ExecutionPlan for StandInExec<S> {
    fn name(&self) -> &str {
        S::NAME
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.stand_in.aggregate().properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![self.stand_in.input()]
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        self.stand_in.distribution()
    }

    fn required_input_ordering(&self) -> Vec<Option<OrderingRequirements>> {
        // One for other rows says nothing of what is read in their place.
        let (aggregate, input) = (self.stand_in.aggregate(), self.stand_in.input());
        match aggregate.input().schema() == input.schema() {
            true => aggregate.required_input_ordering(),
            false => vec![None],
        }
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        self.stand_in.aggregate().maintains_input_order()
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![S::WANTS_PARTITIONS]
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.stand_in.aggregate().apply_expressions(f)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        match <[_; 1]>::try_from(children) {
            Ok([input]) => self.stand_in.over(input),
            Err(_) => internal_err!("{} has one input", S::NAME),
        }
    }

    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        self.stand_in.over(Arc::clone(self.stand_in.input()))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        self.stand_in.run(&self.metrics, partition, context)
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn statistics_from_inputs(
        &self,
        _: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        StatisticsContext::new().compute(self.stand_in.aggregate(), args)
    }
}
