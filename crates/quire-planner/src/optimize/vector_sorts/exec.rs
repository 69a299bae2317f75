//! The operator.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, internal_err};
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{LexOrdering, PhysicalExpr};
use datafusion::physical_plan::execution_plan::ChildrenPropertiesMode;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties, ReplaceChildrenOptions,
};
use futures::{TryStreamExt, stream};

use super::job::{SortJob, all_joined, reservation, spawned};
use super::keys::{KeyBounds, common_bounds};
use super::merge::RunMerge;
use super::partition::partition_runs;
use super::runs::KeyedRows;
use super::spilled_runs::SpilledRun;

/// Runs on disk that are merged at a time, at least.
const RUNS_MERGED_MIN: usize = 2;

/// The operator: all rows of its input in order, in one partition.
pub(super) struct VectorSortExec {
    order: LexOrdering,
    input: Arc<dyn ExecutionPlan>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl VectorSortExec {
    pub(super) fn new(order: LexOrdering, input: Arc<dyn ExecutionPlan>) -> Result<Self> {
        Ok(Self {
            properties: Arc::clone(sorted_by_datafusion(&order, &input).properties()),
            order,
            input,
            metrics: ExecutionPlanMetricsSet::new(),
        })
    }
}

/// DataFusion's operators with the same result.
fn sorted_by_datafusion(
    order: &LexOrdering,
    input: &Arc<dyn ExecutionPlan>,
) -> SortPreservingMergeExec {
    let sort = SortExec::new(order.clone(), Arc::clone(input)).with_preserve_partitioning(true);
    SortPreservingMergeExec::new(order.clone(), Arc::new(sort))
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
        &self.properties
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
        let elapsed = output.elapsed_compute().clone();
        let order = self.order.clone();
        let job = SortJob::new(order, Arc::clone(&schema), &self.metrics, elapsed, &context);
        let partitions = self.input.properties().partitioning.partition_count();
        let inputs = (0..partitions).map(|partition| {
            let rows = self.input.execute(partition, Arc::clone(&context))?;
            Ok((
                rows,
                reservation(&format!("partition {partition}"), &context),
            ))
        });
        let inputs = inputs.collect::<Result<Vec<_>>>()?;
        let rows = stream::once(sorted(Arc::new(job), inputs, context)).try_flatten();
        let counted = rows.inspect_ok(move |batch| output.record_output(batch.num_rows()));
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, counted)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }
}

/// Reads the partitions and sorts what fits into memory, a thread each, and merges all runs.
async fn sorted(
    job: Arc<SortJob>,
    inputs: Vec<(SendableRecordBatchStream, MemoryReservation)>,
    context: Arc<TaskContext>,
) -> Result<SendableRecordBatchStream> {
    let inputs = inputs.into_iter();
    let read = inputs.map(|(rows, memory)| spawned(partition_runs(Arc::clone(&job), rows, memory)));
    let partitions = all_joined(read.collect()).await?;
    let (mut kept, mut spilled, mut memory) = (Vec::new(), Vec::new(), Vec::new());
    for partition in partitions {
        kept.push(partition.kept);
        spilled.extend(partition.spilled);
        memory.push(partition.memory);
    }
    let of_kept = kept.iter().flatten().map(KeyedRows::bounds);
    let bounds = of_kept.chain(spilled.iter().map(SpilledRun::bounds));
    let bounds = common_bounds(bounds);
    let merging = reservation("merge", &context);
    let spilled = few_enough(&job, spilled, &bounds, &merging).await?;
    memory.push(merging);
    let mut merge = RunMerge::new(Arc::clone(&job), bounds.clone(), memory);
    let sorted = kept.into_iter().map(|runs| {
        let (job, bounds) = (Arc::clone(&job), bounds.clone());
        spawned(async move {
            let _timed = job.elapsed.timer();
            let runs = runs.into_iter().map(|run| run.sorted(&job, &bounds));
            runs.collect::<Result<Vec<_>>>()
        })
    });
    for run in all_joined(sorted.collect()).await?.into_iter().flatten() {
        merge.add_sorted(run);
    }
    for run in &spilled {
        merge.add_spilled(run)?;
    }
    Ok(merge.rows())
}

/// Merges runs on disk into longer ones, until memory has place for a batch of each of them.
async fn few_enough(
    job: &Arc<SortJob>,
    mut runs: Vec<SpilledRun>,
    bounds: &[KeyBounds],
    memory: &MemoryReservation,
) -> Result<Vec<SpilledRun>> {
    loop {
        memory.free();
        let mut fitting = 0;
        for run in &runs {
            if memory.try_grow(run.merge_bytes()).is_err() {
                if fitting >= RUNS_MERGED_MIN {
                    break;
                }
                // Two runs are merged however little memory there is.
                memory.grow(run.merge_bytes());
            }
            fitting += 1;
        }
        if fitting == runs.len() {
            return Ok(runs);
        }
        let rest = runs.split_off(fitting);
        let mut merge = RunMerge::new(Arc::clone(job), bounds.to_vec(), Vec::new());
        for run in &runs {
            merge.add_spilled(run)?;
        }
        let merged = SpilledRun::of_batches(job, merge.rows(), bounds.to_vec()).await?;
        runs = rest;
        runs.push(merged);
    }
}
