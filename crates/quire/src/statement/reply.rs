//! What a prepared statement gave: rows, value by value, or a count.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::ScalarValue;
use quire_error::Error;
use quire_planner::scalar::{from_planned, is_text};
use quire_tables::row_table::Value;

use super::answer::StatementAnswer;
use crate::outcome::{Completion, Outcome, Rows};
use crate::result_rows::ResultRows;
use crate::value_ref::ValueRef;

/// What one run of a prepared statement gave.
pub struct Reply {
    schema: Option<SchemaRef>,
    command: &'static str,
    source: ReplySource,
    rows_affected: u64,
    /// Values of the row that was read last, where somebody wants them owned.
    row: Vec<Value>,
    /// Where the memory of the rows goes back to.
    spare: Option<Arc<SpareRows>>,
}

/// More memory is not kept for the rows of the next reply: a program may have thousands of prepared statements.
const SPARE_BYTES_MAX: usize = 64 << 10;

/// Memory of the rows of the last reply of a prepared statement.
#[derive(Default)]
pub(super) struct SpareRows(Mutex<ResultRows>);

impl SpareRows {
    /// No rows, with the memory of those before.
    pub(super) fn take(&self) -> ResultRows {
        let mut rows = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        rows.clear();
        rows
    }

    fn give(&self, rows: ResultRows) {
        if rows.memory_bytes() > SPARE_BYTES_MAX {
            return;
        }
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = rows;
    }
}

enum ReplySource {
    /// All rows, and how many of them were taken.
    Values(ResultRows, usize),
    /// Batches to come; the one that is being read, and its next row.
    Batches {
        rows: Rows,
        batch: Option<RecordBatch>,
        next: usize,
    },
    /// No rows: how the command tag begins, and the count behind it.
    Done(&'static str, Option<u64>),
    Completed(Completion),
}

impl Reply {
    fn new(
        schema: Option<SchemaRef>,
        command: &'static str,
        source: ReplySource,
        rows_affected: u64,
    ) -> Self {
        Self {
            schema,
            command,
            source,
            rows_affected,
            row: Vec::new(),
            spare: None,
        }
    }

    pub(super) fn of_answer(answer: StatementAnswer) -> Self {
        let (schema, source, command, rows_affected) = match answer {
            StatementAnswer::Rows(schema, rows, tag) => {
                (Some(schema), ReplySource::Values(rows, 0), tag, 0)
            }
            StatementAnswer::Coming(rows) => return Self::of_outcome(Outcome::Rows(rows)),
            StatementAnswer::Done(tag, count) => {
                let rows_affected = count.unwrap_or(0);
                (None, ReplySource::Done(tag, count), tag, rows_affected)
            }
        };
        Self::new(schema, command, source, rows_affected)
    }

    /// The memory of its rows goes there when they are not wanted any more.
    pub(super) fn with_spare(mut self, spare: &Arc<SpareRows>) -> Self {
        self.spare = Some(Arc::clone(spare));
        self
    }

    pub(super) fn of_outcome(outcome: Outcome) -> Self {
        let (schema, command, rows_affected, source) = match outcome {
            Outcome::Rows(rows) => {
                let (schema, command) = (rows.schema(), rows.command());
                let (batch, next) = (None, 0);
                (
                    Some(schema),
                    command,
                    0,
                    ReplySource::Batches { rows, batch, next },
                )
            }
            Outcome::Done(completion) => {
                let rows_affected = completion.row_count.unwrap_or(0);
                (None, "", rows_affected, ReplySource::Completed(completion))
            }
        };
        Self::new(schema, command, source, rows_affected)
    }

    /// Whether its rows are still being made.
    pub(super) fn is_coming(&self) -> bool {
        matches!(&self.source, ReplySource::Batches { rows, .. } if rows.are_coming())
    }

    /// As [`Rows::renew_time_limit`].
    pub fn renew_time_limit(&self) {
        if let ReplySource::Batches { rows, .. } = &self.source {
            rows.renew_time_limit();
        }
    }

    /// Names and types of the columns, if the statement returns rows. Integers, dates (days since 1970) and timestamps
    /// (microseconds) are all [`Value::Integer`]; decimals have the scale that their type says.
    pub fn schema(&self) -> Option<&SchemaRef> {
        self.schema.as_ref()
    }

    /// Whether the rows come in batches, as those of queries over many rows do: [`Reply::into_outcome`] then gives them faster
    /// than [`Reply::next_row`], and of every type.
    pub fn comes_in_batches(&self) -> bool {
        matches!(self.source, ReplySource::Batches { .. })
    }

    /// What [`Rows::command`] says of the rows that come back.
    pub fn command(&self) -> &'static str {
        self.command
    }

