//! The gate to the volume: one writer goes through at a time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::patience::is_soon;

/// Whose turn it is to write. Unlike a mutex guard a turn may move to another thread.
#[derive(Default)]
pub(super) struct Gate {
    is_taken: AtomicBool,
    /// Whether who has it waits for a sync, which takes longer than putting others to sleep.
    is_syncing: AtomicBool,
    /// How many sleep until it is returned.
    sleepers: AtomicUsize,
    /// Held by who is about to sleep, and by who wakes one.
    waking: Mutex<()>,
    returned: Condvar,
}

impl Gate {
    fn take(&self) -> bool {
        let (free, taken) = (false, true);
        let order = Ordering::SeqCst;
        self.is_taken
            .compare_exchange(free, taken, order, Ordering::Relaxed)
            .is_ok()
    }

    pub(super) fn wait(&self) {
        let is_free = || !self.is_taken.load(Ordering::Relaxed) && self.take();
        if !self.is_syncing.load(Ordering::Relaxed) && is_soon(is_free) {
            return;
        }
        let mut waking = self.lock_waking();
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        // Whoever returns it after this look sees that somebody sleeps, and has to wait for the mutex to say so.
        while !self.take() {
            waking = self
                .returned
                .wait(waking)
                .unwrap_or_else(PoisonError::into_inner);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    /// Has others sleep instead of looking while `sync` runs.
    pub(super) fn syncing<T>(&self, sync: impl FnOnce() -> T) -> T {
        self.is_syncing.store(true, Ordering::Relaxed);
        let done = sync();
        self.is_syncing.store(false, Ordering::Relaxed);
        done
    }

    pub(super) fn give_back(&self) {
        self.is_taken.store(false, Ordering::SeqCst);
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            let _waking = self.lock_waking();
            self.returned.notify_one();
        }
    }

    fn lock_waking(&self) -> MutexGuard<'_, ()> {
        self.waking.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
