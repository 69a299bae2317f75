//! Foreign keys, checked and acted upon at the end of a statement.
//!
//! The insertion of a reference takes a shared lock of the referenced row, and a deletion or a change of a key an exclusive one. So a
//! deletion waits for uncommitted insertions of references to the row, and vice versa; what is then looked up in the newest state stays
//! true until the transaction ends.

use std::collections::HashSet;
use std::sync::Arc;

use quire_format::tuple::TupleValue;
use quire_kv::mvcc::{KvTransaction, LockWait, ReadView, RowLockMode, TableLockMode};

use super::parts::{AllRowParts, RowParts};
use super::table::RowTable;
use super::writer::{RowMemory, TableRowWriter};
use crate::definition::{ForeignKeyDefinition, ReferentialAction, TableDefinition};
use crate::error::RowWriteError;
use crate::row_table::Value;

/// Batch size of the scan for referencing rows.
const BATCH_ROWS: usize = 1024;

/// The changes of a statement that foreign keys have to be checked for.
#[derive(Default)]
pub(crate) struct ReferenceChecks {
    /// Referenced keys of inserted and updated rows: table id, position of the foreign key, values.
    referring: HashSet<(u64, usize, Vec<Value>)>,
    gone: Vec<Gone>,
}

/// A row that was deleted or changed.
struct Gone {
    table: u64,
    before: Vec<Value>,
    /// `None` if the row was deleted.
    after: Option<Vec<Value>>,
}

