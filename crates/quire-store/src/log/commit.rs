//! Group commit: one batch and one sync for all that wait.
//!
//! The first to join a group leads it. It asks the volume for its turn, and as long as the group before is being synced,
//! others join. With the turn it waits a moment for those of that group (`crowd`), closes its own, writes the log page and commits, and tells the others. So groups
//! are as large as the disk is slow; there is no thread of the log's own and no timer. Commits that nobody waits for
//! (`later`) are written in front of the next group.

use std::mem;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use quire_format::log::RECORDS_BYTES_MAX;
use quire_format::volume::{LOG_ROOT_PAGE, PageId, PageKind};

use super::group::{CommitGroup, Filling, GroupCommitOutcome};
use super::inner::LogInner;
use super::live::LivePage;
use super::sequence::LogSequence;
use crate::error::{BatchWriteError, CommitError};
use crate::volume::{Durability, WriteBatch};

/// The duty to tell the others, even when the leader panics.
struct Leading {
    outcome: Arc<GroupCommitOutcome>,
}

impl Drop for Leading {
    fn drop(&mut self) {
        self.outcome.tell(Err(BatchWriteError::BatchFailed.into()));
    }
}

impl LogInner {
    /// Commits `batch` with a page of the log for these records alone.
    pub(super) fn commit_with(
        &self,
        batch: WriteBatch,
        records: &[u8],
        ends: Option<(u64, u32)>,
        durability: Durability,
    ) -> Result<LogSequence, CommitError> {
        assert!(batch.is_of(&self.volume), "a batch of another volume");
        check_length(records)?;
        let mut group = CommitGroup::default();
        group.push(records, ends, durability, Some(0));
        // That says the batch itself.
        group.makes_room = false;
        self.lock_filling().waiting_count += 1;
        let (first, batch) = self.write_group(batch, &group)?;
        batch.tidy_up();
        Ok(LogSequence(first))
    }

    /// Commits `batch`, and before it what nobody waits for. Returns the sequence of the volume's commit.
    pub(super) fn commit_pages(
        &self,
        batch: WriteBatch,
        durability: Durability,
    ) -> Result<u64, CommitError> {
        assert!(batch.is_of(&self.volume), "a batch of another volume");
        let group = CommitGroup {
            is_synced: durability == Durability::Synced,
            ..CommitGroup::default()
        };
        let (_, batch) = self.write_group(batch, &group)?;
        // The batch has the turn: no other commit has followed.
        let sequence = self.volume.commit_sequence();
        batch.tidy_up();
        Ok(sequence)
    }

    /// Joins the group that is filling, leads it when nobody does, and waits for what becomes of it. `makes_room`: see [`super::VolumeLog::commit_making_room`].
    pub(super) fn join(
        &self,
        records: &[u8],
        ends: Option<(u64, u32)>,
        durability: Durability,
        makes_room: Option<u64>,
    ) -> Result<LogSequence, CommitError> {
        check_length(records)?;
        let (index, outcome) = {
            let mut filling = self.lock_filling();
            filling.waiting_count += 1;
            let group = &mut filling.waiting;
            group.push(records, ends, durability, makes_room);
            let count = group.commits.len();
            let outcome = Arc::clone(&group.outcome);
            if filling.crowd.is_complete(count) {
                self.gathered.notify_one();
            }
            (count - 1, outcome)
        };
        if index == 0 {
            self.lead(Arc::clone(&outcome));
        }
        Ok(LogSequence(outcome.wait(durability)? + index as u64))
    }

    fn lead(&self, outcome: Arc<GroupCommitOutcome>) {
        let leading = Leading { outcome };
        if self.commit_delay_us > 0 {
            std::thread::sleep(Duration::from_micros(self.commit_delay_us.into()));
        }
        let batch = self.volume.begin();
        if batch.is_ok() {
            self.gather();
        }
        let group = mem::take(&mut self.lock_filling().waiting);
        let start = Instant::now();
        let written = match batch {
            Ok(batch) => self.write_group(batch, &group),
            Err(error) => {
                self.lock_filling().waiting_count -= group.commits.len();
                Err(error.into())
            }
        };
        match written {
            Ok((first, batch)) => {
                if group.is_synced {
                    let mut filling = self.lock_filling();
                    let waiting = filling.waiting.commits.len();
                    let took = start.elapsed();
                    filling.crowd.note(group.commits.len(), waiting, took);
                }
                leading.outcome.tell(Ok(first));
                // A checkpoint of the volume may be due: the others need not wait for it.
                batch.tidy_up();
            }
            Err(error) => leading.outcome.tell(Err(error)),
        }
    }

