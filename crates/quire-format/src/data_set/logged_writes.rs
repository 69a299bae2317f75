//! Writes of files that are durable before their records are compressed and written.

use quire_codec::Corrupt;

use super::inode::FileTime;
use crate::document::{DiskStructure, StructureField};
use crate::wire::{WireItemReader, WireItemWriter};

const VERSION: u8 = 1;

pub(super) const STRUCTURE: DiskStructure = DiskStructure {
    name: "Logged writes (payload of page kind 16)",
    about: "\
Bytes that were written into files of a data set and synced, in the order of the writes. The next batch that writes records frees the page.",
    fixed_bytes: None,
    fields: &[
        StructureField::at(0, "1", "version", "1"),
        StructureField::next("list", "writes", "for each:"),
        StructureField::next("varint", "inode", "of the file"),
        StructureField::next("varint", "offset", "in the file; the write ends below 2^63"),
        StructureField::next("time", "modified", "of the file afterwards"),
        StructureField::next("bytes", "bytes", "what was written"),
    ],
};

/// A write into a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedWrite {
    /// The file.
    pub inode: u64,
    /// Where in it.
    pub offset: u64,
    /// When the file changed.
    pub modified: FileTime,
    /// What was written.
    pub bytes: Vec<u8>,
}

/// Writes, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoggedWrites {
    /// In their order.
    pub writes: Vec<LoggedWrite>,
}

impl LoggedWrites {
    /// The payload.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = WireItemWriter::new(VERSION);
        writer.varint(self.writes.len() as u64);
        for write in &self.writes {
            writer.varint(write.inode);
            writer.varint(write.offset);
            write.modified.write(&mut writer);
            writer.bytes(&write.bytes);
        }
        writer.finish()
    }

    /// Reads a payload.
    ///
    /// # Errors
    /// [`Corrupt`] when it is no log.
    pub fn decode(payload: &[u8]) -> Result<Self, Corrupt> {
        let mut reader = WireItemReader::new(payload, VERSION, "log of writes")?;
        let writes = reader.list(5, |reader| {
            let write = LoggedWrite {
                inode: reader.varint()?,
                offset: reader.varint()?,
                modified: FileTime::read(reader)?,
                bytes: reader.bytes()?.to_vec(),
            };
            let end = write.offset.checked_add(write.bytes.len() as u64);
            if end.is_none_or(|end| end > i64::MAX as u64) {
                return Err(reader.corrupt("write beyond the longest file"));
            }
            Ok(write)
        })?;
        reader.finish()?;
        Ok(Self { writes })
    }
}
