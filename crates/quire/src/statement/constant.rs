//! `SELECT` of values without a table, such as the `SELECT 1` by which pools ask whether a connection is alive.

use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use quire_error::Error;
use quire_error::wait::wait;
use quire_exec::plan::Environment;
use quire_tables::row_table::Value;

use super::answer::StatementAnswer;
use super::compiled::OutputColumn;
use super::memory::StatementBuffers;
use crate::session::Session;

/// A compiled `SELECT` of one row.
#[derive(Debug)]
pub(super) struct ConstantSelect {
    pub(super) outputs: Vec<OutputColumn>,
    pub(super) schema: SchemaRef,
}

impl ConstantSelect {
    pub(super) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// Runs it; `None` when the transaction takes no statements.
    pub(super) fn run(
        &self,
        session: &Session,
        parameters: &[Value],
        memory: &mut StatementBuffers,
    ) -> Result<Option<StatementAnswer>, Error> {
        let mut transaction = wait(session.transaction.lock());
        if transaction.is_aborted() {
            return Ok(None);
        }
        if transaction.is_explicit() {
            // The first query of a transaction decides what all of them see, whatever it asks.
            transaction.snapshot(session)?;
        }
        drop(transaction);
        let environment = Environment::new(parameters);
        let mut rows = std::mem::take(&mut memory.rows);
        rows.clear();
        for output in &self.outputs {
            rows.push(output.node.evaluate(&[], &environment)?, output.is_text)?;
        }
        rows.row_count = 1;
        Ok(Some(StatementAnswer::Rows(self.schema(), rows, "SELECT")))
    }
}
