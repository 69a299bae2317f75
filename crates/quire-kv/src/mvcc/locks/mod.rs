//! Who may change which row, and who waits for whom.
//!
//! A lock is known by a *name*: 64 bits made of what is locked with a secret of this process. Two rows with one name
//! would only keep out more than they must. Names are spread over shards, each a small hash table behind a mutex; a lock that nobody
//! waits for is one visit to one shard. Who waits, waits in the order of arrival; only one that wants more of what it holds
//! goes first. Before it sleeps it looks for a circle of transactions that wait for each other, and gives up if there
//! is one (`deadlock`). A transaction that locks very many rows of a tree gets all of it, if no other has any (`escalate`).

mod deadlock;
mod definitions;
mod entry;
mod escalate;
mod held;
mod mode;
mod object;
mod owner;
mod report;
mod table;

pub use mode::{RowLockMode, TableLockMode};
pub use object::LockObject;
pub use report::LockReport;

pub use definitions::{DefinitionLock, DefinitionLocks};
pub(super) use held::{HeldLocks, LockPosition};
pub(super) use table::{LockRequest, LockTable};

use std::time::Duration;

/// What to do when a lock is not free.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LockWait {
    /// Wait, until the lock timeout of the transaction.
    #[default]
    Wait,
    /// [`super::LockError::NotAvailable`]: `NOWAIT`.
    Fail,
    /// Go on without it: `SKIP LOCKED`.
    Skip,
}

/// A sleeper looks this often whether it was cancelled.
const CANCEL_POLL: Duration = Duration::from_millis(20);
