//! The operator that stands for an aggregation.
//!
//! What it stands for runs instead if the memory for all possible groups is not there: it can spill.

use std::fmt::{self, Formatter};
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Result, internal_err};
use datafusion::execution::memory_pool::{MemoryPool, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::EmitTo;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet};
use futures::{StreamExt, TryStreamExt};

use super::key_places::KeyPlaces;
use super::place_range::PlaceRange;
use crate::optimize::group_accumulators::GroupAccumulators;
use crate::optimize::hashed_groups::hashed_where_on;
use crate::scan::{AggregateStandIn, StandInExec, counted_rows, reserve_share, stand_in_over};

/// The operator.
pub(super) type DirectAggregateExec = StandInExec<DirectGroups>;

#[derive(Debug)]
pub(super) struct DirectGroups {
    /// What it stands for.
    pub(super) aggregate: AggregateExec,
    pub(super) range: PlaceRange,
    /// Of the state of a group.
    pub(super) state_bytes: usize,
}

/// A place, a key, and their vectors while they grow.
const GROUP_BYTES: usize = 4 + 2 * 8;
/// One partition reserves no more than one part of so many of the memory.
const POOL_SHARES: usize = 16;
/// About what a key without a place has in a hash table.
const OTHER_BYTES: usize = 32;

impl DirectGroups {
    /// Reserves what all possible groups take; `None` if that is a large share of the memory.
    fn reserve(&self, pool: &Arc<dyn MemoryPool>) -> Option<MemoryReservation> {
        let group_bytes = GROUP_BYTES + 2 * self.state_bytes;
        let bytes = self.range.places.saturating_mul(group_bytes);
        reserve_share(pool, "groups in an array", bytes, POOL_SHARES)
    }
}

impl AggregateStandIn for DirectGroups {
    const NAME: &'static str = "DirectAggregateExec";
    const WANTS_PARTITIONS: bool = true;

    fn aggregate(&self) -> &AggregateExec {
        &self.aggregate
    }

    fn input(&self) -> &Arc<dyn ExecutionPlan> {
        self.aggregate.input()
    }

    fn over(&self, input: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
        stand_in_over(&self.aggregate, input, |aggregate| {
            Ok(Self {
                aggregate,
                range: self.range,
                state_bytes: self.state_bytes,
            })
        })
    }

    fn describe(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "places={}, ", self.range.places)
    }

    fn run(
        &self,
        metrics: &ExecutionPlanMetricsSet,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let Some(reservation) = self.reserve(context.memory_pool()) else {
            let instead = Arc::new(self.aggregate.clone());
            let instead = hashed_where_on(instead, context.session_config().options())?;
            return instead.execute(partition, context);
        };
        let batch_rows = context.session_config().batch_size();
        let mut groups = GroupStates::new(&self.aggregate, self.range, reservation)?;
        let mut input = self.aggregate.input().execute(partition, context)?;
        let metrics = BaselineMetrics::new(metrics, partition);
        let output = metrics.clone();
        let batches = futures::stream::once(async move {
            while let Some(batch) = input.next().await {
                let _timed = metrics.elapsed_compute().timer();
                groups.add(&batch?)?;
            }
            drop(input);
            let _timed = metrics.elapsed_compute().timer();
            let (whole, reservation) = groups.finish()?;
            let starts = (0..whole.num_rows()).step_by(batch_rows.max(1));
            let slices = starts.map(move |start| {
                // Its memory is held until the last slice is taken.
                let _held = &reservation;
                Ok::<_, DataFusionError>(
                    whole.slice(start, batch_rows.min(whole.num_rows() - start)),
                )
            });
            Ok::<_, DataFusionError>(futures::stream::iter(slices))
        });
        let rows = batches.try_flatten();
        Ok(counted_rows(rows, self.aggregate.schema(), output))
    }
}

/// The groups of one partition.
struct GroupStates {
    mode: AggregateMode,
    schema: SchemaRef,
    key: Arc<dyn PhysicalExpr>,
    table: KeyPlaces,
    accumulators: GroupAccumulators,
    /// The group of each row of a batch.
    groups: Vec<usize>,
    reservation: MemoryReservation,
}

impl GroupStates {
    fn new(
        aggregate: &AggregateExec,
        range: PlaceRange,
        reservation: MemoryReservation,
    ) -> Result<Self> {
        let [(key, _)] = aggregate.group_expr().expr() else {
            return internal_err!("groups in an array have one key");
        };
        Ok(Self {
            mode: *aggregate.mode(),
            schema: aggregate.schema(),
            key: Arc::clone(key),
            table: KeyPlaces::new(range.first, range.places),
            accumulators: GroupAccumulators::new(aggregate)?,
            groups: Vec::new(),
            reservation,
        })
    }

    fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        let rows = batch.num_rows();
        let keys = self.key.evaluate(batch)?.into_array(rows)?;
        let others = self.table.other_count();
        self.table.find(keys.as_ref(), &mut self.groups)?;
        let more = self.table.other_count() - others;
        self.reservation.try_grow(more * OTHER_BYTES)?;
        let count = self.table.group_count();
        let arguments = self.accumulators.arguments(batch)?;
        self.accumulators.add(&arguments, &self.groups, count)
    }

    /// All groups, and what they have reserved.
    fn finish(mut self) -> Result<(RecordBatch, MemoryReservation)> {
        let mut columns = vec![self.table.keys(self.schema.field(0).data_type())?];
        columns.extend(match self.mode {
            AggregateMode::Partial => self.accumulators.take_states(EmitTo::All)?,
            _ => self.accumulators.take_results(EmitTo::All)?,
        });
        let batch = RecordBatch::try_new(self.schema, columns)?;
        Ok((batch, self.reservation))
    }
}
