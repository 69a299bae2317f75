//! Checkpoints: storing the page map, so that the log before it is no longer needed.
//!
//! 0. Sync what was committed without a sync.
//! 1. Write the changes since the last checkpoint as map chunks, into free space; now and then
//!    the whole map instead.
//! 2. Choose where the log goes on.
//! 3. Sync.
//! 4. Write the superblock twice, each time with a sync.
//! 5. Only now give back the space of what the checkpoint superseded.
//!
//! Up to step 4 nothing the old superblock names has been touched, so a crash anywhere leaves the
//! old state or the new one.

use quire_format::volume::{
    BLOCK_BYTES, ChunkPointer, IMAGE_HEADER_BYTES, ImageHeader, ImageKind, MapChunk,
    RUN_HEADER_BYTES, RunHeader, RunKind, Superblock, checksum,
};

use std::sync::Arc;

use super::free_space::{Extent, FIRST_RUN_BLOCK};
use super::inner::VolumeInner;
use super::placement::Need;
use super::writer::VolumeWriterState;
use crate::disk::is_full;
use crate::error::BatchWriteError;

/// A checkpoint may use all of the reserve: it chooses another.
const ANYWHERE: Need = Need::MakesRoom { left: 0 };

/// What happens after a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// The log goes on, in a new place.
    GoesOn,
    /// The session ends: the log is empty and stays so.
    Closes,
}

/// The chunks of a checkpoint while they are being written.
struct NewChunks {
    extents: Vec<(Extent, u64)>,
    head: Option<(ChunkPointer, u32)>,
    replaces_all: bool,
}

impl VolumeInner {
    /// Starts a session if none is open: from then on there is a tail and a fresh salt.
    pub(super) fn begin_session(
        &self,
        writer: &mut VolumeWriterState,
    ) -> Result<(), BatchWriteError> {
        if writer.space.tail.is_some() {
            return Ok(());
        }
        writer.end_at_begin = writer.used_end();
        self.checkpoint(writer, Ending::GoesOn)
    }

    /// Stores the page map. A full disk leaves everything as it was; other failures poison.
    pub(super) fn checkpoint(
        &self,
        writer: &mut VolumeWriterState,
        ending: Ending,
    ) -> Result<(), BatchWriteError> {
        // Before any of these blocks can be allocated.
        self.erase(std::mem::take(&mut writer.leftovers))?;
        self.write_again(writer)?;
        // A map chunk is a proof of the newest commit; it must not be on the device before it.
        self.make_durable(writer)?;
        let makes_way = ending == Ending::Closes || writer.space.reserve_ends_a_short_file();
        if makes_way && !writer.space.is_full {
            // The map may lie where the reserve was: a closed file will not have most of it, and in a short one it leaves no hole.
            writer.space.lift_reserve();
        }
        let whole = writer.must_write_whole_map(ending);
        let written = match self.write_map(writer, ending, whole) {
            // Then the chain becomes longer.
            Err(BatchWriteError::Full { .. }) if whole && writer.may_append_to_map() => {
                self.write_map(writer, ending, false)
            }
            written => written,
        };
        let (chunks, tail) = written?;
        self.disk
            .sync()
            .map_err(|error| self.failed("sync", error))?;
        let superblock = self.next_superblock(writer, &chunks, tail);
        super::superblocks::write_both(&*self.disk, &superblock, &mut writer.generations)
            .map_err(|error| self.failed("write the superblocks of", error))?;
        self.adopt(writer, superblock, chunks, tail)
    }

    /// Syncs, unless every commit is durable.
    pub(super) fn make_durable(
        &self,
        writer: &mut VolumeWriterState,
    ) -> Result<(), BatchWriteError> {
        if writer.durable_commit < writer.contents.commit_sequence {
            self.disk
                .sync()
                .map_err(|error| self.failed("sync", error))?;
            writer.durable_commit = writer.contents.commit_sequence;
        }
        Ok(())
    }

