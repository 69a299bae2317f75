//! Where a record is, and what a file takes.

use quire_codec::Corrupt;
use quire_codec::block::BlockCodecId;

use super::properties::{RECORD_BYTES_MAX, read_codec};
use super::read_total;
use crate::document::{DiskStructure, StructureField};
use crate::page_numbers::{read_optional_page, read_page, write_optional_page};
use crate::volume::PageId;
use crate::wire::{WireItemReader, WireItemWriter};

/// Stored when no codec has been chosen.
const NOT_CHOSEN: u8 = 255;
/// Added to a codec when a dictionary follows.
const WITH_DICTIONARY: u8 = 128;

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
        StructureField::next("1", "codec", "of blocks; 128 more: with a dictionary"),
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
        StructureField::next(
            "varint",
            "dictionary",
            "page of the dictionary, which an item of the file names; only with one, and with codec zstd",
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
        StructureField::next(
            "1",
            "codec",
            "measured on a sample; 128 more: the file has dictionaries; 255: none yet",
        ),
        StructureField::next("signed", "level", "only behind a codec other than 255"),
        StructureField::next(
            "varint",
            "sampled_at",
            "`written` when it was measured; only behind a codec other than 255",
        ),
        StructureField::next(
            "varint",
            "dictionaries",
            "items of kind 7 of the file, 1 or more; this and what follows only if it has any",
        ),
        StructureField::next(
            "varint",
            "trained_at",
            "`written` when the newest one was learnt",
        ),
        StructureField::next(
            "varint",
            "dictionary",
            "page of the one that is used for what is written; 0: none",
        ),
    ],
};

fn marked(codec: BlockCodecId, has_dictionary: bool) -> u8 {
    codec as u8 | if has_dictionary { WITH_DICTIONARY } else { 0 }
}

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
    /// Page of the dictionary that it is compressed with.
    pub dictionary: Option<PageId>,
}

impl RecordPointer {
    /// The value of the item.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = WireItemWriter::behind(Vec::new());
        writer.varint(self.page.get());
        writer.byte(marked(self.codec, self.dictionary.is_some()));
        writer.varint(u64::from(self.raw_bytes));
        writer.varint(u64::from(self.stored_bytes));
        if let Some(dictionary) = self.dictionary {
            writer.varint(dictionary.get());
        }
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
        let codec = read_codec(number & !WITH_DICTIONARY, &reader)?;
        let (raw_bytes, stored_bytes) = (reader.varint_u32()?, reader.varint_u32()?);
        let has_dictionary = number & WITH_DICTIONARY != 0;
        let dictionary = has_dictionary.then(|| read_page(&mut reader)).transpose()?;
        if dictionary.is_some() && codec != BlockCodecId::Zstd {
            return Err(reader.corrupt(format!("codec {codec} with a dictionary")));
        }
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
            dictionary,
        })
    }
}

/// How the records of a file are compressed, as a sample has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeasuredCodec {
    /// The best codec.
    pub codec: BlockCodecId,
    /// Its level.
    pub level: i32,
    /// [`FileSpace::written`] when it was measured.
    pub sampled_at: u64,
    /// Page of the dictionary that what is written is compressed with.
    pub dictionary: Option<PageId>,
}

/// The dictionaries of a file. One stays as long as the file has records, as any of them may be compressed with it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileDictionaries {
    /// How many there are.
    pub count: u32,
    /// [`FileSpace::written`] when the newest one was learnt.
    pub trained_at: u64,
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
    /// What was measured to be best.
    pub measured: Option<MeasuredCodec>,
    /// None unless something was measured.
    pub dictionaries: FileDictionaries,
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
            Some(measured) => {
                writer.byte(marked(measured.codec, self.dictionaries.count > 0));
                writer.signed(i128::from(measured.level));
                writer.varint(measured.sampled_at);
                if self.dictionaries.count > 0 {
                    writer.varint(u64::from(self.dictionaries.count));
                    writer.varint(self.dictionaries.trained_at);
                    write_optional_page(&mut writer, measured.dictionary);
                }
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
            ..Self::default()
        };
        let number = reader.byte()?;
        if number != NOT_CHOSEN {
            space.read_measured(number, &mut reader)?;
        }
        reader.finish()?;
        Ok(space)
    }

    fn read_measured(
        &mut self,
        number: u8,
        reader: &mut WireItemReader<'_>,
    ) -> Result<(), Corrupt> {
        let codec = read_codec(number & !WITH_DICTIONARY, reader)?;
        let level = i32::try_from(reader.signed_i64()?).ok();
        let level = level.filter(|level| codec.levels().contains(level));
        let mut measured = MeasuredCodec {
            codec,
            level: level.ok_or_else(|| reader.corrupt("level that the codec has not"))?,
            sampled_at: read_total(reader)?,
            dictionary: None,
        };
        if number & WITH_DICTIONARY != 0 {
            self.dictionaries = FileDictionaries {
                count: reader.varint_u32()?,
                trained_at: read_total(reader)?,
            };
            measured.dictionary = read_optional_page(reader)?;
            let is_used = measured.dictionary.is_some();
            if self.dictionaries.count == 0 || is_used && codec != BlockCodecId::Zstd {
                return Err(reader.corrupt("dictionary of a file that has none"));
            }
        }
        self.measured = Some(measured);
        Ok(())
    }
}
