//! The requests of the kernel, and the answers.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use fuser::{
    BsdFileFlags, Errno, FileAttr, FileHandle, Filesystem, FopenFlags, Generation, INodeNo,
    InitFlags, KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyDirectoryPlus, ReplyEmpty, ReplyEntry, ReplyLseek, ReplyOpen, ReplyStatfs,
    ReplyWrite, ReplyXattr, Request, TimeOrNow, WriteFlags,
};
use quire_device::InodeKind;

use crate::attributes::{file_type, inode_kind};
use crate::directories::DOT_DOT;
use crate::errno::errno;
use crate::served::{AskedChange, DescribedInode, Maker, ServedSet};
use crate::space::free_space;
use crate::sync_queue::WaitingReply;

/// Longest write of the kernel. What it reads at once is as long.
const WRITE_BYTES_MAX: u32 = 1 << 20;
/// Reads ahead and delayed writes that the kernel sends at once: fewer than there are threads by default.
const BACKGROUND_MAX: u16 = 12;
/// Numbers of inodes are not used twice.
const GENERATION: Generation = Generation(0);

/// What `fuser` calls.
pub(crate) struct Front(pub(crate) Arc<ServedSet>);

impl Front {
    fn answer_entry(&self, described: Result<DescribedInode, Errno>, reply: ReplyEntry) {
        let entry_timeout = self.0.options.cache_timeout;
        match described {
            Ok(DescribedInode {
                attributes,
                timeout,
            }) => reply.entry_with_ttls(&timeout, &entry_timeout, &attributes, GENERATION),
            Err(error) => reply.error(error),
        }
    }
}

fn answer_empty(done: Result<(), Errno>, reply: ReplyEmpty) {
    match done {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(error),
    }
}

fn answer_attributes(described: Result<DescribedInode, Errno>, reply: ReplyAttr) {
    match described {
        Ok(described) => reply.attr(&described.timeout, &described.attributes),
        Err(error) => reply.error(error),
    }
}

fn answer_extended(value: Result<Vec<u8>, Errno>, size: u32, reply: ReplyXattr) {
    match value {
        Ok(value) if size == 0 => reply.size(value.len() as u32),
        Ok(value) if value.len() <= size as usize => reply.data(&value),
        Ok(_) => reply.error(Errno::ERANGE),
        Err(error) => reply.error(error),
    }
}

fn maker(request: &Request) -> Maker {
    Maker {
        uid: request.uid(),
        gid: request.gid(),
    }
}

/// Attributes of a name that is not there, which the kernel may remember.
fn absent() -> FileAttr {
    FileAttr {
        ino: INodeNo(0),
        size: 0,
        blocks: 0,
        atime: SystemTime::UNIX_EPOCH,
        mtime: SystemTime::UNIX_EPOCH,
        ctime: SystemTime::UNIX_EPOCH,
        crtime: SystemTime::UNIX_EPOCH,
        kind: file_type(InodeKind::File),
        perm: 0,
        nlink: 0,
        uid: 0,
        gid: 0,
        rdev: 0,
        blksize: 0,
        flags: 0,
    }
}

impl Filesystem for Front {
    fn init(&mut self, _request: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // Nothing changes behind the kernel's back, so that it throws its cache away only if told to. Files are opened
        // and closed without asking. It says when a write has to clear set-user-id bits, so it need not ask for capabilities
        // before each write.
        let mut wanted = vec![
            InitFlags::FUSE_PARALLEL_DIROPS,
            InitFlags::FUSE_DO_READDIRPLUS,
            InitFlags::FUSE_READDIRPLUS_AUTO,
            InitFlags::FUSE_ASYNC_DIO,
            InitFlags::FUSE_CACHE_SYMLINKS,
            InitFlags::FUSE_EXPLICIT_INVAL_DATA,
            InitFlags::FUSE_HANDLE_KILLPRIV_V2,
            InitFlags::FUSE_NO_OPEN_SUPPORT,
        ];
        if self.0.options.writeback_cache {
            wanted.push(InitFlags::FUSE_WRITEBACK_CACHE);
        }
        for capability in wanted {
            // An older kernel does without.
            let _ = config.add_capabilities(capability);
        }
        // Where a limit is lower, it stays.
        let _ = config.set_max_write(WRITE_BYTES_MAX);
        let _ = config.set_max_background(BACKGROUND_MAX);
        Ok(())
    }

    fn lookup(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.0.lookup(parent.0, name.as_encoded_bytes()) {
            Err(Errno::ENOENT) => reply.entry(&self.0.options.cache_timeout, &absent(), GENERATION),
            found => self.answer_entry(found, reply),
        }
    }

    fn forget(&self, _request: &Request, inode: INodeNo, lookups: u64) {
        self.0.forget(inode.0, lookups);
    }

