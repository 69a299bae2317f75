//! Flushing changed pages, in batches between which commits have their turn.
//!
//! 1. At one instant the changed pages are taken, and which commits they have.
//! 2. Leaves whose entries alone have changed go ahead, in short batches that are not synced: the next commit syncs them, or, when none comes, the
//!    next of these batches. So no commit waits for more than one of them, and no sync has more than two to take along.
//! 3. All other pages follow in one batch, with the shorter log, synced.
//!
//! A crash between 2 and 3 leaves leaves of different ages. All of the log from before the oldest is there, and all of it is redone
//! ([`crate::btree::BTree::redo`]).

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use quire_store::Durability;
use quire_store::log::LogSequence;
use quire_store::pool::Flush;

use super::error::TreeCheckpointError;
use super::manager::SharedManager;

/// A flush that rests looks so often whether it has fallen behind.
const REST_STEP: Duration = Duration::from_millis(1);

/// A flush that does not fall behind rests so many times as long as a batch took, at least: it has a quarter of the time of the disk.
const REST_PER_BATCH: u32 = 3;

impl SharedManager {
    /// A checkpoint that nobody waits for.
    pub(super) fn checkpoint_slowly(&self) -> Result<(), TreeCheckpointError> {
        let one_at_a_time = self.checkpointing.lock();
        let _one_at_a_time = one_at_a_time.unwrap_or_else(PoisonError::into_inner);
        let _slowly = self.flush_pace.slowly();
        self.checkpoint_alone()
    }

    /// Flushes. `up_to` tells, at the instant of the flush, which commits the pages have.
    pub(super) fn flush(
        &self,
        up_to: impl FnOnce() -> LogSequence,
    ) -> Result<(), TreeCheckpointError> {
        let (mut flush, up_to) = self.pool.begin_flush(|| {
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
        // What goes ahead is in the log before, and the log is not shortened by what it has not got.
        self.log.write_later()?;
        self.write_ahead(&mut flush)?;
        flush.make_images()?;
        let batch = self.volume.begin()?;
        self.log.truncate(&batch, up_to)?;
        flush.commit(batch, Durability::Synced)?;
        self.checkpointed.store(up_to.get(), Ordering::Relaxed);
        Ok(())
    }

    /// Lets others have the disk for so long, or until the flush falls behind. Even then they have their turn: the images of the next batch are to be
    /// made first.
    fn rest(&self, flush: &Flush, time: Duration) {
        let start = Instant::now();
        while start.elapsed() < time && self.flush_pace.is_slow() && !flush.is_behind() {
            self.flush_pace.rest(REST_STEP);
        }
    }

    /// Writes the pages that need not wait for others. Not on a full disk, where what is set aside is there for one batch.
    fn write_ahead(&self, flush: &mut Flush) -> Result<(), TreeCheckpointError> {
        let part_bytes = self.options.flush_part_bytes;
        let mut written = 0;
        while part_bytes > 0 && !self.volume.is_full() && flush.prepare_part(part_bytes)? {
            let batch = self.volume.begin()?;
            let start = Instant::now();
            // With a commit since the one before, that has been synced.
            let is_behind_commits = self.volume.durable_sequence() < written;
            let durability = if is_behind_commits && self.flush_pace.is_slow() {
                Durability::Synced
            } else {
                Durability::Unsynced
            };
            written = flush.commit_part(batch, durability)?;
            let rest = REST_PER_BATCH * start.elapsed();
            self.rest(flush, rest.max(self.options.flush_pause));
        }
        Ok(())
    }
}
