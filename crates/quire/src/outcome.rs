//! What a statement gives back.

use std::fmt;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use quire_error::Error;
use quire_error::cancel::{CancelHandle, CancelToken};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::opened::Opened;

/// The result of one statement.
#[derive(Debug)]
pub enum Outcome {
    /// The statement returns rows.
    Rows(Rows),
    /// The statement is done and returns none.
    Done(Completion),
}

/// What a statement without rows did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// PostgreSQL's command tag, such as `INSERT 0 5` or `CREATE TABLE`.
    pub tag: String,
    /// Rows inserted, copied or exported, where the statement counts them.
    pub row_count: Option<u64>,
    /// What the user should know although the statement succeeded, such as records left out of a
    /// load.
    pub notices: Vec<String>,
}

impl Completion {
    pub(crate) fn tag(tag: impl Into<String>) -> Self {
        Self {
            tag: tag.into(),
            row_count: None,
            notices: Vec::new(),
        }
    }

    pub(crate) fn counted(tag: impl Into<String>, row_count: u64) -> Self {
        Self {
            tag: tag.into(),
            row_count: Some(row_count),
            notices: Vec::new(),
        }
    }
}

/// The command of rows unless something else is said.
const QUERY: &str = "SELECT";

/// The rows of a query, produced while they are read. They are those of the moment the statement
/// began; dropping this value stops the query.
pub struct Rows {
    schema: SchemaRef,
    command: &'static str,
    source: RowsSource,
}

/// What happens when the reader of rows is told that they have failed. The task that makes them is ahead of the reader: what it meets on its
/// way is of no concern to whoever fetches no more rows.
pub(crate) type OnFailure = Box<dyn Fn() + Send + Sync>;

enum RowsSource {
    /// Rows that a task produces; the database stays open while it does.
    Task {
        batches: mpsc::Receiver<Result<RecordBatch, Error>>,
        task: AbortHandle,
        /// A task deep in a join may not look for a while; whoever waits for its rows does.
        token: CancelToken,
        fails: OnFailure,
        _database: Arc<Opened>,
    },
    /// Rows that are there already.
    Ready(std::vec::IntoIter<RecordBatch>),
}

impl Rows {
    pub(crate) fn from_task(
        schema: SchemaRef,
        batches: mpsc::Receiver<Result<RecordBatch, Error>>,
        task: AbortHandle,
        token: CancelToken,
        fails: OnFailure,
        database: Arc<Opened>,
    ) -> Self {
        Self {
            schema,
            command: QUERY,
            source: RowsSource::Task {
                batches,
                task,
                token,
                fails,
                _database: database,
            },
        }
    }

    pub(crate) fn ready(batch: RecordBatch) -> Self {
        Self {
            schema: batch.schema(),
            command: QUERY,
            source: RowsSource::Ready(vec![batch].into_iter()),
        }
    }

    pub(crate) fn of_batches(schema: SchemaRef, batches: Vec<RecordBatch>) -> Self {
        Self {
            schema,
            command: QUERY,
            source: RowsSource::Ready(batches.into_iter()),
        }
    }

    /// They come from another command than a query.
    pub(crate) fn of_command(mut self, command: &'static str) -> Self {
        self.command = command;
        self
    }

    /// What came back with rows: PostgreSQL's command tag, without the number of rows that follows it: `SELECT`, `INSERT 0`,
    /// `UPDATE`, `DELETE`; `SHOW` and `EXPLAIN`, which no number follows.
    pub fn command(&self) -> &'static str {
        self.command
    }

    /// Names and types of the columns. Names may repeat, as in `SELECT a, a`.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// A handle that cancels these rows, also when their connection runs another statement already.
    pub fn cancel_handle(&self) -> CancelHandle {
        match &self.source {
            RowsSource::Task { token, .. } => CancelHandle::of(token.clone()),
            RowsSource::Ready(_) => CancelHandle::default(),
        }
    }

    /// The next rows; `None` after the last.
    ///
    /// # Errors
    /// Whatever the query meets while running, such as a division by zero; no rows follow.
    pub fn next_batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        match &mut self.source {
            RowsSource::Ready(batches) => Ok(batches.next()),
            RowsSource::Task {
                batches,
                token,
                fails,
                ..
            } => {
                token.limit().resume();
                let next = quire_error::wait::wait_in_time(token, async {
                    tokio::select! {
                        biased;
                        () = token.cancelled() => Err(Error::cancelled()),
                        next = batches.recv() => next.transpose(),
                    }
                });
                match &next {
                    Ok(Some(_)) => token.limit().pause(),
                    _ => token.finish(),
                }
                next.map_err(|error| {
                    fails();
                    token.explained(error)
                })
            }
        }
    }

    /// The rows that follow may take all the time again that `statement_timeout` gives: they are fetched by another statement.
    pub fn renew_time_limit(&self) {
        if let RowsSource::Task { token, .. } = &self.source {
            token.limit().renew();
        }
    }

    /// Whether they are still being made.
    pub(crate) fn are_coming(&self) -> bool {
        matches!(self.source, RowsSource::Task { .. })
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        if let RowsSource::Task { task, token, .. } = &self.source {
            token.finish();
            task.abort();
        }
    }
}

impl fmt::Debug for Rows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows")
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}
