//! What can go wrong, one enum per operation. Every message says what to do next.

use std::io;
use std::sync::Arc;

use quire_format::volume::PageId;
use thiserror::Error;

/// Why a volume could not be created, opened or rebuilt.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum VolumeOpenError {
    /// The file holds something else.
    #[error("{file} is not a Quire database: it starts with {found}; check the path")]
    NotQuire {
        /// Path of the file.
        file: String,
        /// Its first bytes.
        found: String,
    },
    /// Written by a later program.
    #[error(
        "{file} has format version {found}; this program reads up to version {supported}; \
         open it with a newer Quire"
    )]
    NewerVersion {
        /// Path of the file.
        file: String,
        /// Version in the file.
        found: u32,
        /// Highest version this program knows.
        supported: u32,
    },
    /// Written by a program that was never released.
    #[error(
        "{file} has format version {found}; this program reads versions from {oldest} on; \
         copy the data out with the program that wrote it"
    )]
    OlderVersion {
        /// Path of the file.
        file: String,
        /// Version in the file.
        found: u32,
        /// Lowest version this program knows.
        oldest: u32,
    },
    /// The program was stopped while it created the file.
    #[error("{file} was never finished: it holds no data; delete it, or create it again")]
    Unfinished {
        /// Path of the file.
        file: String,
    },
    /// The file already holds something.
    #[error("{file} is not empty; choose another path, or open it instead of creating it")]
    NotEmpty {
        /// Path of the file.
        file: String,
    },
    /// Bytes at the end are missing.
    #[error(
        "{file} is truncated: {actual_bytes} bytes, but its data ends at byte {expected_bytes}; \
         restore the rest of the file, or salvage what is left with `quire check --rebuild`"
    )]
    Truncated {
        /// Path of the file.
        file: String,
        /// Length the file must have at least.
        expected_bytes: u64,
        /// Length it has.
        actual_bytes: u64,
    },
    /// Another process has it.
    #[error("{file} is open in another process; close it there, or open it read-only in both")]
    Locked {
        /// Path of the file.
        file: String,
    },
    /// Neither superblock can be used.
    #[error(
        "both superblocks of {file} (bytes 0 and 4096) are damaged: {detail}; \
         restore a backup, or rebuild them with `quire check --rebuild`"
    )]
    CorruptSuperblocks {
        /// Path of the file.
        file: String,
        /// What is wrong with them.
        detail: String,
    },
    /// The page map cannot be read, and the scan did not reproduce it exactly.
    #[error(
        "the page map of {file} is damaged at byte {offset}: {detail}; \
         restore a backup, or salvage the pages with `quire check --rebuild`"
    )]
    CorruptMap {
        /// Path of the file.
        file: String,
        /// Where.
        offset: u64,
        /// What is wrong.
        detail: String,
    },
    /// A commit that had been acknowledged cannot be read any more.
    #[error(
        "the log of {file} is damaged at byte {offset}: {detail}; \
         restore a backup, or salvage the pages with `quire check --rebuild`"
    )]
    CorruptLog {
        /// Path of the file.
        file: String,
        /// Where.
        offset: u64,
        /// What is wrong.
        detail: String,
    },
    /// The file system, or the operating system, has no direct I/O.
    #[error(
        "{file} cannot be opened for direct I/O: {detail}; open it without direct I/O, or move it to a file system that \
         has O_DIRECT, such as ext4 or XFS"
    )]
    DirectRefused {
        /// Path of the file.
        file: String,
        /// Why.
        detail: String,
    },
    /// The operating system said no.
    #[error("cannot {operation} {file}: {source}")]
    Io {
        /// Path of the file.
        file: String,
        /// What was tried.
        operation: &'static str,
        /// Its answer.
        source: io::Error,
    },
}

/// Why a page could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PageReadError {
    /// No such page in this snapshot.
    #[error("{file} has no page {page}; run `quire check` on it")]
    NotFound {
        /// Path of the file.
        file: Arc<str>,
        /// The page asked for.
        page: PageId,
    },
    /// The stored bytes are not those that were written.
    #[error(
        "page {page} of {file} is damaged at byte {offset}: {detail}; restore a backup, \
         or see what else is damaged with `quire check`"
    )]
    Corrupt {
        /// Path of the file.
        file: Arc<str>,
        /// The page.
        page: PageId,
        /// Where its image starts.
        offset: u64,
        /// What is wrong.
        detail: String,
    },
    /// The operating system said no.
    #[error("cannot read page {page} at byte {offset} of {file}: {source}; check the device")]
    Io {
        /// Path of the file.
        file: Arc<str>,
        /// The page.
        page: PageId,
        /// Where its image starts.
        offset: u64,
        /// The answer.
        source: io::Error,
    },
}

