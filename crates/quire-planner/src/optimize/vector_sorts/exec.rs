//! The operator.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::utils::memory::RecordBatchMemoryCounter;
use datafusion::common::{Result, internal_datafusion_err, internal_err};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{LexOrdering, PhysicalExpr};
use datafusion::physical_plan::execution_plan::ChildrenPropertiesMode;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::union::UnionExec;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, ReplaceChildrenOptions,
};
use futures::{StreamExt, TryStreamExt, stream};

use super::keys::KeyBounds;
use super::runs::{KeyedRows, MergedRuns, gathered};
use crate::optimize::batches_once::batches_once;

/// Batches, and all of them as one, are in memory at the same time.
const COPIES: usize = 2;
/// Bytes that a row takes beside its columns: two words, its place in the order, and what sorts them.
const ROW_BYTES: usize = 2 * 8 + 4 + 2 * 16;

/// The operator: all rows of its input in order, in one partition.
pub(super) struct VectorSortExec {
    order: LexOrdering,
    input: Arc<dyn ExecutionPlan>,
    /// DataFusion's operators with the same result.
    replaced: Arc<dyn ExecutionPlan>,
    metrics: ExecutionPlanMetricsSet,
}

impl VectorSortExec {
    pub(super) fn new(order: LexOrdering, input: Arc<dyn ExecutionPlan>) -> Result<Self> {
        Ok(Self {
            replaced: sorted_by_datafusion(&order, Arc::clone(&input)),
            order,
            input,
            metrics: ExecutionPlanMetricsSet::new(),
        })
    }
}

fn sorted_by_datafusion(
    order: &LexOrdering,
    input: Arc<dyn ExecutionPlan>,
) -> Arc<dyn ExecutionPlan> {
    let sort = SortExec::new(order.clone(), input).with_preserve_partitioning(true);
    Arc::new(SortPreservingMergeExec::new(order.clone(), Arc::new(sort)))
}

impl Debug for VectorSortExec {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("VectorSortExec")
            .field("order", &self.order)
            .finish_non_exhaustive()
    }
}

impl DisplayAs for VectorSortExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "VectorSortExec: expr=[{}]", self.order)
    }
}

impl ExecutionPlan for VectorSortExec {
    fn name(&self) -> &str {
        "VectorSortExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        self.replaced.properties()
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        for key in self.order.iter() {
            if f(&key.expr)? == TreeNodeRecursion::Stop {
                return Ok(TreeNodeRecursion::Stop);
            }
        }
        Ok(TreeNodeRecursion::Continue)
    }

    fn replace_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
        _: ReplaceChildrenOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Ok([input]) = <[_; 1]>::try_from(children) else {
            return internal_err!("a sort has one input");
        };
        Ok(Arc::new(Self::new(self.order.clone(), input)?))
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let options = ReplaceChildrenOptions::new(ChildrenPropertiesMode::Recompute);
        self.replace_children(children, options)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        if partition != 0 {
            return internal_err!("a sort has one partition, not {partition}");
        }
        let schema = self.schema();
        let output = BaselineMetrics::new(&self.metrics, partition);
        let partitions = self.input.properties().partitioning.partition_count();
        let inputs = (0..partitions).map(|partition| {
            let rows = self.input.execute(partition, Arc::clone(&context))?;
            let consumer = MemoryConsumer::new(format!("VectorSortExec[{partition}]"));
            let memory = consumer.register(context.memory_pool());
            Ok(CollectedPartition {
                batches: Vec::new(),
                left: Some(rows),
                memory,
            })
        });
        let inputs = inputs.collect::<Result<Vec<_>>>()?;
        let sort = Sort {
            order: self.order.clone(),
            schema: Arc::clone(&schema),
            output: output.clone(),
            context,
        };
        let rows = stream::once(sort.run(inputs)).try_flatten();
        let counted = rows.inspect_ok(move |batch| output.record_output(batch.num_rows()));
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, counted)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}

/// What has been read of a partition, and what is left of it: nothing, unless there is no memory for more.
struct CollectedPartition {
    batches: Vec<RecordBatch>,
    left: Option<SendableRecordBatchStream>,
    memory: MemoryReservation,
}

impl CollectedPartition {
    async fn read(mut self) -> Result<Self> {
        let mut counted = RecordBatchMemoryCounter::new();
        while let Some(rows) = &mut self.left {
            let Some(batch) = rows.next().await.transpose()? else {
                self.left = None;
                break;
            };
            let bytes = COPIES * counted.count_batch(&batch) + batch.num_rows() * ROW_BYTES;
            self.batches.push(batch);
            if self.memory.try_grow(bytes).is_err() {
                break;
            }
        }
        Ok(self)
    }

