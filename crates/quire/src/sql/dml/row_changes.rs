//! Updates and deletes of single rows of a row table.

use std::sync::Arc;

use quire_kv::{mvcc::LockWait, mvcc::RowLockMode};
use quire_tables::row_table::TupleValue;
use quire_tables::{ReferenceChecks, RowParts, Transaction};

use quire_error::Error;

/// The changes that a statement has made so far, and what it still has to check.
#[derive(Default)]
pub(super) struct RowChanges {
    /// Rows written.
    pub(super) count: u64,
    /// Foreign key checks to make at the end of the statement.
    pub(super) references: ReferenceChecks,
    /// Whether foreign keys refer to the table.
    pub(super) is_referenced: bool,
    /// Keys of rows that concurrent transactions changed after the snapshot. The statement evaluates them again under a new snapshot,
    /// as PostgreSQL does at READ COMMITTED.
    pub(super) to_recheck: Vec<Box<[u8]>>,
}

impl RowChanges {
    /// Locks a row before a change. Returns false if another transaction changed it after the snapshot; it is then to be rechecked.
    pub(super) fn lock(
        &mut self,
        transaction: &mut Transaction,
        parts: &Arc<RowParts>,
        key: &[u8],
    ) -> Result<bool, Error> {
        let mut writer = transaction.row_writer(parts);
        let locked = writer.lock(key, RowLockMode::Exclusive, LockWait::Wait)?;
        // The lock is kept in either case: the recheck cannot find the row changed once more.
        if locked != Some(true) {
            self.to_recheck.push(key.into());
        }
        Ok(locked == Some(true))
    }

    /// Updates a row that the caller has locked. `values` has one value per column, by ordinal.
    pub(super) fn update(
        &mut self,
        transaction: &mut Transaction,
        parts: &Arc<RowParts>,
        key: &[u8],
        values: &[TupleValue<'_>],
    ) -> Result<(), Error> {
        let before = transaction.row_writer(parts).update(key, values)?;
        self.references
            .updated(parts, before, values, self.is_referenced);
        self.count += 1;
        Ok(())
    }

    /// Deletes a row that the caller has locked.
    pub(super) fn delete(
        &mut self,
        transaction: &mut Transaction,
        parts: &Arc<RowParts>,
        key: &[u8],
    ) -> Result<(), Error> {
        let before = transaction.row_writer(parts).delete(key)?;
        self.references.deleted(parts, before, self.is_referenced);
        self.count += 1;
        Ok(())
    }
}
