//! The rows of a scan that are not aggregated as vectors: those of the delta, and of row groups whose keys have no codes.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::metrics::BaselineMetrics;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use futures::Stream;
use quire_tables::{ScanReader, ScanStep};

use super::super::stream::{SharedScan, external, named};
use super::fold::{VectorAggregation, VectorFold};
use super::states::StateShape;

/// Where a partition leaves the partial states of its vectors.
pub(super) type FoldedStates = Arc<Mutex<VecDeque<RecordBatch>>>;

/// One partition of a scan, whose vectors are aggregated on the way.
pub(super) struct RestRows {
    pub(super) scan: Arc<SharedScan>,
    pub(super) aggregation: VectorAggregation,
    pub(super) schema: SchemaRef,
    pub(super) states: StateShape,
    pub(super) folded: FoldedStates,
    /// Of the scan, and of the aggregation.
    pub(super) scan_metrics: BaselineMetrics,
    pub(super) metrics: BaselineMetrics,
}

impl fmt::Debug for RestRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RestRows").finish_non_exhaustive()
    }
}

impl PartitionStream for RestRows {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let schema = Arc::clone(&self.schema);
        match self.scan.reader() {
            Ok(reader) => Box::pin(RestStream {
                reader,
                fold: Some(VectorFold::new(
                    self.aggregation.clone(),
                    context.memory_pool(),
                )),
                scan: Arc::clone(&self.scan),
                schema,
                states: self.states.clone(),
                folded: Arc::clone(&self.folded),
                scan_metrics: self.scan_metrics.clone(),
                metrics: self.metrics.clone(),
            }),
            Err(error) => {
                let failed = futures::stream::iter([Err(error)]);
                Box::pin(RecordBatchStreamAdapter::new(schema, failed))
            }
        }
    }
}

struct RestStream {
    reader: ScanReader,
    /// Until the rows are at their end.
    fold: Option<VectorFold>,
    scan: Arc<SharedScan>,
    schema: SchemaRef,
    states: StateShape,
    folded: FoldedStates,
    scan_metrics: BaselineMetrics,
    metrics: BaselineMetrics,
}

impl RestStream {
    /// Whether there is more: a batch, or nothing yet.
    fn advance(&mut self) -> Result<Option<Option<RecordBatch>>> {
        let Some(fold) = &mut self.fold else {
            return Ok(None);
        };
        let step = self.reader.step().map_err(external)?;
        let batch = match step {
            ScanStep::Group(mut group) => {
                self.scan_metrics.record_output(group.row_count());
                if fold.take(&mut group).map_err(external)? {
                    let states = fold.take_states(&self.states)?;
                    leave(&self.folded, states);
                    return Ok(Some(None));
                }
                group.batch().map_err(external)?
            }
            ScanStep::Rows(batch) => {
                self.scan_metrics.record_output(batch.num_rows());
                batch
            }
            ScanStep::Nothing => return Ok(Some(None)),
            ScanStep::End => {
                self.scan.record();
                self.scan_metrics.done();
                if let Some(fold) = self.fold.take() {
                    leave(&self.folded, fold.finish(&self.states)?);
                }
                return Ok(None);
            }
        };
        named(batch, &self.schema).map(|batch| Some(Some(batch)))
    }
}

fn leave(folded: &FoldedStates, states: Vec<RecordBatch>) {
    if !states.is_empty() {
        let mut folded = folded.lock().unwrap_or_else(PoisonError::into_inner);
        folded.extend(states);
    }
}

impl Stream for RestStream {
    type Item = Result<RecordBatch>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let stream = self.get_mut();
        let elapsed = stream.metrics.elapsed_compute().clone();
        let _timed = elapsed.timer();
        match stream.advance() {
            Ok(Some(None)) => {
                // The statement may have been cancelled; other tasks of the thread wait.
                context.waker().wake_by_ref();
                Poll::Pending
            }
            Ok(Some(Some(batch))) => Poll::Ready(Some(Ok(batch))),
            Ok(None) => Poll::Ready(None),
            Err(error) => {
                stream.fold = None;
                Poll::Ready(Some(Err(error)))
            }
        }
    }
}

impl RecordBatchStream for RestStream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
