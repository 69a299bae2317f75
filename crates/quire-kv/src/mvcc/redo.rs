//! The redo records of one commit on their way into the log: in one piece, or in parts when they are many.

use quire_format::redo::{RedoChange, RedoWriter};
use quire_store::log::{LargeCommit, LogSequence, VolumeLog};
use quire_store::{Durability, WriteBatch};

use super::changes::TreeChanges;
use super::error::KvCommitError;
use super::options::Synchronous;

/// The records of a transaction, ready to be committed. Parts of a large one are in the log already, and count for
/// nothing until then.
pub struct Redo<'l> {
    log: &'l VolumeLog,
    /// The last part.
    records: &'l [u8],
    large: Option<LargeCommit>,
    bytes_in_parts: u64,
    /// Nothing but entries that go, and puts that say that something else has gone.
    only_deletes: bool,
    /// Bytes of what is put: pages will need room for it.
    put_bytes: u64,
}

impl<'l> Redo<'l> {
    /// Encodes changes in `memory`, and logs all parts but the last.
    pub(super) fn of(
        log: &'l VolumeLog,
        changes: &[TreeChanges],
        part_bytes: usize,
        memory: &'l mut Vec<u8>,
    ) -> Result<Self, KvCommitError> {
        let mut redo = Self {
            log,
            records: &[],
            large: None,
            bytes_in_parts: 0,
            only_deletes: true,
            put_bytes: 0,
        };
        let mut writer = RedoWriter::from(std::mem::take(memory));
        for of_tree in changes {
            let tree = of_tree.tree.id().get();
            of_tree.try_for_each(|key, value| {
                redo.only_deletes &= value.is_none() || of_tree.tree.holds_deletions;
                redo.put_bytes += value.map_or(0, |value| (key.len() + value.len()) as u64);
                writer.push(&match value {
                    Some(value) => RedoChange::Put { tree, key, value },
                    None => RedoChange::Remove { tree, key },
                });
                if writer.len_bytes() >= part_bytes {
                    let part = std::mem::take(&mut writer).finish();
                    let large = redo.large.get_or_insert_with(|| log.begin_large());
                    large.set_makes_room(redo.only_deletes, redo.put_bytes);
                    large.append(&part)?;
                    redo.bytes_in_parts += part.len() as u64;
                }
                Ok::<(), KvCommitError>(())
            })?;
        }
        *memory = writer.finish();
        redo.records = memory;
        Ok(redo)
    }

    /// Length of all records.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes_in_parts + self.records.len() as u64
    }

    /// Commits them, and `batch` with them.
    ///
    /// # Errors
    /// As [`VolumeLog::commit_batch`].
    pub fn commit_batch(
        self,
        batch: WriteBatch,
        durability: Durability,
    ) -> Result<LogSequence, quire_store::CommitError> {
        // A table that gets the trees of its first deletion: the batch says that it may use the reserve.
        batch.leave_room_for_pages(self.put_bytes);
        match self.large {
            Some(large) => large.commit_batch(batch, self.records, durability),
            None => self.log.commit_batch(batch, self.records, durability),
        }
    }

    /// Commits them in a group.
    pub(super) fn commit(
        self,
        synchronous: Synchronous,
    ) -> Result<LogSequence, quire_store::CommitError> {
        let durability = match synchronous {
            Synchronous::Full => Durability::Synced,
            Synchronous::Normal | Synchronous::Off => Durability::Unsynced,
        };
        match self.large {
            Some(mut large) => {
                large.set_makes_room(self.only_deletes, self.put_bytes);
                large.commit(self.records, durability)
            }
            None if synchronous == Synchronous::Off => self.log.commit_later(self.records),
            None if self.only_deletes => {
                let put_bytes = self.put_bytes;
                self.log
                    .commit_making_room(self.records, put_bytes, durability)
            }
            None => self.log.commit(self.records, durability),
        }
    }
}