    /// Writes what recovery found in the log once more, byte for byte, so that the next sync
    /// covers it.
    fn write_again(&self, writer: &mut VolumeWriterState) -> Result<(), BatchWriteError> {
        for extent in std::mem::take(&mut writer.unproven) {
            let mut bytes = vec![0; (extent.count * BLOCK_BYTES) as usize];
            let offset = extent.start * BLOCK_BYTES;
            let read = self.disk.read_at(&mut bytes, offset);
            read.map_err(|error| self.failed("read the log of", error))?;
            let written = self.disk.write_at(&bytes, offset);
            written.map_err(|error| self.failed("write the log of", error))?;
        }
        Ok(())
    }

    /// Steps 1 and 2. After a failure all space is as before.
    fn write_map(
        &self,
        writer: &mut VolumeWriterState,
        ending: Ending,
        replaces_all: bool,
    ) -> Result<(NewChunks, Option<u64>), BatchWriteError> {
        let end_before = writer.space.free.end();
        let reserve_before = writer.space.reserve;
        let written = self.write_chunks(writer, replaces_all).and_then(|chunks| {
            if ending == Ending::Closes {
                return Ok((chunks, None));
            }
            match self.new_tail(writer) {
                Ok(tail) => Ok((chunks, Some(tail))),
                Err(error) => {
                    give_back_chunks(writer, &chunks.extents, end_before);
                    Err(error)
                }
            }
        });
        if written.is_err() {
            writer.space.restore_reserve(reserve_before);
        }
        written
    }

    /// Step 1.
    fn write_chunks(
        &self,
        writer: &mut VolumeWriterState,
        replaces_all: bool,
    ) -> Result<NewChunks, BatchWriteError> {
        let end_before = writer.space.free.end();
        let base = if replaces_all {
            None
        } else {
            writer.superblock.map
        };
        let (mut previous, mut chunk_count) = base.unzip();
        let mut extents = Vec::new();
        for mut chunk in writer.chunks_to_write(replaces_all) {
            chunk.previous = previous;
            match self.write_chunk(writer, &chunk) {
                Ok((extent, pointer, bytes)) => {
                    extents.push((extent, bytes));
                    previous = Some(pointer);
                    chunk_count = Some(chunk_count.unwrap_or(0) + 1);
                }
                Err(error) => {
                    give_back_chunks(writer, &extents, end_before);
                    return Err(error);
                }
            }
        }
        Ok(NewChunks {
            extents,
            head: previous.zip(chunk_count),
            replaces_all,
        })
    }

    fn write_chunk(
        &self,
        writer: &mut VolumeWriterState,
        chunk: &MapChunk,
    ) -> Result<(Extent, ChunkPointer, u64), BatchWriteError> {
        let payload = chunk.encode();
        let body_bytes = IMAGE_HEADER_BYTES + payload.len();
        let count = ((RUN_HEADER_BYTES + body_bytes) as u64).div_ceil(BLOCK_BYTES);
        let mut need = Need::Ordinary;
        loop {
            let end_before = writer.space.free.end();
            let Some(extent) = writer.space.allocate(count, need) else {
                let file = Arc::clone(&self.file);
                return Err(BatchWriteError::Full {
                    file,
                    needed_bytes: count * BLOCK_BYTES,
                });
            };
            let offset = extent.start * BLOCK_BYTES;
            let run = encode_chunk_run(writer, offset, &payload);
            match self.disk.write_at(&run, offset) {
                Ok(()) => {
                    let pointer = ChunkPointer {
                        offset,
                        checksum: checksum(&payload),
                    };
                    return Ok((extent, pointer, payload.len() as u64));
                }
                Err(error) if is_full(&error) => {
                    writer.space.free.put(extent);
                    writer.space.free.cut_tail(end_before);
                    self.note_full(writer, true);
                    if need == ANYWHERE {
                        return Err(self.write_failed(error, count * BLOCK_BYTES));
                    }
                    need = ANYWHERE;
                }
                Err(error) => return Err(self.write_failed(error, 0)),
            }
        }
    }

