//! The changes that one statement makes to the rows of a table.
//!
//! Every statement writes rows by [`RowChanges`], whichever executor has found them: one row after the other, with its index entries and long
//! values ([`TableRowWriter`]). What foreign keys demand is recorded with each row, and done at the end of the statement, when all its rows are
//! as they will be.
//!
//! [`TableRowWriter`]: crate::rows::TableRowWriter

use std::mem;
use std::sync::Arc;

use quire_format::tuple::TupleValue;
use quire_kv::mvcc::{LockWait, RowLockMode};

use super::Transaction;
use crate::error::RowWriteError;
use crate::row_table::Value;
use crate::rows::{Insertion, KeyConflict, ReferenceChecks, RowParts};

/// What a statement has written so far, and what it still has to check.
#[derive(Default)]
pub struct RowChanges {
    count: u64,
    references: ReferenceChecks,
    is_referenced: bool,
    to_recheck: Vec<Box<[u8]>>,
}

impl RowChanges {
    /// Of a statement that may change rows that are there. `is_referenced` says whether foreign keys refer to the table; for one that only
    /// inserts, the default does.
    pub fn new(is_referenced: bool) -> Self {
        Self {
            is_referenced,
            ..Self::default()
        }
    }

    /// Rows written.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Keys of rows that concurrent transactions changed after the snapshot. The statement evaluates them again under a new snapshot, as PostgreSQL
    /// does at READ COMMITTED.
    pub fn take_rechecks(&mut self) -> Vec<Box<[u8]>> {
        mem::take(&mut self.to_recheck)
    }

    /// Locks a row before a change. Returns false if another transaction changed it after the snapshot; it is then to be rechecked.
    ///
    /// # Errors
    /// What waiting for the lock may fail with.
    pub fn lock(
        &mut self,
        transaction: &mut Transaction,
        parts: &Arc<RowParts>,
        row_key: &[u8],
    ) -> Result<bool, RowWriteError> {
        let mut writer = transaction.row_writer(parts);
        let locked = writer.lock(row_key, RowLockMode::Exclusive, LockWait::Wait)?;
        // The lock is kept in either case: the recheck cannot find the row changed once more.
        if locked != Some(true) {
            self.to_recheck.push(row_key.into());
        }
        Ok(locked == Some(true))
    }

    /// Inserts a row. A key that another row has is no error.
    ///
    /// # Errors
    /// Values that do not fit, and what reading, locking and writing may fail with.
    pub fn insert(
        &mut self,
        transaction: &mut Transaction,
        parts: &Arc<RowParts>,
        values: &[TupleValue<'_>],
    ) -> Result<Insertion, RowWriteError> {
        let insertion = transaction.row_writer(parts).insert(values)?;
        if let Insertion::Inserted(_) = insertion {
            self.note_inserted(parts, values);
        }
        Ok(insertion)
    }

    /// The same; returns the row that has one of its keys, if there is one, and otherwise not the key that the row has got.
    ///
    /// # Errors
    /// As [`RowChanges::insert`].
    pub fn insert_or_find(
        &mut self,
        transaction: &mut Transaction,
        parts: &Arc<RowParts>,
        values: &[TupleValue<'_>],
    ) -> Result<Option<KeyConflict>, RowWriteError> {
        let conflict = transaction.row_writer(parts).insert_or_find(values)?;
        if conflict.is_none() {
            self.note_inserted(parts, values);
        }
        Ok(conflict)
    }

    /// A row with these values was inserted; [`RowFill`](crate::RowFill) does that without this.
    pub fn note_inserted(&mut self, parts: &RowParts, values: &[TupleValue<'_>]) {
        self.references.inserted(parts, values);
        self.count += 1;
    }

    /// Updates a row that the caller has locked. `values` has one value per column, by ordinal.
    ///
    /// # Errors
    /// [`RowWriteError::Duplicate`], values that do not fit, and what reading, locking and writing may fail with.
    pub fn update(
        &mut self,
        transaction: &mut Transaction,
        parts: &Arc<RowParts>,
        row_key: &[u8],
        values: &[TupleValue<'_>],
    ) -> Result<(), RowWriteError> {
        let before = transaction.row_writer(parts).update(row_key, values)?;
        self.note_updated(parts, before, values);
        Ok(())
    }

    /// Updates a row of a tree that the caller has locked and read, with its tuple and its values `before`.
    ///
    /// # Errors
    /// As [`RowChanges::update`].
    pub fn replace(
        &mut self,
        transaction: &mut Transaction,
        parts: &Arc<RowParts>,
        row: (&[u8], &[u8]),
        (before, after): (&[TupleValue<'_>], &[TupleValue<'_>]),
    ) -> Result<(), RowWriteError> {
        transaction.row_writer(parts).replace(row, before, after)?;
        let before = self.kept(parts, before)?;
        self.note_updated(parts, before, after);
        Ok(())
    }

    /// Deletes a row that the caller has locked.
    ///
    /// # Errors
    /// What reading, locking and writing may fail with.
    pub fn delete(
        &mut self,
        transaction: &mut Transaction,
        parts: &Arc<RowParts>,
        row_key: &[u8],
    ) -> Result<(), RowWriteError> {
        let before = transaction.row_writer(parts).delete(row_key)?;
        self.note_deleted(parts, before);
        Ok(())
    }

    /// Deletes a row of a tree that the caller has locked and read.
    ///
    /// # Errors
    /// As [`RowChanges::delete`].
    pub fn remove(
        &mut self,
        transaction: &mut Transaction,
        parts: &Arc<RowParts>,
        row: (&[u8], &[u8]),
        before: &[TupleValue<'_>],
    ) -> Result<(), RowWriteError> {
        transaction.row_writer(parts).remove(row, before)?;
        let before = self.kept(parts, before)?;
        self.note_deleted(parts, before);
        Ok(())
    }

    /// Checks the foreign keys and executes their actions, at the end of the statement.
    ///
    /// # Errors
    /// A foreign key is violated; or rows cannot be read, locked or written.
    pub fn check_references(&mut self, transaction: &mut Transaction) -> Result<(), RowWriteError> {
        transaction.check_references(mem::take(&mut self.references))
    }

    fn note_updated(&mut self, parts: &RowParts, before: Vec<Value>, after: &[TupleValue<'_>]) {
        self.references
            .updated(parts, before, after, self.is_referenced);
        self.count += 1;
    }

    fn note_deleted(&mut self, parts: &RowParts, before: Vec<Value>) {
        self.references.deleted(parts, before, self.is_referenced);
        self.count += 1;
    }

    /// The values of a row as the end of the statement needs them: not at all, unless the table is referenced.
    fn kept(
        &self,
        parts: &RowParts,
        values: &[TupleValue<'_>],
    ) -> Result<Vec<Value>, RowWriteError> {
        if self.is_referenced {
            Ok(parts.owned(values)?)
        } else {
            Ok(Vec::new())
        }
    }
}