    /// With the turn: waits a moment for those that are about to commit, if the group is to be synced.
    fn gather(&self) {
        let mut filling = self.lock_filling();
        if !filling.waiting.is_synced {
            return;
        }
        let before = filling.waiting.commits.len();
        let Some(pause) = filling.crowd.begin_pause(before) else {
            return;
        };
        let is_short = |filling: &mut Filling| {
            let count = filling.waiting.commits.len();
            !filling.crowd.is_complete(count)
        };
        let waited = self.gathered.wait_timeout_while(filling, pause, is_short);
        let (mut filling, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let after = filling.waiting.commits.len();
        filling.crowd.end_pause(before, after);
    }

    /// Writes and commits what nobody waits for, and a group behind it. Returns the first sequence of the group, and the batch,
    /// which still has the turn.
    pub(super) fn write_group(
        &self,
        mut batch: WriteBatch,
        waiting: &CommitGroup,
    ) -> Result<(u64, WriteBatch), CommitError> {
        let later = mem::take(&mut self.lock_filling().later);
        let joined;
        let group = if later.commits.is_empty() {
            waiting
        } else {
            joined = later.followed_by(waiting);
            &joined
        };
        // The turn is kept until what was not written is back: another group would be given its sequences.
        let written = self.write_pages(&mut batch, group);
        // A sequence is given out by what both say.
        let mut filling = self.lock_filling();
        filling.waiting_count -= waiting.commits.len();
        let (pages, first) = match written {
            Ok(written) => written,
            Err(error) => {
                filling.put_back(later);
                return Err(error);
            }
        };
        let later_count = later.commits.len() as u64;
        filling.unwritten_count -= later_count;
        self.take_in(pages, group, first);
        Ok((first + later_count, batch))
    }

    /// Writes and commits a group. Returns its pages and its first sequence.
    fn write_pages(
        &self,
        batch: &mut WriteBatch,
        group: &CommitGroup,
    ) -> Result<(Vec<LivePage>, u64), CommitError> {
        if group.grows {
            batch.leave_room_for_pages(group.body.len() as u64);
        } else if group.makes_room {
            batch.use_reserve();
            batch.leave_room_for_pages(group.put_bytes);
        }
        let first = {
            let mut live = self.lock_live();
            live.reconcile(|page| batch.existed(page));
            live.next
        };
        let pages = group.write_pages(batch, first)?;
        self.write_root(batch, pages.first().map(|page| page.page))?;
        let durability = if group.is_synced {
            Durability::Synced
        } else {
            Durability::Unsynced
        };
        batch.commit_in_turn(durability)?;
        Ok((pages, first))
    }

    /// The pages of a group are in the volume.
    fn take_in(&self, mut pages: Vec<LivePage>, group: &CommitGroup, first: u64) {
        let mut live = self.lock_live();
        let mut commits = group.commits.iter().zip(first..).peekable();
        for page in &mut pages {
            while let Some((commit, _)) = commits.next_if(|(_, sequence)| *sequence <= page.last) {
                let parts = live.large.remove(&commit.large);
                page.parts.extend(parts.into_iter().flatten());
            }
        }
        pages.into_iter().for_each(|page| live.push(page));
    }

    /// Frees what nobody needs and, when `page` is the first of the log, makes it findable.
    pub(super) fn write_root(
        &self,
        batch: &WriteBatch,
        page: Option<PageId>,
    ) -> Result<(), BatchWriteError> {
        let live = self.lock_live();
        for orphan in &live.orphans {
            batch.free(*orphan)?;
        }
        match page.and_then(|page| live.root_for_first(page)) {
            Some(root) => batch.replace(LOG_ROOT_PAGE, PageKind::LogRoot, &root.encode()),
            None => Ok(()),
        }
    }
}

pub(super) fn check_length(records: &[u8]) -> Result<(), BatchWriteError> {
    let (bytes, limit_bytes) = (records.len(), RECORDS_BYTES_MAX);
    if bytes > limit_bytes {
        return Err(BatchWriteError::TooLarge { bytes, limit_bytes });
    }
    Ok(())
}
