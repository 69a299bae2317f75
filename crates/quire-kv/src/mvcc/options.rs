//! How transactions run.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::progress::StatementWork;

/// What a transaction sees of others, as in PostgreSQL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolation {
    /// Each statement sees what was committed when it began. A row that has changed since is read again, when it
    /// was locked.
    #[default]
    ReadCommitted,
    /// All statements see what was committed when the first one began: snapshot isolation. A row that has changed since cannot
    /// be changed or locked: 40001.
    RepeatableRead,
    /// As if transactions ran one after the other. What was read must not have changed until the commit: 40001.
    Serializable,
}

/// When a commit is durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Synchronous {
    /// When it returns: it is synced, together with those that commit at the same time.
    #[default]
    Full,
    /// A moment later: the operating system has it when it returns, and it is synced within [`MvccOptions::sync_interval`]. It
    /// survives the end of the process. A power failure may lose the newest such commits, never one of them
    /// without those after it.
    Normal,
    /// When it is convenient: it stays in this process's memory until other commits, a checkpoint or
    /// [`MvccOptions::sync_interval`] bring it to the operating system, and is synced with the next that is. The end of the process may lose
    /// the newest such commits, never one of them without those after it.
    Off,
}

/// Asked while a transaction waits; true ends the waiting.
pub type Cancel = Arc<dyn Fn() -> bool + Send + Sync>;

/// How one transaction runs.
#[derive(Clone, Default)]
pub struct TransactionOptions {
    /// What it sees of others.
    pub isolation: Isolation,
    /// When its commit is durable.
    pub synchronous: Synchronous,
    /// Longest time that it waits for a lock; `None`: for ever.
    pub lock_timeout: Option<Duration>,
    /// Ends its waiting for a lock. Asked every 20 ms.
    pub cancel: Option<Cancel>,
    /// Where long work of it is counted.
    pub work: Option<Arc<StatementWork>>,
    /// Whose it is, below 2²⁴, for those who ask who has a lock; 0: nobody's. Fixed when it takes its first lock.
    pub session: u32,
}

/// How all of them run.
#[derive(Clone, Debug)]
pub struct MvccOptions {
    /// A checkpoint is made when the log is longer than this.
    pub checkpoint_log_bytes: u64,
    /// A transaction with more row locks in one tree tries to lock the whole tree.
    pub row_locks_per_tree: usize,
    /// Commits that were not synced are synced after this time; those that were not even written are written.
    pub sync_interval: Duration,
    /// A transaction that has changed more than so many bytes puts them into a file.
    pub write_set_bytes: usize,
    /// Where such files are; where the system has its temporary files if absent.
    pub spill_directory: Option<PathBuf>,
    /// A thread makes checkpoints and syncs. Without it, the caller does.
    pub has_background_thread: bool,
}

impl Default for MvccOptions {
    fn default() -> Self {
        Self {
            checkpoint_log_bytes: 64 << 20,
            row_locks_per_tree: 20_000,
            sync_interval: Duration::from_millis(200),
            write_set_bytes: 64 << 20,
            spill_directory: None,
            has_background_thread: true,
        }
    }
}
