//! What the kernel asks of a data set, in the terms of the data set. [`crate::front`] has the same in those of FUSE.

use std::path::Path;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use fuser::{Errno, FileAttr, RenameFlags, TimeOrNow};
use quire_device::{
    AttributeChange, DataSet, DirectoryEntry, FileError, FileSpace, InodeAttributes, InodeKind,
    NAME_BYTES_MAX, NewInode, ROOT_INODE, RenameMode,
};

use crate::attributes::{asked_time, attribute_timeout, file_attributes};
use crate::directories::{DOT_DOT, DirectoryReader, OpenDirectories};
use crate::errno::errno;
use crate::inode_table::InodeTable;
use crate::options::MountOptions;
use crate::sync_queue::{SyncQueue, WaitingReply};

const SET_USER_ID: u32 = libc::S_ISUID;
const SET_GROUP_ID: u32 = libc::S_ISGID;
const GROUP_EXECUTES: u32 = libc::S_IXGRP;

/// An inode as the kernel is told of it.
pub(crate) struct DescribedInode {
    pub(crate) attributes: FileAttr,
    pub(crate) timeout: Duration,
}

/// Who makes a file.
#[derive(Clone, Copy)]
pub(crate) struct Maker {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

/// What setattr asks for.
#[derive(Clone, Copy, Default)]
pub(crate) struct AskedChange {
    pub(crate) mode: Option<u32>,
    pub(crate) uid: Option<u32>,
    pub(crate) gid: Option<u32>,
    pub(crate) size: Option<u64>,
    pub(crate) accessed: Option<TimeOrNow>,
    pub(crate) modified: Option<TimeOrNow>,
}

/// A data set while it is mounted.
pub(crate) struct ServedSet {
    pub(crate) set: Arc<DataSet>,
    pub(crate) options: MountOptions,
    pub(crate) inodes: InodeTable,
    pub(crate) directories: OpenDirectories,
    pub(crate) syncs: SyncQueue,
}

impl ServedSet {
    pub(crate) fn new(set: Arc<DataSet>, options: MountOptions) -> Self {
        let syncs = SyncQueue::new(options.write_back_bytes, options.sync_interval);
        Self {
            set,
            options,
            inodes: InodeTable::default(),
            directories: OpenDirectories::default(),
            syncs,
        }
    }

    /// Answers when all that has been done so far is durable.
    pub(crate) fn answer_when_synced(&self, reply: WaitingReply) {
        self.syncs.answer_when_synced(&self.set, reply);
    }

    /// The attributes of an inode, and how long they hold.
    pub(crate) fn describe(&self, inode: u64) -> Result<DescribedInode, Errno> {
        let attributes = self.set.attributes(inode).map_err(|error| errno(&error))?;
        self.described(inode, &attributes)
    }

    fn described(&self, inode: u64, attributes: &InodeAttributes) -> Result<DescribedInode, Errno> {
        let space = match attributes.kind {
            InodeKind::File => self.set.space(inode).map_err(|error| errno(&error))?,
            _ => FileSpace::default(),
        };
        Ok(DescribedInode {
            attributes: file_attributes(inode, attributes, &space),
            timeout: attribute_timeout(attributes, self.options.cache_timeout),
        })
    }

    /// The same of an inode that the kernel is told of by name: it will say when it forgets it.
    pub(crate) fn describe_known(&self, inode: u64) -> Result<DescribedInode, Errno> {
        let described = self.describe(inode)?;
        self.inodes.note_lookup(inode);
        Ok(described)
    }

    pub(crate) fn lookup(&self, directory: u64, name: &[u8]) -> Result<DescribedInode, Errno> {
        if name.len() > NAME_BYTES_MAX {
            return Err(Errno::ENAMETOOLONG);
        }
        let found = self.set.lookup(directory, name);
        self.describe_known(found.map_err(|error| errno(&error))?)
    }

    pub(crate) fn forget(&self, inode: u64, lookups: u64) {
        if self.inodes.forget(inode, lookups) {
            // If it cannot be removed now, it is when the data set is opened again.
            let _ = self.set.release(inode);
        }
    }

    /// Makes an inode as mknod(2), mkdir(2) and open(2) do.
    pub(crate) fn create(
        &self,
        directory: u64,
        name: &[u8],
        kind: InodeKind,
        mode: u32,
        device: u32,
        maker: Maker,
    ) -> Result<DescribedInode, Errno> {
        let made = self.try_create(directory, name, kind, mode, device, maker);
        self.describe_known(made.map_err(|error| errno(&error))?)
    }

