//! Names: directories, and what comes and goes in them.

use quire_format::data_set::{DataSetItem, DirectoryItem, InodeAttributes, InodeKind, NodeEntry};

use super::access::{Access, check_name_bytes};
use super::state::DataSet;
use crate::error::FileError;

/// Longest target of a symbolic link.
const TARGET_BYTES_MAX: usize = 4095;
/// Most names of a file.
const LINKS_MAX: u32 = 1 << 31;

/// What is to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewInode {
    /// What it is.
    pub kind: InodeKind,
    /// Permissions; other bits are ignored.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Number of a device; 0 for what is none.
    pub device: u64,
}

impl NewInode {
    /// A file of user 0.
    #[must_use]
    pub const fn file(mode: u32) -> Self {
        Self {
            kind: InodeKind::File,
            mode,
            uid: 0,
            gid: 0,
            device: 0,
        }
    }

    /// A directory of user 0.
    #[must_use]
    pub const fn directory(mode: u32) -> Self {
        Self {
            kind: InodeKind::Directory,
            ..Self::file(mode)
        }
    }
}

/// A name in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// Any bytes but `/` and 0.
    pub name: Vec<u8>,
    /// Whose name it is.
    pub inode: u64,
    /// What that is.
    pub kind: InodeKind,
}

impl DataSet {
    /// The inode of a name in a directory.
    ///
    /// # Errors
    /// [`FileError::NotFound`], [`FileError::NotDirectory`], [`FileError::Storage`].
    pub fn lookup(&self, directory: u64, name: &[u8]) -> Result<u64, FileError> {
        check_name_bytes(name)?;
        if self.attributes(directory)?.kind != InodeKind::Directory {
            return Err(FileError::NotDirectory { inode: directory });
        }
        let (value, view) = self.glance(DataSetItem::Entry(directory, name))?;
        let value = value.ok_or_else(|| FileError::no_name(name))?;
        Ok(view.decoded(&value, DirectoryItem::decode)?.inode)
    }

    /// At most `limit` names of a directory in the order of their bytes, behind the name `after` if there is one.
    ///
    /// # Errors
    /// As [`DataSet::lookup`].
    pub fn read_directory(
        &self,
        directory: u64,
        after: Option<&[u8]>,
        limit: usize,
    ) -> Result<Vec<DirectoryEntry>, FileError> {
        let access = self.read_access();
        access.directory(directory)?;
        let prefix = DataSetItem::Entry(directory, &[]).key();
        let after = after.map(|name| DataSetItem::Entry(directory, name).key());
        let items = access.items(&prefix, after.as_deref(), limit)?;
        let mut entries = Vec::with_capacity(items.len());
        for NodeEntry { key, value } in items {
            let DirectoryItem { inode, kind } =
                access.view.decoded(&value, DirectoryItem::decode)?;
            let name = key[prefix.len()..].to_vec();
            entries.push(DirectoryEntry { name, inode, kind });
        }
        Ok(entries)
    }

    /// Makes a file, a directory or another inode. Returns its number.
    ///
    /// # Errors
    /// [`FileError::Exists`], those of names, [`FileError::ReadOnly`], [`FileError::Storage`].
    pub fn create(&self, directory: u64, name: &[u8], new: &NewInode) -> Result<u64, FileError> {
        if new.kind == InodeKind::Link {
            return Err(FileError::Invalid {
                what: "a symbolic link has a target; make it with `create_link`",
            });
        }
        let mut access = self.growing_access(name.len())?;
        access.all_or_nothing(|access| access.create(directory, name, new))
    }

    /// Makes a symbolic link. Returns its number.
    ///
    /// # Errors
    /// As [`DataSet::create`], and [`FileError::Invalid`] for a target that is empty or longer than 4,095 bytes.
    pub fn create_link(
        &self,
        directory: u64,
        name: &[u8],
        target: &[u8],
        (uid, gid): (u32, u32),
    ) -> Result<u64, FileError> {
        if !(1..=TARGET_BYTES_MAX).contains(&target.len()) {
            return Err(FileError::Invalid {
                what: "the target of a link has 1 to 4,095 bytes",
            });
        }
        let new = NewInode {
            kind: InodeKind::Link,
            uid,
            gid,
            ..NewInode::file(0o777)
        };
        let mut access = self.growing_access(name.len() + target.len())?;
        let inode = access.all_or_nothing(|access| {
            let inode = access.create(directory, name, &new)?;
            let mut attributes = access.inode(inode)?;
            attributes.size = target.len() as u64;
            access.set_inode(inode, &attributes);
            Ok(inode)
        })?;
        access.change_record(inode, 0, true, |content| *content = target.to_vec())?;
        Ok(inode)
    }

