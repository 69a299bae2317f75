//! What can go wrong, one enum per operation.

use quire_codec::Corrupt;
use quire_store::BatchWriteError as VolumeError;
use quire_store::log::ReplayError;
use quire_store::pool::FlushError;
use thiserror::Error;

use super::TreeId;
use crate::btree::TreeError;

/// Why a tree could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TreeReadError {
    /// No such tree: it has been dropped.
    #[error("there is no tree {tree}: it has been dropped; begin the statement again")]
    UnknownTree {
        /// Which.
        tree: TreeId,
    },
    /// Its pages cannot be read.
    #[error(transparent)]
    Tree(#[from] TreeError),
}

/// Why a lock was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LockError {
    /// Transactions wait for each other: SQLSTATE 40P01.
    #[error("deadlock detected: transactions wait for each other; roll back and try again")]
    Deadlock,
    /// It took too long: SQLSTATE 55P03.
    #[error("another transaction has kept the lock for longer than the lock timeout; try again")]
    Timeout,
    /// It is not free, and waiting was not wanted: SQLSTATE 55P03.
    #[error("another transaction has the lock; try again, or wait for it")]
    NotAvailable,
    /// The statement was cancelled: SQLSTATE 57014.
    #[error("canceling statement due to user request")]
    Cancelled,
    /// The row has changed since the snapshot of the transaction: SQLSTATE 40001.
    #[error(
        "could not serialize access: a concurrent transaction has changed the row; \
         roll back and try again"
    )]
    Conflict,
    /// No such tree.
    #[error("there is no tree {tree}: it has been dropped; begin the statement again")]
    UnknownTree {
        /// Which.
        tree: TreeId,
    },
}

/// Why a key was not changed. What the transaction has done before stands.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KeyWriteError {
    /// Its lock was not to be had.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The tree cannot hold the entry.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// The transaction has changed more than memory holds, and its file takes no more. The change counts; the transaction should be
    /// rolled back.
    #[error(transparent)]
    Spill(#[from] SpillError),
}

/// Why the file for the changes of a large transaction cannot be used.
#[derive(Debug, Error)]
#[error(
    "the file for the changes of a large transaction: {detail}; free space there, or change fewer rows at a time"
)]
pub struct SpillError {
    detail: String,
}

macro_rules! spill_error_from {
    ($($cause:ty),*) => {
        $(impl From<$cause> for SpillError {
            fn from(cause: $cause) -> Self {
                let detail = cause.to_string();
                Self { detail }
            }
        })*
    };
}

spill_error_from!(
    std::io::Error,
    TreeError,
    FlushError,
    VolumeError,
    quire_store::VolumeOpenError,
    quire_store::CommitError
);

/// Why a transaction was not committed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KvCommitError {
    /// It is rolled back. When the disk is full it was not logged; after other failures of the disk nothing more is committed, and only
    /// opening the file again tells whether it was.
    #[error(transparent)]
    Log(#[from] quire_store::CommitError),
    /// Its changes, which were too many for memory, cannot be read. It is rolled back.
    #[error("the changes of a large transaction cannot be read: {0}; try again")]
    Changes(#[from] TreeError),
    /// What it has read has changed: SQLSTATE 40001. It is rolled back.
    #[error(
        "could not serialize access: what the transaction has read was changed by a concurrent one; \
         try again"
    )]
    Conflict,
    /// It is committed, but cannot be shown.
    #[error(
        "the transaction is committed, but could not be applied: {detail}; open the file again"
    )]
    NotApplied {
        /// Why.
        detail: String,
    },
    /// An earlier transaction could not be applied.
    #[error(
        "no more transactions are committed: {detail}; open the file again, committed data is safe"
    )]
    Stopped {
        /// Why.
        detail: String,
    },
}

/// Why the trees could not be opened.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TreesOpenError {
    /// A tree cannot be opened.
    #[error("tree {tree}: {source}")]
    Tree {
        /// Which.
        tree: TreeId,
        /// Why.
        source: TreeError,
    },
    /// Two trees have this number.
    #[error("the catalog has two trees with number {tree}; restore a backup")]
    Twice {
        /// The number.
        tree: TreeId,
    },
    /// The log cannot be replayed.
    #[error(transparent)]
    Replay(#[from] ReplayError<RedoError>),
    /// What the log has could not be written while it was replayed.
    #[error(transparent)]
    Checkpoint(#[from] TreeCheckpointError),
    /// There is no thread for checkpoints to be had.
    #[error("cannot start a thread: {0}; end other programs")]
    Thread(std::io::Error),
}

/// Why a record of the log was not redone.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RedoError {
    /// It means nothing.
    #[error("the log is damaged: {0}; restore a backup")]
    Corrupt(#[from] Corrupt),
    /// The tree cannot be changed.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// What was redone so far could not be written.
    #[error(transparent)]
    Checkpoint(#[from] Box<TreeCheckpointError>),
}

/// Why the changed pages were not written. The log has what changed them.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TreeCheckpointError {
    /// Their images cannot be made.
    #[error(transparent)]
    Flush(#[from] FlushError),
    /// The volume takes no writes now.
    #[error(transparent)]
    Write(#[from] VolumeError),
    /// It did not take these.
    #[error(transparent)]
    Commit(#[from] quire_store::CommitError),
    /// A transaction could not be applied: the pages are not those of one commit.
    #[error(
        "a committed transaction could not be applied; open the file again, committed data is safe"
    )]
    Stopped,
    /// The pages of a tree that was removed cannot be freed.
    #[error(transparent)]
    Tree(#[from] TreeError),
}
