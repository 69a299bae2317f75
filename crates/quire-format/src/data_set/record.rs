//! Where a record is, and what a file takes.

use quire_codec::Corrupt;
use quire_codec::block::BlockCodecId;

use super::properties::{RECORD_BYTES_MAX, read_codec};
use super::read_total;
use crate::document::{DiskStructure, StructureField};
use crate::page_numbers::read_page;
use crate::volume::PageId;
use crate::wire::{WireItemReader, WireItemWriter};

/// Stored when no codec has been chosen.
const NOT_CHOSEN: u8 = 255;

pub(super) const STRUCTURE: DiskStructure = DiskStructure {
    name: "Record (value of an item of kind 5; payload of page kind 14)",
    about: "\
Where the bytes of a file from `index` times the length of its records on are. What no record has, or what is behind its end, is zeros. The payload \
of the page is the record, compressed, and zeros up to the end of a sector.",
    fixed_bytes: None,
    fields: &[
        StructureField::next(
            "varint",
            "page",
            "its page, which no other item of the tree has",
        ),
        StructureField::next("1", "codec", "of blocks"),
        StructureField::next(
            "varint",
            "raw_bytes",
            "1 to the length of the file's records",
        ),
        StructureField::next(
            "varint",
            "stored_bytes",
            "1 to the length of the payload: what the codec made; raw_bytes when the codec is none",
        ),
    ],
};

pub(super) const SPACE_STRUCTURE: DiskStructure = DiskStructure {
    name: "Space of a file (value of an item of kind 2)",
    about: "Absent for a file that has never had a record.",
    fixed_bytes: None,
    fields: &[
        StructureField::next("varint", "record_count", "records"),
        StructureField::next("varint", "raw_bytes", "sum over the records"),
        StructureField::next(
            "varint",
            "stored_bytes",
            "sum of the payloads of their pages",
        ),
        StructureField::next("varint", "written", "records written so far"),
        StructureField::next("1", "codec", "measured on a sample; 255: none yet"),
        StructureField::next("signed", "level", "only behind a codec other than 255"),
        StructureField::next(
            "varint",
            "sampled_at",
            "`written` when it was measured; only behind a codec other than 255",
        ),
    ],
};

/// Where a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordPointer {
    /// Its page.
    pub page: PageId,
    /// How it is compressed.
    pub codec: BlockCodecId,
    /// Its length.
    pub raw_bytes: u32,
    /// Its length compressed.
    pub stored_bytes: u32,
}

impl RecordPointer {
    /// The value of the item.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = WireItemWriter::behind(Vec::new());
        writer.varint(self.page.get());
        writer.byte(self.codec as u8);
        writer.varint(u64::from(self.raw_bytes));
        writer.varint(u64::from(self.stored_bytes));
        writer.finish()
    }

    /// Reads a value.
    ///
    /// # Errors
    /// [`Corrupt`] when it is none.
    pub fn decode(value: &[u8]) -> Result<Self, Corrupt> {
        let mut reader = WireItemReader::unversioned(value);
        let page = read_page(&mut reader)?;
        let number = reader.byte()?;
        let codec = read_codec(number, &reader)?;
        let (raw_bytes, stored_bytes) = (reader.varint_u32()?, reader.varint_u32()?);
        let is_plain = codec == BlockCodecId::None;
        if !(1..=RECORD_BYTES_MAX).contains(&raw_bytes)
            || !(1..=raw_bytes).contains(&stored_bytes)
            || is_plain && stored_bytes != raw_bytes
        {
            return Err(reader.corrupt(format!(
                "record of {raw_bytes} bytes that takes {stored_bytes} with codec {codec}"
            )));
        }
        reader.finish()?;
        Ok(Self {
            page,
            codec,
            raw_bytes,
            stored_bytes,
        })
    }
}

/// What a file takes, and how its records are compressed if that is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileSpace {
    /// Its records.
    pub record_count: u64,
    /// Their lengths.
    pub raw_bytes: u64,
    /// The payloads of their pages.
    pub stored_bytes: u64,
    /// Records written so far, those that have been overwritten included.
    pub written: u64,
    /// Codec and level that were measured to be best, and `written` at that time.
    pub measured: Option<(BlockCodecId, i32, u64)>,
}

impl FileSpace {
    /// The value of the item.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = WireItemWriter::behind(Vec::new());
        writer.varint(self.record_count);
        writer.varint(self.raw_bytes);
        writer.varint(self.stored_bytes);
        writer.varint(self.written);
        match self.measured {
            None => writer.byte(NOT_CHOSEN),
            Some((codec, level, sampled_at)) => {
                writer.byte(codec as u8);
                writer.signed(i128::from(level));
                writer.varint(sampled_at);
            }
        }
        writer.finish()
    }

    /// Reads a value.
    ///
    /// # Errors
    /// [`Corrupt`] when it is none.
    pub fn decode(value: &[u8]) -> Result<Self, Corrupt> {
        let mut reader = WireItemReader::unversioned(value);
        let mut space = Self {
            record_count: read_total(&mut reader)?,
            raw_bytes: read_total(&mut reader)?,
            stored_bytes: read_total(&mut reader)?,
            written: read_total(&mut reader)?,
            measured: None,
        };
        let number = reader.byte()?;
        if number != NOT_CHOSEN {
            let codec = read_codec(number, &reader)?;
            let level = reader.signed_i64()?;
            let level = i32::try_from(level).ok();
            let level = level.filter(|level| codec.levels().contains(level));
            let level = level.ok_or_else(|| reader.corrupt("level that the codec has not"))?;
            space.measured = Some((codec, level, read_total(&mut reader)?));
        }
        reader.finish()?;
        Ok(space)
    }
}
