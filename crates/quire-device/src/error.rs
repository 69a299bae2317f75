//! What can go wrong: below all operations, with files, and with data sets.

use std::sync::Arc;

use quire_codec::Corrupt;
use quire_store::{BatchWriteError, CommitError, PageId, PageReadError};
use thiserror::Error;

use crate::properties::PropertyError;

/// The volume below could not be read or written, or holds bytes that are no data set.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DeviceStorageError {
    /// A page could not be read.
    #[error(transparent)]
    Read(#[from] PageReadError),
    /// A page has the right checksum and the wrong bytes.
    #[error(
        "page {page} of {file} is damaged at byte {offset} of its payload: {detail}; restore a backup, \
         or see what else is damaged with `quire check`"
    )]
    Corrupt {
        /// Path of the file.
        file: Arc<str>,
        /// The page.
        page: PageId,
        /// Byte of the payload.
        offset: usize,
        /// What is wrong.
        detail: String,
    },
    /// A batch could not be written. What was to be written stays in memory.
    #[error(transparent)]
    Write(#[from] BatchWriteError),
    /// A batch could not be committed. What was to be written stays in memory.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// There are no more numbers of pages.
    #[error("{file} has used up its page numbers; copy its files into a new one")]
    NumbersUsedUp {
        /// Path of the file.
        file: Arc<str>,
    },
    /// A codec that a property names cannot be had.
    #[error("{0}; set another compression")]
    Codec(String),
}

impl DeviceStorageError {
    /// The disk is full.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(
            self,
            Self::Write(BatchWriteError::Full { .. })
                | Self::Commit(CommitError::Write(BatchWriteError::Full { .. }))
        )
    }

    /// What is wrong with the payload of a page.
    pub(crate) fn corrupt(file: &Arc<str>, page: PageId, corrupt: &Corrupt) -> Self {
        Self::Corrupt {
            file: Arc::clone(file),
            page,
            offset: corrupt.offset,
            detail: corrupt.what.to_string(),
        }
    }
}

/// Why a file could not be used as asked. Where a system call has an error number for it, the message begins with its name.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// No such name or inode.
    #[error("ENOENT: there is no {what}; it may have been removed")]
    NotFound {
        /// Name or number.
        what: String,
    },
    /// The name is taken.
    #[error("EEXIST: {name} exists; remove it, or choose another name")]
    Exists {
        /// The name.
        name: String,
    },
    /// A directory is needed.
    #[error("ENOTDIR: inode {inode} is no directory; use the directory that has it")]
    NotDirectory {
        /// The inode.
        inode: u64,
    },
    /// A directory cannot be used for this.
    #[error("EISDIR: inode {inode} is a directory; use its own operations")]
    IsDirectory {
        /// The inode.
        inode: u64,
    },
    /// The directory has names.
    #[error("ENOTEMPTY: directory {inode} has names; remove them first")]
    NotEmpty {
        /// The inode.
        inode: u64,
    },
    /// The name is longer than 255 bytes.
    #[error("ENAMETOOLONG: a name of {bytes} bytes is too long; the limit is 255")]
    NameTooLong {
        /// Its length.
        bytes: usize,
    },
    /// What is asked for makes no sense.
    #[error("EINVAL: {what}")]
    Invalid {
        /// What, and what to do instead.
        what: &'static str,
    },
    /// Beyond the longest file.
    #[error("EFBIG: a file ends at byte {limit} at the latest; write a shorter one")]
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// Too many names of a file.
    #[error("EMLINK: inode {inode} has as many names as it can have; remove one")]
    TooManyLinks {
        /// The inode.
        inode: u64,
    },
    /// No such extended attribute.
    #[error("ENODATA: there is no attribute {name}; set it first")]
    NoAttribute {
        /// Its name.
        name: String,
    },
    /// An extended attribute is too long.
    #[error("E2BIG: an attribute of {bytes} bytes is too long; the limit is {limit_bytes}")]
    AttributeTooLong {
        /// Its length.
        bytes: usize,
        /// The limit.
        limit_bytes: usize,
    },
    /// A snapshot, or a volume that is open read-only.
    #[error(
        "EROFS: {name} is read-only; make a clone of the snapshot, or open the volume for writing"
    )]
    ReadOnly {
        /// Of the data set.
        name: String,
    },
    /// The quota.
    #[error(
        "EDQUOT: {name} uses {used_bytes} bytes of a quota of {quota_bytes}; remove files or snapshots, or raise the quota"
    )]
    QuotaExceeded {
        /// Of the data set.
        name: String,
        /// In use, with what has not been compressed yet.
        used_bytes: u64,
        /// The quota.
        quota_bytes: u64,
    },
    /// The volume below.
    #[error(transparent)]
    Storage(#[from] DeviceStorageError),
}

