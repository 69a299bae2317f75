//! What each node that keeps rows may use, and what it costs when they do not fit.

use std::sync::Arc;

use super::builder::Builder;
use super::spilling::{ExpectedSpill, SpilledForm, Spilling, fit, spilling_ns};
use crate::tuple::Workspace;
use crate::tuple::spill::SpillCounts;

impl Builder<'_> {
    /// What a node may use that keeps so many rows, each of whose values take so many bytes.
    pub(super) fn workspace(&self, row_count: f64, row_bytes: f64, form: SpilledForm) -> Workspace {
        let expected = (!fit(&self.workspace, row_count, row_bytes))
            .then(|| ExpectedSpill::new(row_count, row_bytes, form, &self.workspace));
        let counts = Arc::new(SpillCounts::default());
        *self.spilling.borrow_mut() = Some(Spilling {
            expected,
            counts: Arc::clone(&counts),
        });
        Workspace {
            counts,
            ..self.workspace.clone()
        }
    }

    pub(super) fn spilling_ns(&self, kept: (f64, f64), spilled: (f64, f64)) -> f64 {
        spilling_ns(&self.workspace, kept, spilled)
    }
}