    fn try_create(
        &self,
        directory: u64,
        name: &[u8],
        kind: InodeKind,
        mode: u32,
        device: u32,
        maker: Maker,
    ) -> Result<u64, FileError> {
        let (gid, inherited) = self.inherited(directory, maker)?;
        let is_directory = kind == InodeKind::Directory;
        let new = NewInode {
            kind,
            mode: mode & 0o7777 | if is_directory { inherited } else { 0 },
            uid: maker.uid,
            gid,
            device: u64::from(device),
        };
        self.set.create(directory, name, &new)
    }

    /// What a set-group-id directory hands on: its group, and to directories the bit.
    fn inherited(&self, directory: u64, maker: Maker) -> Result<(u32, u32), FileError> {
        let attributes = self.set.attributes(directory)?;
        Ok(if attributes.mode & SET_GROUP_ID == 0 {
            (maker.gid, 0)
        } else {
            (attributes.gid, SET_GROUP_ID)
        })
    }

    pub(crate) fn create_link(
        &self,
        directory: u64,
        name: &[u8],
        target: &Path,
        maker: Maker,
    ) -> Result<DescribedInode, Errno> {
        let target = target.as_os_str().as_encoded_bytes();
        let made = self.inherited(directory, maker).and_then(|(gid, _)| {
            self.set
                .create_link(directory, name, target, (maker.uid, gid))
        });
        self.describe_known(made.map_err(|error| errno(&error))?)
    }

    pub(crate) fn link(
        &self,
        inode: u64,
        directory: u64,
        name: &[u8],
    ) -> Result<DescribedInode, Errno> {
        match self.set.link(inode, directory, name) {
            Ok(()) => self.describe_known(inode),
            Err(FileError::IsDirectory { .. }) => Err(Errno::EPERM),
            Err(error) => Err(errno(&error)),
        }
    }

    pub(crate) fn unlink(&self, directory: u64, name: &[u8]) -> Result<(), Errno> {
        let removed = self.pin_name(directory, name);
        let removed = removed.and_then(|()| self.set.unlink(directory, name));
        removed.map_err(|error| errno(&error))
    }

    pub(crate) fn remove_directory(&self, directory: u64, name: &[u8]) -> Result<(), Errno> {
        let removed = self.pin_name(directory, name);
        let removed = removed.and_then(|()| self.set.remove_directory(directory, name));
        removed.map_err(|error| errno(&error))
    }

    /// Before a name goes: what has it stays while the kernel knows it. The kernel lets nobody else use the name meanwhile.
    fn pin_name(&self, directory: u64, name: &[u8]) -> Result<(), FileError> {
        let inode = self.set.lookup(directory, name)?;
        self.inodes.pin(&self.set, inode)
    }

    pub(crate) fn rename(
        &self,
        from: (u64, &[u8]),
        to: (u64, &[u8]),
        flags: RenameFlags,
    ) -> Result<(), Errno> {
        let mode = if flags == RenameFlags::empty() {
            RenameMode::Replace
        } else if flags == RenameFlags::RENAME_NOREPLACE {
            RenameMode::NoReplace
        } else if flags == RenameFlags::RENAME_EXCHANGE {
            RenameMode::Exchange
        } else {
            return Err(Errno::EINVAL);
        };
        let pinned = match mode {
            RenameMode::Replace => self.pin_name(to.0, to.1),
            _ => Ok(()),
        };
        let renamed = match pinned {
            Ok(()) | Err(FileError::NotFound { .. }) => self.set.rename(from, to, mode),
            Err(error) => Err(error),
        };
        renamed.map_err(|error| errno(&error))
    }

    /// Changes attributes as chmod(2), chown(2), truncate(2) and utimensat(2) do, by user `uid`.
    pub(crate) fn change(
        &self,
        inode: u64,
        asked: &AskedChange,
        uid: u32,
    ) -> Result<DescribedInode, Errno> {
        let changed = self.try_change(inode, asked, uid);
        self.described(inode, &changed.map_err(|error| errno(&error))?)
    }

    fn try_change(
        &self,
        inode: u64,
        asked: &AskedChange,
        uid: u32,
    ) -> Result<InodeAttributes, FileError> {
        let mut change = AttributeChange {
            mode: asked.mode.map(|mode| mode & 0o7777),
            uid: asked.uid,
            gid: asked.gid,
            size: asked.size,
            accessed: asked.accessed.map(asked_time),
            modified: asked.modified.map(asked_time),
        };
        let gets_owner = asked.uid.is_some() || asked.gid.is_some();
        // Root may keep the bits when it cuts a file off, and nobody when it gets another owner.
        if gets_owner || (asked.size.is_some() && uid != 0) {
            let before = self.set.attributes(inode)?;
            if before.kind != InodeKind::Directory {
                let mode = change.mode.unwrap_or(before.mode);
                change.mode = Some(without_privileges(mode));
            }
        }
        self.set.set_attributes(inode, &change)
    }