    /// The target of a symbolic link.
    ///
    /// # Errors
    /// [`FileError::Invalid`] for another inode; [`FileError::NotFound`], [`FileError::Storage`].
    pub fn read_link(&self, inode: u64) -> Result<Vec<u8>, FileError> {
        let attributes = self.attributes(inode)?;
        if attributes.kind != InodeKind::Link {
            return Err(FileError::Invalid {
                what: "only a symbolic link has a target; read the file instead",
            });
        }
        self.read(inode, 0, TARGET_BYTES_MAX)
    }

    /// Gives an inode that is no directory another name.
    ///
    /// # Errors
    /// [`FileError::IsDirectory`], [`FileError::TooManyLinks`]; otherwise as [`DataSet::create`].
    pub fn link(&self, inode: u64, directory: u64, name: &[u8]) -> Result<(), FileError> {
        let mut access = self.growing_access(name.len())?;
        let mut attributes = access.inode(inode)?;
        if attributes.kind == InodeKind::Directory {
            return Err(FileError::IsDirectory { inode });
        }
        // Without a name it is about to go.
        if attributes.links == 0 {
            return Err(FileError::no_inode(inode));
        }
        if attributes.links >= LINKS_MAX {
            return Err(FileError::TooManyLinks { inode });
        }
        access.require_free(directory, name)?;
        attributes.links += 1;
        attributes.changed = access.now();
        let kind = attributes.kind;
        access.all_or_nothing(|access| {
            access.set_inode(inode, &attributes);
            access.add_entry(directory, name, DirectoryItem { inode, kind })
        })
    }

    /// Removes a name of an inode that is no directory. An inode without a name is removed when it is not open any more.
    ///
    /// # Errors
    /// [`FileError::NotFound`], [`FileError::IsDirectory`], [`FileError::ReadOnly`], [`FileError::Storage`].
    pub fn unlink(&self, directory: u64, name: &[u8]) -> Result<(), FileError> {
        self.relieve_if_possible();
        let mut access = self.removal_access()?;
        access.directory(directory)?;
        let entry = access.entry(directory, name)?;
        let DirectoryItem { inode, kind } = entry.ok_or_else(|| FileError::no_name(name))?;
        if kind == InodeKind::Directory {
            return Err(FileError::IsDirectory { inode });
        }
        let is_gone = access.all_or_nothing(|access| {
            access.remove_entry(directory, name, kind)?;
            access.drop_link(inode)
        })?;
        drop(access);
        if is_gone { self.reap(inode) } else { Ok(()) }
    }

    /// Removes an empty directory.
    ///
    /// # Errors
    /// [`FileError::NotEmpty`], [`FileError::NotDirectory`]; otherwise as [`DataSet::unlink`].
    pub fn remove_directory(&self, directory: u64, name: &[u8]) -> Result<(), FileError> {
        self.relieve_if_possible();
        let mut access = self.removal_access()?;
        access.directory(directory)?;
        let entry = access.entry(directory, name)?;
        let DirectoryItem { inode, kind } = entry.ok_or_else(|| FileError::no_name(name))?;
        access.require_empty(inode)?;
        let is_gone = access.all_or_nothing(|access| {
            access.remove_entry(directory, name, kind)?;
            access.drop_directory(inode)
        })?;
        drop(access);
        if is_gone { self.reap(inode) } else { Ok(()) }
    }

    /// Keeps an inode, whatever becomes of its names, until it is released as often.
    ///
    /// # Errors
    /// [`FileError::NotFound`], [`FileError::Storage`].
    pub fn open(&self, inode: u64) -> Result<(), FileError> {
        let mut access = self.read_access();
        let is_opened = access.state.opened.contains_key(&inode);
        // What has no name and is not open is being removed, perhaps in steps of which some are done.
        if access.inode(inode)?.links == 0 && !is_opened {
            return Err(FileError::no_inode(inode));
        }
        *access.state.opened.entry(inode).or_default() += 1;
        Ok(())
    }

    /// Ends what [`DataSet::open`] began. The last one removes an inode that has no name.
    ///
    /// # Errors
    /// [`FileError::Storage`]: then the inode is removed when the data set is opened again.
    pub fn release(&self, inode: u64) -> Result<(), FileError> {
        let mut access = self.read_access();
        match access.state.opened.get_mut(&inode) {
            Some(count) if *count > 1 => {
                *count -= 1;
                return Ok(());
            }
            Some(_) => access.state.opened.remove(&inode),
            None => return Ok(()),
        };
        let is_orphan = access.item(DataSetItem::Orphan(inode))?.is_some();
        drop(access);
        if is_orphan && !self.is_read_only() {
            self.reap(inode)
        } else {
            Ok(())
        }
    }
}

