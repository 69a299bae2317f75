//! What a compiled statement gave.

use datafusion::arrow::datatypes::SchemaRef;
use quire_error::Error;

use crate::outcome::{Completion, Outcome, Rows};
use crate::result_rows::ResultRows;

pub(super) enum StatementAnswer {
    /// Rows, their names and types, and how the command's tag begins.
    Rows(SchemaRef, ResultRows, &'static str),
    /// Rows that come while they are read.
    Coming(Rows),
    /// It is done: its tag, and how many rows it changed.
    Done(&'static str, Option<u64>),
}

impl StatementAnswer {
    /// The answer as the general path gives it.
    pub(super) fn into_outcome(self) -> Result<Outcome, Error> {
        self.into_outcome_from(0)
    }

    /// The same with the rows from number `start` on.
    pub(super) fn into_outcome_from(self, start: usize) -> Result<Outcome, Error> {
        Ok(match self {
            StatementAnswer::Rows(schema, rows, command) => {
                let batches = if rows.row_count > start {
                    vec![rows.to_batch(&schema, start)?]
                } else {
                    Vec::new()
                };
                Outcome::Rows(Rows::of_batches(schema, batches).of_command(command))
            }
            StatementAnswer::Coming(rows) => Outcome::Rows(rows),
            StatementAnswer::Done(tag, Some(count)) => {
                Outcome::Done(Completion::counted(format!("{tag} {count}"), count))
            }
            StatementAnswer::Done(tag, None) => Outcome::Done(Completion::tag(tag)),
        })
    }
}
