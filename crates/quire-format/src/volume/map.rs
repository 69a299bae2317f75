//! The stored page map: a chain of chunks, the oldest of which starts from nothing.

use quire_codec::Corrupt;

use super::commit::{PageRange, read_ranges, write_ranges};
use super::image::IMAGE_HEADER_BYTES;
use super::page::PageId;
use super::{BLOCK_BYTES, FIRST_RUN_OFFSET, MAX_PAYLOAD_BYTES, MAX_RUN_BYTES};
use crate::document::{DiskStructure, StructureField};
use crate::wire::{WireItemReader, WireItemWriter};

const VERSION: u8 = 1;

/// A chunk holds at most this many items (runs, ranges and entries together), so that it always
/// fits into one image: an item takes at most 29 bytes.
pub const CHUNK_ITEMS_MAX: usize = 64 << 10;

const HIGHEST_OFFSET: u64 = u64::MAX >> 8;

pub(super) const STRUCTURE: DiskStructure = DiskStructure {
    name: "Map chunk (payload of image kind 242)",
    about: "\
The only image of a run of kind 3. The superblock names the newest chunk, each chunk names the one
before it, and the oldest (`previous_offset` 0) starts from an empty map. The chain is applied from
the oldest on; in each chunk removals come before additions. A run is listed while it holds an image
of a page that is in the map.",
    fixed_bytes: None,
    fields: &[
        StructureField::at(0, "1", "version", "1"),
        StructureField::next(
            "varint",
            "previous_offset",
            "run of the chunk before, in blocks; 0: none",
        ),
        StructureField::next(
            "4",
            "previous_checksum",
            "CRC32C of the payload of the chunk before",
        ),
        StructureField::next("varint", "removed_run_count", "then for each, ascending:"),
        StructureField::next(
            "varint",
            "distance",
            "first block minus that of the one before (0)",
        ),
        StructureField::next("varint", "added_run_count", "then for each, ascending:"),
        StructureField::next(
            "varint",
            "distance",
            "first block minus the end of the one before (0)",
        ),
        StructureField::next("varint", "blocks", "length in blocks, at least 1"),
        StructureField::next(
            "varint",
            "removed_range_count",
            "then for each, as in freed pages:",
        ),
        StructureField::next(
            "varint",
            "distance",
            "first page minus the end of the range before (0)",
        ),
        StructureField::next("varint", "pages", "length of the range, at least 1"),
        StructureField::next("varint", "entry_count", "then for each, ascending by page:"),
        StructureField::next("varint", "distance", "page minus the one before (0)"),
        StructureField::next(
            "signed",
            "jump",
            "byte of the image minus the end of the image before (0)",
        ),
        StructureField::next("varint", "payload_bytes", "length of the payload"),
        StructureField::next("4", "payload_checksum", "CRC32C of the payload"),
    ],
};

/// Where a chunk of the map is, and the checksum its payload has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChunkPointer {
    /// Byte offset of the run that holds it.
    pub offset: u64,
    /// CRC32C of the payload.
    pub checksum: u32,
}

/// A run that is in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunExtent {
    /// Byte offset of the run.
    pub offset: u64,
    /// Its length in blocks.
    pub block_count: u64,
}

/// Where the newest image of a page is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageEntry {
    /// The page.
    pub page: PageId,
    /// Byte offset of the header of its image.
    pub offset: u64,
    /// Length of the payload.
    pub payload_bytes: u32,
    /// CRC32C of the payload.
    pub payload_checksum: u32,
}

impl PageEntry {
    /// A number that depends on the page and its content but not on its place. The XOR of those
    /// of all entries tells whether two maps have the same pages with the same content.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let content = u64::from(self.payload_checksum) << 32 | u64::from(self.payload_bytes);
        mix(mix(self.page.get()) ^ content)
    }
}

/// The finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
/// generators, 2014): every bit of the argument changes about half the bits of the result.
fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// One chunk of the stored page map.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MapChunk {
    /// The chunk before it; `None` for the one that starts from an empty map.
    pub previous: Option<ChunkPointer>,
    /// Byte offsets of runs no longer in use, ascending.
    pub removed_runs: Vec<u64>,
    /// Runs newly in use, ascending.
    pub added_runs: Vec<RunExtent>,
    /// Pages no longer in the map, ascending.
    pub removed_pages: Vec<PageRange>,
    /// New places, ascending by page.
    pub entries: Vec<PageEntry>,
}

impl MapChunk {
    /// Items of all lists together.
    #[must_use]
    pub fn item_count(&self) -> usize {
        self.removed_runs.len()
            + self.added_runs.len()
            + self.removed_pages.len()
            + self.entries.len()
    }