    fn getattr(
        &self,
        _request: &Request,
        inode: INodeNo,
        _handle: Option<FileHandle>,
        reply: ReplyAttr,
    ) {
        answer_attributes(self.0.describe(inode.0), reply);
    }

    fn setattr(
        &self,
        request: &Request,
        inode: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        accessed: Option<TimeOrNow>,
        modified: Option<TimeOrNow>,
        _changed: Option<SystemTime>,
        _handle: Option<FileHandle>,
        _created: Option<SystemTime>,
        _changed_mac: Option<SystemTime>,
        _backed_up: Option<SystemTime>,
        _flags: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let asked = AskedChange {
            mode,
            uid,
            gid,
            size,
            accessed,
            modified,
        };
        answer_attributes(self.0.change(inode.0, &asked, request.uid()), reply);
    }

    fn readlink(&self, _request: &Request, inode: INodeNo, reply: ReplyData) {
        match self.0.set.read_link(inode.0) {
            Ok(target) => reply.data(&target),
            Err(error) => reply.error(errno(&error)),
        }
    }

    fn mknod(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        device: u32,
        reply: ReplyEntry,
    ) {
        let name = name.as_encoded_bytes();
        let made = inode_kind(mode).ok_or(Errno::EINVAL).and_then(|kind| {
            self.0
                .create(parent.0, name, kind, mode, device, maker(request))
        });
        self.answer_entry(made, reply);
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        reply: ReplyEntry,
    ) {
        let (name, kind) = (name.as_encoded_bytes(), InodeKind::Directory);
        let made = self.0.create(parent.0, name, kind, mode, 0, maker(request));
        self.answer_entry(made, reply);
    }

    fn unlink(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        answer_empty(self.0.unlink(parent.0, name.as_encoded_bytes()), reply);
    }

    fn rmdir(&self, _request: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let removed = self.0.remove_directory(parent.0, name.as_encoded_bytes());
        answer_empty(removed, reply);
    }

    fn symlink(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        target: &Path,
        reply: ReplyEntry,
    ) {
        let name = name.as_encoded_bytes();
        let made = self.0.create_link(parent.0, name, target, maker(request));
        self.answer_entry(made, reply);
    }

    fn rename(
        &self,
        _request: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let from = (parent.0, name.as_encoded_bytes());
        let to = (new_parent.0, new_name.as_encoded_bytes());
        answer_empty(self.0.rename(from, to, flags), reply);
    }

    fn link(
        &self,
        _request: &Request,
        inode: INodeNo,
        new_parent: INodeNo,
        new_name: &OsStr,
        reply: ReplyEntry,
    ) {
        let name = new_name.as_encoded_bytes();
        self.answer_entry(self.0.link(inode.0, new_parent.0, name), reply);
    }

    /// Not asked for again after this answer: all is open for who may use it, and what is in the page cache stays.
    fn open(&self, _request: &Request, _inode: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        reply.error(Errno::ENOSYS);
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        _flags: i32,
        reply: ReplyCreate,
    ) {
        let (name, kind) = (name.as_encoded_bytes(), InodeKind::File);
        match self.0.create(parent.0, name, kind, mode, 0, maker(request)) {
            Ok(DescribedInode {
                attributes,
                timeout,
            }) => reply.created(
                &timeout,
                &attributes,
                GENERATION,
                FileHandle(0),
                FopenFlags::FOPEN_KEEP_CACHE,
            ),
            Err(error) => reply.error(error),
        }
    }

    fn read(
        &self,
        _request: &Request,
        inode: INodeNo,
        _handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match self.0.set.read(inode.0, offset, size as usize) {
            Ok(bytes) => reply.data(&bytes),
            Err(error) => reply.error(errno(&error)),
        }
    }

    fn write(
        &self,
        _request: &Request,
        inode: INodeNo,
        _handle: FileHandle,
        offset: u64,
        bytes: &[u8],
        write_flags: WriteFlags,
        flags: OpenFlags,
        _lock_owner: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let drops_privileges = write_flags.contains(WriteFlags::FUSE_WRITE_KILL_SUIDGID);
        let count = bytes.len() as u32;
        match self.0.write(inode.0, offset, bytes, drops_privileges) {
            Ok(()) if is_synchronous(write_flags, flags) => {
                self.0
                    .answer_when_synced(WaitingReply::Written(reply, count));
            }
            Ok(()) => reply.written(count),
            Err(error) => reply.error(error),
        }
    }

    /// Not asked for again after this answer: closing a file has nothing to do.
    fn flush(
        &self,
        _request: &Request,
        _inode: INodeNo,
        _handle: FileHandle,
        _lock_owner: LockOwner,
        reply: ReplyEmpty,
    ) {
        reply.error(Errno::ENOSYS);
    }

