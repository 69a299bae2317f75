//! The dirty frames: those changed since the last flush, and their total size.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quire_format::volume::PageId;

use super::frame::PageFrame;

/// The frames changed in the current epoch. They are held here, so they are not evicted.
pub(super) struct DirtyFrames {
    set: Mutex<ChangedSet>,
    /// That of the set; written under its lock.
    epoch: AtomicU64,
    /// Bytes of dirty frames, including those that a flush is writing.
    dirty_bytes: AtomicUsize,
    /// Dirty bytes from which on a flush is wanted.
    limit_bytes: usize,
    /// Signalled under the lock of `set` when the limit is reached and when a flush ends.
    crossed: Condvar,
    is_flushing: AtomicBool,
    /// How much is changed when the images of some of it should be measured next.
    sample_bytes: AtomicUsize,
}

/// So many pages are measured, as soon as so much is changed.
const SAMPLE_PAGES: usize = 8;
const SAMPLE_BYTES_MIN: usize = 256 << 10;

#[derive(Default)]
struct ChangedSet {
    frames: HashMap<PageId, Arc<PageFrame>>,
    /// No flush will follow.
    is_closed: bool,
}

impl DirtyFrames {
    pub(super) fn new(limit_bytes: usize) -> Self {
        Self {
            set: Mutex::default(),
            epoch: AtomicU64::new(1),
            dirty_bytes: AtomicUsize::new(0),
            limit_bytes,
            crossed: Condvar::new(),
            is_flushing: AtomicBool::new(false),
            sample_bytes: AtomicUsize::new(SAMPLE_BYTES_MIN),
        }
    }

    /// Some of the frames that have changed, whenever twice as much has as the last time. Empty in between.
    pub(super) fn sample(&self) -> Vec<Arc<PageFrame>> {
        let (changed, due) = (
            self.dirty_bytes(),
            self.sample_bytes.load(Ordering::Relaxed),
        );
        if changed < due {
            return Vec::new();
        }
        self.sample_bytes
            .store(changed.saturating_mul(2), Ordering::Relaxed);
        let set = self.lock();
        let mut frames: Vec<_> = set.frames.values().cloned().collect();
        drop(set);
        frames.sort_unstable_by_key(|frame| frame.page());
        let step = frames.len().div_ceil(SAMPLE_PAGES).max(1);
        frames.into_iter().step_by(step).collect()
    }

    /// Ends the taking of samples.
    pub(super) fn end_samples(&self) {
        self.sample_bytes.store(usize::MAX, Ordering::Relaxed);
    }

    pub(super) fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Adds a frame that was clean until now; returns the current epoch.
    pub(super) fn add(&self, frame: &Arc<PageFrame>) -> u64 {
        let mut set = self.lock();
        if !set.is_closed && set.frames.insert(frame.page(), Arc::clone(frame)).is_none() {
            let bytes = frame.page_bytes();
            let before = self.dirty_bytes.fetch_add(bytes, Ordering::Relaxed);
            if before < self.limit_bytes && before + bytes >= self.limit_bytes {
                self.crossed.notify_all();
            }
        }
        self.epoch()
    }

    /// Begins a flush, after waiting for the one in progress, if any.
    pub(super) fn begin_flush(&self) {
        let mut set = self.lock();
        while self.is_flushing.load(Ordering::Relaxed) {
            set = self
                .crossed
                .wait(set)
                .unwrap_or_else(PoisonError::into_inner);
        }
        self.is_flushing.store(true, Ordering::Relaxed);
    }

    /// Ends the epoch and returns the frames changed in it, by page number.
    pub(super) fn end_epoch(&self) -> Vec<Arc<PageFrame>> {
        let mut set = self.lock();
        self.epoch.fetch_add(1, Ordering::Release);
        let taken = std::mem::take(&mut set.frames);
        drop(set);
        let mut frames: Vec<_> = taken.into_values().collect();
        frames.sort_unstable_by_key(|frame| frame.page());
        frames
    }

    /// Ends a flush of frames of `flushed_bytes` in total.
    pub(super) fn end_flush(&self, flushed_bytes: usize) {
        let set = self.lock();
        self.dirty_bytes.fetch_sub(flushed_bytes, Ordering::Relaxed);
        self.is_flushing.store(false, Ordering::Relaxed);
        drop(set);
        self.crossed.notify_all();
    }

    pub(super) fn dirty_bytes(&self) -> usize {
        self.dirty_bytes.load(Ordering::Relaxed)
    }

    pub(super) fn is_over_limit(&self) -> bool {
        self.dirty_bytes() >= self.limit_bytes
    }

    /// Waits until less than twice the limit is changed; false when it is not after `timeout`.
    pub(super) fn wait_for_room(&self, timeout: Duration) -> bool {
        let has_room = || self.dirty_bytes() < self.limit_bytes.saturating_mul(2);
        has_room() || self.wait(timeout, has_room)
    }

    fn wait(&self, timeout: Duration, condition: impl Fn() -> bool) -> bool {
        let waited = self
            .crossed
            .wait_timeout_while(self.lock(), timeout, |_| !condition());
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        condition()
    }

    /// Releases all frames. Their unflushed changes are in the log only.
    pub(super) fn close(&self) {
        let mut set = self.lock();
        set.is_closed = true;
        let frames = std::mem::take(&mut set.frames);
        drop(set);
        drop(frames);
    }

    fn lock(&self) -> MutexGuard<'_, ChangedSet> {
        self.set.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
