//! Commits that nobody waits for.
//!
//! They get their sequence at once and are kept in memory, until a group is written anyhow, or they are many, or somebody asks for it. A
//! sequence can be given out only while no commit waits: one that waits may fail, and those behind it would move up. What does not
//! get onto a full disk stays here, with its sequences, and is tried again with the next group.

use std::mem;

use super::VolumeLog;
use super::commit::check_length;
use super::group::{CommitGroup, Filling};
use super::inner::LogInner;
use super::sequence::LogSequence;
use crate::error::CommitError;
use crate::volume::Durability;

/// With more than this a commit waits until all are written.
const LATER_BYTES_MAX: usize = 256 << 10;

impl VolumeLog {
    /// Commits a transaction by its redo records, without waiting for anything: it is in memory only, until the next commit of
    /// another kind, [`write_later`](Self::write_later), or the end of the last handle; the end of the process loses it before.
    /// While others wait for their commits it is written with these, unsynced.
    ///
    /// # Errors
    /// As [`VolumeLog::commit`].
    pub fn commit_later(&self, records: &[u8]) -> Result<LogSequence, CommitError> {
        check_length(records)?;
        self.inner.volume.check_writable()?;
        match self.inner.number_later(records) {
            Some(sequence) => Ok(sequence),
            None => self.inner.join(records, None, Durability::Unsynced, None),
        }
    }

    /// Writes what [`commit_later`](Self::commit_later) has left in memory. Due before the pages that have these
    /// commits are written.
    ///
    /// # Errors
    /// As [`VolumeLog::commit`]; on a full disk the commits stay where they are.
    pub fn write_later(&self) -> Result<(), CommitError> {
        self.inner.write_later()
    }
}

impl LogInner {
    fn number_later(&self, records: &[u8]) -> Option<LogSequence> {
        let mut filling = self.lock_filling();
        let is_full = filling.later.body.len() + records.len() > LATER_BYTES_MAX;
        if filling.waiting_count > 0 || is_full || self.volume.is_full() {
            return None;
        }
        let sequence = self.lock_live().next + filling.unwritten_count;
        filling
            .later
            .push(records, None, Durability::Unsynced, None);
        filling.unwritten_count += 1;
        Some(LogSequence(sequence))
    }

    pub(super) fn write_later(&self) -> Result<(), CommitError> {
        if self.lock_filling().unwritten_count == 0 {
            return Ok(());
        }
        let batch = self.volume.begin()?;
        // A flush may wait for it, after which it goes.
        batch.shortens_log();
        if self.lock_filling().later.commits.is_empty() {
            return Ok(());
        }
        let (_, batch) = self.write_group(batch, &CommitGroup::default())?;
        batch.tidy_up();
        Ok(())
    }
}

impl Drop for LogInner {
    fn drop(&mut self) {
        // Nobody is left to tell, and nobody was promised that it lasts.
        let _ = self.write_later();
    }
}

impl Filling {
    /// What could not be written is written first the next time.
    pub(super) fn put_back(&mut self, later: CommitGroup) {
        let newer = mem::replace(&mut self.later, later);
        let joined = self.later.followed_by(&newer);
        self.later = joined;
    }
}

impl CommitGroup {
    /// Both, one behind the other, with what the second is told.
    pub(super) fn followed_by(&self, next: &Self) -> Self {
        let moved = next.commits.iter().map(|commit| {
            let mut commit = *commit;
            commit.end += self.body.len();
            commit
        });
        let mut joined = next.flags();
        joined.body = [self.body.as_slice(), &next.body].concat();
        joined.commits = self.commits.iter().copied().chain(moved).collect();
        joined
    }
}
