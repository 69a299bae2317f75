//! Whether the items of a data set make a tree of files.

use std::collections::{BTreeMap, BTreeSet};

use quire_codec::Corrupt;
use quire_format::data_set::{
    DataSetItem, DirectoryItem, FileSpace, InodeAttributes, InodeKind, ROOT_INODE, RecordPointer,
};
use quire_store::PageId;

use crate::tree::PageReader;

/// Findings of one kind that are told one by one.
const FINDINGS_MAX: usize = 100;

/// What the items say of an inode.
#[derive(Default)]
struct SeenInode {
    attributes: Option<InodeAttributes>,
    space: Option<FileSpace>,
    /// Its records, added up.
    records: FileSpace,
    /// Pages of its dictionaries, and of those that its records need.
    dictionaries: BTreeSet<PageId>,
    needed_dictionaries: BTreeSet<PageId>,
    /// First byte behind the last record.
    end: u64,
    /// Names in other directories.
    names: u32,
    /// Names in it, and those of them that are directories.
    entries: u64,
    directories: u32,
    is_orphan: bool,
}

/// Collects the items of a data set.
#[derive(Default)]
pub(super) struct FileCheck {
    inodes: BTreeMap<u64, SeenInode>,
    /// Directory and what it says of a name.
    entries: Vec<(u64, DirectoryItem)>,
}

impl FileCheck {
    pub(super) fn inode_count(&self) -> u64 {
        self.inodes.len() as u64
    }

    /// Notes an item; the attributes of an inode come before its records.
    pub(super) fn item(
        &mut self,
        item: DataSetItem<'_>,
        value: &[u8],
        reader: &PageReader,
    ) -> Result<(), Corrupt> {
        match item {
            DataSetItem::Attributes(number) => {
                self.inode(number).attributes = Some(InodeAttributes::decode(value)?);
            }
            DataSetItem::Space(number) => {
                self.inode(number).space = Some(FileSpace::decode(value)?)
            }
            DataSetItem::Extended(number, _) => {
                self.inode(number);
            }
            DataSetItem::Entry(number, _) => {
                let entry = DirectoryItem::decode(value)?;
                let directory = self.inode(number);
                directory.entries += 1;
                directory.directories += u32::from(entry.kind == InodeKind::Directory);
                self.inode(entry.inode).names += 1;
                self.entries.push((number, entry));
            }
            DataSetItem::Record(number, index) => {
                let pointer = RecordPointer::decode(value)?;
                let seen = self.inode(number);
                let record_bytes = seen.attributes.map_or(1, |one| u64::from(one.record_bytes));
                if u64::from(pointer.raw_bytes) > record_bytes {
                    return Err(Corrupt::new(
                        format!("record {index} of file {number} is too long"),
                        0,
                    ));
                }
                seen.records.record_count += 1;
                seen.records.raw_bytes += u64::from(pointer.raw_bytes);
                let stored_bytes = reader.pin.payload_bytes(pointer.page).unwrap_or(0);
                seen.records.stored_bytes += u64::from(stored_bytes);
                let start = index.saturating_mul(record_bytes);
                seen.end = start.saturating_add(u64::from(pointer.raw_bytes));
                seen.needed_dictionaries.extend(pointer.dictionary);
            }
            DataSetItem::Dictionary(number, page) => {
                let stored_bytes = reader.pin.payload_bytes(page).unwrap_or(0);
                let seen = self.inode(number);
                seen.records.stored_bytes += u64::from(stored_bytes);
                seen.dictionaries.insert(page);
            }
            DataSetItem::Orphan(number) => self.inode(number).is_orphan = true,
        }
        Ok(())
    }

    fn inode(&mut self, number: u64) -> &mut SeenInode {
        self.inodes.entry(number).or_default()
    }

    /// What is wrong.
    pub(super) fn findings(&self, next_inode: u64, has_root: bool) -> Vec<String> {
        let mut findings = Vec::new();
        if has_root && !self.inodes.contains_key(&ROOT_INODE) {
            findings.push("there is no root directory".to_owned());
        }
        for (number, seen) in &self.inodes {
            let wrong = if *number >= next_inode {
                Some("its number has not been given out")
            } else {
                seen.wrong(*number)
            };
            findings.extend(wrong.map(|wrong| format!("inode {number}: {wrong}")));
        }
        for (directory, entry) in &self.entries {
            let attributes = self
                .inodes
                .get(&entry.inode)
                .and_then(|seen| seen.attributes);
            let is_right = attributes.is_some_and(|attributes| {
                let is_directory = attributes.kind == InodeKind::Directory;
                attributes.kind == entry.kind && (!is_directory || attributes.parent == *directory)
            });
            if !is_right {
                let inode = entry.inode;
                findings.push(format!(
                    "directory {directory}: inode {inode} is not what it says"
                ));
            }
        }
        findings.truncate(FINDINGS_MAX);
        findings
    }
}

impl SeenInode {
    fn has_its_dictionaries(&self, space: &FileSpace) -> bool {
        let used = space.measured.and_then(|measured| measured.dictionary);
        let mut needed = self.needed_dictionaries.iter().chain(&used);
        self.dictionaries.len() == space.dictionaries.count as usize
            && needed.all(|page| self.dictionaries.contains(page))
    }

    fn wrong(&self, number: u64) -> Option<&'static str> {
        let Some(attributes) = self.attributes else {
            return Some("it has no attributes");
        };
        let space = self.space.unwrap_or_default();
        let sums = |space: &FileSpace| (space.record_count, space.raw_bytes, space.stored_bytes);
        let is_nameless = self.names == 0 && number != ROOT_INODE;
        if sums(&space) != sums(&self.records) {
            Some("its records do not take what is noted")
        } else if !self.has_its_dictionaries(&space) {
            Some("it has not the dictionaries that are noted or needed")
        } else if self.end > attributes.size {
            Some("a record is behind its end")
        } else if is_nameless != self.is_orphan {
            Some("it has no name and is no orphan, or has both")
        } else if attributes.kind != InodeKind::Directory {
            let has_entries = self.entries > 0;
            let wrong = has_entries || attributes.links != self.names;
            wrong.then_some("its names are not as many as is noted")
        } else if self.is_orphan {
            (attributes.links != 0 || self.entries > 0)
                .then_some("a directory without a name is in use")
        } else if attributes.links != 2 + self.directories || attributes.size != self.entries {
            Some("it has not as many names as is noted")
        } else if self.names > 1 || number == ROOT_INODE && self.names > 0 {
            Some("a directory has several names")
        } else {
            None
        }
    }
}
