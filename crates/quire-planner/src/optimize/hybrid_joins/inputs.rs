//! What a join reads: its build side in memory, or both sides in parts.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::utils::memory::RecordBatchMemoryCounter;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::joins::{HashJoinExec, HashJoinExecBuilder, PartitionMode};
use datafusion::physical_plan::metrics::SpillMetrics;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::future::BoxFuture;
use futures::stream::Fuse;
use futures::{FutureExt, StreamExt, TryStreamExt, stream};

use crate::optimize::batches_once::batches_once;
use crate::optimize::merge_joins::sorted_join;
use crate::optimize::spilled_parts::{LEVELS_MAX, PartSplit, SpilledPart};
use crate::optimize::vector_joins::vector_join_where_on;

/// What finds a row in a hash table, and twice, as the memory pool counts it.
const ENTRY_BYTES: usize = 80;
/// The join holds its batches, and all of them as one, until the table is built.
const COPIES: usize = 2;

/// A join, and what it may hold in memory.
#[derive(Clone)]
pub(super) struct JoinTemplate {
    pub(super) join: Arc<HashJoinExec>,
    pub(super) bytes_max: usize,
    pub(super) metrics: SpillMetrics,
}

/// The rows of both sides that have one hash of their keys.
pub(super) struct JoinPart {
    left: SpilledPart,
    right: SpilledPart,
}

/// What is known when the build side has been read.
pub(super) enum JoinInputs {
    /// It fits: the join, with that side in memory.
    InMemory(Arc<dyn ExecutionPlan>),
    /// It does not.
    Parts(Vec<JoinPart>),
}

/// The rows of a build side.
enum BuildSide {
    /// All are in memory, and give it back as the join takes them over.
    InMemory(SendableRecordBatchStream),
    /// They are more than may be held.
    TooLarge(SendableRecordBatchStream),
}

impl JoinTemplate {
    /// Reads the build side, and the probe side as well if there must be parts.
    pub(super) async fn inputs(&self, context: Arc<TaskContext>) -> Result<JoinInputs> {
        let left = self.join.left().execute(0, Arc::clone(&context))?;
        match self.build_side(left, &context).await? {
            BuildSide::InMemory(left) => {
                let children = vec![batches_once(left)?, Arc::clone(self.join.right())];
                let join = self.join.builder().with_new_children(children)?;
                let join = in_memory(join, &context)?;
                Ok(JoinInputs::InMemory(join))
            }
            BuildSide::TooLarge(left) => {
                let left = self.left_split(0).split(left, &context).await?;
                let right = self.right_parts(&context).await?;
                Ok(JoinInputs::Parts(pairs(left, right)))
            }
        }
    }

