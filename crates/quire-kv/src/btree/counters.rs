//! What has happened to a tree.

use std::sync::atomic::{AtomicU64, Ordering};

/// What has happened to a tree since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeStatistics {
    /// Descents that began again, because the tree changed meanwhile.
    pub restarts: u64,
    /// Pages that became two.
    pub splits: u64,
    /// Pairs of pages that became one.
    pub merges: u64,
    /// Pairs of pages that shared their entries anew.
    pub rebalances: u64,
}

/// A number that only grows.
#[derive(Debug, Default)]
pub(super) struct Counter(AtomicU64);

impl Counter {
    pub(super) fn add_one(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Debug, Default)]
pub(super) struct BTreeCounters {
    pub(super) restarts: Counter,
    pub(super) splits: Counter,
    pub(super) merges: Counter,
    pub(super) rebalances: Counter,
}

impl BTreeCounters {
    pub(super) fn statistics(&self) -> TreeStatistics {
        TreeStatistics {
            restarts: self.restarts.get(),
            splits: self.splits.get(),
            merges: self.merges.get(),
            rebalances: self.rebalances.get(),
        }
    }
}
