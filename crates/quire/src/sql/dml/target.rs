//! The table that a statement changes: a row table, or a column table with its changes.

use std::sync::Arc;

use datafusion::catalog::TableProvider;
use quire_error::Error;
use quire_kv::{mvcc::LockWait, mvcc::TableLockMode};
use quire_planner::scan::{ColumnTableProvider, RowKeys, RowTableProvider};
use quire_sql::reject::not_supported;
use quire_tables::{ColumnTable, RowParts, RowTable, Snapshot, TableDefinition};
use tokio::task::block_in_place;

use super::super::insert::suggest_table;
use crate::session::{Session, TableWriteGuard};

/// A table, and what its rows are changed by.
#[derive(Clone)]
pub(super) enum ChangeTarget {
    Rows(Arc<RowTable>),
    /// A column table and its delta: rows of row groups are deleted, and come again in the delta if they are changed.
    Columns {
        table: Arc<ColumnTable>,
        delta: Arc<RowTable>,
    },
}

impl ChangeTarget {
    pub(super) fn definition(&self) -> &Arc<TableDefinition> {
        self.rows().definition()
    }

    /// What the engine changes rows by, wherever they are.
    pub(super) fn parts(&self) -> &Arc<RowParts> {
        self.rows().parts()
    }

    /// The row table, or the delta.
    pub(super) fn rows(&self) -> &Arc<RowTable> {
        match self {
            ChangeTarget::Rows(table) => table,
            ChangeTarget::Columns { delta, .. } => delta,
        }
    }

    /// The table with the keys of its rows; `only` restricts it to rows that had these keys and have been changed since.
    pub(super) fn provider(
        &self,
        session: &Session,
        only: Option<RowKeys>,
    ) -> Result<Arc<dyn TableProvider>, Error> {
        Ok(match (self, only) {
            (ChangeTarget::Rows(table), only) => {
                Arc::new(RowTableProvider::target(Arc::clone(table), only))
            }
            (ChangeTarget::Columns { table, delta }, Some(keys)) => {
                let moved = block_in_place(|| table.moved_rows(&keys))?;
                Arc::new(RowTableProvider::target(Arc::clone(delta), Some(moved)))
            }
            (ChangeTarget::Columns { table, .. }, None) => {
                let options = session.planner_options();
                Arc::new(ColumnTableProvider::target(Arc::clone(table), options))
            }
        })
    }
}

/// A table as a snapshot has it.
enum FoundTarget {
    Target(ChangeTarget),
    /// A column table whose rows have never been changed.
    Unprepared,
}

/// Locks the table called `name`, so that it stays as it is defined until the transaction ends, and column tables are not merged.
pub(super) fn lock(
    writer: &mut TableWriteGuard<'_>,
    name: &str,
    mode: TableLockMode,
) -> Result<ChangeTarget, Error> {
    loop {
        let snapshot = writer.snapshot()?;
        let transaction = writer.transaction()?;
        let target = match find(&snapshot, name)? {
            FoundTarget::Target(target) => target,
            FoundTarget::Unprepared => {
                // Without the lock: who makes others wait for definitions may want the table.
                if block_in_place(|| transaction.prepare_changes(name))? {
                    continue;
                } else {
                    return Err(changed_meanwhile(name));
                }
            }
        };
        let id = target.rows().id();
        block_in_place(|| transaction.lock_table(id, mode, LockWait::Wait))?;
        let is_current = match &target {
            ChangeTarget::Rows(table) => transaction.is_current(table.parts()),
            ChangeTarget::Columns { table, .. } => transaction.is_current_column_table(table),
        };
        if is_current {
            return Ok(target);
        }
        // It was changed or dropped while we waited.
        transaction.begin_statement();
        if !transaction.sees_newest_definitions() {
            return Err(changed_meanwhile(name));
        }
    }
}

/// The definition or the row groups that a statement goes by are not those that there are.
pub(in crate::sql) fn changed_meanwhile(name: &str) -> Error {
    let text = format!("could not serialize access: table \"{name}\" was changed meanwhile");
    Error::new("40001", text)
}

/// The table called `name`, for a statement that only shows what it would do.
pub(super) fn seen(snapshot: &Snapshot, name: &str) -> Result<ChangeTarget, Error> {
    match find(snapshot, name)? {
        FoundTarget::Target(target) => Ok(target),
        FoundTarget::Unprepared => {
            let what = format!("EXPLAIN of the first change of the column table \"{name}\"");
            Err(not_supported(what).with_hint("EXPLAIN a SELECT with the same WHERE."))
        }
    }
}

/// The table called `name`, which is locked, as a later snapshot of the statement has it.
pub(super) fn again(snapshot: &Snapshot, name: &str) -> Result<ChangeTarget, Error> {
    match find(snapshot, name)? {
        FoundTarget::Target(target) => Ok(target),
        FoundTarget::Unprepared => {
            let text = format!("internal error: table \"{name}\" has lost its changes");
            Err(Error::new("XX000", text))
        }
    }
}

/// The table called `name`, or an error that says what there is instead.
fn find(snapshot: &Snapshot, name: &str) -> Result<FoundTarget, Error> {
    if let Some(table) = snapshot.row_table(name)? {
        return Ok(FoundTarget::Target(ChangeTarget::Rows(table)));
    }
    if let Some(table) = snapshot.table(name)? {
        return Ok(match table.delta().cloned() {
            Some(delta) => FoundTarget::Target(ChangeTarget::Columns { table, delta }),
            None => FoundTarget::Unprepared,
        });
    }
    if snapshot.view(name).is_some() {
        return Err(
            Error::new("42809", format!("cannot change view \"{name}\""))
                .with_hint("Change the tables that it reads."),
        );
    }
    let error = Error::new("42P01", format!("relation \"{name}\" does not exist"));
    Err(suggest_table(snapshot, name, error))
}
