//! What can go wrong with a log that is read.

use std::sync::Arc;

use quire_codec::Corrupt;
use quire_format::volume::PageId;
use thiserror::Error;

use crate::error::PageReadError;
use crate::volume::Pin;

/// Why a log could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LogError {
    /// A page could not be read.
    #[error(transparent)]
    Read(#[from] PageReadError),
    /// The pages are whole, but no log.
    #[error(
        "the log of {file} is damaged in page {page}: {detail}; restore a backup, \
         or see what else is damaged with `quire check`"
    )]
    Corrupt {
        /// Path of the file.
        file: Arc<str>,
        /// The page.
        page: PageId,
        /// What is wrong.
        detail: String,
    },
}

/// Why a replay stopped.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReplayError<E: std::error::Error + 'static> {
    /// The log could not be read.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The records could not be applied.
    #[error("commit {sequence} of the log cannot be applied: {source}")]
    Apply {
        /// The commit.
        sequence: u64,
        /// What was wrong with it.
        source: E,
    },
}

/// Says in which page of which file the bytes are wrong.
pub(super) fn corrupt(pin: &Pin, page: PageId, detail: impl ToString) -> LogError {
    LogError::Corrupt {
        file: pin.file(),
        page,
        detail: detail.to_string(),
    }
}

/// For `map_err` on what the format says.
pub(super) fn corrupt_in(pin: &Pin, page: PageId) -> impl Fn(Corrupt) -> LogError {
    move |error| corrupt(pin, page, error)
}
