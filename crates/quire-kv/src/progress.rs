//! The progress of a statement: counters that its threads update and that other threads read.
//!
//! The counters are always on. An update is one relaxed atomic addition per batch, leaf or vector group, never per row, so its cost is
//! negligible. Readers may poll as often as they like.
//!
//! A statement runs through phases, each with its own counters. The total of a phase is set before it begins, once for all tables that it
//! reads. If the scan of one of them may end early, or its length is unknown, there is no total: a share of a wrong total is worse
//! than none.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use thiserror::Error;

/// Stands for an unknown total.
const UNKNOWN: u64 = u64::MAX;

/// Entries that are counted one by one are added to the counters in steps of this many.
const TOLD_ROWS: u64 = 4096;

/// The statement was cancelled: SQLSTATE 57014.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("canceling statement due to user request")]
pub struct Cancelled;

/// What a statement is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Reading rows of tables, and doing with them what the query says.
    Reading,
    /// Reading a file to find the types of its columns.
    Inferring,
    /// Reading a file, or a query, and appending its rows to a table.
    Loading,
    /// Writing rows to a file.
    Exporting,
    /// Reading the rows of a table for an index.
    Indexing,
    /// Writing entries of trees, which did not come in the order of their keys, in that order.
    Sorting,
    /// Writing all rows of a table again.
    Rewriting,
    /// Writing the changed rows of a column table as row groups.
    Merging,
    /// Taking samples of a table's rows.
    Sampling,
    /// Giving space of the file back.
    Cleaning,
    /// Making the change durable.
    Committing,
}

/// The progress of a statement in its current phase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Progress {
    /// The current phase.
    pub phase: Phase,
    /// The table or index that is worked on, where it is one.
    pub subject: Option<String>,
    /// Time since the phase began.
    pub elapsed: Duration,
    /// Rows read so far, including rows skipped because their zone maps exclude them.
    pub rows_done: u64,
    /// Rows that will be read, where known. Of row tables and changed rows it is an estimate.
    pub rows_total: Option<u64>,
    /// Bytes read so far: of files, compressed bytes of column tables, pages of samples; or bytes moved within the file of the database.
    pub bytes_done: u64,
    /// Bytes that will be read, where known.
    pub bytes_total: Option<u64>,
    /// Rows that came out so far: into a table or a file, or to the caller.
    pub rows_written: u64,
    /// Bytes written to a file so far.
    pub bytes_written: u64,
}

impl Progress {
    /// The share of the input that has been read, above 0 and below 1. `None` if it is unknown, if nothing has been read yet, and once
    /// everything has been: it says nothing about work that follows, such as a sort.
    pub fn share(&self) -> Option<f64> {
        let (done, total) = match (self.rows_total, self.bytes_total) {
            (Some(total), _) => (self.rows_done, total),
            (None, Some(total)) => (self.bytes_done, total),
            (None, None) => return None,
        };
        (0 < done && done < total).then(|| done as f64 / total as f64)
    }
}

/// The counts of one statement.
#[derive(Debug, Default)]
pub struct StatementWork {
    begun: Mutex<Option<BegunPhase>>,
    has_begun: AtomicBool,
    is_committing: AtomicBool,
    rows_done: AtomicU64,
    rows_total: AtomicU64,
    bytes_done: AtomicU64,
    bytes_total: AtomicU64,
    rows_written: AtomicU64,
    bytes_written: AtomicU64,
    /// Set when the statement is to end.
    stop: Option<Arc<AtomicBool>>,
}

#[derive(Debug)]
struct BegunPhase {
    phase: Phase,
    subject: Option<String>,
    at: Instant,
}

impl StatementWork {
    /// The counts of a statement that ends when `stop` is set: long work looks at it where it counts.
    pub fn stopped_by(stop: Arc<AtomicBool>) -> Self {
        Self {
            stop: Some(stop),
            ..Self::default()
        }
    }

    /// Checks for cancellation.
    ///
    /// # Errors
    /// [`Cancelled`] if the statement is to end.
    pub fn check(&self) -> Result<(), Cancelled> {
        let is_stopped = |stop: &Arc<AtomicBool>| stop.load(Ordering::Relaxed);
        if self.stop.as_ref().is_some_and(is_stopped) {
            Err(Cancelled)
        } else {
            Ok(())
        }
    }

