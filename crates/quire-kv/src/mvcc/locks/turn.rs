//! The right to change definitions and row groups, which one transaction has at a time.
//!
//! It is a lock like any other, so waiting for it ends as all waiting does. It belongs to the write transaction and not to the
//! list of locks: going back to a savepoint does not give it back.

use std::sync::Arc;

use super::entry::Owner;
use super::held::HeldLocks;
use super::mode::{Modes, RowLockMode};
use super::object::{LockObject, PackedObject};
use super::table::{LockName, LockRequest, LockTable, Taken};
use crate::mvcc::error::LockError;

/// The right; given back when dropped.
pub struct Turn {
    table: Arc<LockTable>,
    name: LockName,
    owner: Owner,
}

impl HeldLocks {
    /// Takes the turn. `None` when it was to be skipped, or the transaction has it already.
    pub(in crate::mvcc) fn take_turn(
        &self,
        request: &LockRequest<'_>,
    ) -> Result<Option<Turn>, LockError> {
        let object = PackedObject::from(LockObject::Definitions);
        let name = self.table.name(object, &[]);
        let mode: Modes = RowLockMode::Exclusive.into();
        let taken = self
            .table
            .take(name, object, self.owner, mode, None, request)?;
        let turn = || Turn {
            table: Arc::clone(&self.table),
            name,
            owner: self.owner,
        };
        Ok(matches!(taken, Taken::Now { .. }).then(turn))
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.table.reduce(self.name, self.owner, Modes::NONE);
    }
}
