//! How often the tuple engine runs what it is asked to run: `quire_engine()`.

use std::sync::atomic::{AtomicU64, Ordering};

/// How many queries the tuple engine was asked to run, and how many of them it left to the general path.
#[derive(Debug, Default)]
pub(crate) struct TupleCounts {
    asked: AtomicU64,
    left: AtomicU64,
}

impl TupleCounts {
    pub(crate) fn count(&self, is_left: bool) {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.left.fetch_add(u64::from(is_left), Ordering::Relaxed);
    }

    /// Queries that it was asked to run, and those that it left.
    pub(crate) fn asked_and_left(&self) -> (u64, u64) {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (load(&self.asked), load(&self.left))
    }
}
