//! A join whose rows are wanted in the order of its keys.

use crate::plan::Join;
use crate::tuple::MergeOrder;

/// The position of a key among those of a join, and how rows are ordered by it.
pub(super) type MergeKey = (usize, MergeOrder);

/// A join that is to be done side by side, and by which of its keys rows are ordered.
pub(super) struct WantedMerge {
    /// The address of the join.
    join: usize,
    pub(super) keys: Vec<MergeKey>,
    /// What the sort costs in this way, inputs included.
    pub(super) cost_ns: f64,
}

impl WantedMerge {
    pub(super) fn new(join: &Join, keys: Vec<MergeKey>, cost_ns: f64) -> Self {
        Self {
            join: address(join),
            keys,
            cost_ns,
        }
    }

    pub(super) fn is_of(&self, join: &Join) -> bool {
        self.join == address(join)
    }
}

fn address(join: &Join) -> usize {
    std::ptr::from_ref(join).addr()
}