impl FileError {
    pub(crate) fn no_inode(inode: u64) -> Self {
        Self::NotFound {
            what: format!("inode {inode}"),
        }
    }

    pub(crate) fn no_name(name: &[u8]) -> Self {
        Self::NotFound {
            what: name_text(name),
        }
    }

    pub(crate) fn exists(name: &[u8]) -> Self {
        Self::Exists {
            name: name_text(name),
        }
    }
}

/// A name of any bytes, for a message.
pub(crate) fn name_text(name: &[u8]) -> String {
    String::from_utf8_lossy(name).into_owned()
}

/// Why a data set could not be made, changed, opened or removed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DataSetError {
    /// The volume has no data sets.
    #[error(
        "{file} holds no data sets; check the path, or create a volume of data sets in an empty file"
    )]
    NotDataSets {
        /// Path of the file.
        file: Arc<str>,
    },
    /// The volume has something else.
    #[error("{file} is not empty; create data sets in an empty file")]
    NotEmpty {
        /// Path of the file.
        file: Arc<str>,
    },
    /// No such data set or snapshot.
    #[error("there is no data set {name}; list them to see which there are")]
    NotFound {
        /// The name asked for.
        name: String,
    },
    /// The name is taken.
    #[error("{name} exists; choose another name")]
    Exists {
        /// The name.
        name: String,
    },
    /// The name cannot be one.
    #[error(
        "{name:?} is no name of a data set: parts between slashes have letters, digits, `-`, `_`, `.` and `:`; \
         a snapshot is `set@name`"
    )]
    InvalidName {
        /// The name.
        name: String,
    },
    /// A property has a value that is not allowed.
    #[error("{what}")]
    InvalidProperty {
        /// What is allowed.
        what: &'static str,
    },
    /// In use.
    #[error("{name} is open; close it first")]
    Busy {
        /// The name.
        name: String,
    },
    /// Something depends on it.
    #[error("{name} cannot be removed because of {dependent}; remove that first")]
    HasDependents {
        /// The name.
        name: String,
        /// A clone, a snapshot, or a data set below.
        dependent: String,
    },
    /// A property given as text is wrong.
    #[error(transparent)]
    Property(#[from] PropertyError),
    /// The new name will not do.
    #[error("{from} cannot become {to}: {why}")]
    InvalidRename {
        /// The name.
        from: String,
        /// The new one.
        to: String,
        /// Why not, and what to do instead.
        why: &'static str,
    },
    /// A data set goes back to its newest snapshot only.
    #[error(
        "{name} is not the newest snapshot; remove those up to {newest} first, or clone {name}"
    )]
    NotNewest {
        /// The snapshot asked for.
        name: String,
        /// The newest one.
        newest: String,
    },
    /// Only a clone can be promoted.
    #[error("{name} is no clone, so there is nothing to promote")]
    NotClone {
        /// The data set.
        name: String,
    },
    /// Its removal was interrupted.
    #[error("the removal of {name} was interrupted; open the volume again, which ends it")]
    BeingRemoved {
        /// The snapshot.
        name: String,
    },
    /// Inodes without a name could not be removed.
    #[error(transparent)]
    Files(#[from] FileError),
    /// The volume below.
    #[error(transparent)]
    Storage(#[from] DeviceStorageError),
}

impl From<PageReadError> for DataSetError {
    fn from(error: PageReadError) -> Self {
        Self::Storage(error.into())
    }
}

impl From<BatchWriteError> for DataSetError {
    fn from(error: BatchWriteError) -> Self {
        Self::Storage(error.into())
    }
}

impl From<CommitError> for DataSetError {
    fn from(error: CommitError) -> Self {
        Self::Storage(error.into())
    }
}
