//! Lock escalation: one lock of a tree instead of very many row locks.
//!
//! The transaction locks the tree exclusively, without waiting, and registers as its owner in the tree. From then on any other
//! transaction that requests a row lock finds the owner in the critical section in which it would have acquired that lock, and waits
//! for the lock of the tree. The transaction then searches the lock table: if no other transaction holds a row lock in the tree, the
//! escalation succeeds, and its own row locks are superfluous. Otherwise it continues with row locks, and tries again after as many
//! rows.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::LockWait;
use super::held::{HeldLocks, RowLockCount};
use super::mode::{LockModes, RowLockMode};
use super::object::{LockObject, PackedObject};
use super::table::{LockAcquisition, LockRequest};
use crate::mvcc::TreeId;
use crate::mvcc::trees::OpenTree;

const AT_ONCE: LockRequest<'static> = LockRequest {
    wait: LockWait::Skip,
    timeout: None,
    cancel: None,
};

impl HeldLocks {
    pub(super) fn has_whole(&self, tree: &OpenTree) -> bool {
        tree.locked_by.load(Ordering::SeqCst) == self.owner
    }

    /// A row lock was taken in a tree.
    pub(super) fn count_row(&mut self, tree: &Arc<OpenTree>) {
        let id = tree.id();
        let place = self.row_limits.iter().position(|(known, _)| *known == id);
        let place = place.unwrap_or_else(|| {
            let limit = tree.row_locks_max;
            self.row_limits.push((id, RowLockCount { held: 0, limit }));
            self.row_limits.len() - 1
        });
        let count = &mut self.row_limits[place].1;
        count.held += 1;
        if count.held > count.limit {
            count.limit = count.held.saturating_mul(2);
            self.escalate(tree);
        }
    }

    pub(super) fn uncount(&mut self, object: PackedObject) {
        let LockObject::Row(tree) = object.unpacked() else {
            return;
        };
        if let Some((_, count)) = self.row_limits.iter_mut().find(|(id, _)| *id == tree) {
            count.held = count.held.saturating_sub(1);
        }
    }

    fn escalate(&mut self, tree: &Arc<OpenTree>) {
        let object = PackedObject::from(LockObject::Tree(tree.id()));
        let name = self.table.name(object, &[]);
        let mode: LockModes = RowLockMode::Exclusive.into();
        let taken = self
            .table
            .take(name, object, self.owner, mode, None, &AT_ONCE);
        let Ok(LockAcquisition::Now { .. }) = taken else {
            return;
        };
        tree.locked_by.store(self.owner, Ordering::SeqCst);
        let id = tree.id();
        let row = PackedObject::from(LockObject::Row(id));
        let is_shared = self.table.shards().any(|locks| {
            let mut of_tree = locks.values().filter(|entry| entry.object == row);
            of_tree.any(|entry| entry.has_others(self.owner))
        });
        if is_shared {
            tree.locked_by.store(0, Ordering::SeqCst);
            self.table.reduce(name, self.owner, LockModes::NONE);
            return;
        }
        self.whole_trees.push((Arc::clone(tree), name));
        self.forget_rows(id);
    }

    /// Row locks of a tree that is locked as a whole. Their places in the list stay, for savepoints.
    fn forget_rows(&mut self, tree: TreeId) {
        let (table, owner) = (&self.table, self.owner);
        let row = PackedObject::from(LockObject::Row(tree));
        for lock in self.held.iter().filter(|lock| lock.object == row) {
            table.reduce(lock.name, owner, LockModes::NONE);
        }
    }

    pub(super) fn release_whole_trees(&mut self) {
        for (tree, name) in self.whole_trees.drain(..) {
            tree.locked_by.store(0, Ordering::SeqCst);
            self.table.reduce(name, self.owner, LockModes::NONE);
        }
    }
}
