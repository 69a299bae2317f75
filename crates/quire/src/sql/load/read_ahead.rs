//! The rows of a reader as a plan.

use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::common::DataFusionError;
use datafusion::datasource::provider_as_source;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{LogicalPlan, LogicalPlanBuilder};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use quire_error::Error;
use quire_files::CopyError;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::convert::convert;

/// Batches that wait for whoever inserts them.
const QUEUED_BATCHES: usize = 2;

type Batch = Result<RecordBatch, DataFusionError>;

/// What a thread has read, once.
struct ReadRows {
    schema: SchemaRef,
    batches: Mutex<Option<mpsc::Receiver<Batch>>>,
}

impl std::fmt::Debug for ReadRows {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ReadRows")
    }
}

impl PartitionStream for ReadRows {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let receiver = self
            .batches
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let stream = futures::stream::unfold(receiver, |receiver| async {
            let mut receiver = receiver?;
            let batch = receiver.recv().await?;
            Some((batch, Some(receiver)))
        });
        Box::pin(RecordBatchStreamAdapter::new(
            Arc::clone(&self.schema),
            stream,
        ))
    }
}

/// A plan of the rows of `rows`, which a thread reads as they are wanted, with the columns of `schema`. The thread gives the
/// reader back when it has ended, or when the plan's rows are no longer wanted.
pub(super) fn read_ahead<R>(
    rows: R,
    schema: &SchemaRef,
) -> Result<(LogicalPlan, JoinHandle<R>), Error>
where
    R: Iterator<Item = Result<RecordBatch, CopyError>> + Send + 'static,
{
    let nullable = |field: &Arc<datafusion::arrow::datatypes::Field>| {
        field.as_ref().clone().with_nullable(true)
    };
    let fields: Vec<_> = schema.fields().iter().map(nullable).collect();
    let schema: SchemaRef = Arc::new(datafusion::arrow::datatypes::Schema::new(fields));
    let (sender, receiver) = mpsc::channel(QUEUED_BATCHES);
    let read = ReadRows {
        schema: Arc::clone(&schema),
        batches: Mutex::new(Some(receiver)),
    };
    let table = StreamingTable::try_new(Arc::clone(&schema), vec![Arc::new(read)])?;
    let source = provider_as_source(Arc::new(table));
    let plan = LogicalPlanBuilder::scan("rows of a file", source, None)?.build()?;
    let reading = tokio::task::spawn_blocking(move || {
        let mut rows = rows;
        for batch in rows.by_ref() {
            let batch = batch
                .map_err(Error::from)
                .and_then(|batch| fitted(&batch, &schema));
            let batch = batch.map_err(DataFusionError::from);
            let is_last = batch.is_err();
            if sender.blocking_send(batch).is_err() || is_last {
                break;
            }
        }
        rows
    });
    Ok((plan, reading))
}

/// The columns of a batch in the types of the table.
fn fitted(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, Error> {
    let pairs = batch.columns().iter().zip(schema.fields());
    let columns = pairs.map(|(array, field)| convert(array, field));
    let columns = columns.collect::<Result<Vec<_>, Error>>()?;
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    Ok(RecordBatch::try_new_with_options(
        Arc::clone(schema),
        columns,
        &options,
    )?)
}