    /// Begins a phase, with all counts at zero.
    pub fn begin(&self, phase: Phase, subject: Option<&str>) {
        let mut begun = self.begun();
        let counts = [
            &self.rows_done,
            &self.rows_total,
            &self.bytes_done,
            &self.bytes_total,
            &self.rows_written,
            &self.bytes_written,
        ];
        for count in counts {
            count.store(0, Ordering::Relaxed);
        }
        self.is_committing.store(false, Ordering::Relaxed);
        self.has_begun.store(true, Ordering::Relaxed);
        *begun = Some(BegunPhase {
            phase,
            subject: subject.map(str::to_owned),
            at: Instant::now(),
        });
    }

    /// The table that is written again, if one is: rows go to another one meanwhile, whose name nobody knows.
    pub fn rewritten_table(&self) -> Option<String> {
        let begun = self.begun();
        let rewriting = begun.as_ref().filter(|it| it.phase == Phase::Rewriting);
        rewriting.and_then(|it| it.subject.clone())
    }

    /// The work is done but for its commit. The counts stay.
    pub fn commit(&self) {
        if self.has_begun() {
            self.is_committing.store(true, Ordering::Relaxed);
        }
    }

    /// Whether a phase has begun.
    pub fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Relaxed)
    }

    /// So many more rows and bytes will be read. If nobody knows how many rows, the phase has no total at all.
    pub fn foresee(&self, rows: Option<u64>, bytes: u64) {
        let Some(rows) = rows else {
            self.rows_total.store(UNKNOWN, Ordering::Relaxed);
            self.bytes_total.store(UNKNOWN, Ordering::Relaxed);
            return;
        };
        for (total, more) in [(&self.rows_total, rows), (&self.bytes_total, bytes)] {
            let sum = |known: u64| (more > 0).then(|| known.saturating_add(more));
            // It fails where nothing is to be added.
            let _ = total.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
        }
    }

    /// So many bytes are left to be read, whatever was foreseen before.
    pub fn foresee_left(&self, bytes: u64) {
        let done = self.bytes_done.load(Ordering::Relaxed);
        self.bytes_total
            .store(done.saturating_add(bytes), Ordering::Relaxed);
    }

    /// So many more rows and bytes have been read.
    pub fn note_read(&self, rows: u64, bytes: u64) {
        self.rows_done.fetch_add(rows, Ordering::Relaxed);
        if bytes > 0 {
            self.bytes_done.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// So many more rows and bytes have come out.
    pub fn note_written(&self, rows: u64, bytes: u64) {
        self.rows_written.fetch_add(rows, Ordering::Relaxed);
        if bytes > 0 {
            self.bytes_written.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// How far it has come; nothing before the first phase.
    pub fn progress(&self) -> Option<Progress> {
        let begun = self.begun();
        let begun = begun.as_ref()?;
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        let total =
            |total: &AtomicU64| Some(count(total)).filter(|rows| !matches!(*rows, 0 | UNKNOWN));
        Some(Progress {
            phase: if self.is_committing.load(Ordering::Relaxed) {
                Phase::Committing
            } else {
                begun.phase
            },
            subject: begun.subject.clone(),
            elapsed: begun.at.elapsed(),
            rows_done: count(&self.rows_done),
            rows_total: total(&self.rows_total),
            bytes_done: count(&self.bytes_done),
            bytes_total: total(&self.bytes_total),
            rows_written: count(&self.rows_written),
            bytes_written: count(&self.bytes_written),
        })
    }

    fn begun(&self) -> MutexGuard<'_, Option<BegunPhase>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Rows that come one by one.
pub struct RowProgress<'w> {
    work: Option<&'w StatementWork>,
    rows: u64,
}

impl<'w> RowProgress<'w> {
    pub fn new(work: Option<&'w StatementWork>) -> Self {
        Self { work, rows: 0 }
    }

    /// Counts one more.
    ///
    /// # Errors
    /// The statement is to end.
    pub fn count(&mut self) -> Result<(), Cancelled> {
        self.rows += 1;
        if self.rows == TOLD_ROWS {
            self.tell();
            self.work.map_or(Ok(()), StatementWork::check)?;
        }
        Ok(())
    }

    fn tell(&mut self) {
        let rows = std::mem::take(&mut self.rows);
        if let Some(work) = self.work {
            work.note_read(rows, 0);
        }
    }
}

impl Drop for RowProgress<'_> {
    fn drop(&mut self) {
        self.tell();
    }
}

#[cfg(test)]
mod tests {
    use super::{Phase, RowProgress, StatementWork, TOLD_ROWS};

    #[test]
    fn counts_belong_to_a_phase() {
        let work = StatementWork::default();
        assert_eq!(work.progress(), None);
        work.begin(Phase::Reading, None);
        work.foresee(Some(100), 0);
        work.foresee(Some(300), 0);
        work.note_read(100, 7);
        work.note_written(3, 0);
        let first = work.progress().unwrap();
        assert_eq!((first.rows_done, first.rows_total), (100, Some(400)));
        assert_eq!((first.bytes_done, first.bytes_total), (7, None));
        assert_eq!(first.rows_written, 3);
        assert_eq!(first.share(), Some(0.25));
        work.begin(Phase::Sorting, Some("an index"));
        let second = work.progress().unwrap();
        assert_eq!((second.phase, second.rows_done), (Phase::Sorting, 0));
        assert_eq!(second.subject.as_deref(), Some("an index"));
        assert_eq!((second.rows_total, second.rows_written), (None, 0));
    }

    #[test]
    fn files_have_totals_of_bytes() {
        let work = StatementWork::default();
        work.begin(Phase::Loading, None);
        for _ in 0..2 {
            work.foresee(Some(0), 100);
            work.note_read(5, 50);
        }
        let both = work.progress().unwrap();
        assert_eq!((both.rows_done, both.rows_total), (10, None));
        assert_eq!((both.bytes_done, both.bytes_total), (100, Some(200)));
        assert_eq!(both.share(), Some(0.5));
    }

    #[test]
    fn there_is_no_share_of_what_is_unknown_nothing_or_all() {
        let work = StatementWork::default();
        work.begin(Phase::Reading, None);
        work.foresee(Some(10), 0);
        assert_eq!(work.progress().unwrap().share(), None);
        work.note_read(10, 0);
        assert_eq!(work.progress().unwrap().share(), None);
        work.note_read(1, 0);
        assert_eq!(work.progress().unwrap().share(), None);
        work.begin(Phase::Reading, None);
        work.foresee(None, 0);
        work.foresee(Some(10), 10);
        work.note_read(5, 5);
        let progress = work.progress().unwrap();
        assert_eq!((progress.rows_total, progress.bytes_total), (None, None));
        assert_eq!(progress.share(), None);
    }

    #[test]
    fn what_is_left_replaces_what_was_foreseen() {
        let work = StatementWork::default();
        work.begin(Phase::Cleaning, None);
        work.foresee_left(100);
        work.note_read(0, 20);
        assert_eq!(work.progress().unwrap().share(), Some(0.2));
        work.foresee_left(20);
        assert_eq!(work.progress().unwrap().share(), Some(0.5));
        work.foresee_left(0);
        assert_eq!(work.progress().unwrap().share(), None);
    }

    #[test]
    fn a_table_is_rewritten_in_its_phase_only() {
        let work = StatementWork::default();
        assert_eq!(work.rewritten_table(), None);
        work.begin(Phase::Rewriting, Some("r"));
        assert_eq!(work.rewritten_table().as_deref(), Some("r"));
        work.begin(Phase::Loading, Some("r"));
        assert_eq!(work.rewritten_table(), None);
    }

    #[test]
    fn a_commit_keeps_the_counts_of_what_it_commits() {
        let work = StatementWork::default();
        work.commit();
        assert!(!work.has_begun());
        work.begin(Phase::Loading, None);
        work.note_read(4, 0);
        work.commit();
        let progress = work.progress().unwrap();
        assert_eq!((progress.phase, progress.rows_done), (Phase::Committing, 4));
    }

    #[test]
    fn rows_that_come_one_by_one_are_all_told() {
        let work = StatementWork::default();
        work.begin(Phase::Sorting, None);
        let mut count = RowProgress::new(Some(&work));
        for _ in 0..TOLD_ROWS + 5 {
            count.count().unwrap();
        }
        assert_eq!(work.progress().unwrap().rows_done, TOLD_ROWS);
        drop(count);
        assert_eq!(work.progress().unwrap().rows_done, TOLD_ROWS + 5);
    }
}