    /// How many rows were inserted, updated or deleted; 0 when rows come back.
    pub fn rows_affected(&self) -> u64 {
        self.rows_affected
    }

    /// Goes to the next row, the first one at first; false behind the last.
    ///
    /// # Errors
    /// Whatever a query meets while running; no rows follow.
    pub fn advance(&mut self) -> Result<bool, Error> {
        match &mut self.source {
            ReplySource::Done(..) | ReplySource::Completed(_) => Ok(false),
            ReplySource::Values(rows, taken) => {
                let is_row = *taken < rows.row_count;
                *taken = (*taken + 1).min(rows.row_count + 1);
                Ok(is_row)
            }
            ReplySource::Batches { rows, batch, next } => {
                while batch.as_ref().is_none_or(|batch| *next >= batch.num_rows()) {
                    (*batch, *next) = (rows.next_batch()?, 0);
                    if batch.is_none() {
                        self.row.clear();
                        return Ok(false);
                    }
                }
                if let Some(batch) = batch {
                    read_row(batch, *next, &mut self.row)?;
                }
                *next += 1;
                Ok(true)
            }
        }
    }

    /// The value of a column, counted from 0, in the row to which [`Reply::advance`] went; NULL where there is none.
    ///
    /// ```
    /// use quire::{Database, Value, ValueRef};
    ///
    /// let mut connection = Database::in_memory()?.connect();
    /// connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT)")?;
    /// connection.execute("INSERT INTO t VALUES (1, 'Ada')")?;
    /// let mut select = connection.prepare("SELECT name FROM t WHERE id = $1")?;
    /// let mut found = select.execute(&[Value::Integer(1)])?;
    /// assert!(found.advance()?);
    /// assert_eq!(found.value(0), ValueRef::Text("Ada"));
    /// assert!(!found.advance()?);
    /// # Ok::<(), quire_error::Error>(())
    /// ```
    #[must_use]
    pub fn value(&self, column: usize) -> ValueRef<'_> {
        match &self.source {
            ReplySource::Values(rows, taken) if column < self.width() => match taken.checked_sub(1)
            {
                Some(row) => rows.value(row * self.width() + column),
                None => ValueRef::Null,
            },
            ReplySource::Batches { .. } => {
                self.row.get(column).map(ValueRef::from).unwrap_or_default()
            }
            _ => ValueRef::Null,
        }
    }

    /// The next row; `None` after the last. [`Reply::advance`] and [`Reply::value`] copy no texts.
    ///
    /// # Errors
    /// Whatever a query meets while running; no rows follow.
    pub fn next_row(&mut self) -> Result<Option<&[Value]>, Error> {
        if !self.advance()? {
            return Ok(None);
        }
        if matches!(self.source, ReplySource::Values(..)) {
            let mut row = std::mem::take(&mut self.row);
            row.clear();
            row.extend((0..self.width()).map(|column| self.value(column).to_value()));
            self.row = row;
        }
        Ok(Some(&self.row))
    }

    fn width(&self) -> usize {
        let schema = self.schema.as_ref();
        schema.map_or(0, |schema| schema.fields().len())
    }

    /// The same as [`crate::Connection::execute`] gives it. Rows that were taken are not among its rows.
    ///
    /// # Errors
    /// When Arrow refuses the rows.
    pub fn into_outcome(mut self) -> Result<Outcome, Error> {
        let source = std::mem::replace(&mut self.source, ReplySource::Done("", None));
        match (source, self.schema.take()) {
            (ReplySource::Values(rows, taken), Some(schema)) => {
                StatementAnswer::Rows(schema, rows, self.command).into_outcome_from(taken)
            }
            (ReplySource::Values(..), None) => Ok(Outcome::Done(Completion::tag(""))),
            (ReplySource::Batches { rows, .. }, _) => Ok(Outcome::Rows(rows)),
            (ReplySource::Done(tag, count), _) => StatementAnswer::Done(tag, count).into_outcome(),
            (ReplySource::Completed(completion), _) => Ok(Outcome::Done(completion)),
        }
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if let (Some(spare), ReplySource::Values(rows, _)) = (&self.spare, &mut self.source) {
            spare.give(std::mem::take(rows));
        }
    }
}

fn read_row(batch: &RecordBatch, index: usize, row: &mut Vec<Value>) -> Result<(), Error> {
    row.clear();
    for column in batch.columns() {
        let value = ScalarValue::try_from_array(column, index)?;
        let is_text = is_text(column.data_type());
        let scalar = from_planned(value).ok_or_else(|| {
            let text = format!("a value of type {} as a plain value", column.data_type());
            Error::new("0A000", format!("{text} is not supported"))
                .with_hint("Take it from a batch.")
        })?;
        row.push(scalar.into_value(is_text)?);
    }
    Ok(())
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply")
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}
