//! Rows that are kept in memory for several readers.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use futures::{Stream, StreamExt, stream};

/// Whether an error says that there is no memory: what needs less may be tried.
pub fn is_out_of_memory(error: &DataFusionError) -> bool {
    matches!(error.find_root(), DataFusionError::ResourcesExhausted(_))
}

/// Rows, and the memory that is counted for them.
#[derive(Debug)]
pub(super) struct MaterializedRows {
    batches: Vec<RecordBatch>,
    _memory: MemoryReservation,
}

impl MaterializedRows {
    /// The rows of a plan. Of its columns more may be known than `schema` says: that they are without NULLs.
    pub(super) async fn of(
        plan: Arc<dyn ExecutionPlan>,
        schema: &SchemaRef,
        context: Arc<TaskContext>,
    ) -> Result<Self> {
        let memory = MemoryConsumer::new("shared rows").register(context.memory_pool());
        let mut rows = execute_stream(plan, context)?;
        let mut batches = Vec::new();
        while let Some(batch) = rows.next().await {
            let batch = batch?;
            memory.try_grow(batch.get_array_memory_size())?;
            batches.push(batch.with_schema(Arc::clone(schema))?);
        }
        Ok(Self {
            batches,
            _memory: memory,
        })
    }

    /// The rows, for one reader.
    pub(super) fn read(&self) -> impl Stream<Item = Result<RecordBatch, DataFusionError>> + use<> {
        stream::iter(self.batches.clone()).map(Ok)
    }
}