impl Access<'_> {
    fn create(&mut self, directory: u64, name: &[u8], new: &NewInode) -> Result<u64, FileError> {
        self.require_free(directory, name)?;
        let inode = self.state.next_inode;
        if self.item(DataSetItem::Attributes(inode))?.is_some() {
            return Err(self.number_is_taken(inode).into());
        }
        self.state.next_inode = inode.checked_add(1).ok_or(FileError::Invalid {
            what: "there are no more numbers of inodes; copy the files into a new data set",
        })?;
        let is_directory = new.kind == InodeKind::Directory;
        let now = self.now();
        let attributes = InodeAttributes {
            kind: new.kind,
            record_bytes: self.set.properties().record_bytes,
            mode: new.mode & 0o7777,
            uid: new.uid,
            gid: new.gid,
            links: if is_directory { 2 } else { 1 },
            size: 0,
            device: new.device,
            parent: if is_directory { directory } else { 0 },
            accessed: now,
            modified: now,
            changed: now,
        };
        self.set_inode(inode, &attributes);
        let kind = new.kind;
        self.add_entry(directory, name, DirectoryItem { inode, kind })?;
        Ok(inode)
    }

    /// The name can be one, and is not taken; the directory has not been removed.
    pub(super) fn require_free(&self, directory: u64, name: &[u8]) -> Result<(), FileError> {
        check_name(name)?;
        if self.directory(directory)?.links == 0 {
            return Err(FileError::no_inode(directory));
        }
        match self.entry(directory, name)? {
            Some(_) => Err(FileError::exists(name)),
            None => Ok(()),
        }
    }

    pub(super) fn require_empty(&self, directory: u64) -> Result<(), FileError> {
        let attributes = self.directory(directory)?;
        if attributes.size > 0 {
            return Err(FileError::NotEmpty { inode: directory });
        }
        Ok(())
    }

    /// Adds a name that is free.
    pub(super) fn add_entry(
        &mut self,
        directory: u64,
        name: &[u8],
        entry: DirectoryItem,
    ) -> Result<(), FileError> {
        let mut attributes = self.directory(directory)?;
        attributes.size = attributes.size.saturating_add(1);
        let more = u32::from(entry.kind == InodeKind::Directory);
        attributes.links = attributes.links.saturating_add(more);
        self.touch(directory, attributes);
        self.set_item(DataSetItem::Entry(directory, name), Some(entry.encode()));
        Ok(())
    }

    /// Removes a name that is there.
    pub(super) fn remove_entry(
        &mut self,
        directory: u64,
        name: &[u8],
        kind: InodeKind,
    ) -> Result<(), FileError> {
        let mut attributes = self.directory(directory)?;
        attributes.size = attributes.size.saturating_sub(1);
        let less = u32::from(kind == InodeKind::Directory);
        attributes.links = attributes.links.saturating_sub(less);
        self.touch(directory, attributes);
        self.set_item(DataSetItem::Entry(directory, name), None);
        Ok(())
    }

    /// Stores attributes of an inode whose content changes now.
    pub(super) fn touch(&mut self, inode: u64, mut attributes: InodeAttributes) {
        attributes.modified = self.now();
        attributes.changed = attributes.modified;
        self.set_inode(inode, &attributes);
    }

    /// An inode has a name less. True if it has none any more, and is to be removed now.
    pub(super) fn drop_link(&mut self, inode: u64) -> Result<bool, FileError> {
        let mut attributes = self.inode(inode)?;
        attributes.links = attributes.links.saturating_sub(1);
        attributes.changed = self.now();
        self.set_inode(inode, &attributes);
        if attributes.links > 0 {
            return Ok(false);
        }
        Ok(self.make_orphan(inode))
    }

    /// An empty directory has lost its name. True if it is to be removed now.
    pub(super) fn drop_directory(&mut self, inode: u64) -> Result<bool, FileError> {
        let mut attributes = self.inode(inode)?;
        attributes.links = 0;
        attributes.changed = self.now();
        self.set_inode(inode, &attributes);
        Ok(self.make_orphan(inode))
    }

    fn make_orphan(&mut self, inode: u64) -> bool {
        self.set_item(DataSetItem::Orphan(inode), Some(Vec::new()));
        !self.state.opened.contains_key(&inode)
    }
}

pub(super) fn check_name(name: &[u8]) -> Result<(), FileError> {
    check_name_bytes(name)?;
    if matches!(name, b"" | b"." | b"..") || name.iter().any(|byte| matches!(byte, 0 | b'/')) {
        return Err(FileError::Invalid {
            what: "a name is not empty, `.` or `..`, and has no `/` and no byte 0",
        });
    }
    Ok(())
}