    /// Step 2: a block inside the file at which the log will go on.
    fn new_tail(&self, writer: &mut VolumeWriterState) -> Result<u64, BatchWriteError> {
        for need in [Need::Ordinary, ANYWHERE] {
            let end_before = writer.space.free.end();
            let Some(extent) = writer.space.allocate_first_tail(need) else {
                continue;
            };
            if extent.start < end_before {
                return Ok(extent.start);
            }
            let zeros = [0; BLOCK_BYTES as usize];
            match self.disk.write_at(&zeros, extent.start * BLOCK_BYTES) {
                Ok(()) => return Ok(extent.start),
                Err(error) if is_full(&error) => {
                    writer.space.free.put(extent);
                    writer.space.free.cut_tail(end_before);
                }
                Err(error) => return Err(self.write_failed(error, BLOCK_BYTES)),
            }
        }
        let file = Arc::clone(&self.file);
        Err(BatchWriteError::Full {
            file,
            needed_bytes: BLOCK_BYTES,
        })
    }

    fn next_superblock(
        &self,
        writer: &VolumeWriterState,
        chunks: &NewChunks,
        tail: Option<u64>,
    ) -> Superblock {
        let contents = &writer.contents;
        let generation = writer.superblock.generation + 1;
        let starts_session = writer.space.tail.is_none();
        let kept = if chunks.replaces_all {
            &[][..]
        } else {
            &writer.chunks
        };
        let map_end = kept
            .iter()
            .chain(&chunks.extents)
            .map(|(extent, _)| extent.end())
            .max();
        let runs_end = contents.runs.iter().map(|(extent, _)| extent.end()).last();
        let data_end = map_end.max(runs_end).unwrap_or(FIRST_RUN_BLOCK);
        Superblock {
            generation,
            clean: tail.is_none(),
            volume: writer.superblock.volume,
            salt: if starts_session {
                self.options.fresh_mark(generation)
            } else {
                writer.superblock.salt
            },
            commit_sequence: contents.commit_sequence,
            next_sequence: contents.next_sequence,
            next_page: contents.next_page,
            log_start: tail.unwrap_or(data_end) * BLOCK_BYTES,
            map: chunks.head,
            page_count: contents.pages.page_count(),
            live_bytes: contents.pages.live_bytes(),
            map_digest: contents.pages.digest(),
            data_end: data_end * BLOCK_BYTES,
        }
    }

    /// Step 5.
    fn adopt(
        &self,
        writer: &mut VolumeWriterState,
        superblock: Superblock,
        chunks: NewChunks,
        tail: Option<u64>,
    ) -> Result<(), BatchWriteError> {
        let mut released = Vec::new();
        if chunks.replaces_all {
            released.extend(writer.chunks.drain(..).map(|(extent, _)| extent));
        }
        writer.chunks.extend(chunks.extents);
        released.extend(writer.space.tail.map(|start| Extent { start, count: 1 }));
        writer.space.tail = tail;
        writer.superblock = superblock;
        writer.log_blocks = 0;
        writer.needs_snapshot = false;
        writer.note_checkpointed();
        for extent in &released {
            writer.space.free.put(*extent);
        }
        self.note_undiscarded(writer, &released);
        self.release_dead(writer)?;
        self.tidy_end(writer)
    }
}

fn give_back_chunks(writer: &mut VolumeWriterState, extents: &[(Extent, u64)], end_before: u64) {
    for (extent, _) in extents {
        writer.space.free.put(*extent);
    }
    writer.space.free.cut_tail(end_before);
}

fn encode_chunk_run(writer: &VolumeWriterState, offset: u64, payload: &[u8]) -> Vec<u8> {
    let generation = writer.superblock.generation + 1;
    let run = RunHeader {
        kind: RunKind::Map,
        ordinal: 0,
        sequence: generation,
        after_commit: writer.contents.commit_sequence,
        durable_commit: writer.durable_commit,
        salt: writer.superblock.salt,
        offset,
        next: 0,
        body_bytes: (IMAGE_HEADER_BYTES + payload.len()) as u32,
    };
    let image = ImageHeader {
        kind: ImageKind::MapChunk,
        payload_bytes: payload.len() as u32,
        sequence: generation,
        payload_checksum: checksum(payload),
    };
    let mut bytes = Vec::with_capacity(run.block_count() as usize * BLOCK_BYTES as usize);
    bytes.extend_from_slice(&run.encode());
    bytes.extend_from_slice(&image.encode());
    bytes.extend_from_slice(payload);
    bytes.resize(run.block_count() as usize * BLOCK_BYTES as usize, 0);
    bytes
}
