//! The rows of one partition of a plan, with the results of their functions.

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::physical_expr::window::WindowExpr;
use datafusion::physical_plan::metrics::BaselineMetrics;
use futures::StreamExt;

use super::calls::{CallState, WindowCall};
use super::held_rows::HeldRows;
use super::spans::{BatchSpans, RowSpans, SpanFinder};

pub(super) struct WindowedRows {
    input: SendableRecordBatchStream,
    has_ended: bool,
    /// With the columns of the input first.
    schema: SchemaRef,
    spans: SpanFinder,
    calls: Vec<CallState>,
    /// Whether some call needs all rows of a partition at once.
    keeps_partitions: bool,
    held: HeldRows,
    metrics: BaselineMetrics,
}

impl WindowedRows {
    /// `keys` has the keys of all calls.
    pub(super) fn new(
        input: SendableRecordBatchStream,
        schema: SchemaRef,
        keys: &dyn WindowExpr,
        calls: &[WindowCall],
        reservation: MemoryReservation,
        metrics: BaselineMetrics,
    ) -> Result<Self> {
        let compares_peers = calls.iter().any(WindowCall::compares_peers);
        let keeps_partitions = calls.iter().any(WindowCall::keeps_partitions);
        let calls = calls.iter().map(WindowCall::start);
        Ok(Self {
            input,
            has_ended: false,
            schema,
            spans: SpanFinder::new(keys, compares_peers),
            calls: calls.collect::<Result<_>>()?,
            keeps_partitions,
            held: HeldRows::new(reservation),
            metrics,
        })
    }

    /// The next rows whose results are all known.
    pub(super) async fn next(&mut self) -> Result<Option<RecordBatch>> {
        let metrics = self.metrics.clone();
        loop {
            let timed = metrics.elapsed_compute().timer();
            if let Some(batch) = self.take_known()? {
                metrics.record_output(batch.num_rows());
                return Ok(Some(batch));
            }
            self.held.keep(self.result_bytes())?;
            timed.done();
            if self.has_ended {
                return Ok(None);
            }
            let batch = self.input.next().await.transpose()?;
            let _timed = metrics.elapsed_compute().timer();
            match batch {
                Some(batch) if batch.num_rows() == 0 => {}
                Some(batch) => self.add(batch)?,
                None => self.finish()?,
            }
        }
    }

    fn add(&mut self, batch: RecordBatch) -> Result<()> {
        let spans = self.spans.find(&batch)?;
        self.advance(&batch, &spans)?;
        self.held.push(batch);
        Ok(())
    }

    fn advance(&mut self, batch: &RecordBatch, spans: &BatchSpans) -> Result<()> {
        for call in &mut self.calls {
            call.advance(batch, spans)?;
        }
        if self.keeps_partitions {
            self.end_partitions(batch, &spans.partitions)?;
        }
        Ok(())
    }

    /// Has functions computed over the partitions that end in a batch. The rows that these have in front of it are held, as no result of theirs was known.
    fn end_partitions(&mut self, batch: &RecordBatch, partitions: &RowSpans) -> Result<()> {
        let ended = partitions.segments.iter().filter(|segment| segment.ends);
        for (segment, row_count) in ended.zip(partitions.ended_rows.iter()) {
            let rows = batch.slice(segment.rows.start, segment.rows.len());
            let partition = self.held.with_last(row_count - rows.num_rows(), rows)?;
            for call in &mut self.calls {
                call.end_partition(&partition)?;
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        self.has_ended = true;
        let spans = self.spans.finish();
        let no_rows = RecordBatch::new_empty(self.input.schema());
        self.advance(&no_rows, &spans)
    }

    fn result_bytes(&self) -> usize {
        self.calls.iter().map(|call| call.results.bytes()).sum()
    }

    fn take_known(&mut self) -> Result<Option<RecordBatch>> {
        let known = self.calls.iter().map(|call| call.results.row_count());
        let Some(batch) = self.held.take(known.min().unwrap_or(0)) else {
            return Ok(None);
        };
        let row_count = batch.num_rows();
        let mut columns = batch.columns().to_vec();
        for call in &mut self.calls {
            columns.push(call.results.take(row_count)?);
        }
        let schema = self.schema.clone();
        Ok(Some(RecordBatch::try_new(schema, columns)?))
    }
}
