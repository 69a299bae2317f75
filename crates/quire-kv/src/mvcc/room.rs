//! A full disk: what is dead in the file is room, once it is in one piece and nobody pins it.
//!
//! 1. What a flush of the changed pages takes is set aside in the file while they are being changed ([`Volume::keep_flush_room`]).
//! 2. When the file cannot be made longer, pages are flushed before they take more than that: after each commit, and in the middle of one
//!    that changes many.
//! 3. A commit that the disk has no room for waits until the pages are flushed and the file is cleaned, and is tried again.
//!
//! [`Volume::keep_flush_room`]: quire_store::Volume::keep_flush_room

use std::sync::PoisonError;

use quire_store::BatchWriteError as VolumeError;
use quire_store::log::LogSequence;

use super::error::{KvCommitError, TreeCheckpointError};
use super::manager::{Mvcc, SharedManager};

/// On a full disk room for the images of so many pages is set aside: half of it for what a few keys change.
const FLUSH_PAGES_MIN: u64 = 16;

/// Lets go of pins that are older than they need be.
pub(super) type Unpin = Box<dyn Fn() + Send + Sync>;

impl Mvcc {
    /// Whoever pins the newest state of the volume says how the pin is renewed: what is cleaned stays where it was as long as an
    /// older one lives. `unpin` must not own this.
    pub fn unpin_with(&self, unpin: Unpin) {
        let _ = self.shared.unpin.set(unpin);
    }

    /// Makes room if the disk is full. For who is about to commit tables, and has begun no batch.
    pub fn make_room_if_full(&self) {
        if self.shared.volume.is_full() {
            self.shared.make_room(false);
        }
    }
}

impl SharedManager {
    /// Writes all changed pages, and shortens the log. On a full disk the file is cleaned first. The caller holds no guard of
    /// the pool.
    pub(super) fn checkpoint(&self) -> Result<(), TreeCheckpointError> {
        let _one_at_a_time = self
            .checkpointing
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        self.free_removed_trees()?;
        self.flush_or_clean(|| self.applied())
    }

    /// Flushes; on a full disk, after cleaning if need be. One thread at a time.
    pub(super) fn flush_or_clean(
        &self,
        up_to: impl Fn() -> LogSequence,
    ) -> Result<(), TreeCheckpointError> {
        match self.flush(&up_to) {
            Err(error) if error.is_full() => {
                self.clean(true);
                self.flush(up_to)
            }
            flushed => flushed,
        }
    }

    /// Flushes and cleans, until there is room for ordinary commits, or as far as that is possible.
    pub(super) fn make_room(&self, is_thorough: bool) {
        // Pages and log are shorter when it succeeds; cleaning helps in any case.
        let _ = self.checkpoint();
        let _one_at_a_time = self
            .checkpointing
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        self.clean(is_thorough);
    }

    /// Has the volume cleaned. What one step has moved is pinned where it was until the pin is renewed; then its space is there for the
    /// next.
    fn clean(&self, is_thorough: bool) {
        let mut moved_bytes = 0;
        loop {
            self.unpin();
            if !is_thorough && self.volume.checkpoint().is_ok() && self.volume.has_room() {
                return;
            }
            // When it fails, what was moved before helps all the same.
            let Ok(step) = self.volume.clean() else { break };
            moved_bytes += step.moved_bytes;
            if step.moved_bytes == 0 || moved_bytes > step.file_bytes_before.saturating_mul(2) {
                break;
            }
        }
        self.unpin();
        // Space that this does not give back is found by the next checkpoint.
        let _ = self.volume.checkpoint();
    }

    /// On a full disk: is as much changed as half of what is set aside takes? The other half is for what is changed until the flush.
    pub(super) fn is_flush_due(&self) -> bool {
        self.volume.is_full() && self.pool.flush_bytes() > self.volume.flush_room_bytes() / 2
    }

    /// After a commit: sets aside what a flush takes of what is changed now. On a full disk, flushes instead.
    pub(super) fn keep_flush_room(&self) {
        let wanted = self.pool.flush_bytes();
        if wanted > self.volume.flush_room_bytes() && !self.volume.is_full() {
            // More than that, for it is not asked for after each commit.
            let kept = wanted + wanted / 8 + self.flush_bytes_min() / 8;
            // A volume that takes no writes says so to the next commit.
            let _ = self.volume.keep_flush_room(kept);
        }
        if self.volume.is_full() {
            let _ = self.volume.keep_flush_room(self.flush_bytes_min());
            if self.is_flush_due() {
                // When it fails, the log has everything.
                let _ = self.checkpoint();
            }
        }
    }

    fn flush_bytes_min(&self) -> u64 {
        let trees = self.trees.now();
        let page_bytes = trees.values().map(|tree| tree.btree.page_bytes()).max();
        FLUSH_PAGES_MIN * page_bytes.unwrap_or_default() as u64
    }

    /// Before the session ends: makes the file as short as it is worth.
    pub(super) fn pack(&self) {
        const ROUNDS: usize = 16;
        for _ in 0..ROUNDS {
            self.unpin();
            if self.volume.pack() == 0 {
                return;
            }
        }
    }

    fn unpin(&self) {
        if let Some(unpin) = self.unpin.get() {
            unpin();
        }
    }
}

impl TreeCheckpointError {
    /// The disk is full, and nothing else is wrong.
    pub(crate) fn is_full(&self) -> bool {
        match self {
            Self::Write(error) => is_full(error),
            Self::Commit(quire_store::CommitError::Write(error)) => is_full(error),
            _ => false,
        }
    }
}

impl KvCommitError {
    /// The disk is full, and the transaction was not logged.
    pub(super) fn is_full(&self) -> bool {
        matches!(self, Self::Log(quire_store::CommitError::Write(error)) if is_full(error))
    }
}

fn is_full(error: &VolumeError) -> bool {
    matches!(error, VolumeError::Full { .. })
}
