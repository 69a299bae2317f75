//! Reading the stored page map: from the chunk the superblock names back to the one that starts
//! from nothing, then forward again.

use std::collections::HashSet;
use std::io;

use quire_format::volume::{
    BLOCK_BYTES, ChunkPointer, IMAGE_HEADER_BYTES, ImageHeader, ImageKind, MAX_RUN_BYTES, MapChunk,
    RUN_HEADER_BYTES, RunHeader, RunKind, Superblock, checksum,
};

use super::free_space::{Extent, FIRST_RUN_BLOCK};
use super::page_map::PageMap;
use super::runs::{LogRuns, to_extent};
use crate::disk::Disk;

/// The page map of a checkpoint.
#[derive(Default)]
pub(super) struct StoredMap {
    pub(super) pages: PageMap,
    pub(super) runs: LogRuns,
    /// The runs in which the chunks are, oldest first, and their payload bytes.
    pub(super) chunks: Vec<(Extent, u64)>,
}

/// Why the stored map cannot be used.
pub(super) enum StoredMapError {
    /// The device failed.
    Io(io::Error),
    /// The bytes are wrong: where, and how.
    Corrupt { offset: u64, detail: String },
}

impl From<io::Error> for StoredMapError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn corrupt(offset: u64, detail: impl ToString) -> StoredMapError {
    StoredMapError::Corrupt {
        offset,
        detail: detail.to_string(),
    }
}

/// Loads the map that `superblock` names, and proves that it is the one it was written with.
pub(super) fn load(disk: &dyn Disk, superblock: &Superblock) -> Result<StoredMap, StoredMapError> {
    let mut stored = StoredMap::default();
    let Some((head, chunk_count)) = superblock.map else {
        prove(&stored.pages, superblock, 0)?;
        return Ok(stored);
    };
    // Two passes over the chain, so that only one chunk is in memory at a time.
    let mut pointers = vec![head];
    let mut visited = HashSet::from([head.offset]);
    let mut last = head;
    for _ in 1..chunk_count {
        let (chunk, _, _) = read_chunk(disk, last)?;
        let previous = chunk
            .previous
            .filter(|previous| visited.insert(previous.offset));
        last = previous.ok_or_else(|| corrupt(last.offset, "the chain is too short"))?;
        pointers.push(last);
    }
    for pointer in pointers.iter().rev() {
        let (chunk, extent, bytes) = read_chunk(disk, *pointer)?;
        if chunk.previous.is_some() == stored.chunks.is_empty() {
            return Err(corrupt(pointer.offset, "the chain has the wrong length"));
        }
        apply(&mut stored, &chunk, pointer.offset)?;
        stored.chunks.push((extent, bytes));
    }
    count_images(&mut stored, head.offset)?;
    prove(&stored.pages, superblock, head.offset)?;
    Ok(stored)
}

fn read_chunk(
    disk: &dyn Disk,
    pointer: ChunkPointer,
) -> Result<(MapChunk, Extent, u64), StoredMapError> {
    let offset = pointer.offset;
    let mut head = [0; RUN_HEADER_BYTES + IMAGE_HEADER_BYTES];
    read(disk, &mut head, offset)?;
    let run = RunHeader::decode(&head, offset).map_err(|error| corrupt(offset, error))?;
    let image = ImageHeader::decode(&head[RUN_HEADER_BYTES..]);
    let image = image.map_err(|error| corrupt(offset, error))?;
    if run.kind != RunKind::Map || image.kind != ImageKind::MapChunk {
        return Err(corrupt(offset, "there is no map chunk here"));
    }
    if image.image_bytes() != run.body_bytes as usize || run.run_bytes() > MAX_RUN_BYTES {
        return Err(corrupt(offset, "the map chunk does not fill its run"));
    }
    let mut payload = vec![0; image.payload_bytes as usize];
    read(disk, &mut payload, offset + head.len() as u64)?;
    if checksum(&payload) != pointer.checksum || image.payload_checksum != pointer.checksum {
        return Err(corrupt(
            offset,
            "the checksum of the map chunk does not match",
        ));
    }
    let chunk = MapChunk::decode(&payload).map_err(|error| corrupt(offset, error))?;
    let extent = Extent {
        start: offset / BLOCK_BYTES,
        count: run.block_count(),
    };
    Ok((chunk, extent, payload.len() as u64))
}

