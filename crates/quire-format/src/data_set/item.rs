//! The keys of the items of a data set.

use quire_codec::Corrupt;

use crate::document::{DiskStructure, StructureField};
use crate::volume::PageId;

/// Longest name of a file and of an extended attribute.
pub const NAME_BYTES_MAX: usize = 255;
/// Longest key of an item.
pub const ITEM_KEY_BYTES_MAX: usize = 9 + NAME_BYTES_MAX;
/// Number of the directory at the root.
pub const ROOT_INODE: u64 = 1;

const ATTRIBUTES: u8 = 1;
const SPACE: u8 = 2;
const EXTENDED: u8 = 3;
const ENTRY: u8 = 4;
const RECORD: u8 = 5;
const ORPHAN: u8 = 6;
const DICTIONARY: u8 = 7;

pub(super) const STRUCTURE: DiskStructure = DiskStructure {
    name: "Key of an item of a data set",
    about: "\
Keys compare as bytes; their numbers are big endian for that. All items of an inode are neighbours, and so are the records of a file.",
    fixed_bytes: None,
    fields: &[
        StructureField::at(
            0,
            "8",
            "inode",
            "0: of the data set as a whole; 1 is the root directory",
        ),
        StructureField::at(
            8,
            "1",
            "kind",
            "1 attributes, 2 space, 3 extended attribute, 4 directory entry, 5 record, 7 dictionary; with inode 0: 6 orphan",
        ),
        StructureField::at(
            9,
            "rest",
            "name",
            "1, 2: empty; 3, 4: a name of 1 to 255 bytes; 5: index of the record, 8; 6: inode without a name that is to be removed, 8; 7: page of the dictionary, 8. The values of 6 \
             and 7 are empty, that of 3 is the attribute's.",
        ),
    ],
};

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataSetItem<'a> {
    /// [`super::InodeAttributes`] of an inode.
    Attributes(u64),
    /// [`super::FileSpace`] of a file.
    Space(u64),
    /// An extended attribute of an inode, by its name.
    Extended(u64, &'a [u8]),
    /// [`super::DirectoryItem`] of a directory, by its name.
    Entry(u64, &'a [u8]),
    /// [`super::RecordPointer`] of a file, by its index.
    Record(u64, u64),
    /// An inode without a name.
    Orphan(u64),
    /// A dictionary with which records of a file are compressed, by its page, which no other item has.
    Dictionary(u64, PageId),
}

impl<'a> DataSetItem<'a> {
    /// The key.
    #[must_use]
    pub fn key(&self) -> Vec<u8> {
        match *self {
            Self::Attributes(inode) => key(inode, ATTRIBUTES, &[]),
            Self::Space(inode) => key(inode, SPACE, &[]),
            Self::Extended(inode, name) => key(inode, EXTENDED, name),
            Self::Entry(inode, name) => key(inode, ENTRY, name),
            Self::Record(inode, index) => key(inode, RECORD, &index.to_be_bytes()),
            Self::Orphan(inode) => key(0, ORPHAN, &inode.to_be_bytes()),
            Self::Dictionary(inode, page) => key(inode, DICTIONARY, &page.get().to_be_bytes()),
        }
    }

    /// What the keys of all dictionaries of an inode begin with.
    #[must_use]
    pub fn dictionaries_of(inode: u64) -> Vec<u8> {
        key(inode, DICTIONARY, &[])
    }

    /// What a key says.
    ///
    /// # Errors
    /// [`Corrupt`] when it is none.
    pub fn decode(key: &'a [u8]) -> Result<Self, Corrupt> {
        let wrong = || Corrupt::new("key of no kind of item", 0);
        let (inode, rest) = key.split_first_chunk::<8>().ok_or_else(wrong)?;
        let inode = u64::from_be_bytes(*inode);
        let (kind, name) = rest.split_first().ok_or_else(wrong)?;
        let number = || name.try_into().map(u64::from_be_bytes).map_err(|_| wrong());
        let is_name = (1..=NAME_BYTES_MAX).contains(&name.len());
        match (inode, *kind) {
            (0, ORPHAN) => Ok(Self::Orphan(number()?)),
            (0, _) => Err(wrong()),
            (_, ATTRIBUTES) if name.is_empty() => Ok(Self::Attributes(inode)),
            (_, SPACE) if name.is_empty() => Ok(Self::Space(inode)),
            (_, EXTENDED) if is_name => Ok(Self::Extended(inode, name)),
            (_, ENTRY) if is_name => Ok(Self::Entry(inode, name)),
            (_, RECORD) => Ok(Self::Record(inode, number()?)),
            (_, DICTIONARY) => {
                let page = PageId::new(number()?).ok_or_else(wrong)?;
                Ok(Self::Dictionary(inode, page))
            }
            _ => Err(wrong()),
        }
    }
}

fn key(inode: u64, kind: u8, name: &[u8]) -> Vec<u8> {
    [&inode.to_be_bytes()[..], &[kind], name].concat()
}
