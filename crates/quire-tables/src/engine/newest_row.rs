//! Reads of one row in its newest committed state, without a snapshot. They serve statements that read a single key in a transaction of
//! their own.

use std::sync::PoisonError;

use super::Engine;
use crate::error::RowScanError;
use crate::rows::{RowParts, VisitRow, show};

impl Engine {
    /// Calls `visit` with the columns `wanted` (by ordinal) of the row with that key in its newest committed version, if it exists. Does
    /// not allocate for rows of few columns.
    ///
    /// Returns false if the answer is not valid: the definition of the table is no longer that of `parts`, or a wanted value is stored
    /// out of line. The caller then discards what `visit` saw and reads from a snapshot.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged.
    pub fn visit_newest(
        &self,
        parts: &RowParts,
        row_key: &[u8],
        wanted: &[usize],
        visit: VisitRow<'_>,
    ) -> Result<bool, RowScanError> {
        let show = |tuple: &[u8]| show(&parts.layout, row_key, tuple, wanted, visit);
        let shown = self.mvcc().get(parts.rows, row_key, show);
        // The catalog is checked after the row was read, and before an error is returned. A transaction that commits a new definition
        // together with rows publishes both under the joint commit lock, so if the row is one of these, the check waits for the new
        // catalog and fails. An error may only mean that the table was dropped meanwhile.
        if !self.is_newest(parts) {
            return Ok(false);
        }
        match shown? {
            None => Ok(true),
            Some(Ok(flow)) => Ok(flow.is_some()),
            Some(Err(error)) => Err(parts.corrupt_row()(error)),
        }
    }

    /// Whether the newest catalog still has the table with the definition and the trees of `parts`. Waits for a joint commit.
    fn is_newest(&self, parts: &RowParts) -> bool {
        let _no_joint_commit = self
            .joint_commits()
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        self.with_newest_catalog(|catalog| catalog.has_parts(parts))
    }
}
