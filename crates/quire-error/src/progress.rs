//! What a long statement tells whoever waits for it.

use std::fmt;

pub use quire_kv::{progress::Phase, progress::Progress};

use crate::cancel::CancelHandle;

/// Shows how far the statement of a connection has come, to be asked by any thread while another one runs it. Asking costs the statement
/// nothing, nor does it cost anything that nobody asks.
///
/// ```
/// use quire::{Database, Outcome, Phase};
///
/// let mut connection = Database::in_memory()?.connect();
/// connection.execute("CREATE TABLE reading AS SELECT value FROM generate_series(1, 200000) AS s(value)")?;
/// let progress = connection.progress_handle();
/// let Outcome::Rows(mut rows) = connection.execute("SELECT sum(value) FROM reading")? else {
///     unreachable!("a query has rows");
/// };
/// let watcher = std::thread::spawn({
///     let progress = progress.clone();
///     move || progress.now().and_then(|progress| progress.share())
/// });
/// while rows.next_batch()?.is_some() {}
/// // Whatever it saw, it was a share of the work, or nothing.
/// assert!(watcher.join().is_ok_and(|share| share.is_none_or(|share| share < 1.0)));
///
/// let all = progress.now().ok_or("no statement")?;
/// assert_eq!(all.phase, Phase::Reading);
/// assert_eq!((all.rows_done, all.rows_total), (200_000, Some(200_000)));
/// assert_eq!(all.rows_written, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ProgressHandle(CancelHandle);

impl ProgressHandle {
    pub fn new(statements: &CancelHandle) -> Self {
        Self(statements.clone())
    }

    /// How far the statement has come that the connection runs; the last one, if it runs none. Nothing for statements that are over as soon as
    /// they have begun, such as a change by key.
    pub fn now(&self) -> Option<Progress> {
        self.0.progress()
    }
}

impl fmt::Debug for ProgressHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ProgressHandle").field(&self.now()).finish()
    }
}
