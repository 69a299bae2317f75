//! What a long statement tells whoever waits for it.

use std::fmt;

pub use quire_kv::{progress::Phase, progress::Progress};

use crate::cancel::CancelHandle;

/// Shows how far the statement of a connection has come, to be asked by any thread while another one runs it. Asking costs the statement
/// nothing, nor does it cost anything that nobody asks.
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
