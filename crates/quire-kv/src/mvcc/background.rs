//! Checkpoints and late syncs, and the thread that makes them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use quire_store::Durability;
use quire_store::log::LogSequence;

use super::error::TreeCheckpointError;
use super::manager::SharedManager;
use super::options::Synchronous;
use super::trees::TreeId;
use crate::btree::TreeError;

/// Changes that no commit tells of (trees being built) are looked for this often.
const IDLE: Duration = Duration::from_millis(500);

/// After a failed checkpoint the next is not tried before.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(1);

/// A commit waits no longer than this for pages to be flushed.
const ROOM_WAIT: Duration = Duration::from_millis(500);

/// What the thread is asked for.
#[derive(Default)]
pub(super) struct Signals {
    is_checkpoint_wanted: AtomicBool,
    /// Commits are to be written; and, perhaps, synced.
    is_write_wanted: AtomicBool,
    is_sync_wanted: AtomicBool,
    has_failed: AtomicBool,
    is_closed: Mutex<bool>,
    changed: Condvar,
}

impl Signals {
    fn want(&self, what: &AtomicBool) {
        if !what.swap(true, Ordering::SeqCst) {
            // The lock keeps the signal from falling between the thread's look and its sleep.
            drop(self.lock());
            self.changed.notify_all();
        }
    }

    fn lock(&self) -> MutexGuard<'_, bool> {
        self.is_closed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn sleep<'a>(
        &'a self,
        is_closed: MutexGuard<'a, bool>,
        time: Duration,
    ) -> MutexGuard<'a, bool> {
        let waited = self.changed.wait_timeout(is_closed, time);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// The thread. It ends when this is dropped, after a last checkpoint.
pub(super) struct Background {
    shared: Arc<SharedManager>,
    thread: Option<JoinHandle<()>>,
    splitter: Option<JoinHandle<()>>,
}

impl Background {
    pub(super) fn start(shared: &Arc<SharedManager>) -> std::io::Result<Self> {
        let shared = Arc::clone(shared);
        let is_wanted = shared.options.has_background_thread && !shared.volume.is_read_only();
        let thread = is_wanted
            .then(|| {
                let shared = Arc::clone(&shared);
                let thread = std::thread::Builder::new().name("quire-checkpoint".to_owned());
                thread.spawn(move || shared.run_in_background())
            })
            .transpose()?;
        let splitter = is_wanted
            .then(|| {
                shared.pool.begin_splits();
                let shared = Arc::clone(&shared);
                let thread = std::thread::Builder::new().name("quire-split".to_owned());
                thread.spawn(move || shared.split_in_background())
            })
            .transpose()?;
        Ok(Self {
            shared,
            thread,
            splitter,
        })
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let signals = &self.shared.signals;
        *signals.lock() = true;
        signals.changed.notify_all();
        self.shared.pool.end_splits();
        if let Some(thread) = self.splitter.take() {
            // It has panicked at worst, which the pool has noted if it was in the middle of a change.
            let _ = thread.join();
        }
        if let Some(thread) = self.thread.take() {
            // It has panicked at worst; the log has everything.
            let _ = thread.join();
            let _ = self.shared.checkpoint();
            self.shared.pack();
        }
    }
}

impl SharedManager {
    /// A commit is done: is something due?
    pub(super) fn after_commit(&self, synchronous: Synchronous) {
        let signals = &self.signals;
        if synchronous == Synchronous::Normal {
            signals.is_sync_wanted.store(true, Ordering::SeqCst);
        }
        if synchronous != Synchronous::Full {
            signals.want(&signals.is_write_wanted);
        }
        let is_due = self.pool.needs_flush()
            || self.logged_bytes.load(Ordering::Relaxed) > self.options.checkpoint_log_bytes;
        if is_due {
            signals.want(&signals.is_checkpoint_wanted);
        }
    }

    /// Before a commit: waits while much more is changed than a checkpoint should find, unless checkpoints fail.
    pub(super) fn wait_for_room(&self) {
        if !self.pool.wait_for_room(Duration::ZERO)
            && self.options.has_background_thread
            && !self.signals.has_failed.load(Ordering::Relaxed)
        {
            self.signals.want(&self.signals.is_checkpoint_wanted);
            self.pool.wait_for_room(ROOM_WAIT);
        }
    }

