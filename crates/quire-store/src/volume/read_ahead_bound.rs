//! How much of a volume is read ahead at the same time, over all scans.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::cache::Cache;

/// This share of the cache may be read ahead.
const SHARE_OF_CACHE: u64 = 8;

/// So much may be read ahead however small the cache is.
const HELD_BYTES_MIN: u64 = 1 << 20;

/// The bytes of images that are queued, being read, or held for their readers; and the reads in progress of scans that
/// have ended.
#[derive(Default)]
pub(super) struct ReadAheadBound {
    state: Mutex<ReadAheadBoundState>,
    abandoned_read_ended: Condvar,
}

#[derive(Default)]
struct ReadAheadBoundState {
    held_bytes: u64,
    /// Reads of scans that have ended, of all times, and those of them that have ended, too.
    abandoned_reads: u64,
    ended_abandoned_reads: u64,
}

/// The bytes that a volume with such a cache may read ahead.
pub(super) fn held_bytes_max(cache: &Cache) -> u64 {
    (cache.budget_bytes() / SHARE_OF_CACHE).max(HELD_BYTES_MIN)
}

impl ReadAheadBound {
    /// Takes so many bytes, unless there would be more than `max_bytes` of them.
    pub(super) fn try_take(&self, bytes: u64, max_bytes: u64) -> bool {
        let mut state = self.lock();
        match state.held_bytes.checked_add(bytes) {
            Some(held_bytes) if held_bytes <= max_bytes => {
                state.held_bytes = held_bytes;
                true
            }
            _ => false,
        }
    }

    pub(super) fn give_back(&self, bytes: u64) {
        let mut state = self.lock();
        state.held_bytes = state.held_bytes.saturating_sub(bytes);
    }

    /// Bytes that are taken now.
    pub(super) fn held_bytes(&self) -> u64 {
        self.lock().held_bytes
    }

    /// The scan of so many reads in progress has ended.
    pub(super) fn abandon(&self, reads: usize) {
        if reads > 0 {
            self.lock().abandoned_reads += reads as u64;
        }
    }

    /// One of them has ended, too, and holds its version no more.
    pub(super) fn end_abandoned(&self) {
        self.lock().ended_abandoned_reads += 1;
        self.abandoned_read_ended.notify_all();
    }

    /// Waits until as many reads of ended scans have ended as there were when this began: the space that those read can be given back. Safety does not
    /// depend on it, as each read holds its version; but who gives back space on purpose gets all of it. Scans that end meanwhile are not waited
    /// for, so the wait is that for a few requests to the disk.
    pub(super) fn wait_for_abandoned(&self) {
        let mut state = self.lock();
        let awaited = state.abandoned_reads;
        while state.ended_abandoned_reads < awaited {
            state = self
                .abandoned_read_ended
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, ReadAheadBoundState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
