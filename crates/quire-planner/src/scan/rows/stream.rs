//! The stream of one partition of a row table scan.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream};
use datafusion::physical_plan::coop::cooperative;
use datafusion::physical_plan::metrics::BaselineMetrics;
use futures::Stream;
use quire_kv::progress::StatementWork;
use quire_tables::{RowScan, RowScanOptions, RowTable};

use super::access::external;

/// Reads batches from a [`RowScan`] and returns their columns in output order.
pub(super) struct RowStream {
    scan: RowScan,
    /// For each output column, its index in the batches of the scan.
    order: Vec<usize>,
    schema: SchemaRef,
    /// Rows left to return; 0 at the end of the scan.
    rows_left: usize,
    /// Progress counters of the statement.
    work: Option<Arc<StatementWork>>,
    metrics: BaselineMetrics,
}

impl RowStream {
    pub(super) fn open(
        table: &Arc<RowTable>,
        options: &RowScanOptions,
        order: Vec<usize>,
        schema: SchemaRef,
        metrics: BaselineMetrics,
    ) -> Result<Self> {
        Ok(RowStream {
            scan: table.scan(options).map_err(external)?,
            order,
            schema,
            rows_left: usize::MAX,
            work: None,
            metrics,
        })
    }

    /// Returns at most `limit` rows.
    pub(super) fn with_limit(self, limit: Option<usize>) -> Self {
        let rows_left = limit.unwrap_or(usize::MAX);
        Self { rows_left, ..self }
    }

    /// Adds the rows that the scan reads to the counters of `work`.
    pub(super) fn into_stream(self, work: Option<Arc<StatementWork>>) -> SendableRecordBatchStream {
        // `poll_next` never returns `Pending`; without `cooperative` a long scan would block other tasks of its thread.
        Box::pin(cooperative(Self { work, ..self }))
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        // Also ends the stream for good: the scan is not called again after its last batch.
        if self.rows_left == 0 {
            return Ok(None);
        }
        let Some(batch) = self.scan.next_batch().map_err(external)? else {
            self.rows_left = 0;
            return Ok(None);
        };
        // Progress counts rows that were read, including those beyond the limit.
        if let Some(work) = &self.work {
            work.note_read(batch.num_rows() as u64, 0);
        }
        let row_count = batch.num_rows().min(self.rows_left);
        self.rows_left -= row_count;
        let columns = self
            .order
            .iter()
            .map(|column| batch.column(*column).slice(0, row_count));
        // A scan without columns, as for `count(*)`, has no array to take the row count from.
        let options = RecordBatchOptions::new().with_row_count(Some(row_count));
        let schema = Arc::clone(&self.schema);
        let batch = RecordBatch::try_new_with_options(schema, columns.collect(), &options)?;
        Ok(Some(batch))
    }
}

impl Stream for RowStream {
    type Item = Result<RecordBatch>;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let stream = self.get_mut();
        let timer = stream.metrics.elapsed_compute().clone();
        let _timed = timer.timer();
        let next = stream.next_batch().transpose();
        stream.metrics.record_poll(Poll::Ready(next))
    }
}

impl RecordBatchStream for RowStream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}
