//! Changing one row after the other.

use std::sync::Arc;

use quire_kv::{mvcc::LockWait, mvcc::RowLockMode};
use quire_tables::row_table::TupleValue;
use quire_tables::{ReferenceChecks, RowParts, Transaction};

use quire_error::Error;

/// What a statement has done to rows so far.
#[derive(Default)]
pub(super) struct RowChanges {
    pub(super) count: u64,
    pub(super) references: ReferenceChecks,
    /// Whether foreign keys refer to the table.
    pub(super) is_referenced: bool,
    /// Rows that others have changed since the snapshot, to be judged anew.
    pub(super) again: Vec<Box<[u8]>>,
}

impl RowChanges {
    /// Locks a row. False when another transaction has changed it since the snapshot.
    pub(super) fn lock(
        &mut self,
        transaction: &mut Transaction,
        parts: &Arc<RowParts>,
        key: &[u8],
    ) -> Result<bool, Error> {
        let mut writer = transaction.row_writer(parts);
        let locked = writer.lock(key, RowLockMode::Exclusive, LockWait::Wait)?;
        if locked != Some(true) {
            self.again.push(key.into());
        }
        Ok(locked == Some(true))
    }

    /// Changes a row that is locked to these values, by ordinal.
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

    /// Deletes a row that is locked.
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
