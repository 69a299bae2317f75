//! Where the log begins.

use quire_codec::Corrupt;

use crate::document::{DiskStructure, StructureField};
use crate::page_numbers::{read_optional_page, write_optional_page};
use crate::volume::PageId;
use crate::wire::{WireItemReader, WireItemWriter};

const VERSION: u8 = 1;

pub(super) const STRUCTURE: DiskStructure = DiskStructure {
    name: "Log root (payload of page kind 6)",
    about: "\
Page 2. Log pages with lower names than `first_page` mean nothing; commits up to `truncated_to` are in the row
tables themselves. It is replaced by the batch that truncates the log, and by the one that makes it not empty.",
    fixed_bytes: None,
    fields: &[
        StructureField::at(0, "1", "version", "1"),
        StructureField::next("varint", "first_page", "lowest log page that counts; 0: none does"),
        StructureField::next("varint", "truncated_to", "sequence of the last commit that is not needed"),
    ],
};

/// The payload of the log root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogRoot {
    /// Lowest log page that counts; `None` when the log is empty.
    pub first_page: Option<PageId>,
    /// Sequence of the last commit that is not needed, 0 when all are.
    pub truncated_to: u64,
}

impl LogRoot {
    /// The payload.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = WireItemWriter::new(VERSION);
        write_optional_page(&mut writer, self.first_page);
        writer.varint(self.truncated_to);
        writer.finish()
    }

    /// Reads a payload.
    ///
    /// # Errors
    /// [`Corrupt`] when it is not one.
    pub fn decode(payload: &[u8]) -> Result<Self, Corrupt> {
        let mut reader = WireItemReader::new(payload, VERSION, "log root")?;
        let first_page = read_optional_page(&mut reader)?;
        let truncated_to = reader.varint()?;
        if truncated_to > u64::MAX >> 9 {
            return Err(reader.corrupt("log is truncated at an impossible sequence"));
        }
        reader.finish()?;
        Ok(Self {
            first_page,
            truncated_to,
        })
    }
}
