//! What becomes of a partition of the input: runs in memory, or on disk where memory is scarce.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::common::Result;
use datafusion::common::utils::memory::RecordBatchMemoryCounter;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::MemoryReservation;
use futures::StreamExt;

use super::job::SortJob;
use super::keys::SortKeyBounds;
use super::runs::KeyedRows;
use super::spilled_runs::SpilledRun;
use crate::optimize::bounded::own_rows;
use crate::optimize::spilled_parts::value_bytes;

/// Rows of a run in memory, at most, so that one of its columns is in a cache while its rows are put in order.
const RUN_ROWS_MAX: usize = 1 << 17;
/// Bytes of a run in memory, so that no array of texts has more than the offsets of Arrow can tell.
const RUN_BYTES_MAX: usize = 1 << 30;
/// Of a sort with a limit the first rows are sorted out when there are twice as many as are wanted and so many more.
const TOP_ROWS_SLACK: usize = 32;
/// Bytes that a row takes beside its columns: two words, its place in the order, and what sorts them.
const ROW_BYTES: usize = 2 * 8 + 4 + 2 * 16;

/// A partition that has been read.
pub(super) struct PartitionRuns {
    pub(super) kept: Vec<KeyedRows>,
    pub(super) spilled: Vec<SpilledRun>,
    /// Of what is kept.
    pub(super) memory: MemoryReservation,
}

/// Reads a partition.
pub(super) async fn partition_runs(
    job: Arc<SortJob>,
    mut input: SendableRecordBatchStream,
    memory: MemoryReservation,
) -> Result<PartitionRuns> {
    let mut reading = PartitionReading {
        job,
        batches: Vec::new(),
        row_count: 0,
        run_bytes: 0,
        counter: RecordBatchMemoryCounter::new(),
        runs: PartitionRuns {
            kept: Vec::new(),
            spilled: Vec::new(),
            memory,
        },
    };
    while let Some(batch) = input.next().await.transpose()? {
        if batch.num_rows() > 0 {
            let is_behind = reading.is_behind(&batch)?;
            reading.read(batch).await?;
            if is_behind {
                break;
            }
        }
    }
    reading.finish().await
}

struct PartitionReading {
    job: Arc<SortJob>,
    /// Of the next run.
    batches: Vec<RecordBatch>,
    row_count: usize,
    run_bytes: usize,
    counter: RecordBatchMemoryCounter,
    runs: PartitionRuns,
}

impl PartitionReading {
    /// Whether no row behind this batch is among the first.
    fn is_behind(&self, batch: &RecordBatch) -> Result<bool> {
        let bound = self.job.bound.as_ref();
        bound.map_or(Ok(false), |bound| bound.is_behind(batch))
    }

    /// Takes in the rows of a batch, but for those that cannot be among the first.
    async fn read(&mut self, batch: RecordBatch) -> Result<()> {
        let Some(bound) = &self.job.bound else {
            return self.push(batch).await;
        };
        let batch = bound.passing(&batch)?;
        if batch.num_rows() > 0 {
            self.push(batch).await?;
        }
        match self.job.limit {
            Some(limit) if self.row_count / 2 > limit + TOP_ROWS_SLACK => self.cut(limit),
            _ => Ok(()),
        }
    }

    async fn push(&mut self, batch: RecordBatch) -> Result<()> {
        let bytes = self.counter.count_batch(&batch) + extra_bytes(&batch);
        if self.runs.memory.try_grow(bytes).is_ok() {
            self.add(batch, bytes);
            if self.row_count >= self.run_rows_max() || self.run_bytes >= RUN_BYTES_MAX {
                self.keep()?;
            }
            return Ok(());
        }
        // The batch may refer to the rows of a whole row group.
        let own = own_rows(&batch, 0..batch.num_rows())?;
        self.counter = RecordBatchMemoryCounter::new();
        let own_bytes = own.get_array_memory_size() + extra_bytes(&own);
        if self.runs.memory.try_grow(own_bytes).is_err() {
            self.spill().await?;
            // As long as there is nothing else of this partition, a batch is not refused.
            self.runs.memory.grow(own_bytes);
        }
        self.add(own, own_bytes);
        Ok(())
    }

    /// Few rows that are wanted are sorted out before a run is long.
    fn run_rows_max(&self) -> usize {
        match self.job.limit {
            Some(limit) if limit < RUN_ROWS_MAX => usize::MAX,
            _ => RUN_ROWS_MAX,
        }
    }

    fn add(&mut self, batch: RecordBatch, bytes: usize) {
        self.row_count += batch.num_rows();
        self.run_bytes += bytes;
        self.batches.push(batch);
    }

    /// Keeps the first rows of the run alone. They are copied, as their texts may lie among those of many others.
    fn cut(&mut self, limit: usize) -> Result<()> {
        let elapsed = self.job.elapsed.clone();
        let _timed = elapsed.timer();
        let rows = KeyedRows::of_batches(&self.job, std::mem::take(&mut self.batches))?;
        let bounds = rows.bounds().to_vec();
        let first = rows.sorted(&self.job, &bounds)?.rows;
        let first = own_rows(&first, 0..first.num_rows())?;
        if let Some(bound) = &self.job.bound
            && (1..=first.num_rows()).contains(&limit)
        {
            bound.tighten(&self.job.order, &first.slice(limit - 1, 1))?;
        }
        let bytes = first.get_array_memory_size() + extra_bytes(&first);
        self.counter = RecordBatchMemoryCounter::new();
        // The rows that are wanted are not refused.
        self.runs.memory.shrink(self.run_bytes);
        self.runs.memory.grow(bytes);
        (self.row_count, self.run_bytes) = (0, 0);
        self.add(first, bytes);
        Ok(())
    }

    /// Ends a run in memory.
    fn keep(&mut self) -> Result<()> {
        let batches = std::mem::take(&mut self.batches);
        (self.row_count, self.run_bytes) = (0, 0);
        if !batches.is_empty() {
            let _timed = self.job.elapsed.timer();
            let run = KeyedRows::of_batches(&self.job, batches)?;
            self.runs.memory.grow(run.computed_bytes());
            self.runs.kept.push(run);
        }
        // It knows buffers by their addresses, which others may have now.
        self.counter = RecordBatchMemoryCounter::new();
        Ok(())
    }

    /// Writes all that is in memory, as a run each.
    async fn spill(&mut self) -> Result<()> {
        self.keep()?;
        for run in std::mem::take(&mut self.runs.kept) {
            let bounds: Vec<SortKeyBounds> = run.bounds().to_vec();
            let _timed = self.job.elapsed.timer();
            let sorted = run.sorted(&self.job, &bounds)?;
            let spilled = SpilledRun::of_rows(&self.job, sorted, bounds).await?;
            self.runs.spilled.push(spilled);
        }
        self.runs.memory.free();
        Ok(())
    }

    /// What is left is written, too, if anything was: a merge needs memory for its runs.
    async fn finish(mut self) -> Result<PartitionRuns> {
        if self.runs.spilled.is_empty() {
            self.keep()?;
        } else {
            self.spill().await?;
        }
        Ok(self.runs)
    }
}

/// What a batch takes while its run is sorted: beside its columns one of them, which is copied, and what tells its order.
fn extra_bytes(batch: &RecordBatch) -> usize {
    let columns = batch.columns().iter().map(value_bytes);
    columns.max().unwrap_or(0) + batch.num_rows() * ROW_BYTES
}
