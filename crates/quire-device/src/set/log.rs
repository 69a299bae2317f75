//! Making changes durable: in a batch, or, where nothing but writes into files has happened since the newest one, in a log page.
//!
//! A log page has the bytes that were written, so it is short, and nothing has to be compressed before it is synced. What is
//! logged stays in memory as well, and the next batch writes its records and frees the log pages: both, or neither. Opening the data
//! set after a crash replays the writes upon the tree of the newest batch, upon which they were done before.
//!
//! Compressing a batch takes long, so log pages are written meanwhile, unless the batch has something that cannot be logged. They have
//! what the batch has and the log has not, and what has been written since. The batch leaves them in the log: replayed upon its tree,
//! writes that it has change nothing, and the others follow.

use quire_format::data_set::{FileTime, InodeKind, LoggedWrite, LoggedWrites, SynchronousWrites};
use quire_store::{Durability, PageKind};

use super::access::Access;
use super::state::DataSet;
use super::unlogged::WrittenRange;
use crate::error::{DeviceStorageError, FileError};

impl DataSet {
    /// Makes all that has been done so far durable: in one batch, or in one log page if the properties ask for that and it is
    /// possible.
    ///
    /// # Errors
    /// [`DeviceStorageError`]; what could not be written stays in memory, unless the volume takes no more writes.
    pub fn sync(&self) -> Result<(), DeviceStorageError> {
        match self.take_turn_unless_synced() {
            Some(turn) => turn.sync(|| self.sync_in_turn()),
            None => Ok(()),
        }
    }

    fn sync_in_turn(&self) -> Result<(), DeviceStorageError> {
        if self.sync_by_log()? {
            return Ok(());
        }
        let turn = self.take_batch_turn();
        // What could not be logged may have been in the batch that this has waited for.
        if self.sync_by_log()? {
            return Ok(());
        }
        self.flush_in_turn(&turn, Durability::Synced)
    }

    /// Makes all that has been done so far to a file durable, and with it what else has changed.
    ///
    /// # Errors
    /// [`FileError::NotFound`]; [`FileError::Storage`] as [`DataSet::sync`].
    pub fn sync_file(&self, inode: u64) -> Result<(), FileError> {
        self.attributes(inode)?;
        Ok(self.sync()?)
    }

    /// Writes what has changed, without making it durable; for a background thread that does so periodically. What was logged is compressed then.
    ///
    /// # Errors
    /// As [`DataSet::sync`].
    pub fn write_back(&self) -> Result<(), DeviceStorageError> {
        self.flush(Durability::Unsynced)
    }

    /// Logs what has been written. False if a batch is needed instead.
    fn sync_by_log(&self) -> Result<bool, DeviceStorageError> {
        if self.properties().synchronous != SynchronousWrites::Logged {
            return Ok(false);
        }
        match self.try_sync_by_log() {
            // A batch may free more than it takes.
            Err(error) if error.is_full() => Ok(false),
            done => done,
        }
    }

    fn try_sync_by_log(&self) -> Result<bool, DeviceStorageError> {
        let Some(head_page) = self.head_page.filter(|_| !self.is_read_only()) else {
            return Ok(true);
        };
        // What is logged belongs upon the tree and the log that it is written after. So no batch takes what has changed, and none commits,
        // before the page is in the log.
        let _writing = self.lock_head_writing();
        let mut access = self.read_access();
        if access.state.unlogged.is_empty() {
            let is_unsynced = access.state.is_unsynced;
            drop(access);
            if is_unsynced {
                self.sync_commits()?;
            }
            return Ok(true);
        }
        let limit_bytes = self.context.options.dirty_bytes;
        let Some(ranges) = access.state.unlogged.take(limit_bytes) else {
            return Ok(false);
        };
        let logged = access.logged(&ranges);
        let mut head = access.state.head.clone();
        drop(access);
        let written = logged.and_then(|logged| {
            let batch = self.context.volume.begin()?;
            head.log
                .push(batch.write(PageKind::LoggedWrites, &logged.encode())?);
            batch.replace(head_page, PageKind::DataSetHead, &head.encode())?;
            batch.commit()?;
            Ok(head)
        });
        let mut state = self.lock();
        match written {
            Ok(head) => {
                state.head = head;
                state.is_unsynced = false;
                Ok(true)
            }
            Err(error) => {
                // Perhaps a batch can be written.
                state.unlogged.fail_log();
                Err(error)
            }
        }
    }

    /// Replays the log. No other thread has the data set yet.
    pub(crate) fn replay_log(&self) -> Result<(), FileError> {
        let mut access = self.read_access();
        let pages = access.state.head.log.clone();
        let (mut bytes, count) = (0, pages.len());
        for page in pages {
            let log = access.view.reader.decoded(page, LoggedWrites::decode)?;
            for write in &log.writes {
                bytes += write.bytes.len();
                access.replay(write)?;
            }
        }
        access.state.unlogged.set_logged(count, bytes);
        Ok(())
    }
}

impl Access<'_> {
    /// The bytes of ranges that have been written.
    fn logged(&self, ranges: &[WrittenRange]) -> Result<LoggedWrites, DeviceStorageError> {
        let mut writes = Vec::with_capacity(ranges.len());
        for range in ranges {
            let WrittenRange {
                inode,
                offset,
                length,
            } = *range;
            let (modified, bytes) = self.changed_bytes(inode, offset, length)?;
            writes.push(LoggedWrite {
                inode,
                offset,
                modified,
                bytes,
            });
        }
        Ok(LoggedWrites { writes })
    }

    fn changed_bytes(
        &self,
        inode: u64,
        offset: u64,
        length: usize,
    ) -> Result<(FileTime, Vec<u8>), DeviceStorageError> {
        let found = self.file(inode).and_then(|attributes| {
            let bytes = self.bytes(inode, &attributes, offset, length)?;
            Ok((attributes.modified, bytes))
        });
        found.map_err(|error| match error {
            FileError::Storage(error) => error,
            // It has been written, and nothing has been removed since.
            _ => self.not_removed(),
        })
    }

    /// Does a write again, if there is such a file: what was removed without being synced is there, so there is.
    fn replay(&mut self, write: &LoggedWrite) -> Result<(), FileError> {
        let attributes = match self.inode(write.inode) {
            Err(FileError::NotFound { .. }) => return Ok(()),
            found => found?,
        };
        if attributes.kind != InodeKind::File {
            return Ok(());
        }
        self.write(write.inode, write.offset, &write.bytes)?;
        let mut attributes = self.inode(write.inode)?;
        attributes.modified = write.modified;
        attributes.changed = write.modified;
        self.set_inode(write.inode, &attributes);
        Ok(())
    }
}