/// Why a batch could not be begun or written to.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BatchWriteError {
    /// Opened with `OpenMode::ReadOnly`.
    #[error("{file} is open read-only; open it for writing")]
    ReadOnly {
        /// Path of the file.
        file: Arc<str>,
    },
    /// An earlier write or sync failed.
    #[error("{file} takes no more writes: {reason}; open it again, committed data is safe")]
    Poisoned {
        /// Path of the file.
        file: Arc<str>,
        /// The first failure.
        reason: String,
    },
    /// No space left. The batch is lost; everything committed is intact, and deletions, and batches that free
    /// more than they write, still work.
    #[error(
        "no space left for {file}: {needed_bytes} more bytes are needed; delete rows (in smaller steps, if a \
         deletion is refused), drop or truncate tables, or free space on the disk"
    )]
    Full {
        /// Path of the file.
        file: Arc<str>,
        /// Bytes the failing step asked for.
        needed_bytes: u64,
    },
    /// The payload is over the limit.
    #[error("a page of {bytes} bytes is too large: the limit is {limit_bytes}; split it")]
    TooLarge {
        /// Bytes asked for.
        bytes: usize,
        /// The limit.
        limit_bytes: usize,
    },
    /// Replaces or frees a page that does not exist.
    #[error("{file} has no page {page} to replace or free; run `quire check` on it")]
    NotFound {
        /// Path of the file.
        file: Arc<str>,
        /// The page asked for.
        page: PageId,
    },
    /// An earlier write of this batch failed.
    #[error("this batch has already failed; drop it and begin another")]
    BatchFailed,
    /// The operating system said no; the volume is poisoned.
    #[error("cannot {operation} {file}: {source}; open it again, committed data is safe")]
    Io {
        /// Path of the file.
        file: Arc<str>,
        /// What was tried.
        operation: &'static str,
        /// The answer.
        source: io::Error,
    },
}

/// Why a commit failed. Unless `Unknown` says otherwise nothing of the batch is in the volume.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CommitError {
    /// The batch could not be written; the volume is as if it had never been begun.
    #[error(transparent)]
    Write(#[from] BatchWriteError),
    /// The sync failed: the batch is in the file entirely or not at all, and only opening the
    /// file again tells which.
    #[error(
        "the commit of {file} may or may not be durable: sync failed: {source}; \
         open the file again to see which"
    )]
    Unknown {
        /// Path of the file.
        file: Arc<str>,
        /// The answer of the operating system.
        source: io::Error,
    },
}

impl CommitError {
    /// The same for another transaction of the group.
    pub(crate) fn duplicate(&self) -> Self {
        match self {
            Self::Write(error) => Self::Write(error.duplicate()),
            Self::Unknown { file, source } => Self::Unknown {
                file: Arc::clone(file),
                source: duplicate(source),
            },
        }
    }
}

impl BatchWriteError {
    fn duplicate(&self) -> Self {
        match self {
            Self::ReadOnly { file } => Self::ReadOnly { file: file.clone() },
            Self::Poisoned { file, reason } => Self::Poisoned {
                file: file.clone(),
                reason: reason.clone(),
            },
            Self::Full { file, needed_bytes } => Self::Full {
                file: file.clone(),
                needed_bytes: *needed_bytes,
            },
            Self::TooLarge { bytes, limit_bytes } => Self::TooLarge {
                bytes: *bytes,
                limit_bytes: *limit_bytes,
            },
            Self::NotFound { file, page } => Self::NotFound {
                file: file.clone(),
                page: *page,
            },
            Self::BatchFailed => Self::BatchFailed,
            Self::Io {
                file,
                operation,
                source,
            } => Self::Io {
                file: file.clone(),
                operation,
                source: duplicate(source),
            },
        }
    }
}

fn duplicate(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), error.to_string())
}

/// Why a checkpoint or a close failed. Committed data is safe in every case.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The volume takes no writes.
    #[error(transparent)]
    Write(#[from] BatchWriteError),
}

/// Why cleaning stopped. Committed data is safe in every case.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CleanError {
    /// The copies could not be written.
    #[error(transparent)]
    Write(#[from] BatchWriteError),
    /// The copies could not be committed.
    #[error(transparent)]
    Commit(#[from] CommitError),
}

/// Why a copy of a snapshot was not made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DuplicateError {
    /// The copy could not be created.
    #[error(transparent)]
    Open(#[from] VolumeOpenError),
    /// A page could not be read.
    #[error(transparent)]
    Read(#[from] PageReadError),
    /// A page could not be written.
    #[error(transparent)]
    Write(#[from] BatchWriteError),
    /// The copy could not be committed.
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// The copy could not be closed.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The caller asked to stop.
    #[error("the copy was stopped; make it again")]
    Stopped,
}
