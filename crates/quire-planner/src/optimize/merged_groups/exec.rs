//! The operator that replaces a final aggregation of sorted partial states.

use std::fmt::{self, Formatter};
use std::sync::Arc;

use datafusion::common::Result;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::AggregateExec;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, SpillMetrics};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{StreamExt, TryStreamExt, stream};

use super::ordered_groups::OrderedGroups;
use super::runs::KeyRuns;
use crate::optimize::hashed_groups::HashedGroups;
use crate::scan::{AggregateStandIn, StandInExec, counted_rows, stand_in_over};

/// The operator.
pub(super) type MergedAggregateExec = StandInExec<MergedGroups>;

#[derive(Clone, Debug)]
pub(super) struct MergedGroups {
    /// The replaced aggregation. It runs if the states are not sorted or do not fit into memory.
    pub(super) groups: HashedGroups,
}

impl MergedGroups {
    async fn results(
        self,
        mut input: SendableRecordBatchStream,
        metrics: BaselineMetrics,
        spill_metrics: SpillMetrics,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let consumer = MemoryConsumer::new("states in the order of their keys");
        let reservation = consumer
            .with_can_spill(true)
            .register(context.memory_pool());
        let mut runs = KeyRuns::default();
        let elapsed = metrics.elapsed_compute().clone();
        let mut other = None;
        while let Some(batch) = input.next().await {
            let batch = batch?;
            let _timed = elapsed.timer();
            let bytes = batch.get_array_memory_size();
            if reservation.try_grow(bytes).is_err() {
                other = Some(batch);
                break;
            }
            other = runs.add(batch)?;
            if other.is_some() {
                break;
            }
        }
        if other.is_none() && runs.are_few_slices() {
            return Ok(self.merged(runs, reservation, metrics, &context));
        }
        // The hash aggregation frees each batch once it has read it.
        drop(reservation);
        let schema = input.schema();
        let read = runs.into_batches().chain(other).map(Ok);
        let states = stream::iter(read).chain(input);
        let states = Box::pin(RecordBatchStreamAdapter::new(schema, states));
        self.groups.of_rows(states, metrics, spill_metrics, context)
    }

    /// Merges the runs. `reservation` covers them.
    fn merged(
        self,
        runs: KeyRuns,
        reservation: MemoryReservation,
        metrics: BaselineMetrics,
        context: &TaskContext,
    ) -> SendableRecordBatchStream {
        let aggregate = Arc::clone(&self.groups.aggregate);
        let batch_rows = context.session_config().batch_size();
        let mut groups = Some(OrderedGroups::new(Arc::clone(&aggregate), batch_rows));
        let mut slices = runs.into_slices();
        let batches = std::iter::from_fn(move || {
            let _held = &reservation;
            let _timed = metrics.elapsed_compute().timer();
            loop {
                let next = match (slices.next(), &mut groups) {
                    (Some(slice), Some(groups)) => groups.add(slice),
                    (_, ended) => return ended.take()?.finish().transpose(),
                };
                if let Some(results) = next.transpose() {
                    return Some(results);
                }
            }
        });
        let batches = stream::iter(batches);
        Box::pin(RecordBatchStreamAdapter::new(aggregate.schema(), batches))
    }
}

impl AggregateStandIn for MergedGroups {
    const NAME: &'static str = "MergedAggregateExec";
    const WANTS_PARTITIONS: bool = false;

    fn aggregate(&self) -> &AggregateExec {
        &self.groups.aggregate
    }

    fn input(&self) -> &Arc<dyn ExecutionPlan> {
        self.groups.aggregate.input()
    }

    fn over(&self, input: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
        stand_in_over(&self.groups.aggregate, input, |aggregate| {
            Ok(Self {
                groups: self.groups.over_aggregate(aggregate),
            })
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
        let input = self.input().execute(partition, Arc::clone(&context))?;
        let spill_metrics = SpillMetrics::new(metrics, partition);
        let metrics = BaselineMetrics::new(metrics, partition);
        let results = self
            .clone()
            .results(input, metrics.clone(), spill_metrics, context);
        let rows = stream::once(results).try_flatten();
        let schema = self.groups.aggregate.schema();
        Ok(counted_rows(rows, schema, metrics))
    }
}
