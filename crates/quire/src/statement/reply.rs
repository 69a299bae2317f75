//! What a prepared statement gave: rows, value by value, or a count.

use std::fmt;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::ScalarValue;
use quire_engine::row_table::Value;

use super::execute::ResultRows;
use super::run::Answer;
use super::scalar::{from_planned, is_text};
use crate::error::Error;
use crate::outcome::{Completion, Outcome, Rows};

/// What one run of a prepared statement gave.
pub struct Reply {
    schema: Option<SchemaRef>,
    command: &'static str,
    source: Source,
    rows_affected: u64,
}

enum Source {
    /// All rows, and how many of them were taken.
    Values(ResultRows, usize),
    /// Batches to come; the one that is being read, and its next row.
    Batches {
        rows: Rows,
        batch: Option<RecordBatch>,
        next: usize,
        row: Vec<Value>,
    },
    /// No rows: how the command tag begins, and the count behind it.
    Done(&'static str, Option<u64>),
    Completed(Completion),
}

impl Reply {
    pub(super) fn of_answer(answer: Answer) -> Self {
        let (schema, source, command, rows_affected) = match answer {
            Answer::Rows(schema, rows, tag) => (Some(schema), Source::Values(rows, 0), tag, 0),
            Answer::Done(tag, count) => {
                let rows_affected = count.unwrap_or(0);
                (None, Source::Done(tag, count), tag, rows_affected)
            }
        };
        Self {
            schema,
            command,
            source,
            rows_affected,
        }
    }

    pub(super) fn of_outcome(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Rows(rows) => Self {
                schema: Some(rows.schema()),
                command: rows.command(),
                source: Source::Batches {
                    rows,
                    batch: None,
                    next: 0,
                    row: Vec::new(),
                },
                rows_affected: 0,
            },
            Outcome::Done(completion) => Self {
                schema: None,
                command: "",
                rows_affected: completion.row_count.unwrap_or(0),
                source: Source::Completed(completion),
            },
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
        matches!(self.source, Source::Batches { .. })
    }

    /// What [`Rows::command`] says of the rows that come back.
    pub fn command(&self) -> &'static str {
        self.command
    }

    /// How many rows were inserted, updated or deleted; 0 when rows come back.
    pub fn rows_affected(&self) -> u64 {
        self.rows_affected
    }

    /// The next row; `None` after the last.
    ///
    /// # Errors
    /// Whatever a query meets while running; no rows follow.
    pub fn next_row(&mut self) -> Result<Option<&[Value]>, Error> {
        let width = self
            .schema
            .as_ref()
            .map_or(0, |schema| schema.fields().len());
        match &mut self.source {
            Source::Done(..) | Source::Completed(_) => Ok(None),
            Source::Values(rows, taken) if *taken < rows.row_count => {
                let start = *taken * width;
                *taken += 1;
                Ok(rows.values.get(start..start + width))
            }
            Source::Values(..) => Ok(None),
            Source::Batches {
                rows,
                batch,
                next,
                row,
            } => {
                while batch.as_ref().is_none_or(|batch| *next >= batch.num_rows()) {
                    (*batch, *next) = (rows.next_batch()?, 0);
                    if batch.is_none() {
                        return Ok(None);
                    }
                }
                if let Some(batch) = batch {
                    read_row(batch, *next, row)?;
                }
                *next += 1;
                Ok(Some(row.as_slice()))
            }
        }
    }

    /// The same as [`crate::Connection::execute`] gives it. Rows that were taken are not among its rows.
    ///
    /// # Errors
    /// When Arrow refuses the rows.
    pub fn into_outcome(self) -> Result<Outcome, Error> {
        match (self.source, self.schema) {
            (Source::Values(mut rows, taken), Some(schema)) => {
                rows.values.drain(..taken * schema.fields().len());
                rows.row_count -= taken;
                Answer::Rows(schema, rows, self.command).into_outcome()
            }
            (Source::Values(..), None) => Ok(Outcome::Done(Completion::tag(""))),
            (Source::Batches { rows, .. }, _) => Ok(Outcome::Rows(rows)),
            (Source::Done(tag, count), _) => Answer::Done(tag, count).into_outcome(),
            (Source::Completed(completion), _) => Ok(Outcome::Done(completion)),
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
