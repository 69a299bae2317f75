//! What all parts of a sort share.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::common::internal_datafusion_err;
use datafusion::common::runtime::SpawnedTask;
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::physical_expr::LexOrdering;
use datafusion::physical_expr_common::utils::evaluate_expressions_to_arrays;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, SpillMetrics, Time};
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{ExecutionPlan, SpillManager};

use super::top_rows::SortBound;
use crate::optimize::packed_keys::in_packed_types;

/// One execution of a sort.
pub(super) struct SortJob {
    pub(super) order: LexOrdering,
    /// Rows that are wanted, if not all.
    pub(super) limit: Option<usize>,
    pub(super) bound: Option<SortBound>,
    pub(super) schema: SchemaRef,
    pub(super) spill: SpillManager,
    /// Of all threads.
    pub(super) elapsed: Time,
    pub(super) batch_rows: usize,
    pub(super) threads: usize,
}

impl SortJob {
    pub(super) fn new(
        sort: &SortExec,
        metrics: &ExecutionPlanMetricsSet,
        elapsed: Time,
        context: &TaskContext,
    ) -> Result<Self> {
        let (schema, config) = (sort.schema(), context.session_config());
        let spilled = SpillMetrics::new(metrics, 0);
        let spill = SpillManager::new(context.runtime_env(), spilled, Arc::clone(&schema));
        Ok(Self {
            order: sort.expr().clone(),
            limit: sort.fetch(),
            bound: SortBound::of(sort)?,
            schema,
            spill: spill.with_compression_type(config.spill_compression()),
            elapsed,
            batch_rows: config.batch_size().max(1),
            threads: config.target_partitions().max(1),
        })
    }

    /// The keys of rows, texts as views.
    pub(super) fn keys(&self, rows: &RecordBatch) -> Result<Vec<ArrayRef>> {
        let keys = self.order.iter().map(|key| &key.expr);
        in_packed_types(evaluate_expressions_to_arrays(keys, rows)?)
    }
}

/// Memory of a part of a sort, which writes its rows to disk where it gets no more.
pub(super) fn reservation(part: &str, context: &TaskContext) -> MemoryReservation {
    let consumer = MemoryConsumer::new(format!("VectorSortExec {part}"));
    consumer
        .with_can_spill(true)
        .register(context.memory_pool())
}

/// Work of another thread, which ends with the value.
pub(super) fn spawned<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> SpawnedTask<Result<T>> {
    SpawnedTask::spawn(work)
}

pub(super) async fn joined<T: Send + 'static>(task: SpawnedTask<Result<T>>) -> Result<T> {
    let ended = task.join().await;
    ended.map_err(|error| internal_datafusion_err!("a sort did not end: {error}"))?
}

pub(super) async fn all_joined<T: Send + 'static>(
    tasks: Vec<SpawnedTask<Result<T>>>,
) -> Result<Vec<T>> {
    futures::future::try_join_all(tasks.into_iter().map(joined)).await
}
