//! The rows of one partition.

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

pub(super) struct RowStream {
    scan: RowScan,
    /// For each output, the column of the scan.
    order: Vec<usize>,
    schema: SchemaRef,
    /// Rows that may still come.
    left: usize,
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
            left: usize::MAX,
            work: None,
            metrics,
        })
    }

    pub(super) fn limited(self, limit: Option<usize>) -> Self {
        let left = limit.unwrap_or(usize::MAX);
        Self { left, ..self }
    }

    /// Begins it, with its rows counted.
    pub(super) fn counted(self, work: Option<Arc<StatementWork>>) -> SendableRecordBatchStream {
        Box::pin(cooperative(Self { work, ..self }))
    }

    fn next_batch(&mut self) -> Result<Option<RecordBatch>> {
        if self.left == 0 {
            return Ok(None);
        }
        let Some(batch) = self.scan.next_batch().map_err(external)? else {
            self.left = 0;
            return Ok(None);
        };
        if let Some(work) = &self.work {
            work.note_read(batch.num_rows() as u64, 0);
        }
        let row_count = batch.num_rows().min(self.left);
        self.left -= row_count;
        let columns = self
            .order
            .iter()
            .map(|column| batch.column(*column).slice(0, row_count));
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
