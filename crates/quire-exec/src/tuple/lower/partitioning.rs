//! What joins cost whose kept side takes more than memory.

use super::builder::Builder;
use super::estimate::PlanCost;
use super::spilling::{RECORD_BYTES, ROW_BYTES};
use crate::tuple::join_partition::AgainCosts;
use crate::tuple::spill::STREAMS;

/// About what the rows of a plan take that are kept, with their keys and what finds them.
pub(super) fn kept_bytes(rows: &PlanCost) -> f64 {
    rows.rows * (ROW_BYTES + rows.row_bytes())
}

/// About what the rows of a plan take that are written.
pub(super) fn written_bytes(rows: &PlanCost) -> f64 {
    rows.rows * (RECORD_BYTES + rows.row_bytes())
}

impl Builder<'_> {
    /// What it costs beside dividing both sides once that the partitions of the kept side do not fit either.
    pub(super) fn dividing_again_ns(&self, kept: &PlanCost, looking: &PlanCost) -> f64 {
        let part_count = self.workspace.part_count(kept_bytes(kept) / STREAMS as f64);
        let (kept_bytes, looking_bytes) = (written_bytes(kept), written_bytes(looking));
        let costs = &self.workspace.costs;
        let again = AgainCosts::of(costs, part_count, (kept_bytes, looking_bytes));
        again.dividing_ns.min(again.rereading_ns)
    }
}
