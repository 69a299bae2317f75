//! Runs on disk.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::common::Result;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::spill_file::SpillFile;
use futures::{Stream, StreamExt};

use super::job::SortJob;
use super::keys::SortKeyBounds;
use super::runs::SortedRows;
use crate::optimize::spilled_parts::value_bytes;

/// About so many bytes are written, and read back, at a time.
const BATCH_BYTES: usize = 256 << 10;
/// While a run is merged there are a batch of it, the next ones that have been read ahead, and the words of its keys.
const BATCHES_READ: usize = 4;

/// A run of rows in order.
pub(super) struct SpilledRun {
    /// Nothing if it has no rows.
    file: Option<Arc<dyn SpillFile>>,
    bounds: Vec<SortKeyBounds>,
    batch_bytes_max: usize,
}

impl SpilledRun {
    pub(super) fn bounds(&self) -> &[SortKeyBounds] {
        &self.bounds
    }

    /// What it takes in memory while it is merged.
    pub(super) fn merge_bytes(&self) -> usize {
        BATCHES_READ * self.batch_bytes_max
    }

    pub(super) fn read(&self, job: &SortJob) -> Result<Option<SendableRecordBatchStream>> {
        let file = self.file.as_ref();
        file.map(|file| job.spill.read_spill_as_stream(Arc::clone(file), None))
            .transpose()
    }

    /// Writes rows that were sorted in memory.
    pub(super) async fn of_rows(
        job: &SortJob,
        sorted: SortedRows,
        bounds: Vec<SortKeyBounds>,
    ) -> Result<Self> {
        let rows = futures::stream::iter([Ok(sorted.rows)]);
        Self::of_batches(job, rows, bounds).await
    }

    /// Writes batches that are in order, in parts of about [`BATCH_BYTES`].
    pub(super) async fn of_batches(
        job: &SortJob,
        batches: impl Stream<Item = Result<RecordBatch>>,
        bounds: Vec<SortKeyBounds>,
    ) -> Result<Self> {
        let mut batches = std::pin::pin!(batches);
        let mut file = job.spill.create_in_progress_file("sorted rows")?;
        let mut batch_bytes_max = 0;
        while let Some(batch) = batches.next().await.transpose()? {
            let (row_count, rows_max) = (batch.num_rows(), written_rows(job, &batch));
            for start in (0..row_count).step_by(rows_max) {
                let rows = batch.slice(start, rows_max.min(row_count - start));
                let written = file.append_batch(&rows)?;
                batch_bytes_max = batch_bytes_max.max(written);
                // A cancelled statement ends here.
                tokio::task::yield_now().await;
            }
        }
        Ok(Self {
            file: file.finish()?,
            bounds,
            batch_bytes_max,
        })
    }
}

/// How many rows of a batch are written at a time.
fn written_rows(job: &SortJob, rows: &RecordBatch) -> usize {
    let bytes: usize = rows.columns().iter().map(value_bytes).sum();
    let row_bytes = bytes / rows.num_rows().max(1);
    (BATCH_BYTES / row_bytes.max(1)).clamp(1, job.batch_rows)
}
