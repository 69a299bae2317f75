//! The locks of one transaction.

use std::sync::Arc;

use super::mode::{LockModes, RowLockMode, TableLockMode};
use super::object::{LockName, LockObject, PackedObject};
use super::owner::Owner;
use super::table::{LockAcquisition, LockRequest, LockTable};
use crate::mvcc::TreeId;
use crate::mvcc::error::LockError;
use crate::mvcc::spare::clear;
use crate::mvcc::trees::OpenTree;

/// Locks in the order in which they were taken. All are given back when it is dropped.
pub(in crate::mvcc) struct HeldLocks {
    pub(super) table: Arc<LockTable>,
    pub(super) owner: Owner,
    session: u32,
    pub(super) held: Vec<HeldLock>,
    /// Trees that are locked as a whole, until the end.
    pub(super) whole_trees: Vec<(Arc<OpenTree>, LockName)>,
    /// Row locks of each tree at which it is tried again to get the whole tree.
    pub(super) row_limits: Vec<(TreeId, RowLockCount)>,
}

/// Row locks in one tree.
#[derive(Clone, Copy)]
pub(super) struct RowLockCount {
    pub(super) held: usize,
    pub(super) limit: usize,
}

#[derive(Clone, Copy)]
pub(super) struct HeldLock {
    pub(super) name: LockName,
    pub(super) object: PackedObject,
    /// What was held of it before.
    pub(super) before: LockModes,
}

/// A place in the list, to go back to.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::mvcc) struct LockPosition(usize);

impl HeldLocks {
    /// Those of a transaction of the session with this number.
    pub(in crate::mvcc) fn new(table: &Arc<LockTable>, session: u32) -> Self {
        Self {
            owner: table.new_owner(session),
            session,
            table: Arc::clone(table),
            held: Vec::new(),
            whole_trees: Vec::new(),
            row_limits: Vec::new(),
        }
    }

    pub(in crate::mvcc) fn position(&self) -> LockPosition {
        LockPosition(self.held.len())
    }

    /// Takes the lock of a row. False when it was to be skipped.
    pub(in crate::mvcc) fn take_row(
        &mut self,
        tree: &Arc<OpenTree>,
        key: &[u8],
        mode: RowLockMode,
        request: &LockRequest<'_>,
    ) -> Result<bool, LockError> {
        if self.has_whole(tree) {
            return Ok(true);
        }
        let object = PackedObject::from(LockObject::Row(tree.id()));
        let name = self.table.name(object, key);
        loop {
            let by = Some(&tree.locked_by);
            let (owner, modes) = (self.owner, mode.into());
            match self.table.take(name, object, owner, modes, by, request)? {
                LockAcquisition::Now { before } => {
                    self.note(name, object, before);
                    self.count_row(tree);
                    return Ok(true);
                }
                LockAcquisition::Already => return Ok(true),
                LockAcquisition::Skipped => return Ok(false),
                LockAcquisition::AllRowsAreLocked => {
                    if !self.pass_by_whole_tree(tree, request)? {
                        return Ok(false);
                    }
                }
            }
        }
    }

    /// Takes the lock of a table. False when it was to be skipped.
    pub(in crate::mvcc) fn take_table(
        &mut self,
        table: u64,
        mode: TableLockMode,
        request: &LockRequest<'_>,
    ) -> Result<bool, LockError> {
        let object = PackedObject::from(LockObject::Table(table));
        let name = self.table.name(object, &[]);
        let (owner, modes) = (self.owner, mode.into());
        let taken = self.table.take(name, object, owner, modes, None, request)?;
        if let LockAcquisition::Now { before } = taken {
            self.note(name, object, before);
        }
        Ok(taken != LockAcquisition::Skipped)
    }

    /// Waits until nobody has the whole tree. False when that was not wanted.
    fn pass_by_whole_tree(
        &mut self,
        tree: &OpenTree,
        request: &LockRequest<'_>,
    ) -> Result<bool, LockError> {
        let object = PackedObject::from(LockObject::Tree(tree.id()));
        let name = self.table.name(object, &[]);
        let mode = RowLockMode::Share.into();
        let taken = self
            .table
            .take(name, object, self.owner, mode, None, request)?;
        if let LockAcquisition::Now { before } = taken {
            self.table.reduce(name, self.owner, before);
        }
        Ok(taken != LockAcquisition::Skipped)
    }

    /// Gives back what was taken after that position.
    pub(in crate::mvcc) fn release_since(&mut self, position: LockPosition) {
        while self.held.len() > position.0
            && let Some(lock) = self.held.pop()
        {
            self.table.reduce(lock.name, self.owner, lock.before);
            self.uncount(lock.object);
        }
    }

    /// Gives back all, and belongs to another transaction from now on.
    pub(in crate::mvcc) fn renew(&mut self) {
        self.release_since(LockPosition(0));
        self.release_whole_trees();
        clear(&mut self.held);
        clear(&mut self.row_limits);
        self.owner = self.table.new_owner(self.session);
    }

    fn note(&mut self, name: LockName, object: PackedObject, before: LockModes) {
        self.held.push(HeldLock {
            name,
            object,
            before,
        });
    }
}

impl Drop for HeldLocks {
    fn drop(&mut self) {
        self.release_since(LockPosition(0));
        self.release_whole_trees();
    }
}
