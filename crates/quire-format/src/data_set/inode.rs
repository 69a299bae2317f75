//! Files, directories, and what else has a name.

use quire_codec::Corrupt;

use super::properties::read_record_bytes;
use crate::document::{DiskStructure, StructureField};
use crate::wire::{WireItemReader, WireItemWriter};

const VERSION: u8 = 1;

pub(super) const STRUCTURE: DiskStructure = DiskStructure {
    name: "Attributes of an inode (value of an item of kind 1)",
    about: "\
A directory entry (value of an item of kind 4) is an inode (varint) and its kind (1). A *time* is seconds since 1970 (signed) and nanoseconds \
(varint).",
    fixed_bytes: None,
    fields: &[
        StructureField::at(0, "1", "version", "1"),
        StructureField::at(
            1,
            "1",
            "kind",
            "1 file, 2 directory, 3 symbolic link, 4 FIFO, 5 socket, 6 character device, 7 block device",
        ),
        StructureField::at(
            2,
            "1",
            "record_bytes",
            "length of its records as a power of two: 12 to 20",
        ),
        StructureField::next("varint", "mode", "permissions, at most 0o7777"),
        StructureField::next("varint", "uid", "owner"),
        StructureField::next("varint", "gid", "group"),
        StructureField::next(
            "varint",
            "links",
            "names; of a directory 2 and one for each directory in it",
        ),
        StructureField::next(
            "varint",
            "size",
            "bytes; of a directory its entries; of a link its target's, which is record 0",
        ),
        StructureField::next("varint", "device", "of kinds 6 and 7, else 0"),
        StructureField::next(
            "varint",
            "parent",
            "of a directory the one it is in (the root: itself), else 0",
        ),
        StructureField::next("time", "accessed", ""),
        StructureField::next("time", "modified", ""),
        StructureField::next("time", "changed", "when the attributes were"),
    ],
};

/// What an inode is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum InodeKind {
    /// A file.
    File = 1,
    /// A directory.
    Directory = 2,
    /// A symbolic link.
    Link = 3,
    /// A named pipe.
    Fifo = 4,
    /// A socket.
    Socket = 5,
    /// A character device.
    CharacterDevice = 6,
    /// A block device.
    BlockDevice = 7,
}

impl InodeKind {
    fn read(reader: &mut WireItemReader<'_>) -> Result<Self, Corrupt> {
        Ok(match reader.byte()? {
            1 => Self::File,
            2 => Self::Directory,
            3 => Self::Link,
            4 => Self::Fifo,
            5 => Self::Socket,
            6 => Self::CharacterDevice,
            7 => Self::BlockDevice,
            other => return Err(reader.corrupt(format!("inode of kind {other}"))),
        })
    }
}

/// A moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileTime {
    /// Since 1970.
    pub seconds: i64,
    /// Less than 1,000,000,000.
    pub nanoseconds: u32,
}

impl FileTime {
    pub(super) fn write(self, writer: &mut WireItemWriter) {
        writer.signed(i128::from(self.seconds));
        writer.varint(u64::from(self.nanoseconds));
    }

    pub(super) fn read(reader: &mut WireItemReader<'_>) -> Result<Self, Corrupt> {
        let (seconds, nanoseconds) = (reader.signed_i64()?, reader.varint_u32()?);
        if nanoseconds >= 1_000_000_000 {
            return Err(reader.corrupt(format!("time of {nanoseconds} nanoseconds")));
        }
        Ok(Self {
            seconds,
            nanoseconds,
        })
    }
}

/// What is known of an inode besides its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InodeAttributes {
    /// What it is.
    pub kind: InodeKind,
    /// Length of its records: a power of two.
    pub record_bytes: u32,
    /// Permissions, at most 0o7777.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Names; of a directory 2 and one for each directory in it.
    pub links: u32,
    /// Bytes; of a directory its entries.
    pub size: u64,
    /// Number of a device.
    pub device: u64,
    /// Of a directory the one it is in; else 0.
    pub parent: u64,
    /// When it was read.
    pub accessed: FileTime,
    /// When its content changed.
    pub modified: FileTime,
    /// When its attributes changed.
    pub changed: FileTime,
}

impl InodeAttributes {
    /// The value of the item.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = WireItemWriter::new(VERSION);
        writer.byte(self.kind as u8);
        writer.byte(self.record_bytes.ilog2() as u8);
        for number in [self.mode, self.uid, self.gid, self.links] {
            writer.varint(u64::from(number));
        }
        for number in [self.size, self.device, self.parent] {
            writer.varint(number);
        }
        for time in [self.accessed, self.modified, self.changed] {
            time.write(&mut writer);
        }
        writer.finish()
    }

    /// Reads a value.
    ///
    /// # Errors
    /// [`Corrupt`] when it is none.
    pub fn decode(value: &[u8]) -> Result<Self, Corrupt> {
        let mut reader = WireItemReader::new(value, VERSION, "inode")?;
        let attributes = Self {
            kind: InodeKind::read(&mut reader)?,
            record_bytes: read_record_bytes(&mut reader)?,
            mode: reader.varint_u32()?,
            uid: reader.varint_u32()?,
            gid: reader.varint_u32()?,
            links: reader.varint_u32()?,
            size: reader.varint()?,
            device: reader.varint()?,
            parent: reader.varint()?,
            accessed: FileTime::read(&mut reader)?,
            modified: FileTime::read(&mut reader)?,
            changed: FileTime::read(&mut reader)?,
        };
        if attributes.mode > 0o7777 || attributes.size > i64::MAX as u64 {
            return Err(reader.corrupt("mode or size of an inode"));
        }
        reader.finish()?;
        Ok(attributes)
    }
}

/// What a directory says of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectoryItem {
    /// Whose name it is.
    pub inode: u64,
    /// What that is.
    pub kind: InodeKind,
}

impl DirectoryItem {
    /// The value of the item.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = WireItemWriter::behind(Vec::new());
        writer.varint(self.inode);
        writer.byte(self.kind as u8);
        writer.finish()
    }

    /// Reads a value.
    ///
    /// # Errors
    /// [`Corrupt`] when it is none.
    pub fn decode(value: &[u8]) -> Result<Self, Corrupt> {
        let mut reader = WireItemReader::unversioned(value);
        let inode = reader.varint()?;
        let kind = InodeKind::read(&mut reader)?;
        if inode == 0 {
            return Err(reader.corrupt("name of inode 0"));
        }
        reader.finish()?;
        Ok(Self { inode, kind })
    }
}
