//! One statement that changes definitions: the only place where `CREATE`, `ALTER` and `DROP` meet the engine's transaction.

use quire_error::Error;
use quire_error::cancel::CancelToken;
use quire_kv::mvcc::{Isolation, LockWait, TableLockMode};
use quire_tables::{
    IndexDefinition, NewColumnOrigin, Snapshot, TableDefinition, Transaction, TransactionError,
    WriteTransaction,
};
use tokio::task::block_in_place;

use super::super::dml::changed_meanwhile;
use crate::outcome::{Completion, Outcome};
use crate::session::{Session, TableWriteGuard};

/// The changes of one statement. Dropped before [`CatalogChange::finish`], it leaves nothing behind.
pub(super) struct CatalogChange<'s> {
    pub(super) writer: TableWriteGuard<'s>,
    snapshot: Snapshot,
}

impl<'s> CatalogChange<'s> {
    pub(super) async fn begin(session: &'s Session, token: &CancelToken) -> Result<Self, Error> {
        let mut writer = TableWriteGuard::begin(session, token).await?;
        let snapshot = writer.snapshot()?;
        Ok(Self { writer, snapshot })
    }

    /// What the statement sees, its own definitions too.
    pub(super) fn snapshot(&self) -> Snapshot {
        self.snapshot.clone()
    }

    fn run<R>(
        &mut self,
        change: impl FnOnce(&mut Transaction) -> Result<R, TransactionError>,
    ) -> Result<R, Error> {
        let transaction = self.writer.transaction()?;
        // It may wait for other writers.
        let changed = block_in_place(|| change(transaction))?;
        self.snapshot = self.writer.snapshot()?;
        Ok(changed)
    }

    /// Waits until nobody else uses the table, and sees it as it is then.
    pub(super) fn lock_table(&mut self, name: &str) -> Result<(), Error> {
        self.lock_table_for(name, TableLockMode::AccessExclusive)
    }

    /// Waits until nobody else changes the table, and sees it as it is then. Others may read it.
    pub(super) fn lock_table_for_rewriting(&mut self, name: &str) -> Result<(), Error> {
        self.lock_table_for(name, TableLockMode::Exclusive)
    }

    /// Waits until nobody else writes the table, and sees it as it is then. Others may read it.
    pub(super) fn lock_table_for_reading(&mut self, name: &str) -> Result<(), Error> {
        self.lock_table_for(name, TableLockMode::Share)
    }

    fn lock_table_for(&mut self, name: &str, mode: TableLockMode) -> Result<(), Error> {
        // Another may come in its place while this waits, but not when it has the definitions.
        let mut locked = None;
        while let Some(id) = self.snapshot.id_of(name)
            && locked != Some(id)
        {
            self.run(|transaction| {
                transaction.lock_table(id, mode, LockWait::Wait)?;
                // A load of a column table has no lock of it, but shares that of definitions. The statement must see its rows: it may replace all.
                have_definitions(transaction)
            })?;
            locked = Some(id);
        }
        Ok(())
    }

    /// Waits until nobody else changes definitions, and sees them as they are then: what is planned by them is not changed before it is
    /// defined.
    pub(super) fn lock_definitions(&mut self) -> Result<(), Error> {
        self.run(have_definitions)
    }

    /// Refuses a statement that has to read all rows of the table while the transaction still sees those of its beginning: rows that were
    /// committed since would be lost with the table that it replaces.
    pub(super) fn refuse_older_rows(&mut self, name: &str) -> Result<(), Error> {
        let transaction = self.writer.transaction()?;
        if transaction.isolation() == Isolation::ReadCommitted || transaction.sees_newest_rows() {
            return Ok(());
        }
        Err(changed_meanwhile(name))
    }

    /// Changes definitions that nobody else can be using.
    pub(super) fn define<R>(
        &mut self,
        change: impl FnOnce(&mut WriteTransaction) -> Result<R, TransactionError>,
    ) -> Result<R, Error> {
        self.run(|transaction| transaction.define(change))
    }

    pub(super) fn drop_table(&mut self, name: &str) -> Result<(), Error> {
        self.run(|transaction| transaction.drop_table(name))
    }

    pub(super) fn truncate_table(&mut self, name: &str) -> Result<(), Error> {
        self.run(|transaction| transaction.truncate_table(name))
    }

    /// Another definition for a table whose rows stay as they are.
    pub(super) fn alter_table(
        &mut self,
        name: &str,
        definition: TableDefinition,
    ) -> Result<(), Error> {
        self.run(|transaction| transaction.alter_table(name, definition))
    }

    /// Other columns for a column table, whose rows have what `origins` says.
    pub(super) fn replace_columns(
        &mut self,
        name: &str,
        definition: TableDefinition,
        origins: &[NewColumnOrigin],
    ) -> Result<(), Error> {
        self.run(|transaction| transaction.replace_columns(name, definition, origins))
    }

    /// An index with entries for the rows that there are.
    pub(super) fn create_index(
        &mut self,
        table: &str,
        index: IndexDefinition,
    ) -> Result<(), Error> {
        self.run(|transaction| transaction.create_index(table, index))
    }

    /// Keeps the changes.
    pub(super) fn finish(self, tag: &str) -> Result<Outcome, Error> {
        self.writer.finish()?;
        Ok(Outcome::Done(Completion::tag(tag)))
    }
}

/// Waits until the transaction has all definitions for itself; a statement begins then, as after each change of them.
fn have_definitions(transaction: &mut Transaction) -> Result<(), TransactionError> {
    transaction.define(|_| Ok(()))
}
