//! The end of a batch: what it freed, and the record that makes it count.

use quire_codec::Corrupt;

use super::page::{LAST_PAGE, PageId};
use crate::document::{DiskStructure, StructureField};
use crate::wire::{WireItemReader, WireItemWriter};

const VERSION: u8 = 1;

pub(super) const FREED_STRUCTURE: DiskStructure = DiskStructure {
    name: "Freed pages (payload of image kind 240)",
    about: "Pages that the batch frees, as ranges in ascending order. It takes effect after the \
            images of the batch.",
    fixed_bytes: None,
    fields: &[
        StructureField::at(0, "1", "version", "1"),
        StructureField::next("varint", "count", "number of ranges; then for each:"),
        StructureField::next(
            "varint",
            "distance",
            "first page minus the end of the range before (0)",
        ),
        StructureField::next("varint", "pages", "length of the range, at least 1"),
    ],
};

pub(super) const COMMIT_STRUCTURE: DiskStructure = DiskStructure {
    name: "Commit record (payload of image kind 241)",
    about: "The last image of the last run of a batch. The ordinal of that run tells how many runs the \
            batch has.",
    fixed_bytes: None,
    fields: &[
        StructureField::at(0, "1", "version", "1"),
        StructureField::at(
            1,
            "4",
            "batch_checksum",
            "CRC32C of all image headers of the batch before it",
        ),
        StructureField::next(
            "varint",
            "image_count",
            "images of the batch before this one",
        ),
        StructureField::next(
            "varint",
            "next_page",
            "lowest page that was never given out",
        ),
    ],
};

/// The record that ends a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitRecord {
    /// CRC32C of the image headers of the batch, in order, without this image's.
    pub batch_checksum: u32,
    /// Images of the batch before this one.
    pub image_count: u64,
    /// Lowest page that was never given out.
    pub next_page: u64,
}

impl CommitRecord {
    /// The payload.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = WireItemWriter::new(VERSION);
        writer.raw(&self.batch_checksum.to_le_bytes());
        writer.varint(self.image_count);
        writer.varint(self.next_page);
        writer.finish()
    }

    /// Reads a payload.
    ///
    /// # Errors
    /// [`Corrupt`] when it is not one.
    pub fn decode(payload: &[u8]) -> Result<Self, Corrupt> {
        let mut reader = WireItemReader::new(payload, VERSION, "commit record")?;
        let record = Self {
            batch_checksum: u32::from_le_bytes(reader.array()?),
            image_count: reader.varint()?,
            next_page: reader.varint()?,
        };
        if record.next_page > LAST_PAGE + 1 {
            return Err(reader.corrupt("next page is too high"));
        }
        reader.finish()?;
        Ok(record)
    }
}

/// Pages `first`, `first + 1` … `first + count - 1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRange {
    /// First page.
    pub first: PageId,
    /// Number of pages, at least 1.
    pub count: u64,
}

impl PageRange {
    /// Adjoining pages of an ascending list, folded into ranges.
    pub fn from_sorted(pages: impl IntoIterator<Item = PageId>) -> Vec<Self> {
        let mut ranges: Vec<Self> = Vec::new();
        for page in pages {
            match ranges.last_mut() {
                Some(last) if last.first.get() + last.count == page.get() => last.count += 1,
                _ => ranges.push(Self {
                    first: page,
                    count: 1,
                }),
            }
        }
        ranges
    }

    /// The pages of the range.
    pub fn pages(self) -> impl Iterator<Item = PageId> {
        (0..self.count).filter_map(move |step| PageId::new(self.first.get() + step))
    }
}

/// Pages that a batch frees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FreedPages {
    /// Ascending, without overlaps.
    pub ranges: Vec<PageRange>,
}

impl FreedPages {
    /// The payload.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = WireItemWriter::new(VERSION);
        write_ranges(&mut writer, &self.ranges);
        writer.finish()
    }

    /// Reads a payload.
    ///
    /// # Errors
    /// [`Corrupt`] when it is not one.
    pub fn decode(payload: &[u8]) -> Result<Self, Corrupt> {
        let mut reader = WireItemReader::new(payload, VERSION, "list of freed pages")?;
        let ranges = read_ranges(&mut reader)?;
        reader.finish()?;
        Ok(Self { ranges })
    }
}

pub(super) fn write_ranges(writer: &mut WireItemWriter, ranges: &[PageRange]) {
    writer.varint(ranges.len() as u64);
    let mut end = 0;
    for range in ranges {
        writer.varint(range.first.get() - end);
        writer.varint(range.count);
        end = range.first.get() + range.count;
    }
}

pub(super) fn read_ranges(reader: &mut WireItemReader<'_>) -> Result<Vec<PageRange>, Corrupt> {
    let range_count = reader.count(2)?;
    let mut ranges = Vec::with_capacity(range_count);
    let mut end = 0_u64;
    for _ in 0..range_count {
        let first = end.checked_add(reader.varint()?).and_then(PageId::new);
        let first = first.ok_or_else(|| reader.corrupt("range starts at an impossible page"))?;
        let count = reader.varint()?;
        if count == 0 || count > LAST_PAGE + 1 - first.get() {
            return Err(reader.corrupt("range of pages has an impossible length"));
        }
        ranges.push(PageRange { first, count });
        end = first.get() + count;
    }
    Ok(ranges)
}
