//! Rows that the tuple engine has found, written by the statement's transaction.

use std::sync::{Arc, Mutex, PoisonError};

use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_exec::explained::ExplainedOperator;
use quire_exec::plan::{Plan, WriteKind, WriteNode};
use quire_exec::tuple::{NotWritten, RowSink, SharedSink, WrittenRow};
use quire_tables::row_table::{TupleValue, recycled};
use quire_tables::{RowChanges, RowTable};

use super::super::tuple_engine::{RowTables, TupleChange, WantedRows};
use super::change_plan::ChangePlan;
use super::returned::Returned;
use super::row_values::stored_value;
use crate::planning::StatementContext;
use crate::session::{LentTransaction, Session, TableWriteGuard};

/// A statement's transaction, and what it does with each row.
struct TupleSink {
    kind: WriteKind,
    table: Arc<RowTable>,
    /// Given back when the statement has ended.
    transaction: Option<LentTransaction>,
    changes: RowChanges,
    /// Memory of a row's values, by ordinal.
    values: Vec<TupleValue<'static>>,
    /// Why a row was not written.
    error: Option<Error>,
}

impl RowSink for TupleSink {
    fn write(&mut self, row: &WrittenRow<'_>) -> Result<bool, NotWritten> {
        self.try_write(row).map_err(|error| {
            self.error = Some(error);
            NotWritten
        })
    }
}

impl TupleSink {
    fn try_write(&mut self, row: &WrittenRow<'_>) -> Result<bool, Error> {
        let Some(transaction) = &mut self.transaction else {
            return Ok(false);
        };
        let (transaction, parts) = (transaction.engine(), self.table.parts());
        let (key, changes) = (row.row_key(), &mut self.changes);
        if self.kind != WriteKind::Insert && !changes.lock(transaction, parts, key)? {
            return Ok(false);
        }
        if self.kind == WriteKind::Delete {
            changes.delete(transaction, parts, key)?;
            return Ok(true);
        }
        check(&self.table, row)?;
        let mut values = recycled(std::mem::take(&mut self.values));
        read(&self.table, row, &mut values)?;
        if self.kind == WriteKind::Update {
            changes.update(transaction, parts, key, &values)?;
        } else {
            if let Some(conflict) = changes.insert_or_find(transaction, parts, &values)? {
                let writer = transaction.row_writer(parts);
                return Err(writer.duplicate(conflict.index, &values).into());
            }
        }
        self.values = recycled(values);
        Ok(true)
    }
}

/// Whether the row satisfies the CHECK constraints.
fn check(table: &RowTable, row: &WrittenRow<'_>) -> Result<(), Error> {
    let definition = table.definition();
    match row.failed_check().map(|at| definition.checks.get(at)) {
        None => Ok(()),
        Some(Some(check)) => {
            let table = &definition.name;
            Err(Error::check_violation(table, &check.name, &check.condition))
        }
        Some(None) => Err(Error::new("XX000", "internal error: an unknown CHECK")),
    }
}

/// Writes the values of a row to `values`, by ordinal, as they are stored.
fn read<'r>(
    table: &RowTable,
    row: &'r WrittenRow<'_>,
    values: &mut Vec<TupleValue<'r>>,
) -> Result<(), Error> {
    let definition = table.definition();
    values.resize(definition.columns.len(), TupleValue::Null);
    for ((place, _), value) in definition.visible_columns().zip(row.values()) {
        values[place] = stored_value(definition, place, value)?;
    }
    Ok(())
}

/// Rows of a plan that are to be written.
pub(super) struct TupleWrite<'a> {
    pub(super) session: &'a Session,
    pub(super) kind: WriteKind,
    pub(super) table: &'a Arc<RowTable>,
    pub(super) context: &'a StatementContext,
    pub(super) planned: &'a ChangePlan,
    /// Whether a row may come more than once, and is written the first time.
    pub(super) may_repeat: bool,
    /// So many expected rows are left to batches.
    pub(super) rows_max: usize,
}

impl TupleWrite<'_> {
    /// Lets the tuple engine find and write the rows, if it can and should; says whether it has.
    pub(super) async fn run(
        &self,
        writer: &mut TableWriteGuard<'_>,
        changes: &mut RowChanges,
        returned: &mut Returned,
        token: &CancelToken,
    ) -> Result<bool, Error> {
        match self.change(token).await? {
            Some(change) => self.apply(&change, writer, (changes, returned), token),
            None => Ok(false),
        }
    }

    /// The change, if the tuple engine can and should run it.
    pub(super) async fn change(&self, token: &CancelToken) -> Result<Option<TupleChange>, Error> {
        let tables = RowTables::with_target(&self.context.snapshot, self.table);
        let wanted = WantedRows {
            context: self.context,
            plan: &self.planned.plan,
            tables,
            rows_max: self.rows_max as f64,
        };
        let found = wanted.found(self.session, token).await?;
        let returning = self.planned.columns.returning.clone();
        Ok(found.and_then(|rows| rows.written(|input| self.write_of(input), returning)))
    }

    /// What the tuple engine would do, if it can and should.
    pub(super) async fn explanation(
        &self,
        with_programs: bool,
        token: &CancelToken,
    ) -> Result<Option<ExplainedOperator>, Error> {
        match self.change(token).await? {
            Some(change) => change.explanation(self.session, with_programs, token),
            None => Ok(None),
        }
    }

    fn write_of(&self, input: Plan) -> WriteNode {
        let columns = self.planned.columns.clone();
        WriteNode {
            table: self.table.definition().name.clone(),
            kind: self.kind,
            input,
            row_key: columns.row_key,
            values: columns.after,
            checks: columns.checks,
            may_repeat: self.may_repeat,
        }
    }

    fn apply(
        &self,
        change: &TupleChange,
        writer: &mut TableWriteGuard<'_>,
        (changes, returned): (&mut RowChanges, &mut Returned),
        token: &CancelToken,
    ) -> Result<bool, Error> {
        let sink = Arc::new(Mutex::new(TupleSink {
            kind: self.kind,
            table: Arc::clone(self.table),
            transaction: Some(writer.lend()?),
            changes: std::mem::take(changes),
            values: Vec::new(),
            error: None,
        }));
        let schema = returned.schema().cloned();
        let mut batches = Vec::new();
        let take = |batch| batches.push(batch);
        let shared = SharedSink(Arc::clone(&sink) as Arc<Mutex<dyn RowSink>>);
        let ended = change.run(self.session, shared, (schema.as_ref(), take), token);
        let mut sink = sink.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(transaction) = sink.transaction.take() {
            writer.take_back(transaction);
        }
        *changes = std::mem::take(&mut sink.changes);
        if let Some(error) = sink.error.take() {
            return Err(error);
        }
        batches.into_iter().for_each(|it| returned.add_all(it));
        ended
    }
}