impl ReferenceChecks {
    /// Records the insertion of a row with these values, by ordinal.
    pub(crate) fn inserted(&mut self, parts: &RowParts, values: &[TupleValue<'_>]) {
        for (position, key) in parts.definition.foreign_keys.iter().enumerate() {
            let columns = key.columns.iter();
            let columns = columns.map(|column| {
                let value = values.get(*column).copied().unwrap_or_default();
                let sql_type = parts.definition.columns[*column].sql_type;
                Value::of_tuple_value(value, sql_type).unwrap_or_default()
            });
            let referred: Vec<Value> = columns.collect();
            if !referred.iter().any(Value::is_null) {
                self.referring.insert((parts.id, position, referred));
            }
        }
    }

    /// Records the update of a row. `is_referenced` says whether any foreign key refers to the table.
    pub(crate) fn updated(
        &mut self,
        parts: &RowParts,
        before: Vec<Value>,
        after: &[TupleValue<'_>],
        is_referenced: bool,
    ) {
        self.inserted(parts, after);
        if is_referenced {
            let typed = after.iter().zip(&parts.definition.columns);
            let after = typed.map(|(value, column)| {
                Value::of_tuple_value(*value, column.sql_type).unwrap_or_default()
            });
            self.gone.push(Gone {
                table: parts.id,
                before,
                after: Some(after.collect()),
            });
        }
    }

    /// Records the deletion of a row.
    pub(crate) fn deleted(&mut self, parts: &RowParts, before: Vec<Value>, is_referenced: bool) {
        if is_referenced {
            self.gone.push(Gone {
                table: parts.id,
                before,
                after: None,
            });
        }
    }

    /// Whether there is nothing to check.
    pub(crate) fn is_empty(&self) -> bool {
        self.referring.is_empty() && self.gone.is_empty()
    }

    /// Checks the foreign keys and executes their actions.
    ///
    /// # Errors
    /// A foreign key is violated, or rows cannot be read, locked or written.
    pub(crate) fn finish(
        mut self,
        newest: &mut dyn NewestTables,
        rows: &mut KvTransaction,
    ) -> Result<(), RowWriteError> {
        while let Some(gone) = self.gone.pop() {
            let first = newest.look(rows)?;
            let mut later = None;
            let mut is_older = false;
            for (table, key) in first.keys_that_refer_to(gone.table) {
                if is_older {
                    later = Some(newest.look(rows)?);
                }
                let state = later.as_ref().unwrap_or(&first);
                is_older = self.act((table.id, &key.name), &gone, state, newest, rows)?;
            }
        }
        for (table, position, values) in std::mem::take(&mut self.referring) {
            check_referenced((table, position), &values, newest, rows)?;
        }
        Ok(())
    }

    /// Checks one foreign key, of a table with that id, after a row was deleted or changed, and executes its action. Returns whether
    /// `state` may be outdated.
    ///
    /// Finding that no row refers needs no lock of the referencing table: inserting a reference requires a lock of the referenced row,
    /// which this transaction holds exclusively. If rows refer, they are changed under a lock of their table, so that no other
    /// transaction changes its definition or its trees meanwhile, or builds an index that misses these changes.
    fn act(
        &mut self,
        (table, key): (u64, &str),
        gone: &Gone,
        state: &NewestState,
        newest: &mut dyn NewestTables,
        rows: &mut KvTransaction,
    ) -> Result<bool, RowWriteError> {
        let mut state = state;
        let mut renewed;
        let mut has_waited = false;
        loop {
            // The table or the foreign key may have been dropped while this waited.
            let Some(context) = state.context(table, key, gone.table) else {
                return Ok(has_waited);
            };
            let Some(violation) = context.violated_by(gone, state)? else {
                return Ok(has_waited);
            };
            let mode = match violation.action {
                ReferentialAction::Cascade | ReferentialAction::SetNull => {
                    TableLockMode::RowExclusive
                }
                _ => TableLockMode::RowShare,
            };
            // If the lock is not free, or the table is no longer current, the search is repeated after the wait.
            if rows.lock_table(table, mode, LockWait::Skip)? && newest.is_current(context.table) {
                self.resolve(&context, gone, &violation, rows)?;
                return Ok(true);
            }
            rows.lock_table(table, mode, LockWait::Wait)?;
            has_waited = true;
            renewed = newest.look(rows)?;
            state = &renewed;
        }
    }

    /// Executes the referential action on the referencing rows, or reports the violation.
    fn resolve(
        &mut self,
        context: &ForeignKeyContext<'_>,
        gone: &Gone,
        violation: &ReferenceViolation,
        rows: &mut KvTransaction,
    ) -> Result<(), RowWriteError> {
        let columns = &context.key.referenced_columns;
        let replacement: Vec<Value> = match violation.action {
            ReferentialAction::NoAction | ReferentialAction::Restrict => {
                return Err(still_referenced(
                    context,
                    &of_columns(columns, &gone.before),
                ));
            }
            ReferentialAction::SetDefault => {
                let what = format!("foreign key {:?}: SET DEFAULT", context.key.name);
                return Err(RowWriteError::Reference(format!("{what} is not supported")));
            }
            ReferentialAction::Cascade => {
                let after = gone.after.as_ref();
                after.map_or_else(Vec::new, |after| of_columns(columns, after))
            }
            ReferentialAction::SetNull => vec![Value::Null; columns.len()],
        };
        let deletes = violation.action == ReferentialAction::Cascade && gone.after.is_none();
        let replacement = (!deletes).then_some(replacement.as_slice());
        self.change_referring(context, &violation.referring, replacement, rows)
    }

    /// Replaces the foreign key's columns in the referencing rows, or deletes these rows.
    fn change_referring(
        &mut self,
        context: &ForeignKeyContext<'_>,
        referring: &[Box<[u8]>],
        replacement: Option<&[Value]>,
        rows: &mut KvTransaction,
    ) -> Result<(), RowWriteError> {
        let ForeignKeyContext {
            table,
            key,
            is_referenced,
            ..
        } = *context;
        let mut made = RowMemory::default();
        let mut writer = TableRowWriter::new(Arc::clone(table), rows, &mut made);
        for row_key in referring {
            writer.lock(row_key, RowLockMode::Exclusive, LockWait::Wait)?;
            let Some(mut row) = writer.newest(row_key)? else {
                continue;
            };
            let Some(replacement) = replacement else {
                let before = writer.delete(row_key)?;
                self.deleted(table, before, is_referenced);
                continue;
            };
            for (column, value) in key.columns.iter().zip(replacement) {
                check_nullable(table, *column, value)?;
                row[*column] = value.clone();
            }
            let row: Vec<TupleValue<'_>> = row.iter().map(Value::as_tuple_value).collect();
            let before = writer.update(row_key, &row)?;
            self.updated(table, before, &row, is_referenced);
        }
        Ok(())
    }
}

/// The row tables in their newest state: what is committed, and what the transaction has changed itself.
pub(crate) trait NewestTables {
    /// The tables, and a view that has all of their trees.
    fn look(&mut self, rows: &mut KvTransaction) -> Result<NewestState, RowWriteError>;

    /// Whether the table is still as it was.
    fn is_current(&self, table: &RowParts) -> bool;
}

/// The row tables as they were at one moment.
pub(crate) struct NewestState {
    pub(crate) tables: AllRowParts,
    pub(crate) view: ReadView,
}

impl NewestState {
    fn table(&self, id: u64) -> Option<&Arc<RowParts>> {
        self.tables.iter().find(|table| table.id == id)
    }

    fn table_called(&self, name: &str) -> Option<&Arc<RowParts>> {
        let mut tables = self.tables.iter();
        tables.find(|table| table.definition.name == name)
    }

    /// Foreign keys that refer to a table, with the tables that have them.
    fn keys_that_refer_to(
        &self,
        id: u64,
    ) -> impl Iterator<Item = (&Arc<RowParts>, &ForeignKeyDefinition)> {
        let referenced = self.table(id);
        let keys = self.tables.iter().flat_map(|table| {
            let keys = table.definition.foreign_keys.iter();
            keys.map(move |key| (table, key))
        });
        keys.filter(move |(_, key)| {
            referenced.is_some_and(|it| it.definition.name == key.referenced_table)
        })
    }

    /// The foreign key of that name, if it still refers to the table.
    fn context(&self, table: u64, key: &str, referenced: u64) -> Option<ForeignKeyContext<'_>> {
        let mut keys = self.keys_that_refer_to(referenced);
        let (table, key) = keys.find(|(it, known)| it.id == table && known.name == key)?;
        let mut tables = self.tables.iter();
        Some(ForeignKeyContext {
            table,
            key,
            referenced: self.table(referenced)?,
            is_referenced: tables.any(|it| is_referenced(&table.definition.name, &it.definition)),
        })
    }

    /// Keys of the rows that have these values in these columns.
    fn rows_with(
        &self,
        table: &Arc<RowParts>,
        columns: &[usize],
        values: &[Value],
    ) -> Result<Vec<Box<[u8]>>, RowWriteError> {
        let table = RowTable::new(Arc::clone(table), self.view.clone());
        table.keys_of_rows_with(columns, values, BATCH_ROWS)
    }
}

/// A foreign key, its table, and the table that it refers to.
#[derive(Clone, Copy)]
struct ForeignKeyContext<'a> {
    table: &'a Arc<RowParts>,
    key: &'a ForeignKeyDefinition,
    referenced: &'a Arc<RowParts>,
    /// Whether foreign keys refer to the table that has this one.
    is_referenced: bool,
}