    /// Its rows for another operator, which counts them itself.
    fn into_input(self, schema: &SchemaRef) -> Result<Arc<dyn ExecutionPlan>> {
        let read = stream::iter(self.batches.into_iter().map(Ok));
        let left = stream::iter(self.left).flatten();
        let rows = RecordBatchStreamAdapter::new(Arc::clone(schema), read.chain(left));
        batches_once(Box::pin(rows))
    }
}

struct Sort {
    order: LexOrdering,
    schema: SchemaRef,
    output: BaselineMetrics,
    context: Arc<TaskContext>,
}

impl Sort {
    async fn run(self, inputs: Vec<CollectedPartition>) -> Result<SendableRecordBatchStream> {
        let read = inputs.into_iter().map(|input| spawned(input.read()));
        let inputs = all(read.collect()).await?;
        if inputs.iter().any(|input| input.left.is_some()) {
            return self.by_datafusion(inputs);
        }
        let mut memory = Vec::with_capacity(inputs.len());
        let keyed = inputs.into_iter().map(|input| {
            memory.push(input.memory);
            let (schema, order) = (Arc::clone(&self.schema), self.order.clone());
            let batches = input.batches;
            let timer = self.output.elapsed_compute().clone();
            spawned(async move {
                let _timed = timer.timer();
                KeyedRows::new(&schema, &batches, &order)
            })
        });
        let keyed = all(keyed.collect()).await?;
        let bounds = keyed.iter().map(|rows| rows.bounds().to_vec());
        let bounds: Vec<KeyBounds> = bounds
            .reduce(|one, other| one.into_iter().zip(other).map(|(a, b)| a.and(b)).collect())
            .unwrap_or_default();
        let options: Vec<SortOptions> = self.order.iter().map(|key| key.options).collect();
        let runs = keyed.into_iter().map(|rows| {
            let (options, bounds) = (options.clone(), bounds.clone());
            let timer = self.output.elapsed_compute().clone();
            spawned(async move {
                let _timed = timer.timer();
                rows.sorted(&options, &bounds)
            })
        });
        let runs = all(runs.collect()).await?;
        let merged = MergedRuns::new(runs, &options)?;
        Ok(self.gathered(merged, memory))
    }

    /// The rows as batches. While one is read, others are put together.
    fn gathered(
        self,
        mut merged: MergedRuns,
        memory: Vec<MemoryReservation>,
    ) -> SendableRecordBatchStream {
        let config = self.context.session_config();
        let (batch_rows, threads) = (config.batch_size(), config.target_partitions());
        let timer = self.output.elapsed_compute().clone();
        let batches = std::iter::from_fn(move || {
            let timed = timer.timer();
            let rows = merged.next(batch_rows);
            drop(timed);
            let (runs, timer) = (Arc::clone(merged.runs()), timer.clone());
            (!rows.is_empty()).then(|| {
                spawned(async move {
                    let _timed = timer.timer();
                    gathered(&runs, &rows)
                })
            })
        });
        let batches = stream::iter(batches).map(joined).buffered(threads.max(1));
        let batches = batches.inspect_ok(move |_| {
            // The memory is taken as long as there are batches to come.
            let _ = &memory;
        });
        Box::pin(RecordBatchStreamAdapter::new(self.schema, batches))
    }

    /// Lets DataFusion's operator sort what has been read and what is left.
    fn by_datafusion(self, inputs: Vec<CollectedPartition>) -> Result<SendableRecordBatchStream> {
        let inputs = inputs.into_iter();
        let inputs = inputs.map(|input| input.into_input(&self.schema));
        let inputs = inputs.collect::<Result<Vec<_>>>()?;
        let input = UnionExec::try_new(inputs)?;
        sorted_by_datafusion(&self.order, input).execute(0, self.context)
    }
}

fn spawned<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> SpawnedTask<Result<T>> {
    SpawnedTask::spawn(work)
}

async fn joined<T: Send + 'static>(task: SpawnedTask<Result<T>>) -> Result<T> {
    let ended = task.join().await;
    ended.map_err(|error| internal_datafusion_err!("a sort did not end: {error}"))?
}

async fn all<T: Send + 'static>(tasks: Vec<SpawnedTask<Result<T>>>) -> Result<Vec<T>> {
    let mut results = Vec::with_capacity(tasks.len());
    for task in tasks {
        results.push(joined(task).await?);
    }
    Ok(results)
}
