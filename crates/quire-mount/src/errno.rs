//! Error numbers of what a data set refuses.

use fuser::Errno;
use quire_device::{DeviceStorageError, FileError};

/// The error number that a system call gets.
pub(crate) fn errno(error: &FileError) -> Errno {
    match error {
        FileError::NotFound { .. } => Errno::ENOENT,
        FileError::Exists { .. } => Errno::EEXIST,
        FileError::NotDirectory { .. } => Errno::ENOTDIR,
        FileError::IsDirectory { .. } => Errno::EISDIR,
        FileError::NotEmpty { .. } => Errno::ENOTEMPTY,
        FileError::NameTooLong { .. } => Errno::ENAMETOOLONG,
        FileError::Invalid { .. } => Errno::EINVAL,
        FileError::TooLarge { .. } => Errno::EFBIG,
        FileError::TooManyLinks { .. } => Errno::EMLINK,
        FileError::NoAttribute { .. } => Errno::ENODATA,
        FileError::AttributeTooLong { .. } => Errno::E2BIG,
        FileError::ReadOnly { .. } => Errno::EROFS,
        FileError::QuotaExceeded { .. } => Errno::from_i32(libc::EDQUOT),
        FileError::Storage(error) => storage_errno(error),
        _ => Errno::EIO,
    }
}

/// The same for what lies below.
pub(crate) fn storage_errno(error: &DeviceStorageError) -> Errno {
    if error.is_full() {
        Errno::ENOSPC
    } else {
        Errno::EIO
    }
}
