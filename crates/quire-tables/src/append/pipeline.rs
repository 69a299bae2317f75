//! Worker threads that encode row groups, a column at a time.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use quire_format::row_group::RowGroup;

use super::cutter::RowGroupRows;
use super::encode::{EncodedColumn, EncodedRowGroup, Encoder};
use crate::error::TableAppendError;

/// The workers of one append, their queue and what they finished.
pub(super) struct AppendPipeline {
    shared: Arc<SharedAppend>,
    threads: Vec<JoinHandle<()>>,
}

struct SharedAppend {
    encoder: Arc<Encoder>,
    state: Mutex<AppendState>,
    /// Signalled at every change of the state.
    changed: Condvar,
}

#[derive(Default)]
struct AppendState {
    tasks: VecDeque<Task>,
    /// Row groups submitted and not yet written.
    in_work: usize,
    finished: Vec<(usize, EncodedRowGroup)>,
    /// The first error; the workers stop then.
    error: Option<TableAppendError>,
    /// No more row groups will be submitted.
    closed: bool,
}

/// One column of a row group.
struct Task {
    job: Arc<Job>,
    column: usize,
    /// The segment of the column that this one may be a map from.
    leader: Option<Arc<[u8]>>,
}

/// A row group in work.
struct Job {
    sequence: usize,
    rows: RowGroupRows,
    /// One per column, as they are finished.
    columns: Mutex<Vec<Option<EncodedColumn>>>,
}

impl AppendPipeline {
    pub(super) fn start(encoder: Arc<Encoder>, workers: usize) -> Result<Self, TableAppendError> {
        let state = Mutex::new(AppendState::default());
        let shared = Arc::new(SharedAppend {
            encoder,
            state,
            changed: Condvar::new(),
        });
        let mut pipeline = AppendPipeline {
            shared,
            threads: Vec::with_capacity(workers),
        };
        for _ in 0..workers {
            let shared = Arc::clone(&pipeline.shared);
            let thread = std::thread::Builder::new()
                .name("quire-encode".to_owned())
                .spawn(move || shared.work())
                .map_err(|error| TableAppendError::Worker(error.to_string()))?;
            pipeline.threads.push(thread);
        }
        Ok(pipeline)
    }

    /// Queues a row group; waits while one more than there are workers is in work.
    pub(super) fn submit(
        &self,
        sequence: usize,
        rows: RowGroupRows,
    ) -> Result<(), TableAppendError> {
        let columns = &self.shared.encoder.definition.columns;
        let slots = Mutex::new(columns.iter().map(|_| None).collect());
        let job = Arc::new(Job {
            sequence,
            rows,
            columns: slots,
        });
        let mut state = self.shared.lock();
        while state.in_work > self.threads.len() && state.error.is_none() {
            state = self
                .shared
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if let Some(error) = state.error.take() {
            return Err(error);
        }
        state.in_work += 1;
        // Text takes longest; started first, it does not keep the others waiting at the end.
        let (text, other): (Vec<_>, Vec<_>) = (0..columns.len()).partition(|&column| {
            columns[column]
                .sql_type
                .physical_type()
                .value_bytes()
                .is_none()
        });
        for column in text.into_iter().chain(other) {
            state.tasks.push_back(Task {
                job: Arc::clone(&job),
                column,
                leader: None,
            });
        }
        drop(state);
        self.shared.changed.notify_all();
        Ok(())
    }

    /// A row group that was submitted, once it is written.
    ///
    /// # Errors
    /// A worker failed.
    pub(super) fn wait_for(&self, sequence: usize) -> Result<Arc<RowGroup>, TableAppendError> {
        let mut state = self.shared.lock();
        loop {
            if let Some(error) = state.error.take() {
                return Err(error);
            }
            // Those that are asked for have been written lately.
            let mut finished = state.finished.iter().rev();
            if let Some((_, found)) = finished.find(|(number, _)| *number == sequence) {
                return Ok(Arc::clone(&found.row_group));
            }
            state = self
                .shared
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Waits for all row groups and returns them in the order of their rows.
    pub(super) fn finish(mut self) -> Result<Vec<EncodedRowGroup>, TableAppendError> {
        self.shared.lock().closed = true;
        self.join();
        let mut state = self.shared.lock();
        if let Some(error) = state.error.take() {
            return Err(error);
        }
        if state.in_work > 0 {
            return Err(TableAppendError::Worker(
                "it stopped before its work was done".to_owned(),
            ));
        }
        let mut finished = std::mem::take(&mut state.finished);
        finished.sort_by_key(|(sequence, _)| *sequence);
        Ok(finished
            .into_iter()
            .map(|(_, row_group)| row_group)
            .collect())
    }

    fn join(&mut self) {
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            // A worker that panicked has left its row group in work; the caller sees that.
            let _ = thread.join();
        }
    }
}

impl Drop for AppendPipeline {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closed = true;
        state.tasks.clear();
        drop(state);
        self.join();
    }
}

impl SharedAppend {
    fn lock(&self) -> MutexGuard<'_, AppendState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        let guard = PanicGuard(self);
        while let Some(task) = self.next_task() {
            if let Err(error) = self.run(&task) {
                self.fail(error);
            }
        }
        drop(guard);
    }

    fn next_task(&self) -> Option<Task> {
        let mut state = self.lock();
        loop {
            if let Some(task) = state.tasks.pop_front() {
                return Some(task);
            }
            if state.closed {
                return None;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn run(&self, task: &Task) -> Result<(), TableAppendError> {
        let job = &task.job;
        let relations = self.encoder.relations(&job.rows);
        let leader = task.leader.as_ref();
        if leader.is_none() && relations.is_map(task.column) {
            // Queued again once the column it follows is encoded; until then nothing may wait for it.
            job.rows.precedents.leave_none(task.column);
            job.rows.dictionaries.turn(task.column).pass_on();
            return Ok(());
        }
        let mut encoded = self.encoder.encode_column(&job.rows, task.column, leader)?;
        if let Some(segment) = encoded.leading.take() {
            self.queue_followers(task, &segment);
        }
        let mut columns = job.columns.lock().unwrap_or_else(PoisonError::into_inner);
        columns[task.column] = Some(encoded);
        if columns.iter().any(Option::is_none) {
            return Ok(());
        }
        let columns = columns.drain(..).flatten().collect();
        let row_group = self.encoder.write_row_group(job.rows.row_count, columns)?;
        let mut state = self.lock();
        state.finished.push((job.sequence, row_group));
        state.in_work -= 1;
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    fn queue_followers(&self, task: &Task, leader: &Arc<[u8]>) {
        let relations = self.encoder.relations(&task.job.rows);
        let mut state = self.lock();
        for column in relations.mapped_from(task.column) {
            state.tasks.push_front(Task {
                job: Arc::clone(&task.job),
                column,
                leader: Some(Arc::clone(leader)),
            });
        }
        drop(state);
        self.changed.notify_all();
    }

    fn fail(&self, error: TableAppendError) {
        let mut state = self.lock();
        state.error.get_or_insert(error);
        state.tasks.clear();
        state.closed = true;
        drop(state);
        self.changed.notify_all();
    }
}

/// Tells the thread that submits row groups when a worker panics: it must not wait for it.
struct PanicGuard<'a>(&'a SharedAppend);

impl Drop for PanicGuard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail(TableAppendError::Worker(
                "it panicked; this is a defect of the program".to_owned(),
            ));
        }
    }
}