/// What a foreign key demands for a row that is gone.
struct ReferenceViolation {
    action: ReferentialAction,
    /// Keys of the rows that refer; at least one.
    referring: Vec<Box<[u8]>>,
}

impl ForeignKeyContext<'_> {
    /// What is to be done with which rows, if there are rows that refer to one that is gone.
    fn violated_by(
        &self,
        gone: &Gone,
        state: &NewestState,
    ) -> Result<Option<ReferenceViolation>, RowWriteError> {
        let (key, columns) = (self.key, &self.key.referenced_columns);
        let values = of_columns(columns, &gone.before);
        let after = gone.after.as_ref().map(|after| of_columns(columns, after));
        if values.iter().any(Value::is_null) || after.as_ref() == Some(&values) {
            return Ok(None);
        }
        let action = match after {
            Some(_) => key.on_update,
            None => key.on_delete,
        };
        // Another row may have come with the same values.
        if action == ReferentialAction::NoAction
            && !state
                .rows_with(self.referenced, columns, &values)?
                .is_empty()
        {
            return Ok(None);
        }
        let referring = state.rows_with(self.table, &key.columns, &values)?;
        Ok((!referring.is_empty()).then_some(ReferenceViolation { action, referring }))
    }
}

fn of_columns(columns: &[usize], row: &[Value]) -> Vec<Value> {
    columns.iter().map(|column| row[*column].clone()).collect()
}