fn read(disk: &dyn Disk, buffer: &mut [u8], offset: u64) -> Result<(), StoredMapError> {
    disk.read_at(buffer, offset)
        .map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => corrupt(offset, "the file ends here"),
            _ => StoredMapError::Io(error),
        })
}

fn apply(stored: &mut StoredMap, chunk: &MapChunk, offset: u64) -> Result<(), StoredMapError> {
    for removed in &chunk.removed_runs {
        if !stored.runs.remove(removed / BLOCK_BYTES) {
            return Err(corrupt(
                offset,
                format!("the chunk removes no run at byte {removed}"),
            ));
        }
    }
    for added in &chunk.added_runs {
        if added.block_count == 0 || !stored.runs.add(to_extent(*added), true) {
            let detail = format!("the run at byte {} overlaps another", added.offset);
            return Err(corrupt(offset, detail));
        }
    }
    for range in &chunk.removed_pages {
        for entry in stored.pages.range(*range) {
            stored.pages.remove(entry.page);
        }
    }
    for entry in &chunk.entries {
        stored.pages.insert(*entry);
    }
    Ok(())
}

/// Counts the images of every run, and proves that no two of them overlap.
fn count_images(stored: &mut StoredMap, offset: u64) -> Result<(), StoredMapError> {
    let mut places = Vec::with_capacity(stored.pages.page_count() as usize);
    stored.pages.for_each(&mut |entry| places.push(entry));
    places.sort_unstable_by_key(|entry| entry.offset);
    let mut end = 0;
    for entry in &places {
        if entry.offset < end || !stored.runs.add_image(entry) {
            let detail = format!(
                "the image of page {} is not inside a run of its own",
                entry.page
            );
            return Err(corrupt(offset, detail));
        }
        end = entry.offset + super::page_map::image_bytes(entry);
    }
    if let Some((empty, _)) = stored.runs.iter().find(|(_, run)| run.live_images == 0) {
        let detail = format!(
            "no page lies in the run at byte {}",
            empty.start * BLOCK_BYTES
        );
        return Err(corrupt(offset, detail));
    }
    Ok(())
}

/// Proves that runs and chunks are inside the disk and do not overlap. Returns them, ascending.
pub(super) fn used_extents(
    runs: &LogRuns,
    chunks: &[(Extent, u64)],
    disk_bytes: u64,
) -> Result<Vec<Extent>, (u64, &'static str)> {
    let dead = runs.dead().map(|dead| dead.extent);
    let in_use = runs.iter().map(|(extent, _)| extent).chain(dead);
    let mut used: Vec<_> = in_use
        .chain(chunks.iter().map(|(extent, _)| *extent))
        .collect();
    used.sort_unstable();
    let mut end = FIRST_RUN_BLOCK;
    for extent in &used {
        if extent.start < end {
            return Err((extent.start * BLOCK_BYTES, "two runs use this block"));
        }
        end = extent.end();
        if end > disk_bytes / BLOCK_BYTES {
            return Err((
                extent.start * BLOCK_BYTES,
                "this run ends behind the end of the file",
            ));
        }
    }
    Ok(used)
}

fn prove(pages: &PageMap, superblock: &Superblock, offset: u64) -> Result<(), StoredMapError> {
    let found = (pages.page_count(), pages.live_bytes(), pages.digest());
    let expected = (
        superblock.page_count,
        superblock.live_bytes,
        superblock.map_digest,
    );
    if found != expected {
        let detail = format!(
            "the map has {} pages with {} bytes, the superblock says {} with {}",
            found.0, found.1, expected.0, expected.1
        );
        return Err(corrupt(offset, detail));
    }
    Ok(())
}
