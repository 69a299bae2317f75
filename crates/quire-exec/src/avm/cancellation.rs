//! Queries that are not wanted any more.

use std::fmt;

use quire_kv::mvcc::Cancel;

use super::trap::{Trap, TrapReason};

/// Whether a query goes on. Asked for each leaf that is read, each row that looks for others, and each block of a temporary file.
#[derive(Clone, Default)]
pub struct Cancellation(pub Option<Cancel>);

impl Cancellation {
    /// An error once the query was cancelled.
    pub(crate) fn check(&self) -> Result<(), Trap> {
        match &self.0 {
            Some(is_cancelled) if is_cancelled() => Err(TrapReason::Cancelled.into()),
            _ => Ok(()),
        }
    }
}

impl fmt::Debug for Cancellation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.0.as_ref().map_or("never", |_| "when asked");
        formatter.write_str(kind)
    }
}