/// Whether a foreign key of a table refers to the table called `name`.
pub(crate) fn is_referenced(name: &str, definition: &TableDefinition) -> bool {
    definition
        .foreign_keys
        .iter()
        .any(|key| key.referenced_table == name)
}

fn check_nullable(table: &RowParts, column: usize, value: &Value) -> Result<(), RowWriteError> {
    let definition = &table.definition.columns[column];
    if value.is_null() && !definition.nullable {
        return Err(RowWriteError::Null {
            table: table.definition.name.clone(),
            column: definition.name.clone(),
        });
    }
    Ok(())
}

fn still_referenced(context: &ForeignKeyContext<'_>, values: &[Value]) -> RowWriteError {
    let ForeignKeyContext {
        table,
        key,
        referenced,
        ..
    } = *context;
    RowWriteError::StillReferenced {
        referenced: referenced.definition.name.clone(),
        table: table.definition.name.clone(),
        constraint: key.name.clone(),
        detail: format!(
            "Key {} is still referenced from table \"{}\".",
            described(referenced, &key.referenced_columns, values),
            table.definition.name
        ),
    }
}

/// The columns of a table with these values.
fn described(table: &RowParts, columns: &[usize], values: &[Value]) -> String {
    let mut row = vec![TupleValue::Null; table.definition.columns.len()];
    for (column, value) in columns.iter().zip(values) {
        row[*column] = value.as_tuple_value();
    }
    table.described(columns, &row)
}

/// The row that is referred to must be there. It is locked, so that it stays, and so is its table, so that the row stays where it is.
fn check_referenced(
    (table, position): (u64, usize),
    values: &[Value],
    newest: &mut dyn NewestTables,
    rows: &mut KvTransaction,
) -> Result<(), RowWriteError> {
    let state = newest.look(rows)?;
    let Some(table) = state.table(table) else {
        return Ok(());
    };
    let key = &table.definition.foreign_keys[position];
    let columns = &key.referenced_columns;
    let mut state = &state;
    let mut renewed;
    let referenced = loop {
        let Some(referenced) = state.table_called(&key.referenced_table) else {
            let (name, key) = (&key.referenced_table, &key.name);
            let what = format!("table {name:?} of foreign key {key:?} is gone");
            return Err(RowWriteError::Reference(what));
        };
        let (id, mode) = (referenced.id, TableLockMode::RowShare);
        if rows.lock_table(id, mode, LockWait::Skip)? && newest.is_current(referenced) {
            break referenced;
        }
        rows.lock_table(id, mode, LockWait::Wait)?;
        renewed = newest.look(rows)?;
        state = &renewed;
    };
    for row_key in state.rows_with(referenced, columns, values)? {
        let (tree, mode) = (referenced.rows, RowLockMode::Share);
        rows.lock_row(tree, &row_key, mode, LockWait::Wait)?;
        // Whoever had it may have deleted it or changed its key.
        if !newest
            .look(rows)?
            .rows_with(referenced, columns, values)?
            .is_empty()
        {
            return Ok(());
        }
    }
    Err(RowWriteError::NoReferenced {
        table: table.definition.name.clone(),
        constraint: key.name.clone(),
        detail: format!(
            "Key {} is not present in table \"{}\".",
            described(table, &key.columns, values),
            referenced.definition.name
        ),
    })
}
