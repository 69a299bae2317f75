//! Progress out of, and cancellation into, a running copy.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::error::CopyError;

/// What a copy is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyPhase {
    /// Reading the whole file once to find the columns' types.
    Inferring,
    /// Turning the file into rows.
    Reading,
    /// Turning rows into a file.
    Writing,
}

/// How far a copy has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopyProgress {
    /// The current phase.
    pub phase: CopyPhase,
    /// Rows handed out or written so far in this phase.
    pub row_count: u64,
    /// Bytes of the file read or written so far in this phase.
    pub bytes_done: u64,
    /// Bytes of the file; `None` for a stream and for writing.
    pub bytes_total: Option<u64>,
}

/// Called after every batch, on the thread that asks for batches (inference: also there).
pub type ProgressCallback = Arc<dyn Fn(CopyProgress) + Send + Sync>;

/// The caller's hold on a running copy. The default neither reports nor cancels.
#[derive(Clone, Default)]
pub struct CopyControl {
    cancelled: Option<Arc<AtomicBool>>,
    progress: Option<ProgressCallback>,
}

impl CopyControl {
    /// Stops with [`CopyError::Cancelled`] soon after `flag` becomes true.
    pub fn with_cancel_flag(mut self, flag: Arc<AtomicBool>) -> Self {
        self.cancelled = Some(flag);
        self
    }

    /// Reports progress to `callback`.
    pub fn with_progress(mut self, callback: ProgressCallback) -> Self {
        self.progress = Some(callback);
        self
    }

    /// Whether to go on.
    ///
    /// # Errors
    /// [`CopyError::Cancelled`] once the flag is true.
    pub fn check(&self) -> Result<(), CopyError> {
        match &self.cancelled {
            Some(flag) if flag.load(Ordering::Relaxed) => Err(CopyError::Cancelled),
            _ => Ok(()),
        }
    }

    /// Hands `progress` to the callback, if there is one.
    pub fn report(&self, progress: CopyProgress) {
        if let Some(callback) = &self.progress {
            callback(progress);
        }
    }
}

impl fmt::Debug for CopyControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CopyControl")
            .field("cancellable", &self.cancelled.is_some())
            .field("reporting", &self.progress.is_some())
            .finish()
    }
}
