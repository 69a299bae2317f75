//! What does not fit memory: records in a file without a name, which is gone when the query is.
//!
//! | bytes of a record | what |
//! |---|---|
//! | 4 | length of the key |
//! | 4 | length of the row |
//! | … | key, row |
//!
//! Records are in streams, and streams in blocks of a few kilobytes, which follow each other in the file as they are filled. Where the
//! blocks of a stream are is known in memory. They are compressed by LZ4 if that costs less than writing and reading what it saves, judged by the first
//! block of a file.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use quire_codec::Corrupt;
use quire_codec::block::{BlockCodec, BlockCodecId, BlockOptions, open};
use quire_store::Disk;

use super::temporary_disks::TemporaryDisks;
use crate::avm::{Cancellation, Trap};
use crate::costs::{Cost, CostModel};

/// How much memory an iterator may use for the rows that it keeps, and what becomes of the others.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// For rows, their keys, and what finds them. At least one row, and a block of each stream that is written or read, are held even
    /// if they take more.
    pub memory_bytes: usize,
    /// Where files without a name are made.
    pub disks: TemporaryDisks,
    /// What files cost, by which their blocks are compressed or not.
    pub costs: SpillCosts,
    /// What was written.
    pub counts: Arc<SpillCounts>,
    /// Whether the query goes on.
    pub cancellation: Cancellation,
}

/// What writing, reading, compressing and decompressing a KiB costs, and what reading a block costs besides, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpillCosts {
    pub write_ns: f64,
    pub read_ns: f64,
    /// Going to where a block is.
    pub seek_ns: f64,
    pub pack_ns: f64,
    pub unpack_ns: f64,
}

impl SpillCosts {
    pub(super) fn of(costs: &CostModel) -> Self {
        Self {
            write_ns: costs.of(Cost::SpillWrite),
            read_ns: costs.of(Cost::SpillRead),
            seek_ns: costs.of(Cost::SpillSeek),
            pack_ns: costs.of(Cost::SpillPack),
            unpack_ns: costs.of(Cost::SpillUnpack),
        }
    }

    /// A KiB that is compressed to such a share of its bytes, written, read and decompressed.
    pub(super) fn packed_ns(&self, share: f64) -> f64 {
        self.pack_ns + self.unpack_ns + share * (self.write_ns + self.read_ns)
    }

    /// Whether compressing to such a share pays.
    fn packs(&self, share: f64) -> bool {
        self.packed_ns(share) < self.write_ns + self.read_ns
    }
}

/// Bytes of records, and what they took in the file; of what was kept in memory, rows and their bytes.
#[derive(Debug, Default)]
pub struct SpillCounts {
    record_bytes: AtomicU64,
    file_bytes: AtomicU64,
    kept_rows: AtomicU64,
    kept_bytes: AtomicU64,
}

impl SpillCounts {
    fn add(&self, record_bytes: usize, file_bytes: usize) {
        let counts = [
            (&self.record_bytes, record_bytes),
            (&self.file_bytes, file_bytes),
        ];
        for (count, bytes) in counts {
            count.fetch_add(bytes as u64, Ordering::Relaxed);
        }
    }

    /// So many rows are kept in memory, without their keys and what finds them.
    pub(super) fn note_kept(&self, rows: usize, bytes: usize) {
        self.kept_rows.store(rows as u64, Ordering::Relaxed);
        self.kept_bytes.store(bytes as u64, Ordering::Relaxed);
    }

    /// Rows that are kept in memory, and their bytes.
    pub(super) fn kept(&self) -> (u64, u64) {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (load(&self.kept_rows), load(&self.kept_bytes))
    }

    /// Bytes of records, and of the file.
    pub(super) fn bytes(&self) -> (u64, u64) {
        let load = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (load(&self.record_bytes), load(&self.file_bytes))
    }
}