    fn fsync(
        &self,
        _request: &Request,
        _inode: INodeNo,
        _handle: FileHandle,
        _is_data_only: bool,
        reply: ReplyEmpty,
    ) {
        self.0.answer_when_synced(WaitingReply::Synced(reply));
    }

    fn fsyncdir(
        &self,
        _request: &Request,
        _inode: INodeNo,
        _handle: FileHandle,
        _is_data_only: bool,
        reply: ReplyEmpty,
    ) {
        self.0.answer_when_synced(WaitingReply::Synced(reply));
    }

    fn opendir(&self, _request: &Request, _inode: INodeNo, _flags: OpenFlags, reply: ReplyOpen) {
        let handle = self.0.directories.open();
        reply.opened(FileHandle(handle), FopenFlags::FOPEN_KEEP_CACHE);
    }

    fn releasedir(
        &self,
        _request: &Request,
        _inode: INodeNo,
        handle: FileHandle,
        _flags: OpenFlags,
        reply: ReplyEmpty,
    ) {
        self.0.directories.close(handle.0);
        reply.ok();
    }

    fn readdir(
        &self,
        _request: &Request,
        inode: INodeNo,
        handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let filled = self.0.fill(inode.0, handle.0, offset, |entry| {
            Ok(reply.add(INodeNo(entry.inode), entry.offset, entry.kind, entry.name))
        });
        match filled {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(error),
        }
    }

    fn readdirplus(
        &self,
        _request: &Request,
        inode: INodeNo,
        handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectoryPlus,
    ) {
        let served = &self.0;
        let filled = served.fill(inode.0, handle.0, offset, |entry| {
            let described = match served.describe(entry.inode) {
                Ok(described) => described,
                // It has been removed since.
                Err(Errno::ENOENT) => return Ok(false),
                Err(error) => return Err(error),
            };
            // Without an inode the kernel takes an entry as a name only. It does not count `.` and `..`.
            let is_full = reply.add(
                INodeNo(entry.inode),
                entry.offset,
                entry.name,
                &described.timeout,
                &described.attributes,
                GENERATION,
            );
            if !is_full && entry.offset > DOT_DOT {
                served.inodes.note_lookup(entry.inode);
            }
            Ok(is_full)
        });
        match filled {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(error),
        }
    }

    fn statfs(&self, _request: &Request, _inode: INodeNo, reply: ReplyStatfs) {
        let space = free_space(&self.0);
        reply.statfs(
            space.blocks,
            space.free_blocks,
            space.free_blocks,
            space.files,
            space.free_files,
            space.block_bytes,
            quire_device::NAME_BYTES_MAX as u32,
            space.block_bytes,
        );
    }

    fn setxattr(
        &self,
        _request: &Request,
        inode: INodeNo,
        name: &OsStr,
        value: &[u8],
        flags: i32,
        _position: u32,
        reply: ReplyEmpty,
    ) {
        let name = name.as_encoded_bytes();
        answer_empty(self.0.set_extended(inode.0, name, value, flags), reply);
    }

    fn getxattr(
        &self,
        _request: &Request,
        inode: INodeNo,
        name: &OsStr,
        size: u32,
        reply: ReplyXattr,
    ) {
        let value = self.0.extended(inode.0, name.as_encoded_bytes());
        answer_extended(value, size, reply);
    }

    fn listxattr(&self, request: &Request, inode: INodeNo, size: u32, reply: ReplyXattr) {
        let names = self.0.extended_names(inode.0, request.uid());
        answer_extended(names, size, reply);
    }

    fn removexattr(&self, _request: &Request, inode: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let name = name.as_encoded_bytes();
        answer_empty(self.0.remove_extended(inode.0, name), reply);
    }

    fn fallocate(
        &self,
        _request: &Request,
        inode: INodeNo,
        _handle: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        answer_empty(self.0.allocate(inode.0, offset, length, mode), reply);
    }

    fn lseek(
        &self,
        _request: &Request,
        inode: INodeNo,
        _handle: FileHandle,
        offset: i64,
        whence: i32,
        reply: ReplyLseek,
    ) {
        match self.0.seek(inode.0, offset, whence) {
            Ok(offset) => reply.offset(offset),
            Err(error) => reply.error(error),
        }
    }
}

/// The kernel syncs after writes that go through its cache, and not after all others.
fn is_synchronous(write_flags: WriteFlags, flags: OpenFlags) -> bool {
    // `O_SYNC` has the bit of `O_DSYNC`.
    flags.0 & libc::O_DSYNC != 0 && !write_flags.contains(WriteFlags::FUSE_WRITE_CACHE)
}
