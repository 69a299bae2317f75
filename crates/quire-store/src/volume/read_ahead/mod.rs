//! Read-ahead: the pages that a scan will need soon are read by threads of the volume while it works on others.
//!
//! Read-ahead never changes what a reader gets, only when the disk is asked. A page that could not be read ahead is read again by its
//! reader, who reports the error; for a page that nobody reads there is none.

mod neighbours;
mod report;
mod requests;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use quire_format::volume::PageId;

use super::pin::{Pin, ReadFrom, ReadKeeping, ReadPattern};
use super::read_ahead_bound::held_bytes_max;
use crate::error::PageReadError;
pub use report::{ReadAheadPage, ReadAheadSource, ReadAheadStatistics, RequestedBytes};
use requests::ScanReads;

/// The pages that one scan has asked for ahead. Shared by all its readers. Dropping it releases everything and cancels what has not
/// begun; it does not wait for reads in progress.
pub struct ReadAhead {
    pin: Pin,
    reads: Arc<ScanReads>,
}

impl Pin {
    /// Read-ahead for one scan of this snapshot.
    #[must_use]
    pub fn read_ahead(&self) -> ReadAhead {
        let inner = &self.inner;
        let reads = ScanReads::new(&inner.disk, &inner.cache, &inner.read_ahead, &self.version);
        ReadAhead {
            pin: self.clone(),
            reads: Arc::new(reads),
        }
    }
}

impl ReadAhead {
    /// Names pages that will be needed soon, the first ones first. Those that are in the cache, have been asked for already, or do not
    /// exist are left out. The others are read in the order of the file, neighbours together, kept in the cache, and held until they
    /// are [read](Self::read) or [released](Self::release). Does not wait.
    ///
    /// What is queued, being read, and held is bounded over all scans of the volume (see [`held_bytes_max`](Self::held_bytes_max)). The
    /// pages from the first one on that exceeds the bound are not asked for.
    pub fn request(&self, pages: &[PageId]) -> RequestedBytes {
        self.request_for(pages, ReadKeeping::Keep)
    }

    /// The same for pages whose payloads are needed [once](Self::read_once): the cache does not keep them.
    pub fn request_once(&self, pages: &[PageId]) -> RequestedBytes {
        self.request_for(pages, ReadKeeping::LetGo)
    }

    fn request_for(&self, pages: &[PageId], keeping: ReadKeeping) -> RequestedBytes {
        let (requested, requests) = self.reads.queue(pages, keeping);
        for request in requests {
            let reads = Arc::downgrade(&self.reads);
            let job = move || {
                if let Some(reads) = reads.upgrade() {
                    reads.perform(request);
                }
            };
            self.pin.inner.read_threads.submit(Box::new(job));
        }
        requested
    }

    /// The payload of a page as of the pin, whether or not it was asked for. If it is being read, waits for that; if nobody has begun to
    /// read it, reads it, and what is read together with it. Each page is handed over once; who reads it again gets it as from
    /// [`Pin::read`].
    ///
    /// # Errors
    /// See [`PageReadError`].
    pub fn read(&self, page: PageId) -> Result<ReadAheadPage, PageReadError> {
        self.read_for(page, ReadKeeping::Keep)
    }

    /// The same for who makes something of the payload, such as what [`Pin::keep_derived`] keeps, and does not need it again: if it is read
    /// from the disk now, the cache does not keep it.
    ///
    /// # Errors
    /// See [`PageReadError`].
    pub fn read_once(&self, page: PageId) -> Result<ReadAheadPage, PageReadError> {
        self.read_for(page, ReadKeeping::LetGo)
    }

    fn read_for(&self, page: PageId, keeping: ReadKeeping) -> Result<ReadAheadPage, PageReadError> {
        let taken = self.reads.take(page);
        if let Some(payload) = taken.payload {
            self.reads.note_page(taken.source, taken.wait);
            return Ok(ReadAheadPage {
                payload,
                source: taken.source,
                wait: taken.wait,
            });
        }
        let (inner, version) = (&self.pin.inner, &self.pin.version);
        let (payload, from) = inner.read_from(version, page, keeping, ReadPattern::Scattered)?;
        let (source, duration) = match from {
            ReadFrom::Cache => (ReadAheadSource::Cache, Duration::ZERO),
            ReadFrom::Disk { duration, .. } => {
                self.reads.note_own_read(payload.len() as u64);
                (ReadAheadSource::Disk, duration)
            }
        };
        let wait = taken.wait + duration;
        self.reads.note_page(source, wait);
        Ok(ReadAheadPage {
            payload,
            source,
            wait,
        })
    }

    /// Names pages that will not be needed after all. What is held is dropped, what has not begun is cancelled, and what is being read
    /// is dropped when it has been. Pages that were not asked for are left out.
    pub fn release(&self, pages: &[PageId]) {
        self.reads.release(pages);
    }

    /// The same for all pages that were asked for.
    pub fn release_all(&self) {
        self.reads.release_all();
    }

    /// Whether [`read`](Self::read) would return at once: the page is held, in the cache, does not exist, or could not be read ahead.
    #[must_use]
    pub fn is_ready(&self, page: PageId) -> bool {
        self.reads.is_ready(page)
    }

    /// Bytes of the images that are queued, being read, or held for this scan.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        self.reads.held_bytes()
    }

    /// The most that all scans of the volume together may have of these: an eighth of the cache, 1 MiB at least. When the cache becomes
    /// smaller, what has been accepted stays.
    #[must_use]
    pub fn held_bytes_max(&self) -> u64 {
        held_bytes_max(&self.reads.cache)
    }

    /// Whether all scans of the volume together have more than half of [`held_bytes_max`](Self::held_bytes_max). Who may not read soon what he
    /// asks for leaves the rest to others.
    #[must_use]
    pub fn is_crowded(&self) -> bool {
        self.reads.bound.held_bytes() > self.held_bytes_max() / 2
    }

    /// What read-ahead has done for this scan so far.
    #[must_use]
    pub fn statistics(&self) -> ReadAheadStatistics {
        self.reads.statistics()
    }
}

impl Drop for ReadAhead {
    fn drop(&mut self) {
        self.reads.abandon();
    }
}
