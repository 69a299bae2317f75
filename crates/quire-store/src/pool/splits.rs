//! The queue of leaves to be split by a background thread.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::frame::PageFrame;

/// Capacity of the queue. When it is full, the thread that changes a leaf splits it.
const WAITING_MAX: usize = 256;

/// The queue.
#[derive(Default)]
pub(super) struct Splits {
    queue: Mutex<SplitQueue>,
    changed: Condvar,
}

#[derive(Default)]
struct SplitQueue {
    leaves: VecDeque<Arc<PageFrame>>,
    /// Whether a thread takes leaves from the queue.
    is_served: bool,
}

impl Splits {
    /// Queues a leaf; false if no thread serves the queue or it is full.
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

    /// Says whether a thread takes leaves from now on. If none does, the queue is emptied.
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
        // Dropping the last reference to a frame may free its memory, which need not happen under the lock.
        drop(leaves);
    }

    /// Ends the queue when the pool is closed.
    pub(super) fn close(&self) {
        self.set_served(false);
    }

    /// Waits for a leaf; `None` once the queue is no longer served.
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
