//! How much of a volume is read ahead at the same time, over all scans.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::volume::cache::Cache;

/// This share of the cache may be read ahead.
const SHARE_OF_CACHE: u64 = 8;

/// So much may be read ahead however small the cache is.
const HELD_BYTES_MIN: u64 = 1 << 20;

/// The bytes of images that are queued, being read, or held for their readers; and the reads in progress of scans that
/// have ended.
#[derive(Default)]
pub(in crate::volume) struct ReadAheadBound {
    state: Mutex<ReadAheadBoundState>,
    abandoned_read_ended: Condvar,
}

#[derive(Default)]
struct ReadAheadBoundState {
    held_bytes: u64,
    abandoned_reads: usize,
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
    #[cfg(test)]
    pub(in crate::volume) fn held_bytes(&self) -> u64 {
        self.lock().held_bytes
    }

    /// The scan of so many reads in progress has ended.
    pub(super) fn abandon(&self, reads: usize) {
        self.lock().abandoned_reads += reads;
    }

    /// One of them has ended, too, and holds its version no more.
    pub(super) fn end_abandoned(&self) {
        let mut state = self.lock();
        state.abandoned_reads = state.abandoned_reads.saturating_sub(1);
        drop(state);
        self.abandoned_read_ended.notify_all();
    }

    /// Waits until no read of a scan that has ended is in progress. From then on a version that no handle holds is held by no
    /// read either, so its space can be given back.
    pub(in crate::volume) fn wait_for_abandoned(&self) {
        let mut state = self.lock();
        while state.abandoned_reads > 0 {
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
