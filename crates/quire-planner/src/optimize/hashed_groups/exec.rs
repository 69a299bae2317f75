//! The operator that stands for an aggregation.

use std::fmt::{self, Formatter};
use std::sync::Arc;

use datafusion::common::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateOutputMode};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, SpillMetrics};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, InputOrderMode};
use futures::{TryStreamExt, stream};

use super::hashed_states::{HashedStates, Taken};
use super::streamed::{StreamedGroups, Streaming, groups_max};
use super::whole::WholeGroups;
use crate::optimize::group_accumulators::GroupAccumulators;
use crate::optimize::packed_keys::PackedKeys;
use crate::scan::{AggregateStandIn, StandInExec, counted_rows, stand_in_over};

/// The operator.
pub(super) type HashedAggregateExec = StandInExec<HashedGroups>;

#[derive(Clone, Debug)]
pub(in crate::optimize) struct HashedGroups {
    /// What it stands for.
    pub(in crate::optimize) aggregate: Arc<AggregateExec>,
    pub(super) columns: PackedKeys,
}

impl HashedGroups {
    /// `None` if the operator cannot replace the aggregation.
    pub(in crate::optimize) fn new(aggregate: &AggregateExec) -> Option<Self> {
        let input = aggregate.input().schema();
        let keys = aggregate.group_expr().group_schema(&input).ok()?;
        let columns = is_plain(aggregate).then(|| PackedKeys::new(&keys))??;
        Some(Self {
            aggregate: Arc::new(aggregate.clone()),
            columns,
        })
    }

    /// How groups are handed on before the input has ended; nothing if they are not.
    fn streaming(&self) -> Option<Streaming> {
        let streaming = Streaming {
            taken: match self.aggregate.mode().output_mode() {
                AggregateOutputMode::Partial => Taken::States,
                AggregateOutputMode::Final => Taken::Results,
            },
            is_ordered: *self.aggregate.input_order_mode() == InputOrderMode::Sorted,
            groups_max: groups_max(&self.aggregate).flatten(),
        };
        (streaming.taken == Taken::States || streaming.is_ordered).then_some(streaming)
    }

    /// The same for an aggregation over another input.
    pub(in crate::optimize) fn over_aggregate(&self, aggregate: AggregateExec) -> Self {
        Self {
            aggregate: Arc::new(aggregate),
            columns: self.columns.clone(),
        }
    }

    /// What the aggregation computes of the rows of a partition.
    pub(in crate::optimize) fn of_rows(
        &self,
        rows: SendableRecordBatchStream,
        metrics: BaselineMetrics,
        spill_metrics: SpillMetrics,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        if let Some(streaming) = self.streaming() {
            return self.streamed(rows, streaming, metrics, &context);
        }
        let results = self.whole(metrics, spill_metrics).of_input(rows, context);
        Ok(Box::pin(RecordBatchStreamAdapter::new(
            self.aggregate.schema(),
            stream::once(results).try_flatten(),
        )))
    }

    pub(super) fn whole(
        &self,
        metrics: BaselineMetrics,
        spill_metrics: SpillMetrics,
    ) -> WholeGroups {
        WholeGroups {
            aggregate: Arc::clone(&self.aggregate),
            columns: self.columns.clone(),
            metrics,
            spill_metrics,
        }
    }

    /// No groups yet.
    pub(super) fn states(&self, context: &TaskContext) -> Result<HashedStates> {
        Ok(HashedStates::new(
            self.aggregate.group_expr().clone(),
            self.columns.clone(),
            GroupAccumulators::new(&self.aggregate)?,
            context.memory_pool(),
        ))
    }

    fn streamed(
        &self,
        input: SendableRecordBatchStream,
        streaming: Streaming,
        metrics: BaselineMetrics,
        context: &TaskContext,
    ) -> Result<SendableRecordBatchStream> {
        let groups = self.states(context)?;
        let schema = self.aggregate.schema();
        let streamed = StreamedGroups::new(
            input,
            groups,
            streaming,
            Arc::clone(&schema),
            metrics,
            context,
        );
        let batches = stream::try_unfold(streamed, StreamedGroups::next);
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, batches)))
    }
}

/// Whether the operator can replace an aggregation.
fn is_plain(aggregate: &AggregateExec) -> bool {
    let group_by = aggregate.group_expr();
    let has_keys = !group_by.is_true_no_grouping();
    has_keys
        && groups_max(aggregate)
            .is_some_and(|max| max.is_none() || aggregate.aggr_expr().is_empty())
        && aggregate.dynamic_expressions_produced().is_empty()
        && match aggregate.input_order_mode() {
            InputOrderMode::Linear => true,
            InputOrderMode::Sorted => group_by.is_single(),
            InputOrderMode::PartiallySorted(_) => false,
        }
}

impl AggregateStandIn for HashedGroups {
    const NAME: &'static str = "HashedAggregateExec";
    const WANTS_PARTITIONS: bool = true;

    fn aggregate(&self) -> &AggregateExec {
        &self.aggregate
    }

    fn input(&self) -> &Arc<dyn ExecutionPlan> {
        self.aggregate.input()
    }

    fn over(&self, input: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
        stand_in_over(&self.aggregate, input, |aggregate| {
            Ok(self.over_aggregate(aggregate))
        })
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
        let input = self
            .aggregate
            .input()
            .execute(partition, Arc::clone(&context))?;
        let spill_metrics = SpillMetrics::new(metrics, partition);
        let metrics = BaselineMetrics::new(metrics, partition);
        let rows = self.of_rows(input, metrics.clone(), spill_metrics, context)?;
        Ok(counted_rows(rows, self.aggregate.schema(), metrics))
    }
}