impl Default for Workspace {
    fn default() -> Self {
        Self {
            memory_bytes: 256 << 20,
            disks: TemporaryDisks::default(),
            costs: SpillCosts::of(&CostModel::default()),
            counts: Arc::default(),
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
    /// So much memory, and files by these costs where the system has its temporary files.
    pub fn of(memory_bytes: usize, costs: &CostModel) -> Self {
        Self {
            memory_bytes,
            costs: SpillCosts::of(costs),
            ..Self::default()
        }
    }

    /// Whether vectors of so many bytes are too much.
    pub(super) fn is_full(&self, used_bytes: usize) -> bool {
        used_bytes > self.room_bytes()
    }

    /// Bytes that vectors may have: those that grow may have room for twice of what is in them.
    pub(super) fn room_bytes(&self) -> usize {
        // Places in a buffer have 32 bits.
        (self.memory_bytes / 2).min(2 << 30)
    }

    /// What bits of rows leave less for the rows that are kept besides: all that they take, but half of all there is, so that rows can be kept at all.
    pub(super) fn bits_bytes(&self, bits: &[u64]) -> usize {
        size_of_val(bits).min(self.room_bytes() / 2)
    }

    /// In how many parts rows are kept that take so many bytes.
    pub(super) fn part_count(&self, kept_bytes: f64) -> f64 {
        (kept_bytes / self.room_bytes().max(1) as f64)
            .ceil()
            .max(1.0)
    }

    /// Bytes of a block: all blocks that are in memory together take a quarter of it.
    pub(super) fn block_bytes(&self) -> usize {
        (self.memory_bytes / 4 / STREAMS).clamp(64, BLOCK_BYTES)
    }

    pub(super) fn file(&self) -> Result<IteratorSpillFile, Trap> {
        Ok(IteratorSpillFile {
            disk: self.disks.file().map_err(Trap::temporary_file)?,
            end: 0,
            block_bytes: self.block_bytes(),
            packing: SpillCompression::new(self.costs)?,
            counts: Arc::clone(&self.counts),
            cancellation: self.cancellation.clone(),
        })
    }
}

/// A file for the streams of one iterator.
pub(super) struct IteratorSpillFile {
    disk: Arc<dyn Disk>,
    end: u64,
    block_bytes: usize,
    packing: SpillCompression,
    counts: Arc<SpillCounts>,
    cancellation: Cancellation,
}

/// A block of a stream: where it is, and how long it was, if it is compressed.
#[derive(Clone, Debug)]
struct SpillBlock {
    place: Range<u64>,
    raw_bytes: Option<usize>,
}

impl IteratorSpillFile {
    /// Writes a block, compressed if that pays.
    fn write(&mut self, block: &[u8]) -> Result<SpillBlock, Trap> {
        self.cancellation.check()?;
        let packed = self.packing.packed(block);
        let written = packed.unwrap_or(block);
        let (start, written_bytes) = (self.end, written.len());
        let done = self.disk.write_at(written, start);
        done.map_err(Trap::temporary_file)?;
        self.end += written_bytes as u64;
        self.counts.add(block.len(), written_bytes);
        Ok(SpillBlock {
            place: start..self.end,
            raw_bytes: packed.map(|_| block.len()),
        })
    }

    /// Reads a block that was written.
    fn read(&self, block: &SpillBlock, bytes: &mut Vec<u8>) -> Result<(), Trap> {
        self.cancellation.check()?;
        // It was in memory when it was written.
        let stored_bytes = (block.place.end - block.place.start) as usize;
        let Some(raw_bytes) = block.raw_bytes else {
            bytes.resize(stored_bytes, 0);
            let read = self.disk.read_at(bytes, block.place.start);
            return read.map_err(Trap::temporary_file);
        };
        let mut packed = vec![0; stored_bytes];
        let read = self.disk.read_at(&mut packed, block.place.start);
        read.map_err(Trap::temporary_file)?;
        bytes.resize(raw_bytes, 0);
        let unpacked = codec()?.decompress(&packed, bytes);
        unpacked.map_err(Trap::temporary)
    }
}

/// Compresses blocks, or does not: as the first one says.
struct SpillCompression {
    codec: Box<dyn BlockCodec>,
    costs: SpillCosts,
    /// Whether it pays; nothing before the first block.
    pays: Option<bool>,
    buffer: Vec<u8>,
}

impl SpillCompression {
    fn new(costs: SpillCosts) -> Result<Self, Trap> {
        Ok(Self {
            codec: codec()?,
            costs,
            // If nothing was left of them, they would cost more than they do now.
            pays: (!costs.packs(0.0)).then_some(false),
            buffer: Vec::new(),
        })
    }

    /// The compressed block, if that pays.
    fn packed(&mut self, block: &[u8]) -> Option<&[u8]> {
        if self.pays == Some(false) {
            return None;
        }
        self.buffer.resize(block.len(), 0);
        let limit = block.len() - block.len() / 8;
        let packed_bytes = self.codec.compress(block, &mut self.buffer, limit);
        let share = packed_bytes.map_or(1.0, |bytes| bytes as f64 / block.len().max(1) as f64);
        let pays = *self.pays.get_or_insert(self.costs.packs(share));
        self.buffer.get(..packed_bytes.filter(|_| pays)?)
    }
}

/// The codec of blocks.
fn codec() -> Result<Box<dyn BlockCodec>, Trap> {
    open(BlockCodecId::Lz4, &BlockOptions::default())
        .map_err(|_| Trap::temporary(Corrupt::new("no codec for blocks", 0)))
}

/// Records in the order in which they were written.
#[derive(Debug, Default)]
pub(super) struct SpillStream {
    blocks: Vec<SpillBlock>,
    /// What is not in the file yet.
    block: Vec<u8>,
    record_count: usize,
    /// Of keys and rows.
    record_bytes: u64,
}

impl SpillStream {
    pub(super) fn push(
        &mut self,
        file: &mut IteratorSpillFile,
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
        self.record_bytes += (key.len() + row.len()) as u64;
        if self.block.len() >= file.block_bytes {
            self.finish(file)
        } else {
            Ok(())
        }
    }

    /// Writes what is not in the file yet, and gives its memory back.
    pub(super) fn finish(&mut self, file: &mut IteratorSpillFile) -> Result<(), Trap> {
        let block = std::mem::take(&mut self.block);
        if block.is_empty() {
            return Ok(());
        }
        self.blocks.push(file.write(&block)?);
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.record_count == 0
    }

    pub(super) fn record_count(&self) -> usize {
        self.record_count
    }

    /// Bytes of all keys and rows.
    pub(super) fn record_bytes(&self) -> u64 {
        self.record_bytes
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
    blocks: std::vec::IntoIter<SpillBlock>,
    block: Vec<u8>,
    /// Where the next record begins in the block.
    next: usize,
    key: Range<usize>,
    row: Range<usize>,
}

impl StreamReader {
    /// Goes to the next record; false when there is none.
    pub(super) fn advance(&mut self, file: &IteratorSpillFile) -> Result<bool, Trap> {
        if self.next >= self.block.len() {
            let Some(block) = self.blocks.next() else {
                return Ok(false);
            };
            file.read(&block, &mut self.block)?;
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

/// How often records may be divided: there are no other bits of a hash after that.
pub(super) const LEVELS_MAX: u32 = 12;

/// Streams by the hashes of their records' keys.
#[derive(Debug)]
pub(super) struct Partitions {
    streams: Vec<SpillStream>,
    /// How often records were divided before: each time by other bits of the hash.
    level: u32,
}

impl Partitions {
    pub(super) fn new(level: u32) -> Self {
        Self {
            streams: (0..STREAMS).map(|_| SpillStream::default()).collect(),
            level,
        }
    }

    pub(super) fn push(
        &mut self,
        file: &mut IteratorSpillFile,
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
    pub(super) fn finish(
        mut self,
        file: &mut IteratorSpillFile,
    ) -> Result<(u32, Vec<SpillStream>), Trap> {
        let mut streams = self.streams.iter_mut();
        streams.try_for_each(|stream| stream.finish(file))?;
        Ok((self.level + 1, self.streams))
    }
}
