//! Transactions begin.

use quire_kv::mvcc::{DefinitionLocks, LockWait, RowLockMode, TransactionOptions, TreeId};

use super::WriteTransaction;
use super::ticket::WriterTicket;
use super::whole::Transaction;
use crate::definition::TreeRecord;
use crate::engine::Engine;
use crate::error::TransactionError;
use crate::snapshot::Snapshot;

impl Engine {
    /// Begins a transaction over rows and tables.
    pub fn transaction(&self, options: TransactionOptions) -> Transaction {
        let mut transaction = Transaction::new(self, options);
        transaction.begin_statement();
        transaction
    }

    /// The same for a statement that reads newest rows only: see [`Transaction::begin_newest`].
    pub fn transaction_of_newest(&self, options: TransactionOptions) -> Transaction {
        let mut transaction = Transaction::new(self, options);
        transaction.begin_newest();
        transaction
    }

    /// Starts a write transaction that has all definitions for itself; waits until those before have ended. Who only changes rows of row
    /// tables does not wait for it.
    ///
    /// # Errors
    /// The volume takes no writes.
    pub fn begin(&self) -> Result<WriteTransaction, TransactionError> {
        let mut transaction = self.mvcc().begin(TransactionOptions::default());
        let mut locks = transaction.definition_locks();
        locks.take_all(RowLockMode::Exclusive, LockWait::Wait)?;
        self.begin_in(locks, None)
    }

    /// Starts a write transaction that has these locks. It sees the newest state and follows it, or the one given until it is committed.
    pub(crate) fn begin_in(
        &self,
        locks: DefinitionLocks,
        fixed: Option<&Snapshot>,
    ) -> Result<WriteTransaction, TransactionError> {
        let ticket = WriterTicket::new(self, locks);
        let staging = self.new_staging()?;
        let newest = self.newest();
        let base = fixed.unwrap_or(&newest);
        let mut transaction = WriteTransaction::new(ticket, staging, base, fixed.is_none());
        let mvcc = self.mvcc();
        let is_here = |tree: &TreeRecord| {
            mvcc.has_tree(TreeId::new(tree.id)) || self.has_pages_of(std::slice::from_ref(tree))
        };
        transaction.forget_trees_without_pages(is_here);
        Ok(transaction)
    }
}
