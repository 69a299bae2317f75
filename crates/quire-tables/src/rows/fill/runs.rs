//! Sorted entries in a file that has no name and is never synced.
//!
//! | bytes of an entry | what |
//! |---|---|
//! | 2 | length of the key |
//! | 2 | length of the value |
//! | … | key, value |

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use quire_kv::mvcc::SpillError;
use quire_store::{Disk, FileDisk};

use super::key_head::head_of;

const LENGTH_BYTES: usize = 4;

/// Bytes that are written or read at once, of each run.
const BLOCK_BYTES: usize = 128 << 10;

/// Runs of entries.
pub(super) struct RunFile {
    disk: Arc<FileDisk>,
    end: u64,
    runs: Vec<Range<u64>>,
}

impl RunFile {
    pub(super) fn create(directory: Option<&Path>) -> Result<Self, SpillError> {
        Ok(Self {
            disk: Arc::new(FileDisk::temporary(directory)?),
            end: 0,
            runs: Vec::new(),
        })
    }

    /// Adds a run of entries by ascending key.
    pub(super) fn write_run<'e>(
        &mut self,
        entries: impl Iterator<Item = (&'e [u8], &'e [u8])>,
    ) -> Result<(), SpillError> {
        let start = self.end;
        let mut block = Vec::with_capacity(2 * BLOCK_BYTES);
        for (key, value) in entries {
            block.extend_from_slice(&(key.len() as u16).to_le_bytes());
            block.extend_from_slice(&(value.len() as u16).to_le_bytes());
            block.extend_from_slice(key);
            block.extend_from_slice(value);
            if block.len() >= BLOCK_BYTES {
                self.write(&mut block)?;
            }
        }
        self.write(&mut block)?;
        self.runs.push(start..self.end);
        Ok(())
    }

    fn write(&mut self, block: &mut Vec<u8>) -> Result<(), SpillError> {
        self.disk.write_at(block, self.end)?;
        self.end += block.len() as u64;
        block.clear();
        Ok(())
    }

    /// Each run at its first entry.
    pub(super) fn into_readers(self) -> Result<Vec<RunReader>, SpillError> {
        let mut readers = Vec::with_capacity(self.runs.len());
        for run in self.runs {
            let mut reader = RunReader {
                disk: Arc::clone(&self.disk),
                unread: run,
                block: Vec::new(),
                start: 0,
                key_bytes: 0,
                value_bytes: 0,
            };
            if reader.read_entry()? {
                readers.push(reader);
            }
        }
        Ok(readers)
    }
}

/// A run, at an entry.
pub(super) struct RunReader {
    disk: Arc<FileDisk>,
    unread: Range<u64>,
    block: Vec<u8>,
    /// Of the key of the entry.
    start: usize,
    key_bytes: usize,
    value_bytes: usize,
}

impl RunReader {
    pub(super) fn entry(&self) -> (&[u8], &[u8]) {
        let entry = &self.block[self.start..self.start + self.key_bytes + self.value_bytes];
        entry.split_at(self.key_bytes)
    }

    pub(super) fn head(&self) -> u64 {
        head_of(self.entry().0)
    }

    /// Goes to the next entry; false when there is none.
    pub(super) fn advance(&mut self) -> Result<bool, SpillError> {
        self.start += self.key_bytes + self.value_bytes;
        self.read_entry()
    }

    /// Reads the entry whose lengths are at `start`.
    fn read_entry(&mut self) -> Result<bool, SpillError> {
        (self.key_bytes, self.value_bytes) = (0, 0);
        if self.start == self.block.len() && self.unread.is_empty() {
            return Ok(false);
        }
        self.have(LENGTH_BYTES)?;
        let length =
            |at: usize| usize::from(u16::from_le_bytes([self.block[at], self.block[at + 1]]));
        let (key_bytes, value_bytes) = (length(self.start), length(self.start + 2));
        self.have(LENGTH_BYTES + key_bytes + value_bytes)?;
        self.start += LENGTH_BYTES;
        (self.key_bytes, self.value_bytes) = (key_bytes, value_bytes);
        Ok(true)
    }

    /// Reads until there are `bytes` behind `start`.
    fn have(&mut self, bytes: usize) -> Result<(), SpillError> {
        let rest_bytes = self.block.len() - self.start;
        if rest_bytes >= bytes {
            return Ok(());
        }
        self.block.drain(..self.start);
        self.start = 0;
        let unread_bytes = self.unread.end - self.unread.start;
        let read_bytes = (BLOCK_BYTES.max(bytes - rest_bytes) as u64).min(unread_bytes) as usize;
        self.block.resize(rest_bytes + read_bytes, 0);
        let target = &mut self.block[rest_bytes..];
        self.disk.read_at(target, self.unread.start)?;
        self.unread.start += read_bytes as u64;
        if self.block.len() >= bytes {
            Ok(())
        } else {
            Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into())
        }
    }
}
