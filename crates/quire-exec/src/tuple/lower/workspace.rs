//! What each node that keeps rows may use, and what it costs when they do not fit.

use std::sync::Arc;

use super::builder::Builder;
use super::spilling::{ExpectedSpill, ROW_BYTES, Spilling, VALUE_BYTES};
use crate::costs::Cost;
use crate::tuple::Workspace;
use crate::tuple::spill::SpillCounts;

impl Builder<'_> {
    /// What a node may use that keeps so many rows of so many columns.
    pub(super) fn workspace(&self, row_count: f64, column_count: usize) -> Workspace {
        self.workspace_with(row_count, column_count, self.costs.of(Cost::Suppress))
    }

    /// The same for one whose values are spilled as registers hold them.
    pub(super) fn plain_workspace(&self, row_count: f64, column_count: usize) -> Workspace {
        self.workspace_with(row_count, column_count, f64::INFINITY)
    }

    fn workspace_with(&self, row_count: f64, column_count: usize, suppress_ns: f64) -> Workspace {
        let columns = column_count as f64;
        let kept_bytes = row_count * (ROW_BYTES + VALUE_BYTES * columns);
        let expected = (kept_bytes > self.workspace.memory_bytes as f64)
            .then(|| ExpectedSpill::new(row_count, columns, suppress_ns, &self.workspace));
        let counts = Arc::new(SpillCounts::default());
        *self.spilling.borrow_mut() = Some(Spilling {
            expected,
            counts: Arc::clone(&counts),
        });
        Workspace {
            is_compressed: expected.is_some_and(|expected| expected.is_suppressed),
            counts,
            ..self.workspace.clone()
        }
    }

    /// What it costs to write so many rows and read them again, if they do not fit.
    pub(super) fn spilling_ns(
        &self,
        kept_rows: f64,
        spilled_rows: f64,
        column_count: usize,
    ) -> f64 {
        let columns = column_count as f64;
        if kept_rows * (ROW_BYTES + VALUE_BYTES * columns) <= self.workspace.memory_bytes as f64 {
            return 0.0;
        }
        let suppress_ns = self.costs.of(Cost::Suppress);
        let expected = ExpectedSpill::new(spilled_rows, columns, suppress_ns, &self.workspace);
        expected.plain_ns.min(expected.packed_ns)
    }
}
