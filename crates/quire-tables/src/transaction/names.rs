//! What a write transaction locks, and what it learns of others.
//!
//! Who changes definitions locks all of them until it ends, and has them alone. Who only writes row groups of a table, or gives it trees for
//! changes, locks all definitions shared with others of the kind, and the name of the table: a load of one table does not wait for that of another.
//! At READ COMMITTED each new lock is followed by a look at what others have committed, so that what is checked under it is the
//! newest state. Otherwise the transaction goes on seeing what it saw, and its commit says whether both go together.

use std::borrow::Cow;
use std::sync::Arc;

use quire_kv::mvcc::{DefinitionLock, LockWait, RowLockMode, TransactionOptions};

use super::{Transaction, WriteTransaction};
use crate::catalog::Catalog;
use crate::definition::{TableDefinition, TreeRole};
use crate::error::TransactionError;
use crate::rebase::{Rebase, is_unchanged};
use crate::snapshot::Snapshot;

impl WriteTransaction {
    /// How it waits for locks from now on.
    pub(crate) fn wait_as(&mut self, options: &TransactionOptions) {
        self.ticket.locks().wait_as(options);
    }

    /// Locks all definitions: no other transaction has a half for tables from now on.
    pub(crate) fn lock_all(&mut self) -> Result<(), TransactionError> {
        let locks = self.ticket.locks();
        let taken = locks.take_all(RowLockMode::Exclusive, LockWait::Wait)?;
        self.after(taken, None)
    }

    /// Locks a name that it changes.
    pub(crate) fn lock_name(&mut self, name: &str) -> Result<(), TransactionError> {
        self.lock(name, RowLockMode::Exclusive, LockWait::Wait)
            .map(drop)
    }

    /// The same without waiting; says whether it has it.
    pub(crate) fn try_lock_name(&mut self, name: &str) -> Result<bool, TransactionError> {
        self.lock(name, RowLockMode::Exclusive, LockWait::Skip)
    }

    /// Locks the name of a table that has been locked under that number. Another may have come in its place before that.
    pub(crate) fn check_is_locked(
        &mut self,
        name: &str,
        locked: Option<u64>,
    ) -> Result<(), TransactionError> {
        self.lock_name(name)?;
        match self.catalog.id_of(name) {
            Some(found) if locked != Some(found) => {
                let what = format!("table {name:?}");
                Err(TransactionError::Changed { what })
            }
            _ => Ok(()),
        }
    }

    /// Locks the tree of that kind that all tables share, to make it. No table has such a name.
    pub(super) fn lock_shared_tree(&mut self, role: TreeRole) -> Result<(), TransactionError> {
        self.lock_name(&format!("\0{role:?}"))
    }

    fn lock(
        &mut self,
        name: &str,
        mode: RowLockMode,
        wait: LockWait,
    ) -> Result<bool, TransactionError> {
        let id = self.catalog.id_of(name).unwrap_or(0);
        let taken = self.ticket.locks().take_name((name, id), mode, wait)?;
        self.after(taken, Some(name))?;
        Ok(taken != DefinitionLock::Skipped)
    }

    fn after(&mut self, taken: DefinitionLock, name: Option<&str>) -> Result<(), TransactionError> {
        if taken == DefinitionLock::Skipped {
            return Ok(());
        }
        let newest = || self.ticket.engine().newest();
        if self.follows {
            // What it has locked stays as it is, unless it was not what it should have been.
            return match taken == DefinitionLock::New || self.is_left_behind {
                true => self.rebase_on(&newest()),
                false => Ok(()),
            };
        }
        // A lock that it has from before may have been refused then: going back to a savepoint keeps it.
        match name {
            Some(name) if !is_unchanged(&self.base, newest().catalog(), name) => {
                let what = format!("{name:?}");
                Err(TransactionError::Changed { what })
            }
            _ => Ok(()),
        }
    }

    /// Sees what others have committed, beside its own changes.
    ///
    /// # Errors
    /// Both do not go together. Then it sees what it has seen before, and cannot be committed unless it goes back to a savepoint.
    pub(crate) fn rebase_on(&mut self, newest: &Snapshot) -> Result<(), TransactionError> {
        self.rebase_catalog(newest.shared_catalog())?;
        let base = newest.source().newest_pin();
        self.source = Arc::new(self.pages.source(Some(base)));
        Ok(())
    }

    pub(super) fn rebase_catalog(&mut self, newest: &Arc<Catalog>) -> Result<(), TransactionError> {
        self.is_left_behind = false;
        if Arc::ptr_eq(newest, &self.base) {
            return Ok(());
        }
        let merged = self.merged_with(newest);
        self.is_left_behind = merged.is_err();
        self.catalog = merged?;
        self.base = Arc::clone(newest);
        Ok(())
    }

    /// Whether it does not see what others have committed, for that does not go together with what it has changed.
    pub(crate) fn is_left_behind(&self) -> bool {
        self.is_left_behind
    }

    /// The definitions that it would see now.
    pub(crate) fn merged_with(&self, newest: &Catalog) -> Result<Catalog, TransactionError> {
        let rebase = Rebase {
            base: &self.base,
            own: &self.catalog,
            newest,
        };
        let merged = rebase.merged();
        merged.map_err(|what| TransactionError::Changed { what })
    }

    /// The definitions as they are now, with its own changes; these alone where both do not go together, for then it will not be committed.
    pub(crate) fn catalog_over(&self, newest: &Arc<Catalog>) -> Cow<'_, Catalog> {
        if Arc::ptr_eq(newest, &self.base) {
            return Cow::Borrowed(&self.catalog);
        }
        match self.merged_with(newest) {
            Ok(merged) => Cow::Owned(merged),
            Err(_) => Cow::Borrowed(&self.catalog),
        }
    }

    /// Keeps no space that others have freed: what is read from now on is as it is at the moment.
    pub(crate) fn unpin(&mut self) {
        self.source = Arc::new(self.pages.source(None));
    }

    /// Whether it sees what others commit, before its own commit.
    pub(crate) fn follows(&self) -> bool {
        self.follows
    }

    /// What is committed, as far as it has looked.
    pub(crate) fn base(&self) -> &Arc<Catalog> {
        &self.base
    }
}

impl Transaction {
    /// Locks the row groups of a column table, for rows that are to be appended. False when it is not defined as a statement goes by.
    ///
    /// # Errors
    /// As [`Transaction::tables`].
    pub fn lock_to_append(
        &mut self,
        planned: &Arc<TableDefinition>,
    ) -> Result<bool, TransactionError> {
        let tables = self.tables()?;
        tables.lock_name(&planned.name)?;
        let found = tables.catalog_now().definition(&planned.name);
        // Another in its place, as after TRUNCATE, takes the same rows.
        let is_planned = found.is_some_and(|found| found.takes_rows_of(planned));
        // Row groups may be newer now: rows are to be as of the same moment.
        self.begin_statement();
        Ok(is_planned)
    }
}
