//! The groups of a partition that has all rows of each of its groups.
//!
//! Groups that do not fit into memory are split by a hash of their keys into parts in temporary files, as the sides of a join are
//! ([`crate::optimize::spilled_parts`]), and begun anew with the next rows; then the states of each part are put together by themselves (G. Graefe, *Query evaluation
//! techniques for large databases*, 1993, §4.2: hybrid hash aggregation, but that no part stays in memory).

use std::sync::Arc;

use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, PhysicalGroupBy};
use datafusion::physical_plan::metrics::{BaselineMetrics, SpillMetrics};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};

use super::hashed_states::{HashedStates, Taken};
use super::streamed::groups_max;
use crate::optimize::group_accumulators::GroupAccumulators;
use crate::optimize::packed_keys::PackedKeys;
use crate::optimize::spilled_parts::{LEVELS_MAX, PartSplit, PartsWriter, SpilledPart};

/// Bytes of states that wait to be written, in all parts.
const WAITING_BYTES_MAX: usize = 1 << 20;

/// What is aggregated, and how.
#[derive(Clone)]
pub(super) struct WholeGroups {
    pub(super) aggregate: Arc<AggregateExec>,
    pub(super) columns: PackedKeys,
    pub(super) metrics: BaselineMetrics,
    pub(super) spill_metrics: SpillMetrics,
}

impl WholeGroups {
    /// The results for all groups of the aggregation's input.
    pub(super) fn of_input(
        self,
        input: SendableRecordBatchStream,
        context: Arc<TaskContext>,
    ) -> BoxFuture<'static, Result<SendableRecordBatchStream>> {
        async move {
            let group_by = self.aggregate.group_expr().clone();
            let accumulators = GroupAccumulators::new(&self.aggregate)?;
            let groups = self.groups(group_by, accumulators, &context);
            self.results(groups, input, 0, context).await
        }
        .boxed()
    }

    /// The results for the groups of a part. Boxed, as a part may be split again.
    fn of_part(
        self,
        part: SpilledPart,
        level: u64,
        context: Arc<TaskContext>,
    ) -> BoxFuture<'static, Result<SendableRecordBatchStream>> {
        async move {
            let accumulators = GroupAccumulators::of_states(&self.aggregate)?;
            let group_by = self.aggregate.group_expr().as_final();
            let groups = self.groups(group_by, accumulators, &context);
            self.results(groups, part.read()?, level, context).await
        }
        .boxed()
    }

    fn groups(
        &self,
        group_by: PhysicalGroupBy,
        accumulators: GroupAccumulators,
        context: &TaskContext,
    ) -> HashedStates {
        HashedStates::new(
            group_by,
            self.columns.clone(),
            accumulators,
            context.memory_pool(),
        )
    }

    async fn results(
        self,
        mut groups: HashedStates,
        mut input: SendableRecordBatchStream,
        level: u64,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let batch_rows = context.session_config().batch_size();
        let elapsed = self.metrics.elapsed_compute().clone();
        let mut parts: Option<PartsWriter> = None;
        while let Some(batch) = input.next().await {
            let _timed = elapsed.timer();
            groups.add(&batch?)?;
            let is_enough = groups_max(&self.aggregate).flatten();
            if parts.is_none() && is_enough.is_some_and(|max| groups.group_count() >= max) {
                break;
            }
            match groups.reserve() {
                Ok(()) => {}
                Err(error) if level >= LEVELS_MAX => return Err(error),
                Err(_) => {
                    let parts = match &mut parts {
                        Some(parts) => parts,
                        None => parts.insert(self.split(level)?.writer(&context)),
                    };
                    self.spill(&mut groups, batch_rows, parts)?;
                }
            }
        }
        let schema = input.schema();
        drop(input);
        let _timed = elapsed.timer();
        groups.add_groups_without_rows(&schema)?;
        let Some(mut parts) = parts else {
            let taken = groups.take(Taken::Results, &self.aggregate.schema(), batch_rows)?;
            let batches = stream::iter(taken.into_iter().flatten());
            return Ok(Box::pin(RecordBatchStreamAdapter::new(
                self.aggregate.schema(),
                batches,
            )));
        };
        self.spill(&mut groups, batch_rows, &mut parts)?;
        drop(groups);
        Ok(self.of_parts(parts.finish()?, level + 1, context))
    }

    /// The results for the groups of parts, one after the other.
    pub(super) fn of_parts(
        self,
        parts: Vec<SpilledPart>,
        level: u64,
        context: Arc<TaskContext>,
    ) -> SendableRecordBatchStream {
        let schema = self.aggregate.schema();
        let parts = stream::iter(parts.into_iter().map(Ok));
        let results =
            parts.and_then(move |part| self.clone().of_part(part, level, Arc::clone(&context)));
        Box::pin(RecordBatchStreamAdapter::new(schema, results.try_flatten()))
    }

    /// Moves all groups into the parts.
    fn spill(
        &self,
        groups: &mut HashedStates,
        batch_rows: usize,
        parts: &mut PartsWriter,
    ) -> Result<()> {
        let taken = groups.take(Taken::States, &self.state_schema()?, batch_rows)?;
        taken
            .into_iter()
            .flatten()
            .try_for_each(|batch| parts.write(&batch?))
    }

    /// How states are split into parts.
    pub(super) fn split(&self, level: u64) -> Result<PartSplit> {
        Ok(PartSplit {
            schema: self.state_schema()?,
            keys: self.aggregate.output_group_expr(),
            level,
            metrics: self.spill_metrics.clone(),
            waiting_bytes_max: WAITING_BYTES_MAX,
        })
    }

    /// The keys and the states of groups, whatever the mode of the aggregation.
    pub(super) fn state_schema(&self) -> Result<SchemaRef> {
        let input = self.aggregate.input().schema();
        let keys = self.aggregate.group_expr().group_schema(&input)?;
        let mut fields = keys.fields().to_vec();
        for aggregate in self.aggregate.aggr_expr() {
            fields.extend(aggregate.state_fields()?);
        }
        Ok(Arc::new(Schema::new(fields)))
    }
}
