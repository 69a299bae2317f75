//! What can go wrong in a tree.

use quire_codec::Corrupt;
use quire_format::row_page::{ApplyError, DivideError, PageBuildError, SetupError, space};
use quire_store::PageId;
use quire_store::pool::{AddError, FrameError, GetError};
use thiserror::Error;

/// What is wrong with a page that a tree refers to, and that is free.
pub(super) const FREED: &str = "is free, and another refers to it";

/// What is wrong with a page that does not hold the keys for which a tree refers to it.
pub(super) const ELSEWHERE: &str = "has other fences than the page above it says";

/// Why a tree could not be read or changed. It is as it was.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TreeError {
    /// A page cannot be had.
    #[error(transparent)]
    Get(#[from] GetError),
    /// A page cannot be made.
    #[error(transparent)]
    Add(#[from] AddError),
    /// A page cannot be read or changed where it is.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// A page does not mean anything.
    #[error(
        "page {page} of a tree: {source}; run `quire check` on the file, and restore it from a copy"
    )]
    Corrupt {
        /// Which page.
        page: PageId,
        /// What is wrong with it.
        source: Corrupt,
    },
    /// A page is not what the one above it says.
    #[error(
        "page {page} of a tree {what}; run `quire check` on the file, and restore it from a copy"
    )]
    Astray {
        /// Which page.
        page: PageId,
        /// What is wrong.
        what: &'static str,
    },
    /// A key that no page holds.
    #[error(
        "key of {bytes} bytes: pages of {page_bytes} bytes hold keys of up to {}; \
         shorten the key columns, or use larger pages",
        space::key_bytes_max(*.page_bytes)
    )]
    KeyTooLong {
        /// Length of the key.
        bytes: usize,
        /// Length of the pages.
        page_bytes: usize,
    },
    /// An entry that no page holds.
    #[error(
        "key and value of {bytes} bytes: pages of {page_bytes} bytes hold entries of up to {}; \
         shorten the row, or use larger pages",
        space::entry_bytes_max(*.page_bytes)
    )]
    EntryTooLong {
        /// Length of key and value.
        bytes: usize,
        /// Length of the pages.
        page_bytes: usize,
    },
    /// There are no overflow pages.
    #[error(
        "a value was to be stored in overflow pages, which trees do not have; use larger pages"
    )]
    Overflow,
    /// The operation does not suit the entry.
    #[error(transparent)]
    Entry(ApplyError),
    /// A page cannot be made like that.
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A page could not be divided.
    #[error("page {page} of a tree: {source}")]
    Divide {
        /// Which page.
        page: PageId,
        /// Why.
        source: DivideError,
    },
    /// A tree could not be built.
    #[error(transparent)]
    Build(#[from] PageBuildError),
}

impl TreeError {
    /// What is wrong with a page.
    pub(super) const fn corrupt(page: PageId) -> impl FnOnce(Corrupt) -> Self {
        move |source| Self::Corrupt { page, source }
    }

    /// What is wrong with a page that cannot be divided.
    pub(super) const fn divide(page: PageId) -> impl FnOnce(DivideError) -> Self {
        move |error| match error {
            DivideError::Corrupt(source) => Self::Corrupt { page, source },
            source => Self::Divide { page, source },
        }
    }

    /// What is wrong with an operation on a page.
    pub(super) const fn entry(page: PageId) -> impl FnOnce(ApplyError) -> Self {
        move |error| match error {
            ApplyError::Corrupt(source) => Self::Corrupt { page, source },
            other => Self::Entry(other),
        }
    }

    pub(super) const fn freed(page: PageId) -> Self {
        let what = FREED;
        Self::Astray { page, what }
    }
}

/// Why the pages of a tree in the volume could not be found.
#[derive(Debug, Error)]
pub enum StoredTreeError {
    /// The volume cannot hand out a page.
    #[error(transparent)]
    Read(#[from] quire_store::PageReadError),
    /// A page does not mean anything.
    #[error("{what}: {source}; run `quire check` on the file, and restore it from a copy")]
    Corrupt {
        /// Which page.
        what: String,
        /// What is wrong with it.
        source: Corrupt,
    },
}
