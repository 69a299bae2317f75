//! The language of changes to a row page: what changes a page in memory, what the write-ahead log records, and
//! what the modification log of a compressed image holds.

use quire_codec::Corrupt;

use super::write::{ApplyError, RowPageMut};
use crate::document::{DiskStructure, StructureField};
use crate::wire::{WireItemReader, WireItemWriter};

const PUT: u8 = 1;
const PUT_OVERFLOW: u8 = 2;
const PATCH: u8 = 3;
const REMOVE: u8 = 4;

pub(crate) const STRUCTURE: DiskStructure = DiskStructure {
    name: "Page operation",
    about: "\
One change of one entry of a row page. The version is that of what holds it. *bytes* is a length (varint) and then as
many bytes.",
    fixed_bytes: None,
    fields: &[
        StructureField::at(
            0,
            "1",
            "operation",
            "1 put, 2 put a reference to overflow pages, 3 patch, 4 remove",
        ),
        StructureField::next("bytes", "key", "whole, with the prefix"),
        StructureField::next("0 or bytes", "value", "put: the value"),
        StructureField::next("0 or varint", "keep_prefix_bytes", "patch: first bytes of the value that stay"),
        StructureField::next("0 or varint", "keep_suffix_bytes", "patch: last bytes of the value that stay"),
        StructureField::next("0 or bytes", "middle", "patch: what is between them afterwards"),
    ],
};

/// One change of one entry of a row page. Keys are whole, so that an operation means the same whatever the fences
/// of the page are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageOp<'a> {
    /// Adds an entry, or replaces its value.
    Put {
        /// The whole key.
        key: &'a [u8],
        /// The whole value.
        value: &'a [u8],
        /// The value is a reference to overflow pages.
        overflow: bool,
    },
    /// Replaces the middle of a value; the entry must be there.
    Patch {
        /// The whole key.
        key: &'a [u8],
        /// Bytes of the old value that stay in front.
        keep_prefix_bytes: usize,
        /// Bytes of the old value that stay at the end.
        keep_suffix_bytes: usize,
        /// What is between them afterwards, of any length.
        middle: &'a [u8],
    },
    /// Removes an entry, which must be there.
    Remove {
        /// The whole key.
        key: &'a [u8],
    },
}

/// What an operation did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applied {
    /// There is a new entry.
    Inserted,
    /// An entry has another value.
    Updated,
    /// An entry is gone.
    Removed,
}

/// Carries out an operation. [`ApplyError::Full`] asks the caller to split the page and repeat; every error leaves
/// the page as it was.
///
/// # Errors
/// As the variants of [`ApplyError`] say.
pub fn apply(page: &mut RowPageMut<'_>, op: &PageOp<'_>) -> Result<Applied, ApplyError> {
    match *op {
        PageOp::Put {
            key,
            value,
            overflow,
        } => Ok(if page.put(key, value, overflow)? {
            Applied::Updated
        } else {
            Applied::Inserted
        }),
        PageOp::Patch {
            key,
            keep_prefix_bytes,
            keep_suffix_bytes,
            middle,
        } => {
            page.patch(key, [keep_prefix_bytes, keep_suffix_bytes], middle)?;
            Ok(Applied::Updated)
        }
        PageOp::Remove { key } => page.remove(key).map(|_| Applied::Removed),
    }
}

impl<'a> PageOp<'a> {
    /// The shorter way to say that the entry `key` has the value `new` instead of `old`: a patch, or a put where
    /// most of the value differs. Neither value is a reference to overflow pages.
    #[must_use]
    pub fn update(key: &'a [u8], old: &[u8], new: &'a [u8]) -> Self {
        let same = |pair: &(&u8, &u8)| pair.0 == pair.1;
        let prefix = new.iter().zip(old).take_while(same).count();
        let (old_rest, new_rest) = (&old[prefix..], &new[prefix..]);
        let pairs = new_rest.iter().rev().zip(old_rest.iter().rev());
        let suffix = pairs.take_while(same).count();
        let patch = Self::Patch {
            key,
            keep_prefix_bytes: prefix,
            keep_suffix_bytes: suffix,
            middle: &new_rest[..new_rest.len() - suffix],
        };
        let put = Self::Put {
            key,
            value: new,
            overflow: false,
        };
        if patch.encoded_bytes() < put.encoded_bytes() {
            patch
        } else {
            put
        }
    }

    /// The key of the entry it changes.
    #[must_use]
    pub const fn key(&self) -> &'a [u8] {
        match *self {
            Self::Put { key, .. } | Self::Patch { key, .. } | Self::Remove { key } => key,
        }
    }

    /// Writes the operation behind what `output` has.
    pub fn encode(&self, output: &mut Vec<u8>) {
        let mut writer = WireItemWriter::behind(std::mem::take(output));
        match *self {
            Self::Put {
                key,
                value,
                overflow,
            } => {
                writer.byte(if overflow { PUT_OVERFLOW } else { PUT });
                writer.bytes(key);
                writer.bytes(value);
            }
            Self::Patch {
                key,
                keep_prefix_bytes,
                keep_suffix_bytes,
                middle,
            } => {
                writer.byte(PATCH);
                writer.bytes(key);
                writer.varint(keep_prefix_bytes as u64);
                writer.varint(keep_suffix_bytes as u64);
                writer.bytes(middle);
            }
            Self::Remove { key } => {
                writer.byte(REMOVE);
                writer.bytes(key);
            }
        }
        *output = writer.finish();
    }

    /// Length of what `encode` writes.
    #[must_use]
    pub fn encoded_bytes(&self) -> usize {
        let with_length = |bytes: &[u8]| varint_bytes(bytes.len()) + bytes.len();
        1 + match *self {
            Self::Put { key, value, .. } => with_length(key) + with_length(value),
            Self::Patch {
                key,
                keep_prefix_bytes,
                keep_suffix_bytes,
                middle,
            } => {
                let kept = varint_bytes(keep_prefix_bytes) + varint_bytes(keep_suffix_bytes);
                with_length(key) + kept + with_length(middle)
            }
            Self::Remove { key } => with_length(key),
        }
    }

    /// The operation at the start of `bytes`, and how many of them it takes.
    ///
    /// # Errors
    /// Bytes that `encode` writes for no operation.
    pub fn decode(bytes: &'a [u8]) -> Result<(Self, usize), Corrupt> {
        let mut reader = WireItemReader::unversioned(bytes);
        let operation = reader.byte()?;
        let key = match operation {
            PUT..=REMOVE => reader.bytes()?,
            _ => return Err(Corrupt::new(format!("page operation {operation}"), 0)),
        };
        let op = match operation {
            REMOVE => Self::Remove { key },
            PATCH => Self::Patch {
                key,
                keep_prefix_bytes: reader.varint_u32()? as usize,
                keep_suffix_bytes: reader.varint_u32()? as usize,
                middle: reader.bytes()?,
            },
            _ => Self::Put {
                key,
                value: reader.bytes()?,
                overflow: operation == PUT_OVERFLOW,
            },
        };
        Ok((op, reader.position()))
    }
}

fn varint_bytes(value: usize) -> usize {
    (value.max(1).ilog2() as usize) / 7 + 1
}
