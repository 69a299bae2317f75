//! The operator.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::common::{Result, Statistics, internal_err};
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricsSet};
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::physical_plan::statistics::StatisticsArgs;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, InputDistributionRequirements, PlanProperties,
    replace_children_if_necessary,
};
use futures::{TryStreamExt, stream};

use super::job::{SortJob, all_joined, reservation, spawned};
use super::keys::{SortKeyBounds, common_bounds};
use super::merge::RunMerge;
use super::partition::partition_runs;
use super::runs::KeyedRows;
use super::spilled_runs::SpilledRun;

/// Runs on disk that are merged at a time, at least.
const RUNS_MERGED_MIN: usize = 2;
/// At most, as each of them is an open file.
const RUNS_MERGED_MAX: usize = 256;

/// The operator: the rows of its input in order, of each partition or of all together; all of them, or the first ones.
pub(super) struct VectorSortExec {
    /// What it stands for, below a merge if it is whole.
    sort: Arc<SortExec>,
    is_whole: bool,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl VectorSortExec {
    /// A sort of each partition by itself, or of a single one.
    pub(super) fn of_partitions(sort: SortExec) -> Self {
        Self {
            properties: Arc::clone(sort.properties()),
            sort: Arc::new(sort),
            is_whole: false,
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }

    /// The same with a merge of all partitions.
    pub(super) fn merged(sort: Arc<SortExec>) -> Self {
        let (order, fetch) = (sort.expr().clone(), sort.fetch());
        let merge = SortPreservingMergeExec::new(order, Arc::clone(&sort) as _).with_fetch(fetch);
        Self {
            sort,
            is_whole: true,
            properties: Arc::clone(merge.properties()),
            metrics: ExecutionPlanMetricsSet::new(),
        }
    }

    pub(super) fn sort(&self) -> &Arc<SortExec> {
        &self.sort
    }

    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    fn with_sort(&self, sort: &Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(sort) = sort.downcast_ref::<SortExec>() else {
            return internal_err!("a sort has become {}", sort.name());
        };
        Ok(Arc::new(match self.is_whole {
            true => Self::merged(Arc::new(sort.clone())),
            false => Self::of_partitions(sort.clone()),
        }))
    }
}

impl Debug for VectorSortExec {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("VectorSortExec")
            .field("sort", &self.sort)
            .field("is_whole", &self.is_whole)
            .finish_non_exhaustive()
    }
}

impl DisplayAs for VectorSortExec {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("VectorSortExec: ")?;
        if let Some(fetch) = self.sort.fetch() {
            write!(f, "fetch={fetch}, ")?;
        }
        let scope = match !self.is_whole && self.sort.preserve_partitioning() {
            true => ", preserve_partitioning=[true]",
            false => "",
        };
        write!(f, "expr=[{}]{scope}", self.sort.expr())
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
        vec![self.sort.input()]
    }

    fn fetch(&self) -> Option<usize> {
        self.sort.fetch()
    }

    fn input_distribution_requirements(&self) -> InputDistributionRequirements {
        self.sort.input_distribution_requirements()
    }

    fn maintains_input_order(&self) -> Vec<bool> {
        vec![false]
    }

    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![self.is_whole]
    }

    fn dynamic_expressions_produced(&self) -> Vec<Arc<dyn PhysicalExpr>> {
        self.sort.dynamic_expressions_produced()
    }

    fn apply_expressions(
        &self,
        f: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        self.sort.apply_expressions(f)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let sort = Arc::clone(&self.sort) as Arc<dyn ExecutionPlan>;
        self.with_sort(&replace_children_if_necessary(sort, children)?)
    }

    fn reset_state(self: Arc<Self>) -> Result<Arc<dyn ExecutionPlan>> {
        let sort = Arc::clone(&self.sort) as Arc<dyn ExecutionPlan>;
        self.with_sort(&sort.reset_state()?)
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let input = self.sort.input();
        let partition_count = input.properties().partitioning.partition_count();
        let keeps_partitions = self.sort.preserve_partitioning();
        let partitions = match self.is_whole || !keeps_partitions {
            true => 0..partition_count,
            false => partition..partition + 1,
        };
        let schema = self.schema();
        let output = BaselineMetrics::new(&self.metrics, partition);
        let elapsed = output.elapsed_compute().clone();
        let job = SortJob::new(&self.sort, &self.metrics, elapsed, &context)?;
        let inputs = partitions.map(|partition| {
            let rows = input.execute(partition, Arc::clone(&context))?;
            let memory = reservation(&format!("partition {partition}"), &context);
            Ok((rows, memory))
        });
        let inputs = inputs.collect::<Result<Vec<_>>>()?;
        let rows = stream::once(sorted(Arc::new(job), inputs, context)).try_flatten();
        let counted = rows.inspect_ok(move |batch| output.record_output(batch.num_rows()));
        Ok(Box::pin(RecordBatchStreamAdapter::new(schema, counted)))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn statistics_from_inputs(
        &self,
        inputs: &[Arc<Statistics>],
        args: &StatisticsArgs,
    ) -> Result<Arc<Statistics>> {
        self.sort.statistics_from_inputs(inputs, args)
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
            let mut sorted = Vec::with_capacity(runs.len());
            for run in runs {
                let timed = job.elapsed.timer();
                sorted.push(run.sorted(&job, &bounds)?);
                drop(timed);
                // A cancelled statement ends here.
                tokio::task::yield_now().await;
            }
            Ok(sorted)
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
    bounds: &[SortKeyBounds],
    memory: &MemoryReservation,
) -> Result<Vec<SpilledRun>> {
    loop {
        memory.free();
        let mut fitting = 0;
        for run in runs.iter().take(RUNS_MERGED_MAX) {
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
