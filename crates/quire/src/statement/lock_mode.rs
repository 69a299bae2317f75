//! How a statement locks the rows that it reads.

use quire_kv::{mvcc::LockWait, mvcc::RowLockMode};

/// What `FOR UPDATE` or `FOR SHARE` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LockMode {
    pub(super) rows: RowLockMode,
    /// What becomes of a row that another transaction has locked.
    pub(super) wait: LockWait,
}