    pub(crate) fn write(
        &self,
        inode: u64,
        offset: u64,
        bytes: &[u8],
        drops_privileges: bool,
    ) -> Result<(), Errno> {
        self.syncs.note_written(bytes.len() as u64);
        let written = self.set.write(inode, offset, bytes).and_then(|()| {
            if drops_privileges {
                self.drop_privileges(inode)?;
            }
            Ok(())
        });
        written.map_err(|error| errno(&error))
    }

    /// A file that is written by somebody who may not keep them loses its set-user-id and set-group-id bits.
    fn drop_privileges(&self, inode: u64) -> Result<(), FileError> {
        let mode = self.set.attributes(inode)?.mode;
        let kept = without_privileges(mode);
        if kept != mode {
            let change = AttributeChange {
                mode: Some(kept),
                ..AttributeChange::default()
            };
            self.set.set_attributes(inode, &change)?;
        }
        Ok(())
    }

    pub(crate) fn allocate(
        &self,
        inode: u64,
        offset: u64,
        length: u64,
        mode: i32,
    ) -> Result<(), Errno> {
        let keeps_size = mode & libc::FALLOC_FL_KEEP_SIZE != 0;
        let done = match mode & !libc::FALLOC_FL_KEEP_SIZE {
            0 => self.set.allocate(inode, offset, length, keeps_size),
            libc::FALLOC_FL_PUNCH_HOLE => self.set.punch_hole(inode, offset, length),
            libc::FALLOC_FL_ZERO_RANGE => {
                let zeros = self.set.punch_hole(inode, offset, length);
                zeros.and_then(|()| self.set.allocate(inode, offset, length, keeps_size))
            }
            _ => return Err(Errno::EOPNOTSUPP),
        };
        done.map_err(|error| errno(&error))
    }

    pub(crate) fn seek(&self, inode: u64, offset: i64, whence: i32) -> Result<i64, Errno> {
        if self.options.writeback_cache {
            // The kernel has bytes that it has not sent. It takes all for data from now on, and does not ask again.
            return Err(Errno::ENOSYS);
        }
        let offset = u64::try_from(offset).map_err(|_| Errno::ENXIO)?;
        let found = match whence {
            libc::SEEK_DATA => self.set.next_data(inode, offset),
            libc::SEEK_HOLE => self.set.next_hole(inode, offset),
            _ => return Err(Errno::EINVAL),
        };
        let found = found.map_err(|error| errno(&error))?;
        let found = found.and_then(|found| i64::try_from(found).ok());
        found.ok_or(Errno::ENXIO)
    }

    /// The directory above one.
    pub(crate) fn parent(&self, directory: u64) -> Result<u64, Errno> {
        let attributes = self.set.attributes(directory);
        let parent = attributes.map_err(|error| errno(&error))?.parent;
        Ok(if parent == 0 { ROOT_INODE } else { parent })
    }

    /// Names of a directory from an offset on, at least [`DOT_DOT`].
    pub(crate) fn names(
        &self,
        directory: u64,
        reader: &DirectoryReader,
        offset: u64,
        limit: usize,
    ) -> Result<Vec<DirectoryEntry>, Errno> {
        let after = reader.name_before(offset);
        if after.is_none() && offset > DOT_DOT {
            return Err(Errno::EINVAL);
        }
        let names = self.set.read_directory(directory, after, limit);
        names.map_err(|error| errno(&error))
    }

    /// Releases what the kernel has not forgotten.
    pub(crate) fn release_all(&self) {
        for inode in self.inodes.take_pinned() {
            // If it cannot be removed now, it is when the data set is opened again.
            let _ = self.set.release(inode);
        }
    }

    /// A reader of a directory that is open.
    pub(crate) fn with_reader<T>(
        &self,
        handle: u64,
        work: impl FnOnce(&mut DirectoryReader) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let reader = self.directories.reader(handle).ok_or(Errno::EBADF)?;
        let mut reader = reader.lock().unwrap_or_else(PoisonError::into_inner);
        work(&mut reader)
    }
}

/// A mode without what a file must not keep when it changes. A set-group-id bit without the right to execute means something else.
fn without_privileges(mode: u32) -> u32 {
    let dropped = if mode & GROUP_EXECUTES == 0 {
        SET_USER_ID
    } else {
        SET_USER_ID | SET_GROUP_ID
    };
    mode & !dropped
}
