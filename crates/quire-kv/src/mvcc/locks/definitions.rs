//! Locks of definitions, which a write transaction holds until it ends.
//!
//! They are locks like any others, so waiting for them ends as all waiting does. They belong to the write transaction and not to the
//! list of locks: going back to a savepoint does not give them back.

use std::sync::Arc;
use std::time::Duration;

use super::LockWait;
use super::held::HeldLocks;
use super::mode::{LockModes, RowLockMode};
use super::object::{LockName, LockObject, PackedObject};
use super::owner::Owner;
use super::table::{LockAcquisition, LockRequest, LockTable};
use crate::mvcc::Cancel;
use crate::mvcc::error::LockError;
use crate::mvcc::options::TransactionOptions;

/// The locks; given back when dropped.
pub struct DefinitionLocks {
    table: Arc<LockTable>,
    owner: Owner,
    held: Vec<LockName>,
    timeout: Option<Duration>,
    cancel: Option<Cancel>,
}

/// What came of asking for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefinitionLock {
    /// It is held now, and was not before.
    New,
    /// It was held before.
    Held,
    /// It was not free, and waiting was not wanted.
    Skipped,
}

impl HeldLocks {
    /// Locks that belong to the same transaction among those that wait for each other.
    pub(in crate::mvcc) fn of_definitions(&self, options: &TransactionOptions) -> DefinitionLocks {
        DefinitionLocks {
            table: Arc::clone(&self.table),
            owner: self.owner,
            held: Vec::new(),
            timeout: options.lock_timeout,
            cancel: options.cancel.clone(),
        }
    }
}

impl DefinitionLocks {
    /// How it waits from now on.
    pub fn wait_as(&mut self, options: &TransactionOptions) {
        self.timeout = options.lock_timeout;
        self.cancel.clone_from(&options.cancel);
    }

    /// All definitions: shared by those that change some of them.
    ///
    /// # Errors
    /// See [`LockError`].
    pub fn take_all(
        &mut self,
        mode: RowLockMode,
        wait: LockWait,
    ) -> Result<DefinitionLock, LockError> {
        self.take(LockObject::Definitions, &[], mode, wait)
    }

    /// The definition called `name`, whether or not there is one; `id` is its number, 0 if it has none.
    ///
    /// # Errors
    /// See [`LockError`].
    pub fn take_name(
        &mut self,
        (name, id): (&str, u64),
        mode: RowLockMode,
        wait: LockWait,
    ) -> Result<DefinitionLock, LockError> {
        self.take(LockObject::Definition(id), name.as_bytes(), mode, wait)
    }

    fn take(
        &mut self,
        object: LockObject,
        key: &[u8],
        mode: RowLockMode,
        wait: LockWait,
    ) -> Result<DefinitionLock, LockError> {
        let named = match object {
            // The name decides: a number is for those who look.
            LockObject::Definition(_) => LockObject::Definition(0),
            other => other,
        };
        let name = self.table.name(PackedObject::from(named), key);
        let request = LockRequest {
            wait,
            timeout: self.timeout,
            cancel: self.cancel.as_ref(),
        };
        let (object, modes) = (PackedObject::from(object), LockModes::from(mode));
        let is_held = self.held.contains(&name);
        if !is_held {
            self.table.note_name(name, &String::from_utf8_lossy(key));
        }
        let taken = self
            .table
            .take(name, object, self.owner, modes, None, &request);
        let is_taken = matches!(
            taken,
            Ok(LockAcquisition::Now { .. } | LockAcquisition::Already)
        );
        if is_taken && !is_held {
            self.held.push(name);
        } else if !is_held {
            self.table.forget_name(name);
        }
        Ok(match taken? {
            LockAcquisition::Now { .. } => DefinitionLock::New,
            LockAcquisition::Skipped => DefinitionLock::Skipped,
            LockAcquisition::Already | LockAcquisition::AllRowsAreLocked => DefinitionLock::Held,
        })
    }
}

impl DefinitionLocks {
    /// Gives all of them back.
    pub fn release(&mut self) {
        while let Some(name) = self.held.pop() {
            self.table.reduce(name, self.owner, LockModes::NONE);
            self.table.forget_name(name);
        }
    }
}

impl Drop for DefinitionLocks {
    fn drop(&mut self) {
        self.release();
    }
}
