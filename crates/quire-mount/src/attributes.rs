//! Attributes as the kernel wants them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{FileAttr, FileType, INodeNo, TimeOrNow};
use quire_device::{FileSpace, FileTime, InodeAttributes, InodeKind};

/// Bytes of `st_blocks`.
const BLOCK_BYTES: u64 = 512;
/// Until then a file may be in memory still, and take other space when it has been written.
const SETTLED_AFTER_S: i64 = 60;
/// How long attributes hold that may change by themselves.
const UNSETTLED_TIMEOUT: Duration = Duration::from_secs(1);

/// The kind of an inode.
pub(crate) fn file_type(kind: InodeKind) -> FileType {
    match kind {
        InodeKind::File => FileType::RegularFile,
        InodeKind::Directory => FileType::Directory,
        InodeKind::Link => FileType::Symlink,
        InodeKind::Fifo => FileType::NamedPipe,
        InodeKind::Socket => FileType::Socket,
        InodeKind::CharacterDevice => FileType::CharDevice,
        InodeKind::BlockDevice => FileType::BlockDevice,
    }
}

/// The kind that the mode of mknod(2) names.
pub(crate) fn inode_kind(mode: u32) -> Option<InodeKind> {
    Some(match mode & libc::S_IFMT {
        0 | libc::S_IFREG => InodeKind::File,
        libc::S_IFIFO => InodeKind::Fifo,
        libc::S_IFSOCK => InodeKind::Socket,
        libc::S_IFCHR => InodeKind::CharacterDevice,
        libc::S_IFBLK => InodeKind::BlockDevice,
        _ => return None,
    })
}

/// What stat(2) is to say.
pub(crate) fn file_attributes(
    inode: u64,
    attributes: &InodeAttributes,
    space: &FileSpace,
) -> FileAttr {
    FileAttr {
        ino: INodeNo(inode),
        size: attributes.size,
        blocks: blocks(attributes, space),
        atime: system_time(attributes.accessed),
        mtime: system_time(attributes.modified),
        ctime: system_time(attributes.changed),
        crtime: UNIX_EPOCH,
        kind: file_type(attributes.kind),
        perm: (attributes.mode & 0o7777) as u16,
        nlink: attributes.links,
        uid: attributes.uid,
        gid: attributes.gid,
        rdev: u32::try_from(attributes.device).unwrap_or(0),
        blksize: attributes.record_bytes,
        flags: 0,
    }
}

/// Compressed bytes in blocks. A file that is not written yet has one, since programs take a file without blocks for one of
/// zeros, and do not read it.
fn blocks(attributes: &InodeAttributes, space: &FileSpace) -> u64 {
    let blocks = space.stored_bytes.div_ceil(BLOCK_BYTES);
    blocks.max(u64::from(attributes.size > 0))
}

/// How long attributes hold: while the space that a file takes may change, a second.
pub(crate) fn attribute_timeout(attributes: &InodeAttributes, longest: Duration) -> Duration {
    let age_s = file_time(SystemTime::now())
        .seconds
        .saturating_sub(attributes.changed.seconds);
    if attributes.kind == InodeKind::File && age_s < SETTLED_AFTER_S {
        longest.min(UNSETTLED_TIMEOUT)
    } else {
        longest
    }
}

fn system_time(time: FileTime) -> SystemTime {
    let nanoseconds = Duration::from_nanos(u64::from(time.nanoseconds));
    let seconds = Duration::from_secs(time.seconds.unsigned_abs());
    let whole = if time.seconds < 0 {
        UNIX_EPOCH.checked_sub(seconds)
    } else {
        UNIX_EPOCH.checked_add(seconds)
    };
    whole
        .and_then(|whole| whole.checked_add(nanoseconds))
        .unwrap_or(UNIX_EPOCH)
}

fn file_time(time: SystemTime) -> FileTime {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => FileTime {
            seconds: i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
            nanoseconds: since.subsec_nanos(),
        },
        // `fuser` subtracts the nanoseconds of the kernel's time where they are to be added; this takes them as they came.
        Err(before) => FileTime {
            seconds: i64::try_from(before.duration().as_secs())
                .map_or(i64::MIN, |seconds| -seconds),
            nanoseconds: before.duration().subsec_nanos(),
        },
    }
}

/// The time that utimensat(2) asks for.
pub(crate) fn asked_time(time: TimeOrNow) -> FileTime {
    match time {
        TimeOrNow::SpecificTime(time) => file_time(time),
        TimeOrNow::Now => file_time(SystemTime::now()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_before_1970_count_nanoseconds_upwards() {
        let half_before = FileTime {
            seconds: -1,
            nanoseconds: 500_000_000,
        };
        assert_eq!(
            UNIX_EPOCH.duration_since(system_time(half_before)).unwrap(),
            Duration::from_millis(500)
        );
        let late = FileTime {
            seconds: 1 << 33,
            nanoseconds: 7,
        };
        assert_eq!(file_time(system_time(late)), late);
        // What `fuser` makes of -1 s and half a second.
        assert_eq!(
            file_time(UNIX_EPOCH - Duration::from_millis(1500)),
            half_before
        );
    }
}
