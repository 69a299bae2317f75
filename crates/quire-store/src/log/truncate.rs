//! Shortening the log.

use quire_format::volume::{LOG_ROOT_PAGE, PageKind};

use super::VolumeLog;
use super::sequence::LogSequence;
use crate::error::BatchWriteError;
use crate::volume::WriteBatch;

impl VolumeLog {
    /// Are there parts of commits that came to nothing? A truncation frees them.
    #[must_use]
    pub fn has_leftovers(&self) -> bool {
        let pin = self.inner.volume.pin();
        let live = self.inner.lock_live();
        live.orphans.iter().any(|page| pin.contains(*page))
    }

    /// Frees, as part of `batch`, the pages of commits up to `up_to`: the batch writes what they did into the pages of
    /// the row tables. They are gone when the batch is committed; when it is dropped nothing has happened. At most
    /// once per batch. A commit that shares its page with a later one is no longer replayed either.
    ///
    /// # Errors
    /// As [`WriteBatch::replace`].
    pub fn truncate(&self, batch: &WriteBatch, up_to: LogSequence) -> Result<(), BatchWriteError> {
        batch.shortens_log();
        let (freed, root) = {
            let mut live = self.inner.lock_live();
            live.reconcile(|page| batch.existed(page));
            let (mut freed, root) = live.truncated(up_to);
            freed.extend(&live.orphans);
            (freed, root)
        };
        for page in freed {
            batch.free(page)?;
        }
        batch.replace(LOG_ROOT_PAGE, PageKind::LogRoot, &root.encode())
    }
}
