//! What does not fit memory: records in a file without a name, which is gone when the query is.
//!
//! | bytes of a record | what |
//! |---|---|
//! | 4 | length of the key |
//! | 4 | length of the row |
//! | … | key, row |
//!
//! Records are in streams, and streams in blocks of a few kilobytes, which follow each other in the file as they are filled. Where the
//! blocks of a stream are is known in memory.

use std::ops::Range;
use std::path::PathBuf;

use quire_codec::Corrupt;
use quire_store::{Disk, FileDisk};

use crate::avm::{Cancellation, Trap};

/// How much memory an iterator may use for the rows that it keeps, and what becomes of the others.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// For rows, their keys, and what finds them. At least one row, and a block of each stream that is written or read, are held even
    /// if they take more.
    pub memory_bytes: usize,
    /// Where files without a name are made: where the system has its temporary files, if nothing else is said.
    pub directory: Option<PathBuf>,
    /// Whether rows are kept null-suppressed: smaller, and dearer to write.
    pub is_compressed: bool,
    /// Whether the query goes on.
    pub cancellation: Cancellation,
}

impl Default for Workspace {
    fn default() -> Self {
        Self {
            memory_bytes: 256 << 20,
            directory: None,
            is_compressed: false,
            cancellation: Cancellation::default(),
        }
    }
}

/// Streams that are written or read at the same time, at most.
pub(super) const STREAMS: usize = 16;

/// The longest block of a stream.
const BLOCK_BYTES: usize = 64 << 10;

const LENGTHS_BYTES: usize = 8;

impl Workspace {
    /// Whether vectors of so many bytes are too much: those that grow may have room for twice of what is in them.
    pub(super) fn is_full(&self, used_bytes: usize) -> bool {
        // Places in a buffer have 32 bits.
        used_bytes > (self.memory_bytes / 2).min(2 << 30)
    }

    pub(super) fn file(&self) -> Result<SpillFile, Trap> {
        let disk = FileDisk::temporary(self.directory.as_deref());
        Ok(SpillFile {
            disk: disk.map_err(Trap::temporary_file)?,
            end: 0,
            // All blocks that are in memory together take a quarter of it.
            block_bytes: (self.memory_bytes / 4 / STREAMS).clamp(64, BLOCK_BYTES),
            cancellation: self.cancellation.clone(),
        })
    }
}

/// A file for the streams of one iterator.
pub(super) struct SpillFile {
    disk: FileDisk,
    end: u64,
    block_bytes: usize,
    cancellation: Cancellation,
}

/// Records in the order in which they were written.
#[derive(Debug, Default)]
pub(super) struct Stream {
    blocks: Vec<Range<u64>>,
    /// What is not in the file yet.
    block: Vec<u8>,
    record_count: usize,
}

impl Stream {
    pub(super) fn push(
        &mut self,
        file: &mut SpillFile,
        key: &[u8],
        row: &[u8],
    ) -> Result<(), Trap> {
        for part in [key, row] {
            let bytes = u32::try_from(part.len()).map_err(|_| Trap::too_large())?;
            self.block.extend_from_slice(&bytes.to_le_bytes());
        }
        self.block.extend_from_slice(key);
        self.block.extend_from_slice(row);
        self.record_count += 1;
        match self.block.len() >= file.block_bytes {
            true => self.finish(file),
            false => Ok(()),
        }
    }

    /// Writes what is not in the file yet, and gives its memory back.
    pub(super) fn finish(&mut self, file: &mut SpillFile) -> Result<(), Trap> {
        let block = std::mem::take(&mut self.block);
        if block.is_empty() {
            return Ok(());
        }
        file.cancellation.check()?;
        let start = file.end;
        let written = file.disk.write_at(&block, start);
        written.map_err(Trap::temporary_file)?;
        file.end += block.len() as u64;
        self.blocks.push(start..file.end);
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.record_count == 0
    }

    pub(super) fn record_count(&self) -> usize {
        self.record_count
    }

    /// The stream from its first record on. It must be finished.
    pub(super) fn reader(&self) -> StreamReader {
        StreamReader {
            blocks: self.blocks.clone().into_iter(),
            block: Vec::new(),
            next: 0,
            key: 0..0,
            row: 0..0,
        }
    }
}

/// A stream, at one of its records.
#[derive(Debug, Default)]
pub(super) struct StreamReader {
    blocks: std::vec::IntoIter<Range<u64>>,
    block: Vec<u8>,
    /// Where the next record begins in the block.
    next: usize,
    key: Range<usize>,
    row: Range<usize>,
}

impl StreamReader {
    /// Goes to the next record; false when there is none.
    pub(super) fn advance(&mut self, file: &SpillFile) -> Result<bool, Trap> {
        if self.next >= self.block.len() {
            let Some(range) = self.blocks.next() else {
                return Ok(false);
            };
            file.cancellation.check()?;
            // It was in memory when it was written.
            self.block.resize((range.end - range.start) as usize, 0);
            let read = file.disk.read_at(&mut self.block, range.start);
            read.map_err(Trap::temporary_file)?;
            self.next = 0;
        }
        let damaged = || Trap::temporary(Corrupt::new("a record is cut short", self.next));
        let rest = self.block.get(self.next..).unwrap_or_default();
        let length = |at: usize| {
            let bytes = rest.get(at..)?.first_chunk()?;
            usize::try_from(u32::from_le_bytes(*bytes)).ok()
        };
        let key_bytes = length(0).ok_or_else(damaged)?;
        let row_bytes = length(4).ok_or_else(damaged)?;
        let start = self.next + LENGTHS_BYTES;
        let end = start.checked_add(key_bytes);
        let end = end.and_then(|end| end.checked_add(row_bytes));
        let end = end.filter(|end| *end <= self.block.len());
        let end = end.ok_or_else(damaged)?;
        self.key = start..start + key_bytes;
        self.row = start + key_bytes..end;
        self.next = end;
        Ok(true)
    }

    /// Whether there is another record behind this one.
    pub(super) fn has_more(&self) -> bool {
        self.next < self.block.len() || !self.blocks.as_slice().is_empty()
    }

    pub(super) fn key(&self) -> &[u8] {
        self.block.get(self.key.clone()).unwrap_or_default()
    }

    pub(super) fn row(&self) -> &[u8] {
        self.block.get(self.row.clone()).unwrap_or_default()
    }
}

/// Streams by the hashes of their records' keys.
#[derive(Debug)]
pub(super) struct Partitions {
    streams: Vec<Stream>,
    /// How often records were divided before: each time by other bits of the hash.
    level: u32,
}

impl Partitions {
    pub(super) fn new(level: u32) -> Self {
        Self {
            streams: (0..STREAMS).map(|_| Stream::default()).collect(),
            level,
        }
    }

    pub(super) fn push(
        &mut self,
        file: &mut SpillFile,
        hash: u64,
        key: &[u8],
        row: &[u8],
    ) -> Result<(), Trap> {
        // The lowest and the highest bits find places in a hash table.
        let bits = hash.rotate_right(16 + 4 * self.level);
        let number = (bits % STREAMS as u64) as usize;
        match self.streams.get_mut(number) {
            Some(stream) => stream.push(file, key, row),
            None => Ok(()),
        }
    }

    /// The streams, all in the file, and how often their records were divided.
    pub(super) fn finish(mut self, file: &mut SpillFile) -> Result<(u32, Vec<Stream>), Trap> {
        let mut streams = self.streams.iter_mut();
        streams.try_for_each(|stream| stream.finish(file))?;
        Ok((self.level + 1, self.streams))
    }
}
