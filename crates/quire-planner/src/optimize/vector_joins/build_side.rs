//! The build side of a join in memory.

use std::sync::Arc;

use datafusion::arrow::array::{Array, RecordBatch};
use datafusion::arrow::buffer::NullBuffer;
use datafusion::arrow::compute::concat_batches;
use datafusion::common::utils::memory::{RecordBatchMemoryCounter, get_record_batch_memory_size};
use datafusion::common::{DataFusionError, JoinType, Result};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr_common::utils::evaluate_expressions_to_arrays;
use datafusion::physical_plan::joins::HashJoinExec;
use datafusion::physical_plan::metrics::{
    Count, ExecutionPlanMetricsSet, Gauge, MetricBuilder, Time,
};
use futures::StreamExt;
use quire_error::interruption::Interruption;
use quire_vector::GROUPS_MAX;

use super::join_index::{JoinIndex, JoinKeys};
use super::matched_rows::MatchedRows;
use super::pushed_filter::push_filter;

/// The batches of the build side, and all of them as one, are in memory at the same time.
const COPIES: usize = 2;

/// All rows of the build side, and what finds them.
pub(super) struct IndexedBuildSide {
    pub(super) batch: RecordBatch,
    pub(super) index: Arc<JoinIndex>,
    /// Of a join whose result depends on it.
    pub(super) matched: Option<MatchedRows>,
    /// Which rows have a key that is not NULL, if some do not and the join asks for it.
    pub(super) known_keys: Option<NullBuffer>,
    reservation: MemoryReservation,
}

/// Which rows of the build side an index has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BuildPart {
    /// All, for all partitions of the probe side.
    Whole,
    /// Those of a partition, for the partition of the probe side that has the same keys.
    Partition(usize),
}

impl BuildPart {
    pub(super) fn partition(self) -> usize {
        match self {
            Self::Whole => 0,
            Self::Partition(partition) => partition,
        }
    }
}

/// What is counted of a build side.
pub(super) struct BuildMetrics {
    elapsed: Time,
    rows: Count,
    bytes: Gauge,
}

impl BuildMetrics {
    pub(super) fn new(metrics: &ExecutionPlanMetricsSet, partition: usize) -> Self {
        Self {
            elapsed: MetricBuilder::new(metrics).elapsed_compute(partition),
            rows: MetricBuilder::new(metrics).counter("build_input_rows", partition),
            bytes: MetricBuilder::new(metrics).gauge("build_mem_used", partition),
        }
    }
}

impl IndexedBuildSide {
    /// Reads the build side of `join`, or a part of it. If it is the whole, the scans of the probe side drop rows without a match from now on.
    pub(super) async fn read(
        join: Arc<HashJoinExec>,
        part: BuildPart,
        keys: JoinKeys,
        metrics: BuildMetrics,
        context: Arc<TaskContext>,
    ) -> Result<Self> {
        let consumer = MemoryConsumer::new("build side of a join");
        let reservation = consumer.register(context.memory_pool());
        let mut rows = join
            .left()
            .execute(part.partition(), Arc::clone(&context))?;
        let mut batches = Vec::new();
        // Batches may be slices of the same arrays, as those of an aggregation are.
        let mut counted = RecordBatchMemoryCounter::new();
        while let Some(batch) = rows.next().await {
            let batch = batch?;
            reservation.try_grow(COPIES * counted.count_batch(&batch))?;
            metrics.rows.add(batch.num_rows());
            batches.push(batch);
        }
        drop(rows);
        let _timed = metrics.elapsed.timer();
        let side = Self::of_batches(&join, part, keys, batches, reservation, &context)?;
        metrics.bytes.add(side.reservation.size());
        Ok(side)
    }

    fn of_batches(
        join: &HashJoinExec,
        part: BuildPart,
        keys: JoinKeys,
        batches: Vec<RecordBatch>,
        reservation: MemoryReservation,
        context: &TaskContext,
    ) -> Result<Self> {
        let row_count = batches.iter().map(RecordBatch::num_rows).sum();
        if row_count >= GROUPS_MAX {
            let message = format!("a join finds no more than {GROUPS_MAX} rows, not {row_count}");
            return Err(DataFusionError::ResourcesExhausted(message));
        }
        reservation.try_grow(keys.index_bytes_max(row_count))?;
        let batch = concat_batches(&join.left().schema(), &batches)?;
        drop(batches);
        let of_build = join.on().iter().map(|(key, _)| Arc::clone(key));
        let of_build: Vec<Arc<dyn PhysicalExpr>> = of_build.collect();
        let values = evaluate_expressions_to_arrays(&of_build, &batch)?;
        let interruption = Interruption::of(context.session_config().options());
        let nulls_equal = keys.nulls_equal;
        let index = Arc::new(JoinIndex::new(keys, &values, row_count, &interruption)?);
        // Scans compare as WHERE does, to which NULL equals nothing.
        if !nulls_equal && !join.null_aware && part == BuildPart::Whole {
            push_filter(join, &index, &values, context)?;
        }
        let known_keys = values.first().filter(|_| join.null_aware);
        let side = Self {
            known_keys: known_keys.and_then(|keys| keys.nulls().cloned()),
            matched: matched_rows(join, part, &index, row_count),
            batch,
            index,
            reservation,
        };
        side.reservation.try_resize(side.allocated_bytes())?;
        Ok(side)
    }

    fn allocated_bytes(&self) -> usize {
        let matched = self
            .matched
            .as_ref()
            .map_or(0, MatchedRows::allocated_bytes);
        get_record_batch_memory_size(&self.batch) + self.index.allocated_bytes() + matched
    }

    /// Whether no row of the result can exist, whatever the probe side has.
    pub(super) fn empties(&self, kind: JoinType) -> bool {
        match kind {
            JoinType::Inner | JoinType::LeftSemi | JoinType::RightSemi => self.index.key_count == 0,
            JoinType::Left | JoinType::LeftAnti | JoinType::LeftMark => self.batch.num_rows() == 0,
            _ => false,
        }
    }
}

fn matched_rows(
    join: &HashJoinExec,
    part: BuildPart,
    index: &JoinIndex,
    row_count: usize,
) -> Option<MatchedRows> {
    let kind = join.join_type();
    if !matches!(
        kind,
        JoinType::Left
            | JoinType::Full
            | JoinType::LeftSemi
            | JoinType::LeftAnti
            | JoinType::LeftMark
    ) {
        return None;
    }
    // Of pairs the rows are known.
    let has_pairs = matches!(kind, JoinType::Left | JoinType::Full);
    let are_numbers = !has_pairs && join.filter().is_none();
    let bits = if are_numbers {
        index.key_count
    } else {
        row_count
    };
    let probes = match part {
        BuildPart::Whole => join.right().properties().partitioning.partition_count(),
        BuildPart::Partition(_) => 1,
    };
    Some(MatchedRows::new(bits, are_numbers, probes))
}
