//! A running scan: what its partitions share, and the rows of one of them.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::{RecordBatchStream, SendableRecordBatchStream};
use datafusion::physical_plan::coop::cooperative;
use datafusion::physical_plan::metrics::{
    BaselineMetrics, ExecutionPlanMetricsSet, Gauge, MetricBuilder,
};
use futures::Stream;
use quire_tables::{ScanError, ScanReader, SharedTableScan};

use quire_error::Error;

/// The engine's scan of one execution, common to its partitions.
pub(super) struct SharedScan {
    scan: std::result::Result<Arc<SharedTableScan>, Arc<DataFusionError>>,
    gauges: Gauges,
}

impl SharedScan {
    pub(super) fn new(
        scan: std::result::Result<Arc<SharedTableScan>, ScanError>,
        metrics: &ExecutionPlanMetricsSet,
        filters_received: usize,
    ) -> Self {
        let scan = scan.map_err(|error| Arc::new(external(error)));
        let gauges = Gauges::new(metrics);
        gauges.filters_received.set_max(filters_received);
        Self { scan, gauges }
    }

    /// The rows of a further partition.
    pub(super) fn open(
        self: Arc<Self>,
        schema: SchemaRef,
        metrics: BaselineMetrics,
    ) -> Result<SendableRecordBatchStream> {
        let scan = Arc::clone(self.scan()?);
        let reader = scan.reader();
        Ok(Box::pin(cooperative(ScanStream {
            reader,
            scan,
            shared: self,
            schema,
            metrics,
        })))
    }

    /// A reader for an operator that computes on vectors.
    pub(super) fn reader(&self) -> Result<ScanReader> {
        Ok(self.scan()?.reader())
    }

    /// Shows what was read so far.
    pub(super) fn record(&self) {
        if let Ok(scan) = &self.scan {
            self.gauges.record(scan);
        }
    }

    fn scan(&self) -> Result<&Arc<SharedTableScan>> {
        let scan = self.scan.as_ref();
        scan.map_err(|error| DataFusionError::Shared(Arc::clone(error)))
    }
}

pub(super) fn external(error: ScanError) -> DataFusionError {
    DataFusionError::External(Box::new(Error::from(error)))
}

/// What `EXPLAIN ANALYZE` shows of a scan.
struct Gauges {
    bytes_read: Gauge,
    vectors_decoded: Gauge,
    vectors_tested: Gauge,
    groups_scanned: Gauge,
    groups_pruned: Gauge,
    disk_bytes: Gauge,
    disk_requests: Gauge,
    io_wait_us: Gauge,
    decode_us: Gauge,
    decoded_bytes: Gauge,
    pool_hits: Gauge,
    pool_misses: Gauge,
    /// Filters of operators above: of joins, and of the first rows in an order.
    filters_received: Gauge,
}

impl Gauges {
    fn new(metrics: &ExecutionPlanMetricsSet) -> Self {
        let gauge = |name: &'static str| MetricBuilder::new(metrics).global_gauge(name);
        Self {
            bytes_read: gauge("bytes_read"),
            vectors_decoded: gauge("vectors_decoded"),
            vectors_tested: gauge("vectors_tested"),
            groups_scanned: gauge("groups_scanned"),
            groups_pruned: gauge("groups_pruned"),
            disk_bytes: gauge("disk_bytes"),
            disk_requests: gauge("disk_requests"),
            io_wait_us: gauge("io_wait_us"),
            decode_us: gauge("decode_us"),
            decoded_bytes: gauge("decoded_bytes"),
            pool_hits: gauge("pool_hits"),
            pool_misses: gauge("pool_misses"),
            filters_received: gauge("filters_received"),
        }
    }

    fn record(&self, scan: &SharedTableScan) {
        let statistics = scan.statistics();
        let set = |gauge: &Gauge, value: u64| {
            gauge.set_max(usize::try_from(value).unwrap_or(usize::MAX));
        };
        set(&self.bytes_read, statistics.bytes_read);
        set(&self.vectors_decoded, statistics.vectors_decoded);
        set(&self.vectors_tested, statistics.vectors_tested);
        set(&self.groups_scanned, statistics.groups_scanned);
        set(&self.groups_pruned, statistics.groups_pruned);
        set(&self.disk_bytes, statistics.disk_bytes);
        set(&self.disk_requests, statistics.disk_requests);
        set(&self.io_wait_us, statistics.io_wait_ns / 1_000);
        set(&self.decode_us, statistics.decode_ns / 1_000);
        set(&self.decoded_bytes, statistics.decoded_bytes);
        set(&self.pool_hits, statistics.pool_hits);
        set(&self.pool_misses, statistics.pool_misses);
    }
}

/// One partition's rows.
struct ScanStream {
    reader: ScanReader,
    scan: Arc<SharedTableScan>,
    shared: Arc<SharedScan>,
    schema: SchemaRef,
    metrics: BaselineMetrics,
}

impl Stream for ScanStream {
    type Item = Result<RecordBatch>;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let stream = self.get_mut();
        let timer = stream.metrics.elapsed_compute().clone();
        let _timed = timer.timer();
        let next = stream.reader.next().map_err(external).transpose();
        let next = next.map(|batch| batch.and_then(|batch| named(batch, &stream.schema)));
        if !matches!(next, Some(Ok(_))) {
            stream.shared.gauges.record(&stream.scan);
        }
        stream.metrics.record_poll(Poll::Ready(next))
    }
}

impl RecordBatchStream for ScanStream {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }
}

/// The batch under the names of the plan.
pub(super) fn named(batch: RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    if batch.schema_ref() == schema {
        return Ok(batch);
    }
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    let columns = batch.columns().to_vec();
    Ok(RecordBatch::try_new_with_options(
        Arc::clone(schema),
        columns,
        &options,
    )?)
}