    /// Flushes. `up_to` tells, at the instant of the flush, which commits the pages have.
    pub(super) fn flush(
        &self,
        up_to: impl FnOnce() -> LogSequence,
    ) -> Result<(), TreeCheckpointError> {
        let (flush, up_to) = self.pool.prepare_flush(|| {
            self.logged_bytes.store(0, Ordering::Relaxed);
            self.stopped.get().is_none().then(up_to)
        })?;
        // A commit that could not be applied is in the log only, and those after it are in the pages.
        let Some(up_to) = up_to else {
            return Err(TreeCheckpointError::Stopped);
        };
        let checkpointed = self.checkpointed.load(Ordering::Relaxed);
        let is_idle = flush.page_count() == 0 && up_to.get() == checkpointed;
        if is_idle && !self.log.has_leftovers() {
            return Ok(());
        }
        // The log is not shortened by what it has not got.
        self.log.write_later()?;
        let batch = self.volume.begin()?;
        self.log.truncate(&batch, up_to)?;
        flush.commit(batch, Durability::Synced)?;
        self.checkpointed.store(up_to.get(), Ordering::Relaxed);
        Ok(())
    }

    /// The newest commit that the pages have, with all before it, while nobody changes them.
    pub(super) fn applied(&self) -> LogSequence {
        match self.applying.load(Ordering::SeqCst) {
            0 => self.log.last_sequence(),
            partly => LogSequence::new(partly - 1),
        }
    }

    /// Frees the pages of removed trees that nobody reads any more.
    pub(super) fn free_removed_trees(&self) -> Result<(), TreeError> {
        let removed = self.removed.lock();
        let mut removed = removed.unwrap_or_else(PoisonError::into_inner);
        let mut result = Ok(());
        for tree in std::mem::take(&mut *removed) {
            match Arc::try_unwrap(tree) {
                // What could not be freed is left to the next start: the others are not.
                Ok(tree) => result = result.and(tree.btree.free(&self.pool.begin_change())),
                Err(used) => removed.push(used),
            }
        }
        result
    }

    /// Writes what was committed, and makes it durable where that was promised.
    fn write(&self) -> Result<(), TreeCheckpointError> {
        self.log.write_later()?;
        if !self.signals.is_sync_wanted.swap(false, Ordering::SeqCst) {
            return Ok(());
        }
        let batch = self.volume.begin()?;
        batch.commit_with(Durability::Synced)?;
        Ok(())
    }

    /// Splits leaves whose images do not fit into their slots, or soon will not.
    fn split_in_background(&self) {
        while let Some(leaf) = self.pool.next_split() {
            let tree = leaf
                .tree()
                .and_then(|tree| self.trees.get(TreeId::new(tree)));
            if let Some(tree) = tree {
                let guard = self.pool.begin_change();
                tree.btree.relieve_in_background(&leaf, &guard);
            }
        }
    }

    fn run_in_background(&self) {
        let signals = &self.signals;
        let mut write_due = None;
        let mut is_closed = signals.lock();
        while !*is_closed {
            let now = Instant::now();
            if signals.is_checkpoint_wanted.swap(false, Ordering::SeqCst) || self.pool.needs_flush()
            {
                drop(is_closed);
                let has_failed = self.checkpoint().is_err();
                signals.has_failed.store(has_failed, Ordering::Relaxed);
                is_closed = signals.lock();
                if has_failed && !*is_closed {
                    is_closed = signals.sleep(is_closed, PAUSE_AFTER_FAILURE);
                }
                continue;
            }
            if signals.is_write_wanted.load(Ordering::SeqCst) && write_due.is_none() {
                write_due = Some(now + self.options.sync_interval);
            }
            let idle = write_due.map_or(IDLE, |due: Instant| due.saturating_duration_since(now));
            if !idle.is_zero() {
                is_closed = signals.sleep(is_closed, idle);
                continue;
            }
            write_due = None;
            signals.is_write_wanted.store(false, Ordering::SeqCst);
            drop(is_closed);
            // On a full disk it is tried again with the next commit; any other failure poisons the volume.
            let _ = self.write();
            is_closed = signals.lock();
        }
    }
}
