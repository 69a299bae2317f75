//! The state of one data set: what every flush changes.

use quire_codec::Corrupt;
use quire_codec::block::BlockCodecId;

use super::read_total;
use crate::document::{DiskStructure, StructureField};
use crate::page_numbers::{read_optional_page, read_pages, write_optional_page, write_pages};
use crate::volume::PageId;
use crate::wire::{WireItemReader, WireItemWriter};

/// Of heads of data sets that have never had a dictionary.
const VERSION: u8 = 1;
const VERSION_WITH_DICTIONARIES: u8 = 2;
const CODEC_COUNT: usize = BlockCodecId::ALL.len();

pub(super) const STRUCTURE: DiskStructure = DiskStructure {
    name: "Head of a data set (payload of page kind 12)",
    about: "\
Replaced by every batch that changes the data set. *Totals* are the numbers of records, bytes before and bytes after compression (three varints) for each \
of the block codecs 0 to 6, and then nodes and their bytes (two varints). Dictionaries count as bytes of zstd after compression, and not as records.",
    fixed_bytes: None,
    fields: &[
        StructureField::at(
            0,
            "1",
            "version",
            "1; 2 if the tree or a snapshot may have dictionaries and records that are compressed with them",
        ),
        StructureField::next("varint", "id", "of the data set"),
        StructureField::next("varint", "root", "of its tree, 0: no item"),
        StructureField::next(
            "varint",
            "next_inode",
            "inodes are numbered upwards and never again",
        ),
        StructureField::next(
            "varint",
            "used_bytes",
            "payloads of the nodes and records that the data set or its snapshots have and its origin has not",
        ),
        StructureField::next("totals", "totals", "of the tree"),
        StructureField::next(
            "list of varint",
            "log",
            "pages of logged writes, the oldest first: they are to be done upon the tree",
        ),
        StructureField::next(
            "list of varint",
            "dead",
            "lists of dead pages: what the newest snapshot has and the tree has not",
        ),
    ],
};

/// What the records of one codec take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodecTotals {
    /// Records.
    pub records: u64,
    /// Before compression.
    pub raw_bytes: u64,
    /// Payloads of their pages.
    pub stored_bytes: u64,
}

/// What the tree of a data set takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DataSetTotals {
    /// By the number of the block codec.
    pub codecs: [CodecTotals; CODEC_COUNT],
    /// Nodes of the tree.
    pub nodes: u64,
    /// Their payloads.
    pub node_bytes: u64,
}

impl DataSetTotals {
    /// Of one codec.
    #[must_use]
    pub fn of(&self, codec: BlockCodecId) -> CodecTotals {
        self.codecs[codec as usize]
    }

    /// All records before compression.
    #[must_use]
    pub fn raw_bytes(&self) -> u64 {
        self.codecs.iter().map(|codec| codec.raw_bytes).sum()
    }

    /// All records as they are stored.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        self.codecs.iter().map(|codec| codec.stored_bytes).sum()
    }

    pub(super) fn write(&self, writer: &mut WireItemWriter) {
        for codec in &self.codecs {
            for number in [codec.records, codec.raw_bytes, codec.stored_bytes] {
                writer.varint(number);
            }
        }
        writer.varint(self.nodes);
        writer.varint(self.node_bytes);
    }

    pub(super) fn read(reader: &mut WireItemReader<'_>) -> Result<Self, Corrupt> {
        let mut totals = Self::default();
        for codec in &mut totals.codecs {
            *codec = CodecTotals {
                records: read_total(reader)?,
                raw_bytes: read_total(reader)?,
                stored_bytes: read_total(reader)?,
            };
        }
        totals.nodes = read_total(reader)?;
        totals.node_bytes = read_total(reader)?;
        Ok(totals)
    }
}

/// The state of a data set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataSetHead {
    /// Of the data set.
    pub id: u64,
    /// The tree or a snapshot may have dictionaries. Stays once it is set.
    pub has_dictionaries: bool,
    /// Of its tree.
    pub root: Option<PageId>,
    /// The next file's.
    pub next_inode: u64,
    /// Payloads of nodes and records that are the data set's own, those that only its snapshots have included.
    pub used_bytes: u64,
    /// Of the tree.
    pub totals: DataSetTotals,
    /// Pages of logged writes, the oldest first, that the tree has not yet.
    pub log: Vec<PageId>,
    /// Lists of dead pages.
    pub dead: Vec<PageId>,
}

impl DataSetHead {
    /// The payload.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = WireItemWriter::new(if self.has_dictionaries {
            VERSION_WITH_DICTIONARIES
        } else {
            VERSION
        });
        writer.varint(self.id);
        write_optional_page(&mut writer, self.root);
        writer.varint(self.next_inode);
        writer.varint(self.used_bytes);
        self.totals.write(&mut writer);
        write_pages(&mut writer, &self.log);
        write_pages(&mut writer, &self.dead);
        writer.finish()
    }

    /// Reads a payload.
    ///
    /// # Errors
    /// [`Corrupt`] when it is no head.
    pub fn decode(payload: &[u8]) -> Result<Self, Corrupt> {
        let has_dictionaries = payload.first() == Some(&VERSION_WITH_DICTIONARIES);
        let version = if has_dictionaries {
            VERSION_WITH_DICTIONARIES
        } else {
            VERSION
        };
        let mut reader = WireItemReader::new(payload, version, "head of a data set")?;
        let head = Self {
            id: reader.varint()?,
            has_dictionaries,
            root: read_optional_page(&mut reader)?,
            next_inode: reader.varint()?,
            used_bytes: read_total(&mut reader)?,
            totals: DataSetTotals::read(&mut reader)?,
            log: read_pages(&mut reader)?,
            dead: read_pages(&mut reader)?,
        };
        reader.finish()?;
        Ok(head)
    }
}
