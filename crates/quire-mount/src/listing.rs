//! The names of a directory, a part at a time.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use fuser::{Errno, FileType};

use crate::attributes::file_type;
use crate::directories::{DOT, DOT_DOT, DirectoryReader};
use crate::served::ServedSet;

/// Names that are read from a directory at once.
const NAMES_AT_ONCE: usize = 128;

/// A name of a directory as the kernel gets it.
pub(crate) struct FilledEntry<'a> {
    pub(crate) inode: u64,
    pub(crate) offset: u64,
    pub(crate) kind: FileType,
    pub(crate) name: &'a OsStr,
}

impl ServedSet {
    /// Calls `add` with the names of a directory behind an offset, until it says that the answer is full.
    pub(crate) fn fill(
        &self,
        directory: u64,
        handle: u64,
        offset: u64,
        mut add: impl FnMut(FilledEntry<'_>) -> Result<bool, Errno>,
    ) -> Result<(), Errno> {
        self.with_reader(handle, |reader| {
            if offset == 0 {
                reader.rewind();
            }
            for (own_offset, name) in [(DOT, "."), (DOT_DOT, "..")] {
                if offset >= own_offset {
                    continue;
                }
                let inode = if own_offset == DOT {
                    directory
                } else {
                    self.parent(directory)?
                };
                let is_full = add(FilledEntry {
                    inode,
                    offset: own_offset,
                    kind: FileType::Directory,
                    name: OsStr::new(name),
                })?;
                if is_full {
                    return Ok(());
                }
            }
            self.fill_names(directory, reader, offset.max(DOT_DOT), &mut add)
        })
    }

    fn fill_names(
        &self,
        directory: u64,
        reader: &mut DirectoryReader,
        mut offset: u64,
        add: &mut impl FnMut(FilledEntry<'_>) -> Result<bool, Errno>,
    ) -> Result<(), Errno> {
        loop {
            let names = self.names(directory, reader, offset, NAMES_AT_ONCE)?;
            let is_end = names.len() < NAMES_AT_ONCE;
            for entry in names {
                offset = reader.offset_behind(offset, &entry.name);
                let is_full = add(FilledEntry {
                    inode: entry.inode,
                    offset,
                    kind: file_type(entry.kind),
                    name: OsStr::from_bytes(&entry.name),
                })?;
                if is_full {
                    return Ok(());
                }
            }
            if is_end {
                return Ok(());
            }
        }
    }
}
