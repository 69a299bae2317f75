//! The merge of runs.
//!
//! Of each run a window is in memory: all of one that was sorted there, a batch of one on disk. A tree of losers finds the next row. Rows are put
//! together in their order by other threads, a batch each; a batch ends where a window does, as the next one has other arrays.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::interleave_record_batch;
use datafusion::common::Result;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use futures::{StreamExt, stream};
use quire_vector::LoserTree;

use super::job::{SortJob, joined, spawned};
use super::keys::SortKeyBounds;
use super::runs::SortedRows;
use super::spilled_runs::SpilledRun;

/// A run whose rows are merged.
struct RunCursor {
    window: Arc<SortedRows>,
    /// The next row of the window. Behind the last one when the run is at its end.
    row: usize,
    /// Where the next window comes from.
    left: Option<SendableRecordBatchStream>,
}

impl RunCursor {
    fn is_at_end_of_window(&self) -> bool {
        self.row == self.window.rows.num_rows()
    }

    fn is_before(&self, other: &Self) -> bool {
        if self.is_at_end_of_window() || other.is_at_end_of_window() {
            return !self.is_at_end_of_window();
        }
        let (keys, others) = (&self.window.keys, &other.window.keys);
        keys.compare(self.row, others, other.row).is_lt()
    }
}

/// Runs of which the rows come in order.
pub(super) struct RunMerge {
    job: Arc<SortJob>,
    /// Of the keys in all runs.
    bounds: Vec<SortKeyBounds>,
    cursors: Vec<RunCursor>,
    /// Built with the first row.
    tree: Option<LoserTree>,
    /// Rows that are still wanted.
    wanted: usize,
    _memory: Vec<MemoryReservation>,
}

impl RunMerge {
    /// `memory` is what the runs take. It is given back when there are no rows to come.
    pub(super) fn new(
        job: Arc<SortJob>,
        bounds: Vec<SortKeyBounds>,
        memory: Vec<MemoryReservation>,
    ) -> Self {
        Self {
            wanted: job.limit.unwrap_or(usize::MAX),
            job,
            bounds,
            cursors: Vec::new(),
            tree: None,
            _memory: memory,
        }
    }

    pub(super) fn add_sorted(&mut self, run: SortedRows) {
        self.cursors.push(RunCursor {
            window: Arc::new(run),
            row: 0,
            left: None,
        });
    }

    pub(super) fn add_spilled(&mut self, run: &SpilledRun) -> Result<()> {
        let empty = RecordBatch::new_empty(Arc::clone(&self.job.schema));
        let empty = SortedRows::of_ordered(&self.job, empty, &self.bounds)?;
        self.cursors.push(RunCursor {
            window: Arc::new(empty),
            row: 0,
            left: run.read(&self.job)?,
        });
        Ok(())
    }

    /// The rows in order.
    pub(super) fn rows(self) -> SendableRecordBatchStream {
        let (schema, threads) = (Arc::clone(&self.job.schema), self.job.threads);
        let elapsed = self.job.elapsed.clone();
        let merged = stream::try_unfold(self, |mut merge| async move {
            let rows = merge.next().await?;
            Ok(rows.map(|rows| (rows, merge)))
        });
        let gathered = merged.map(move |rows: Result<MergedRows>| {
            let elapsed = elapsed.clone();
            joined(spawned(async move {
                let rows = rows?;
                let _timed = elapsed.timer();
                rows.gathered()
            }))
        });
        let gathered = gathered.buffered(threads);
        Box::pin(RecordBatchStreamAdapter::new(schema, gathered))
    }

    /// The next rows; nothing at the end.
    async fn next(&mut self) -> Result<Option<MergedRows>> {
        let rows_max = self.job.batch_rows.min(self.wanted);
        if rows_max == 0 {
            return Ok(None);
        }
        let Some(mut tree) = self.tree_of_next().await? else {
            return Ok(None);
        };
        let _timed = self.job.elapsed.timer();
        let mut places = Vec::with_capacity(rows_max);
        loop {
            let run = tree.winner();
            let cursor = &mut self.cursors[run];
            if cursor.is_at_end_of_window() {
                break;
            }
            places.push((run, cursor.row));
            cursor.row += 1;
            let is_waiting = cursor.is_at_end_of_window() && cursor.left.is_some();
            if is_waiting || places.len() == rows_max {
                break;
            }
            tree.replay(|one, other| self.is_before(one, other));
        }
        self.tree = Some(tree);
        self.wanted -= places.len();
        let windows = self.cursors.iter();
        let windows = windows.map(|cursor| Arc::clone(&cursor.window)).collect();
        Ok((!places.is_empty()).then_some(MergedRows { windows, places }))
    }

    /// The tree whose winner is the run of the next row. The last winner's row has been taken.
    async fn tree_of_next(&mut self) -> Result<Option<LoserTree>> {
        if let Some(mut tree) = self.tree.take() {
            self.load_window(tree.winner()).await?;
            tree.replay(|one, other| self.is_before(one, other));
            return Ok(Some(tree));
        }
        for run in 0..self.cursors.len() {
            self.load_window(run).await?;
        }
        let run_count = self.cursors.len();
        Ok((run_count > 0).then(|| LoserTree::new(run_count, |a, b| self.is_before(a, b))))
    }

    /// Reads the next window of a run if the last one is at its end.
    async fn load_window(&mut self, run: usize) -> Result<()> {
        let cursor = &mut self.cursors[run];
        while cursor.is_at_end_of_window()
            && let Some(left) = &mut cursor.left
        {
            let Some(rows) = left.next().await.transpose()? else {
                cursor.left = None;
                break;
            };
            let window = SortedRows::of_ordered(&self.job, rows, &self.bounds)?;
            (cursor.window, cursor.row) = (Arc::new(window), 0);
        }
        Ok(())
    }

    /// Of equal rows those of the first run come first.
    fn is_before(&self, one: usize, other: usize) -> bool {
        let (one_run, other_run) = (&self.cursors[one], &self.cursors[other]);
        if one < other {
            !other_run.is_before(one_run)
        } else {
            one_run.is_before(other_run)
        }
    }
}

/// Rows of the windows of runs.
struct MergedRows {
    windows: Vec<Arc<SortedRows>>,
    /// The run and the row of each.
    places: Vec<(usize, usize)>,
}

impl MergedRows {
    fn gathered(&self) -> Result<RecordBatch> {
        let windows = self.windows.iter().map(|window| &window.rows);
        let windows: Vec<&RecordBatch> = windows.collect();
        Ok(interleave_record_batch(&windows, &self.places)?)
    }
}