    /// The payload.
    ///
    /// # Panics
    /// When there are more than [`CHUNK_ITEMS_MAX`] items or a list is not ascending: such a
    /// chunk must not reach the disk.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        assert!(
            self.item_count() <= CHUNK_ITEMS_MAX,
            "a map chunk has too many items"
        );
        let mut writer = WireItemWriter::new(VERSION);
        let previous = self.previous.unwrap_or_default();
        writer.varint(previous.offset / BLOCK_BYTES);
        writer.raw(&previous.checksum.to_le_bytes());
        write_runs(&mut writer, &self.removed_runs, &self.added_runs);
        write_ranges(&mut writer, &self.removed_pages);
        write_entries(&mut writer, &self.entries);
        let payload = writer.finish();
        assert!(
            payload.len() <= MAX_PAYLOAD_BYTES,
            "a map chunk is too long"
        );
        payload
    }

    /// Reads a payload.
    ///
    /// # Errors
    /// [`Corrupt`] when it is not one.
    pub fn decode(payload: &[u8]) -> Result<Self, Corrupt> {
        let mut reader = WireItemReader::new(payload, VERSION, "map chunk")?;
        let previous = ChunkPointer {
            offset: read_block(&mut reader, 0)?,
            checksum: u32::from_le_bytes(reader.array()?),
        };
        let chunk = Self {
            previous: (previous.offset != 0).then_some(previous),
            removed_runs: read_removed_runs(&mut reader)?,
            added_runs: read_added_runs(&mut reader)?,
            removed_pages: read_ranges(&mut reader)?,
            entries: read_entries(&mut reader)?,
        };
        reader.finish()?;
        Ok(chunk)
    }
}

fn write_runs(writer: &mut WireItemWriter, removed: &[u64], added: &[RunExtent]) {
    writer.varint(removed.len() as u64);
    let mut last = 0;
    for offset in removed {
        writer.varint((offset - last) / BLOCK_BYTES);
        last = *offset;
    }
    writer.varint(added.len() as u64);
    let mut end = 0;
    for run in added {
        writer.varint((run.offset - end) / BLOCK_BYTES);
        writer.varint(run.block_count);
        end = run.offset + run.block_count * BLOCK_BYTES;
    }
}

fn write_entries(writer: &mut WireItemWriter, entries: &[PageEntry]) {
    writer.varint(entries.len() as u64);
    let (mut page, mut end) = (0, 0);
    for entry in entries {
        writer.varint(entry.page.get() - page);
        writer.signed(i128::from(entry.offset) - i128::from(end));
        writer.varint(u64::from(entry.payload_bytes));
        writer.raw(&entry.payload_checksum.to_le_bytes());
        page = entry.page.get();
        end = entry.offset + IMAGE_HEADER_BYTES as u64 + u64::from(entry.payload_bytes);
    }
}

fn read_block(reader: &mut WireItemReader<'_>, base: u64) -> Result<u64, Corrupt> {
    let offset = reader
        .varint()?
        .checked_mul(BLOCK_BYTES)
        .and_then(|step| base.checked_add(step));
    match offset {
        Some(offset) if offset <= HIGHEST_OFFSET => Ok(offset),
        _ => Err(reader.corrupt("block is too far away")),
    }
}

fn read_removed_runs(reader: &mut WireItemReader<'_>) -> Result<Vec<u64>, Corrupt> {
    let run_count = reader.count(1)?;
    let mut runs = Vec::with_capacity(run_count);
    let mut last = 0;
    for _ in 0..run_count {
        last = read_block(reader, last)?;
        runs.push(last);
    }
    Ok(runs)
}

fn read_added_runs(reader: &mut WireItemReader<'_>) -> Result<Vec<RunExtent>, Corrupt> {
    let run_count = reader.count(2)?;
    let mut runs = Vec::with_capacity(run_count);
    let mut end = 0;
    for _ in 0..run_count {
        let offset = read_block(reader, end)?;
        let block_count = reader.varint()?;
        if offset < FIRST_RUN_OFFSET || block_count > MAX_RUN_BYTES as u64 / BLOCK_BYTES {
            return Err(reader.corrupt("run has an impossible place or length"));
        }
        runs.push(RunExtent {
            offset,
            block_count,
        });
        end = offset + block_count * BLOCK_BYTES;
    }
    Ok(runs)
}

fn read_entries(reader: &mut WireItemReader<'_>) -> Result<Vec<PageEntry>, Corrupt> {
    let entry_count = reader.count(7)?;
    let mut entries = Vec::with_capacity(entry_count);
    let (mut last, mut end) = (0_u64, 0_u64);
    for _ in 0..entry_count {
        let distance = reader.varint()?;
        let page = last
            .checked_add(distance)
            .and_then(PageId::new)
            .filter(|_| distance > 0);
        let page = page.ok_or_else(|| reader.corrupt("entry of an impossible page"))?;
        let offset = i128::from(end)
            .checked_add(reader.signed()?)
            .map(u64::try_from);
        let payload_bytes = reader.varint_u32()?;
        let payload_checksum = u32::from_le_bytes(reader.array()?);
        let offset = match offset {
            Some(Ok(offset)) if (FIRST_RUN_OFFSET..HIGHEST_OFFSET).contains(&offset) => offset,
            _ => return Err(reader.corrupt("image at an impossible place")),
        };
        if payload_bytes as usize > MAX_PAYLOAD_BYTES {
            return Err(reader.corrupt("image of an impossible length"));
        }
        entries.push(PageEntry {
            page,
            offset,
            payload_bytes,
            payload_checksum,
        });
        last = page.get();
        end = offset + IMAGE_HEADER_BYTES as u64 + u64::from(payload_bytes);
    }
    Ok(entries)
}
