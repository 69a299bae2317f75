//! What a long statement tells its caller while it runs.

use std::sync::Arc;

/// What a statement is busy with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Reading a file and appending its rows to a table.
    Loading,
    /// Writing rows to a file.
    Exporting,
    /// Making the change durable.
    Committing,
}

/// How far a long statement has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// What the statement is busy with.
    pub phase: Phase,
    /// Rows read or written so far.
    pub rows_done: u64,
    /// Bytes of the file read or written so far.
    pub bytes_done: u64,
    /// Bytes of the whole file, where known.
    pub bytes_total: Option<u64>,
}

/// Called from a worker thread, a few times a second at most; must return quickly.
pub type ProgressObserver = Arc<dyn Fn(Progress) + Send + Sync>;