    /// The rows of a join of parts.
    pub(super) fn joined(
        &self,
        part: &JoinPart,
        level: u64,
        context: &Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let (left, right) = (part.left.read()?, part.right.read()?);
        let (template, context) = (self.clone(), Arc::clone(context));
        let rows = async move { template.streams_joined(left, right, level, context).await };
        let rows = stream::once(rows).try_flatten();
        let schema = self.join.schema();
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, rows)))
    }

    /// The rows of a join of streams, which have been split `level` times. Boxed, as parts of parts are joined by it.
    fn streams_joined(
        self,
        left: SendableRecordBatchStream,
        right: SendableRecordBatchStream,
        level: u64,
        context: Arc<TaskContext>,
    ) -> BoxFuture<'static, Result<SendableRecordBatchStream>> {
        async move {
            let left = match self.build_side(left, &context).await? {
                BuildSide::InMemory(left) => batches_once(left)?,
                BuildSide::TooLarge(left) if level >= LEVELS_MAX => {
                    // A hash does not tell these rows apart: they are sorted and merged.
                    let (left, right) = (batches_once(left)?, batches_once(right)?);
                    return execute_stream(sorted_join(&self.join, left, right)?, context);
                }
                BuildSide::TooLarge(left) => {
                    let left = self.left_split(level).split(left, &context).await?;
                    let right = self.right_split(level).split(right, &context).await?;
                    return Ok(self.parts_joined(pairs(left, right), level + 1, context));
                }
            };
            // Its own filter would be on the keys of one part.
            let join = self.join.builder().reset_state();
            let join = join
                .with_partition_mode(PartitionMode::CollectLeft)
                .recompute_properties()
                .with_new_children(vec![left, batches_once(right)?])?;
            execute_stream(in_memory(join, &context)?, context)
        }
        .boxed()
    }

    /// The rows of some parts, one after the other.
    pub(super) fn parts_joined(
        self,
        parts: Vec<JoinPart>,
        level: u64,
        context: Arc<TaskContext>,
    ) -> SendableRecordBatchStream {
        let schema = self.join.schema();
        let rows = stream::iter(parts).map(move |part| self.joined(&part, level, &context));
        let rows = rows.try_flatten();
        Box::pin(RecordBatchStreamAdapter::new(schema, rows))
    }

    /// Collects rows as long as there is memory for them and for a hash table.
    async fn build_side(
        &self,
        rows: SendableRecordBatchStream,
        context: &TaskContext,
    ) -> Result<BuildSide> {
        // Asked again behind its end.
        let mut rows = rows.fuse();
        let memory = MemoryConsumer::new("build side of a join");
        let memory = memory.with_can_spill(true).register(context.memory_pool());
        let mut batches = Vec::new();
        // Batches may be slices of the same arrays, as those of an aggregation are.
        let mut counted = RecordBatchMemoryCounter::new();
        while let Some(batch) = rows.try_next().await? {
            let bytes = COPIES * counted.count_batch(&batch) + batch.num_rows() * ENTRY_BYTES;
            batches.push((batch, bytes));
            if memory.size() + bytes > self.bytes_max || memory.try_grow(bytes).is_err() {
                return Ok(BuildSide::TooLarge(continued(batches, rows, memory)));
            }
        }
        Ok(BuildSide::InMemory(continued(batches, rows, memory)))
    }

    /// The parts of the probe side, all of whose partitions are read at the same time.
    async fn right_parts(&self, context: &Arc<TaskContext>) -> Result<Vec<SpilledPart>> {
        let right = self.join.right();
        let partitions = 0..right.properties().partitioning.partition_count();
        let tasks = partitions.map(|partition| {
            let rows = right.execute(partition, Arc::clone(context))?;
            let (split, context) = (self.right_split(0), Arc::clone(context));
            let task = async move { split.split(rows, &context).await };
            Ok(SpawnedTask::spawn(task))
        });
        let tasks = tasks.collect::<Result<Vec<_>>>()?;
        let mut parts: Vec<SpilledPart> = Vec::new();
        for task in tasks {
            let of_partition = task.join().await.map_err(|error| {
                DataFusionError::Internal(format!(
                    "the probe side of a join was not split: {error}"
                ))
            })??;
            if parts.is_empty() {
                parts = of_partition;
            } else {
                let both = parts.iter_mut().zip(of_partition);
                both.for_each(|(part, other)| part.merge(other));
            }
        }
        Ok(parts)
    }

    fn left_split(&self, level: u64) -> PartSplit {
        let keys = self.join.on().iter().map(|(left, _)| Arc::clone(left));
        self.split_of(self.join.left(), keys.collect(), level, 1)
    }

    fn right_split(&self, level: u64) -> PartSplit {
        let keys = self.join.on().iter().map(|(_, right)| Arc::clone(right));
        let threads = match level {
            0 => self
                .join
                .right()
                .properties()
                .partitioning
                .partition_count(),
            _ => 1,
        };
        self.split_of(self.join.right(), keys.collect(), level, threads)
    }

    fn split_of(
        &self,
        side: &Arc<dyn ExecutionPlan>,
        keys: Vec<Arc<dyn PhysicalExpr>>,
        level: u64,
        threads: usize,
    ) -> PartSplit {
        PartSplit {
            schema: side.schema(),
            keys,
            level,
            metrics: self.metrics.clone(),
            // A quarter of what a build side may take waits to be written.
            waiting_bytes_max: self.bytes_max / 4 / threads.max(1),
        }
    }
}

/// The join of a build side that fits into memory.
fn in_memory(join: HashJoinExecBuilder, context: &TaskContext) -> Result<Arc<dyn ExecutionPlan>> {
    vector_join_where_on(join.build_exec()?, context.session_config().options())
}

/// What has been collected, with the bytes that are held for it, and what comes behind it. Batches give their memory back as they are read.
fn continued(
    batches: Vec<(RecordBatch, usize)>,
    rest: Fuse<SendableRecordBatchStream>,
    memory: MemoryReservation,
) -> SendableRecordBatchStream {
    let schema = rest.get_ref().schema();
    let collected = stream::iter(batches).map(move |(batch, bytes)| {
        memory.shrink(bytes.min(memory.size()));
        Ok(batch)
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, collected.chain(rest)))
}

fn pairs(left: Vec<SpilledPart>, right: Vec<SpilledPart>) -> Vec<JoinPart> {
    let both = left.into_iter().zip(right);
    both.map(|(left, right)| JoinPart { left, right }).collect()
}
