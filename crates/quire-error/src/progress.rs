//! The progress of a long statement, for callers that wait for it.

use std::fmt;

pub use quire_kv::{progress::Phase, progress::Progress};

use crate::cancel::CancelHandle;

/// Reads the progress of a connection's statement, from any thread while another one runs the statement. Reading does not slow the
/// statement down.
#[derive(Clone)]
pub struct ProgressHandle(CancelHandle);

impl ProgressHandle {
    pub fn new(statements: &CancelHandle) -> Self {
        Self(statements.clone())
    }

    /// The progress of the running statement, or of the last one if none is running. `None` for short statements that are not counted,
    /// such as a change by key.
    pub fn now(&self) -> Option<Progress> {
        self.0.progress()
    }
}

impl fmt::Debug for ProgressHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ProgressHandle").field(&self.now()).finish()
    }
}
