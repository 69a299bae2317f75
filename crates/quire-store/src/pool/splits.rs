//! Leaves that should be split, for the thread that does so in the background.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::frame::PageFrame;

/// Leaves that may wait. When more would, whoever changes a leaf splits it.
const WAITING_MAX: usize = 256;

/// The leaves that wait.
#[derive(Default)]
pub(super) struct Splits {
    queue: Mutex<SplitQueue>,
    changed: Condvar,
}

#[derive(Default)]
struct SplitQueue {
    leaves: VecDeque<Arc<PageFrame>>,
    /// Somebody takes them.
    is_served: bool,
}

impl Splits {
    /// Has a leaf split in the background; false when nobody does.
    pub(super) fn add(&self, leaf: &Arc<PageFrame>) -> bool {
        let mut queue = self.lock();
        if !queue.is_served || queue.leaves.len() >= WAITING_MAX {
            return false;
        }
        queue.leaves.push_back(Arc::clone(leaf));
        drop(queue);
        self.changed.notify_one();
        true
    }

    /// Whether somebody takes leaves from now on. If nobody does, those that wait go.
    pub(super) fn set_served(&self, is_served: bool) {
        let mut queue = self.lock();
        queue.is_served = is_served;
        let leaves = if is_served {
            VecDeque::new()
        } else {
            std::mem::take(&mut queue.leaves)
        };
        drop(queue);
        self.changed.notify_all();
        drop(leaves);
    }

    /// The pool is closed.
    pub(super) fn close(&self) {
        self.set_served(false);
    }

    /// Waits for a leaf; nothing when nobody takes any.
    pub(super) fn next(&self) -> Option<Arc<PageFrame>> {
        let waited = self.changed.wait_while(self.lock(), |queue| {
            queue.is_served && queue.leaves.is_empty()
        });
        let mut queue = waited.unwrap_or_else(PoisonError::into_inner);
        queue.leaves.pop_front()
    }

    fn lock(&self) -> MutexGuard<'_, SplitQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
