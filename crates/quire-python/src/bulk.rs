//! `executemany`: one prepared statement, many times, in one transaction.

use std::sync::Arc;

use pyo3::prelude::*;
use quire::{Error, Outcome, TransactionStatus};

use crate::columns::{NAME, PythonColumns, bulk_statement};
use crate::errors;
use crate::from_python::{Parameters, parameters};
use crate::statement::{OpenConnection, SharedConnection, finished};
use crate::waiting::without_lock;

/// Runs between two looks at what Python has to say.
const RUNS_AT_ONCE: usize = 1024;
/// Rows that are inserted at once.
const ROWS_AT_ONCE: usize = 262_144;
/// Fewer rows are inserted one by one.
const BULK_ROWS_MIN: usize = 64;

impl SharedConnection {
    /// Runs the statement once for each sequence of parameters, all or none; returns how many rows were changed.
    pub fn execute_many(
        &self,
        py: Python<'_>,
        sql: &str,
        sequences: &Bound<'_, PyAny>,
    ) -> PyResult<u64> {
        let mut guard = self.lock(py)?;
        let open = guard.open(py)?;
        self.frames.begin(py, &[])?;
        let begins = open.connection.transaction_status() == TransactionStatus::Idle;
        let done = self.execute_runs(py, open, sql, sequences, begins);
        self.frames.end(py);
        let is_own = begins && self.autocommit.load(std::sync::atomic::Ordering::Relaxed);
        let end = match (&done, begins) {
            (Err(_), true) => "ROLLBACK",
            (Ok(_), true) if is_own => "COMMIT",
            _ => return done,
        };
        let (ended, raised) = without_lock(py, &self.cancel, || {
            match open.connection.transaction_status() {
                TransactionStatus::Idle => Ok(()),
                _ => open.connection.execute(end).map(drop),
            }
        });
        let count = done?;
        finished(py, ended, raised)?;
        Ok(count)
    }

    fn execute_runs(
        &self,
        py: Python<'_>,
        open: &mut OpenConnection,
        sql: &str,
        sequences: &Bound<'_, PyAny>,
        begins: bool,
    ) -> PyResult<u64> {
        let (prepared, raised) = without_lock(py, &self.cancel, || {
            // Its parameters may have other types than when it was prepared.
            let prepared = open.prepared(sql)?;
            Ok((prepared.is_query(), prepared.parameter_types().to_vec()))
        });
        let (is_query, types) = finished(py, prepared, raised)?;
        if is_query {
            let text = "executemany is for statements that give no rows";
            return Err(errors::programming(
                py,
                text,
                Some("Use execute for a query."),
            ));
        }
        if begins {
            let (begun, raised) =
                without_lock(py, &self.cancel, || open.connection.execute("BEGIN"));
            finished(py, begun.map(drop), raised)?;
        }
        let bulk = bulk_statement(sql, types.len());
        let at_once = if bulk.is_some() {
            ROWS_AT_ONCE
        } else {
            RUNS_AT_ONCE
        };
        let mut count = 0;
        let mut sequences = sequences.try_iter()?;
        loop {
            let mut runs = Vec::new();
            for objects in sequences.by_ref().take(at_once) {
                runs.push(parameters(&objects?, &types)?);
            }
            if runs.is_empty() {
                return Ok(count);
            }
            let columns = match &bulk {
                Some(_) if runs.len() >= BULK_ROWS_MIN => PythonColumns::of(&runs, &types),
                _ => None,
            };
            let (done, raised) = match (&bulk, columns) {
                (Some(bulk), Some(columns)) => {
                    drop(runs);
                    self.frames.lend(NAME, Some(Arc::new(columns)));
                    let done = without_lock(py, &self.cancel, || open.connection.execute(bulk));
                    self.frames.lend(NAME, None);
                    (done.0.map(|outcome| changed(&outcome)), done.1)
                }
                _ => without_lock(py, &self.cancel, || run_all(open, sql, &runs)),
            };
            count += finished(py, done, raised)?;
        }
    }
}

fn changed(outcome: &Outcome) -> u64 {
    match outcome {
        Outcome::Done(completion) => completion.row_count.unwrap_or(0),
        Outcome::Rows(_) => 0,
    }
}

fn run_all(open: &mut OpenConnection, sql: &str, runs: &[Parameters]) -> Result<u64, Error> {
    let prepared = open.prepared(sql)?;
    let mut count = 0;
    for run in runs {
        let mut reply = prepared.execute_as(&run.values, &run.types)?;
        count += reply.rows_affected();
        // Rows of RETURNING are nobody's.
        while reply.schema().is_some() && reply.advance()? {
            count += 1;
        }
    }
    Ok(count)
}
