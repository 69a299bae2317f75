//! One row by its primary key. To read it outside of `BEGIN` … `COMMIT`, nothing is registered, locked or allocated; to change it, it
//! is found once, when it is locked.

use std::ops::ControlFlow;

use quire_error::Error;
use quire_exec::plan::{Environment, Row};
use quire_kv::{mvcc::LockWait, mvcc::RowLockMode};
use quire_tables::RowChanges;
use quire_tables::row_table::{TupleValue, Value};

use super::answer::StatementAnswer;
use super::cache::CompiledStatement;
use super::compiled::{Compiled, CompiledChange, CompiledInsert, NewValue, Select};
use super::execute::{Apply, passes};
use super::memory::StatementBuffers;
use super::storage::{AddedRows, ChangeContext};
use crate::result_rows::ResultRows;
use crate::session::{Session, SessionTransaction, TableWriteGuard};

impl Select {
    fn is_point(&self) -> bool {
        self.access.is_point()
            && self.aggregates.is_empty()
            && self.lock.is_none()
            && self.limit.is_none()
            && self.offset.is_none()
            && self.shown == self.outputs.len()
    }
}

impl CompiledStatement {
    /// Reads the row into `memory`, if the statement is of that kind and the transaction permits it; false when it is to be
    /// run as others are.
    pub(super) fn read_point(
        &self,
        session: &Session,
        parameters: &[Value],
        memory: &mut StatementBuffers,
    ) -> Result<bool, Error> {
        let Compiled::Select(select) = &self.compiled else {
            return Ok(false);
        };
        if !select.is_point() || !is_idle(session) {
            return Ok(false);
        }
        let environment = Environment::new(parameters);
        let StatementBuffers { rows, row_key, .. } = memory;
        rows.clear();
        row_key.clear();
        let encode =
            |values: &[TupleValue<'_>]| Ok(self.parts.layout().encode_key(values, row_key)?);
        if select
            .access
            .with_key_values(&environment, encode)?
            .is_none()
        {
            return Ok(true);
        }
        let mut result = Ok(());
        let mut take = |_: &[u8], row: &[TupleValue<'_>]| {
            result = match passes(&select.tests, row, &environment) {
                Ok(true) => select.show(row, &environment, rows),
                Ok(false) => Ok(()),
                Err(error) => Err(error),
            };
            ControlFlow::Break(())
        };
        let engine = &session.database.engine;
        if engine.visit_newest(&self.parts, row_key, &select.wanted, &mut take)? {
            return result.map(|()| true);
        }
        Ok(false)
    }
}

impl CompiledStatement {
    /// Whether, at READ COMMITTED, the newest state of rows alone decides what becomes of them, and no snapshot is needed: one row is
    /// changed that is found by its primary key, or rows are added.
    pub(super) fn is_of_newest(&self) -> bool {
        match &self.compiled {
            Compiled::Change(change) => change.access.is_point(),
            Compiled::Insert(insert) => !insert.asks_sequences(),
            Compiled::Select(_) => false,
        }
    }

    /// Adds rows. The table is locked, and what the statement was compiled for.
    pub(super) fn add_rows(
        &self,
        insert: &CompiledInsert,
        writer: &mut TableWriteGuard<'_>,
        parameters: &[Value],
        memory: &mut StatementBuffers,
    ) -> Result<Option<StatementAnswer>, Error> {
        let session = writer.session();
        let (parts, transaction) = (&self.parts, writer.transaction()?);
        let is_referenced =
            self.compiled.changes_rows_that_are_there() && transaction.is_referenced(&self.name);
        let changes = ChangeContext {
            transaction,
            sequences: None,
            changes: RowChanges::new(is_referenced),
            memory: &mut memory.row,
        };
        let mut rows = AddedRows { parts, changes };
        let environment = session.environment(parameters);
        let executed = insert.execute(&mut rows, &environment, &mut memory.given)?;
        rows.changes.finish()?;
        Ok(self.executed(executed))
    }

    /// Locks the row, and changes it if it is there. The table is locked, and what the statement was compiled for.
    pub(super) fn change_point(
        &self,
        change: &CompiledChange,
        writer: &mut TableWriteGuard<'_>,
        parameters: &[Value],
        memory: &mut StatementBuffers,
    ) -> Result<StatementAnswer, Error> {
        let is_explicit = writer.is_explicit();
        let session = writer.session();
        let (parts, transaction) = (&self.parts, writer.transaction()?);
        let environment = session.environment(parameters);
        let StatementBuffers {
            row_key,
            given,
            row: row_memory,
            ..
        } = memory;
        row_key.clear();
        let encode = |values: &[TupleValue<'_>]| Ok(parts.layout().encode_key(values, row_key)?);
        let is_possible = change
            .access
            .with_key_values(&environment, encode)?
            .is_some();
        // A lock of a row that is not there would keep others from inserting it for as long as the transaction goes on.
        let is_possible =
            is_possible && (!is_explicit || transaction.row_writer(parts).is_there(row_key)?);
        let mut returned = change.returning.as_ref().map(|_| ResultRows::default());
        let mut count = 0;
        if is_possible {
            let mut row = transaction.row_writer(parts);
            row.lock(row_key, RowLockMode::Exclusive, LockWait::Wait)?;
            let mut changes = ChangeContext {
                changes: RowChanges::new(transaction.is_referenced(&self.name)),
                transaction,
                sequences: None,
                memory: row_memory,
            };
            let decide = &mut |row: Row<'_>, apply: Apply<'_>| {
                change.decide(row, &environment, given, &mut returned, apply)
            };
            count = u64::from(changes.change(parts, row_key, decide)?);
            changes.finish()?;
        }
        Ok(self.changed(count, returned))
    }
}

impl CompiledInsert {
    /// Whether it gives columns the next value of a sequence, which a snapshot knows.
    fn asks_sequences(&self) -> bool {
        let mut values = self.rows.iter().flatten();
        values.any(|value| matches!(value, NewValue::Next(_)))
    }
}

/// Whether every statement is a transaction of its own.
fn is_idle(session: &Session) -> bool {
    let transaction = session.transaction.try_lock();
    transaction.is_ok_and(|transaction| matches!(*transaction, SessionTransaction::Idle))
}
