//! That pages may be in the volume to which nothing refers.

use quire_codec::Corrupt;

use crate::document::{DiskStructure, StructureField};
use crate::page_numbers::read_page;
use crate::volume::PageId;
use crate::wire::{WireItemReader, WireItemWriter};

const VERSION: u8 = 1;

pub(crate) const STRUCTURE: DiskStructure = DiskStructure {
    name: "Staging mark (payload of page kind 8)",
    about: "\
Page 3. It exists while a transaction writes pages ahead of its commit: those from `first_page` on to which nothing
refers belong to a transaction that has not ended, or that a crash has ended. Who opens the file to write frees the latter, and the
mark with them. The commit of the transaction frees it too.",
    fixed_bytes: None,
    fields: &[
        StructureField::at(0, "1", "version", "1"),
        StructureField::next("varint", "first_page", "no page below it was written ahead"),
    ],
};

/// The payload of the staging mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StagingMark {
    /// No page below it was written ahead of a commit.
    pub first_page: PageId,
}

impl StagingMark {
    /// The payload.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = WireItemWriter::new(VERSION);
        writer.varint(self.first_page.get());
        writer.finish()
    }

    /// Reads a payload.
    ///
    /// # Errors
    /// [`Corrupt`] when it is not one.
    pub fn decode(payload: &[u8]) -> Result<Self, Corrupt> {
        let mut reader = WireItemReader::new(payload, VERSION, "staging mark")?;
        let first_page = read_page(&mut reader)?;
        reader.finish()?;
        Ok(Self { first_page })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_mark_comes_back_and_nothing_else_is_one() {
        let mark = StagingMark {
            first_page: PageId::new(300).unwrap(),
        };
        // 300 is 0b10_0101100.
        assert_eq!(mark.encode(), [1, 0b1010_1100, 0b10]);
        assert_eq!(StagingMark::decode(&[1, 0b1010_1100, 0b10]), Ok(mark));
        assert!(StagingMark::decode(&[1, 0b1010_1100]).is_err(), "cut");
        assert!(StagingMark::decode(&[1, 0]).is_err(), "no page is called 0");
        assert!(StagingMark::decode(&[1, 20, 0]).is_err(), "a rest");
        assert!(StagingMark::decode(&[2, 20]).is_err(), "another version");
        assert!(StagingMark::decode(&[]).is_err());
    }
}
