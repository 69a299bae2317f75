//! The one writer at a time: its state, its turn, and what happens when the disk fails it.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

use quire_format::volume::{BLOCK_BYTES, Superblock};

use super::contents::Contents;
use super::free_space::Extent;
use super::placement::Space;
use super::{Inner, OpenMode, Version};
use crate::disk::is_full;
use crate::error::WriteError;
use crate::patience::is_soon;

/// Everything that only the holder of the turn changes.
pub(super) struct Writer {
    pub(super) contents: Contents,
    pub(super) space: Space,
    /// The runs of the stored map, oldest first, and their payload bytes.
    pub(super) chunks: Vec<(Extent, u64)>,
    /// The newest superblock, and what each place holds.
    pub(super) superblock: Superblock,
    pub(super) generations: [Option<u64>; 2],
    /// Newest commit that a sync has covered.
    pub(super) durable_commit: u64,
    /// Blocks of the log since the newest checkpoint.
    pub(super) log_blocks: u64,
    /// Runs of unfinished batches found when the volume was opened; their headers are erased
    /// before anything new is written.
    pub(super) leftovers: Vec<u64>,
    /// The runs of the batches of the log that a recovery found and no later one calls durable. If the
    /// process before stopped because a sync failed, they may exist in the system's cache only and
    /// never have been written; so they are written again before anything is built on them.
    pub(super) unproven: Vec<Extent>,
    /// The block at which the file ended when the session began.
    pub(super) end_at_begin: u64,
    /// The session is about to end.
    pub(super) is_closing: bool,
    /// The stored map must not be built upon.
    pub(super) needs_snapshot: bool,
    /// Versions that were current once and may still be pinned, oldest first.
    pub(super) older: VecDeque<Weak<Version>>,
    /// Length of `older` at which those that nobody holds are taken out.
    pub(super) older_limit: usize,
}

/// Versions that are remembered without asking whether somebody holds them.
pub(super) const OLDER_VERSIONS_MIN: usize = 64;

impl Writer {
    /// Sequence of the oldest version that somebody can still read.
    pub(super) fn oldest_pinned(&mut self) -> u64 {
        while self
            .older
            .front()
            .is_some_and(|version| version.strong_count() == 0)
        {
            self.older.pop_front();
        }
        let oldest = self.older.front().and_then(Weak::upgrade);
        oldest.map_or(self.contents.commit_sequence, |version| version.sequence)
    }

    /// Remembers a version that was current until now.
    pub(super) fn note_older(&mut self, version: &Arc<Version>) {
        if self.older.len() >= self.older_limit {
            self.older.retain(|version| version.strong_count() > 0);
            self.older_limit = (2 * self.older.len()).max(OLDER_VERSIONS_MIN);
        }
        self.older.push_back(Arc::downgrade(version));
    }

    /// True when the stored map and the superblock say all there is to say.
    pub(super) fn is_checkpointed(&self) -> bool {
        self.superblock.commit_sequence == self.contents.commit_sequence
            && self.contents.changed_pages.is_empty()
            && self.contents.changed_runs.is_empty()
            && !self.needs_snapshot
    }
}

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

    fn wait(&self) {
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

    fn give_back(&self) {
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

/// The turn; dropping it lets the next writer in.
pub(super) struct Turn {
    inner: Arc<Inner>,
}

impl Turn {
    /// Waits for the turn.
    pub(super) fn wait(inner: &Arc<Inner>) -> Self {
        inner.gate.wait();
        Self {
            inner: Arc::clone(inner),
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.inner.gate.give_back();
    }
}

impl Inner {
    pub(super) fn lock_writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses on a read-only or poisoned volume.
    pub(super) fn may_write(&self) -> Result<(), WriteError> {
        let file = || Arc::clone(&self.file);
        if self.mode == OpenMode::ReadOnly {
            return Err(WriteError::ReadOnly { file: file() });
        }
        match self.poison.get() {
            Some(reason) => Err(WriteError::Poisoned {
                file: file(),
                reason: reason.clone(),
            }),
            None => Ok(()),
        }
    }

    /// From now on nothing is written: what the disk holds is no longer known.
    pub(super) fn poison(&self, operation: &'static str, error: &io::Error) {
        let _ = self
            .poison
            .set(format!("it could not {operation} ({error})"));
    }

    /// Turns a failed write into an error. A full disk is survivable, everything else poisons.
    pub(super) fn write_failed(&self, error: io::Error, needed_bytes: u64) -> WriteError {
        let file = Arc::clone(&self.file);
        if is_full(&error) {
            return WriteError::Full { file, needed_bytes };
        }
        self.failed("write to", error)
    }

    /// Poisons the volume.
    pub(super) fn failed(&self, operation: &'static str, source: io::Error) -> WriteError {
        self.poison(operation, &source);
        WriteError::Io {
            file: Arc::clone(&self.file),
            operation,
            source,
        }
    }

    /// Overwrites the headers of runs that are free, so that no scan takes them for live ones. Headers in adjoining
    /// blocks are overwritten at once.
    pub(super) fn erase(&self, blocks: impl IntoIterator<Item = u64>) -> Result<(), WriteError> {
        const BLOCKS_AT_ONCE: usize = 64;
        let mut blocks: Vec<u64> = blocks.into_iter().collect();
        blocks.sort_unstable();
        let zeros = vec![0; BLOCKS_AT_ONCE.min(blocks.len()) * BLOCK_BYTES as usize];
        for adjoining in blocks.chunk_by(|left, right| left + 1 == *right) {
            for piece in adjoining.chunks(BLOCKS_AT_ONCE) {
                let bytes = &zeros[..piece.len() * BLOCK_BYTES as usize];
                let erased = self.disk.write_at(bytes, piece[0] * BLOCK_BYTES);
                erased.map_err(|error| self.failed("erase a free run of", error))?;
            }
        }
        Ok(())
    }
}
