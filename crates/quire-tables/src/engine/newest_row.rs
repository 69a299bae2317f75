//! One row of the newest committed state, without a snapshot: what a statement that reads one key by itself needs.

use std::sync::PoisonError;

use super::Engine;
use crate::error::RowScanError;
use crate::rows::{RowParts, VisitRow, show};

impl Engine {
    /// Visits the row with that key, if there is one, with the columns of these ordinals, as the newest commit has it. Allocates
    /// nothing. False when it cannot tell: the table is not as `parts` says any more, or a wanted value is stored aside. What
    /// `visit` was shown then means nothing, and a snapshot is to be asked.
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
        // A definition and rows that are committed together are seen together: whoever has read such a row finds the definition here.
        if !self.is_newest(parts) {
            return Ok(false);
        }
        match shown? {
            None => Ok(true),
            Some(Ok(flow)) => Ok(flow.is_some()),
            Some(Err(error)) => Err(parts.corrupt_row()(error)),
        }
    }

    /// Whether the newest catalog has the table as `parts` says. Waits for a commit of tables together with rows.
    fn is_newest(&self, parts: &RowParts) -> bool {
        let _no_joint_commit = self
            .joint_commits()
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        self.with_newest_catalog(|catalog| catalog.has_parts(parts))
    }
}
