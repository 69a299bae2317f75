//! The table that a statement changes.

use std::sync::Arc;

use quire_engine::{LockWait, RowTable, Snapshot, TableLockMode};
use tokio::task::block_in_place;

use crate::error::{Error, closest};
use crate::transaction::Writer;

/// Locks the row table called `name`, so that it stays as it is defined until the transaction ends.
pub(super) fn lock(
    writer: &mut Writer<'_>,
    name: &str,
    mode: TableLockMode,
) -> Result<Arc<RowTable>, Error> {
    loop {
        let snapshot = writer.snapshot()?;
        let table = row_table(&snapshot, name)?;
        let transaction = writer.transaction()?;
        block_in_place(|| transaction.lock_table(table.id(), mode, LockWait::Wait))?;
        if transaction.is_current(&table) {
            return Ok(table);
        }
        // It was changed or dropped while we waited.
        transaction.begin_statement();
        if !transaction.sees_newest_definitions() {
            let text =
                format!("could not serialize access: table \"{name}\" was changed meanwhile");
            return Err(Error::new("40001", text));
        }
    }
}

/// The row table called `name`, or an error that says what there is instead.
pub(super) fn row_table(snapshot: &Snapshot, name: &str) -> Result<Arc<RowTable>, Error> {
    if let Some(table) = snapshot.row_table(name)? {
        return Ok(table);
    }
    if snapshot.view(name).is_some() {
        return Err(
            Error::new("42809", format!("cannot change view \"{name}\""))
                .with_hint("Change the tables that it reads."),
        );
    }
    let definitions = snapshot.definitions();
    let mut known = definitions
        .iter()
        .map(|definition| definition.name.as_str());
    if known.clone().any(|known| known == name) {
        return Err(Error::new(
            "0A000",
            format!("rows of column table \"{name}\" cannot be changed"),
        )
        .with_hint("Create it USING row to change rows; to empty it, use TRUNCATE."));
    }
    let error = Error::new("42P01", format!("relation \"{name}\" does not exist"));
    Err(match closest(name, &mut known) {
        Some(similar) => error.with_hint(format!("Perhaps you meant \"{similar}\".")),
        None => error,
    })
}
