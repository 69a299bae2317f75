//! What each node that keeps rows may use, and what it costs when they do not fit.

use std::sync::Arc;

use super::builder::Builder;
use super::spilling::{ExpectedSpill, ROW_BYTES, SpilledForm, Spilling};
use crate::tuple::Workspace;
use crate::tuple::spill::SpillCounts;

impl Builder<'_> {
    /// What a node may use that keeps so many rows, each of whose values take so many bytes.
    pub(super) fn workspace(&self, row_count: f64, row_bytes: f64, form: SpilledForm) -> Workspace {
        let expected = (!self.fit(row_count, row_bytes))
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

    fn fit(&self, row_count: f64, row_bytes: f64) -> bool {
        row_count * (ROW_BYTES + row_bytes) <= self.workspace.room_bytes() as f64
    }

    /// What it costs to write rows and read them again, if those that are kept do not fit: how many of each, and of how many bytes.
    pub(super) fn spilling_ns(&self, kept: (f64, f64), spilled: (f64, f64)) -> f64 {
        if self.fit(kept.0, kept.1) {
            return 0.0;
        }
        let form = SpilledForm::Registers;
        let expected = ExpectedSpill::new(spilled.0, spilled.1, form, &self.workspace);
        expected.plain_ns.min(expected.packed_ns)
    }
}
