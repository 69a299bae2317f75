//! Transactions whose redo does not fit into memory.

use quire_format::log::{LogContent, LogPage};
use quire_format::volume::PageKind;

use super::VolumeLog;
use super::commit::check_length;
use super::sequence::LogSequence;
use crate::error::CommitError;
use crate::volume::{Durability, WriteBatch};

/// A transaction that is written to the log part by part. Its parts count when [`LargeCommit::commit`] returns; when it
/// is dropped instead, or the process ends, they are freed with a later batch of the log.
pub struct LargeCommit {
    log: VolumeLog,
    /// The batch of the first part; 0 before it.
    number: u64,
    part_count: u32,
    part_bytes: u64,
    makes_room: bool,
    put_bytes: u64,
}

impl VolumeLog {
    /// Begins a transaction whose redo records come in parts.
    #[must_use]
    pub fn begin_large(&self) -> LargeCommit {
        LargeCommit {
            log: self.clone(),
            number: 0,
            part_count: 0,
            part_bytes: 0,
            makes_room: false,
            put_bytes: 0,
        }
    }
}

impl LargeCommit {
    /// From now on, whether the transaction only deletes, and what it puts: see [`VolumeLog::commit_making_room`].
    pub fn set_makes_room(&mut self, makes_room: bool, put_bytes: u64) {
        self.makes_room = makes_room;
        self.put_bytes = put_bytes;
    }

    /// Writes some of the records, at most [`super::RECORDS_BYTES_MAX`] bytes. Not synced: that comes with the commit.
    ///
    /// # Errors
    /// As [`VolumeLog::commit`]. After an error the transaction can only be dropped.
    pub fn append(&mut self, records: &[u8]) -> Result<(), CommitError> {
        check_length(records)?;
        let inner = &self.log.inner;
        let mut batch = inner.volume.begin()?;
        self.part_bytes += records.len() as u64;
        if self.makes_room {
            batch.use_reserve();
            batch.leave_room_for_pages(self.put_bytes);
        } else {
            batch.leave_room_for_pages(self.part_bytes);
        }
        inner.lock_live().reconcile(|page| batch.existed(page));
        let number = match self.number {
            0 => batch.sequence(),
            number => number,
        };
        let content = LogContent::Part {
            large: number,
            ordinal: self.part_count,
        };
        let page = batch.write(PageKind::Log, &LogPage::encode(content, records))?;
        inner.write_root(&batch, Some(page))?;
        batch.commit_in_turn(Durability::Unsynced)?;
        inner
            .lock_live()
            .large
            .entry(number)
            .or_default()
            .push(page);
        self.number = number;
        self.part_count += 1;
        batch.tidy_up();
        Ok(())
    }

    /// Commits the parts, and `records` behind them, as one transaction.
    ///
    /// # Errors
    /// As [`VolumeLog::commit`].
    pub fn commit(
        self,
        records: &[u8],
        durability: Durability,
    ) -> Result<LogSequence, CommitError> {
        let inner = &self.log.inner;
        let room = self.makes_room.then_some(self.put_bytes);
        inner.join(records, self.ends(), durability, room)
    }

    /// Commits the parts, `records` behind them, and `batch`, as one: see [`VolumeLog::commit_batch`].
    ///
    /// # Errors
    /// As [`VolumeLog::commit_batch`].
    pub fn commit_batch(
        self,
        batch: WriteBatch,
        records: &[u8],
        durability: Durability,
    ) -> Result<LogSequence, CommitError> {
        let inner = &self.log.inner;
        inner.commit_with(batch, records, self.ends(), durability)
    }

    fn ends(&self) -> Option<(u64, u32)> {
        (self.number > 0).then_some((self.number, self.part_count))
    }
}

impl Drop for LargeCommit {
    /// Gives up what was not committed.
    fn drop(&mut self) {
        let mut live = self.log.inner.lock_live();
        if let Some(parts) = live.large.remove(&self.number) {
            live.orphans.extend(parts);
        }
    }
}
