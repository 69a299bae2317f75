//! What joins cost whose kept side takes more than memory.

use super::relation_size::RelationSize;
use crate::tuple::Workspace;
use crate::tuple::join_partition::AgainCosts;
use crate::tuple::spill::STREAMS;

/// What it costs beside dividing both sides once that the partitions of the kept side do not fit either.
pub(super) fn dividing_again_ns(
    workspace: &Workspace,
    kept: RelationSize,
    looking: RelationSize,
) -> f64 {
    let part_count = workspace.part_count(kept.kept_bytes() / STREAMS as f64);
    let bytes = (kept.written_bytes(), looking.written_bytes());
    let again = AgainCosts::of(&workspace.costs, part_count, bytes);
    again.dividing_ns.min(again.rereading_ns)
}
