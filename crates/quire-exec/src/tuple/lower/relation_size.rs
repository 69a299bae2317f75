//! How much the rows of a plan are.

use super::spilling::{RECORD_BYTES, ROW_BYTES};

/// Rows, and what is kept of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RelationSize {
    pub rows: f64,
    /// Average bytes of those values of a row that are asked for later, as they are kept.
    pub row_bytes: f64,
}

impl RelationSize {
    /// About what they take in memory, with their keys and what finds them.
    pub(super) fn kept_bytes(self) -> f64 {
        self.rows * (ROW_BYTES + self.row_bytes)
    }

    /// About what they take that are written.
    pub(super) fn written_bytes(self) -> f64 {
        self.rows * (RECORD_BYTES + self.row_bytes)
    }
}
