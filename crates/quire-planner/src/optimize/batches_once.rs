//! Batches that an operator reads once, as the input of another operator.

use std::fmt::{self, Formatter};
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::EmptyRecordBatchStream;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};

/// An input of one partition with the rows of a stream. A second reader would find none.
pub(super) fn batches_once(rows: SendableRecordBatchStream) -> Result<Arc<dyn ExecutionPlan>> {
    let schema = rows.schema();
    let partition = Arc::new(BatchesOnce {
        schema: Arc::clone(&schema),
        rows: Mutex::new(Some(rows)),
    });
    let input = StreamingTableExec::try_new(schema, vec![partition], None, [], false, None)?;
    Ok(Arc::new(input))
}

struct BatchesOnce {
    schema: SchemaRef,
    rows: Mutex<Option<SendableRecordBatchStream>>,
}

impl fmt::Debug for BatchesOnce {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchesOnce").finish_non_exhaustive()
    }
}

impl PartitionStream for BatchesOnce {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let nothing = || Box::pin(EmptyRecordBatchStream::new(Arc::clone(&self.schema))) as _;
        rows.take().unwrap_or_else(nothing)
    }
}
