//! What can go wrong in the pool, one enum per operation.

use std::sync::Arc;

use quire_codec::Corrupt;
use quire_codec::block::CodecOpenError;
use quire_format::row_page::ApplyError;
use quire_format::volume::PageId;
use thiserror::Error;

use crate::error::PageReadError;

/// Why a page cannot be had.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GetError {
    /// The volume does not give its image.
    #[error(transparent)]
    Read(#[from] PageReadError),
    /// The image is what was written, and yet it is none of a row page.
    #[error(
        "page {page} of {file} is no row page: {source}; restore a backup, or see what else is damaged \
         with `quire check`"
    )]
    Image {
        /// Path of the file.
        file: Arc<str>,
        /// The page.
        page: PageId,
        /// What is wrong.
        source: Corrupt,
    },
    /// The codec of the image cannot be had.
    #[error("page {page}: {source}")]
    Codec {
        /// The page.
        page: PageId,
        /// Why.
        source: CodecOpenError,
    },
}

/// Why a new page cannot be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AddError {
    /// Every number a page can have is used up.
    #[error("the file has no numbers left for new pages; copy its tables to a new file")]
    OutOfPages,
    /// The bytes are no row page.
    #[error("bytes of a new page are none: {0}; this is a defect of the caller")]
    Page(#[from] Corrupt),
    /// The page is there already.
    #[error("page {page} is there already and cannot be made anew; this is a defect of the caller")]
    Exists {
        /// The page.
        page: PageId,
    },
}

/// Why a frame cannot be read or changed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The page was freed by a merge after the caller had found its number.
    #[error("page {page} has been freed; descend from the root again")]
    Freed {
        /// The page.
        page: PageId,
    },
    /// A thread panicked while it changed the page, which may be half changed.
    #[error("a change of page {page} was interrupted by a defect; open the file again")]
    Interrupted {
        /// The page.
        page: PageId,
    },
    /// The page contradicts itself.
    #[error("page {page}: {source}; open the file again and run `quire check`")]
    Corrupt {
        /// The page.
        page: PageId,
        /// What is wrong.
        source: Corrupt,
    },
}

/// Why an operation was not applied. The page is as it was.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// The frame cannot be changed at all.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The page refuses the operation.
    #[error(transparent)]
    Apply(#[from] ApplyError),
}

/// Why the changed pages cannot be flushed. They are still in the pool, and the log has what changed them.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FlushError {
    /// A thread panicked while it changed pages: some of what belongs together may be missing.
    #[error(
        "a change of pages was interrupted by a defect; open the file again, committed data is safe"
    )]
    Interrupted,
    /// A page cannot be read from its frame.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// The image that changes are to be appended to cannot be read.
    #[error(transparent)]
    Read(#[from] PageReadError),
    /// The image of a page cannot be made.
    #[error("page {page}: {detail}; open the file again")]
    Image {
        /// The page.
        page: PageId,
        /// What is wrong.
        detail: String,
    },
}
