//! Reading, and pins that keep a version of the page map readable.

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quire_format::volume::{
    IMAGE_HEADER_BYTES, LAST_PAGE, PageEntry, PageId, PageKind, PageRange, checksum,
};

use super::cache::PageCacheLookup;
use super::cache_entry::CacheEntry;
use super::inner::{Volume, VolumeInner};
use super::version::PinnedVersion;
use crate::error::PageReadError;

/// Where a payload came from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ReadFrom {
    /// The warm cache.
    Cache,
    /// The disk, in that time.
    Disk {
        duration: Duration,
        /// A slightly larger cache would still have had it.
        was_warm: bool,
    },
}

/// What becomes of a payload in the cache that was read from the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadKeeping {
    /// The cache keeps it.
    Keep,
    /// Its reader makes something of it, and it is not needed any more.
    LetGo,
}

/// Whether the operating system should read what lies behind a page, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadPattern {
    /// Where it finds that reads follow each other, as in a scan of a B-tree that was written in order, a check, a backup, or a file of a
    /// data set.
    Sequential,
    /// Never: scans of columns read ahead themselves what they need, and the columns between are not needed.
    Scattered,
}

/// A snapshot of a volume: its pages stay readable, and their space unused, until it is dropped.
#[derive(Clone)]
pub struct Pin {
    pub(super) version: Arc<PinnedVersion>,
    pub(super) inner: Arc<VolumeInner>,
}

impl Pin {
    /// The payload of a page as of this snapshot.
    ///
    /// # Errors
    /// See [`PageReadError`].
    pub fn read(&self, page: PageId) -> Result<Arc<[u8]>, PageReadError> {
        self.inner.read(&self.version, page)
    }

    /// The same for a page whose neighbours in the file are not likely to be read next, as the segments of columns: the operating system does
    /// not read ahead ([`crate::Disk::read_scattered_at`]).
    ///
    /// # Errors
    /// See [`PageReadError`].
    pub fn read_scattered(&self, page: PageId) -> Result<Arc<[u8]>, PageReadError> {
        let (payload, _) = self.inner.read_from(
            &self.version,
            page,
            ReadKeeping::Keep,
            ReadPattern::Scattered,
        )?;
        Ok(payload)
    }

    /// Path of the file, for messages.
    pub(crate) fn file(&self) -> Arc<str> {
        Arc::clone(&self.inner.file)
    }

    /// True when the page exists in this snapshot.
    #[must_use]
    pub fn contains(&self, page: PageId) -> bool {
        self.version.pages.get(page).is_some()
    }

    /// Length of the payload of a page.
    #[must_use]
    pub fn payload_bytes(&self, page: PageId) -> Option<u32> {
        Some(self.version.pages.get(page)?.payload_bytes)
    }

    /// Bytes of the file that the image of a page takes, header included.
    #[must_use]
    pub fn page_bytes(&self, page: PageId) -> Option<u64> {
        Some(super::page_map::image_bytes(&self.version.pages.get(page)?))
    }

    /// Every page of the snapshot, ascending.
    #[must_use]
    pub fn pages(&self) -> Vec<PageId> {
        let mut pages = Vec::with_capacity(self.version.pages.page_count() as usize);
        self.version
            .pages
            .for_each(&mut |entry| pages.push(entry.page));
        pages
    }

    /// The pages of the snapshot from `first` on, ascending. Pages are numbered in the order in which they are first
    /// written, so these are the ones that are as new as `first`.
    #[must_use]
    pub fn pages_from(&self, first: PageId) -> Vec<PageId> {
        let range = PageRange {
            first,
            count: LAST_PAGE + 1 - first.get(),
        };
        let entries = self.version.pages.range(range);
        entries.into_iter().map(|entry| entry.page).collect()
    }

    /// What the page was called when it was written. One read of 32 bytes.
    ///
    /// # Errors
    /// See [`PageReadError`].
    pub fn kind(&self, page: PageId) -> Result<PageKind, PageReadError> {
        self.inner.read_kind(&self.version, page)
    }

    /// Sequence of the commit that this is a snapshot of.
    #[must_use]
    pub fn commit_sequence(&self) -> u64 {
        self.version.sequence
    }
}

/// For the pool, which has one budget for its frames and this cache.
impl Volume {
    pub(crate) fn read_from(&self, page: PageId) -> Result<(Arc<[u8]>, ReadFrom), PageReadError> {
        self.inner.read_from(
            &self.inner.version(),
            page,
            ReadKeeping::Keep,
            ReadPattern::Sequential,
        )
    }

    /// The same for who keeps the payload, in place of the cache, and [gives it back](Self::keep_cached).
    pub(crate) fn take_from(&self, page: PageId) -> Result<(Arc<[u8]>, ReadFrom), PageReadError> {
        let version = self.inner.version();
        let (payload, from) =
            self.inner
                .read_from(&version, page, ReadKeeping::LetGo, ReadPattern::Sequential)?;
        if let (ReadFrom::Cache, Some(entry)) = (from, version.pages.get(page)) {
            self.inner.cache.remove_payload(entry.offset);
        }
        Ok((payload, from))
    }

    /// Shows the payload of a page that may not be needed again: unless it has been read not long ago, it is kept
    /// nowhere but in `buffer`.
    pub(crate) fn read_in_passing<R>(
        &self,
        page: PageId,
        buffer: &mut Vec<u8>,
        visit: impl FnOnce(&[u8]) -> R,
    ) -> Result<(R, ReadFrom), PageReadError> {
        let version = self.inner.version();
        self.inner.read_in_passing(&version, page, buffer, visit)
    }

    /// The payload of a page when that costs nothing.
    pub(crate) fn read_cached(&self, page: PageId) -> Option<Arc<[u8]>> {
        let version = self.inner.version();
        self.inner.cache.peek(version.pages.get(page)?.offset)
    }

    /// Bytes of the payload of a page, and whether it is in memory.
    pub(crate) fn place_of(&self, page: PageId) -> Option<(u32, bool)> {
        let version = self.inner.version();
        let entry = version.pages.get(page)?;
        Some((entry.payload_bytes, self.inner.cache.has(entry.offset)))
    }

    /// Keeps the payload that a commit has written, or that was taken from the cache: if the page has been written again since, it is kept for nothing.
    pub(crate) fn keep_cached(&self, page: PageId, payload: &Arc<[u8]>) {
        let version = self.inner.version();
        // The version keeps the offset from being used for something else meanwhile.
        if let Some(entry) = version.pages.get(page)
            && entry.payload_bytes as usize == payload.len()
            && entry.payload_checksum == checksum(payload)
        {
            self.inner.cache.insert(entry.offset, payload);
        }
    }

    pub(crate) fn set_cache_budget(&self, budget_bytes: usize, ghost_bytes: usize) {
        self.inner.cache.set_budget(budget_bytes, ghost_bytes);
    }

    /// What a payload of so many bytes costs in the cache.
    pub(crate) fn cached_cost_bytes(payload_bytes: usize) -> usize {
        CacheEntry::payload_cost_bytes(payload_bytes)
    }

    pub(crate) fn cached_bytes(&self) -> u64 {
        self.inner.cache.bytes()
    }
}

impl VolumeInner {
    /// Reads through the cache. The caller holds the version, so the space cannot be reused
    /// before this returns.
    pub(super) fn read(
        &self,
        version: &PinnedVersion,
        page: PageId,
    ) -> Result<Arc<[u8]>, PageReadError> {
        let (payload, _) =
            self.read_from(version, page, ReadKeeping::Keep, ReadPattern::Sequential)?;
        Ok(payload)
    }

    /// The same, and where the payload came from.
    pub(super) fn read_from(
        &self,
        version: &PinnedVersion,
        page: PageId,
        keeping: ReadKeeping,
        pattern: ReadPattern,
    ) -> Result<(Arc<[u8]>, ReadFrom), PageReadError> {
        let entry = self.entry(version, page)?;
        let was_warm = match self.cache.get(entry.offset) {
            PageCacheLookup::Payload(payload) => return Ok((payload, ReadFrom::Cache)),
            PageCacheLookup::Ghost { is_recent } => is_recent,
            PageCacheLookup::Nothing => false,
        };
        self.read_from_disk(&entry, was_warm, keeping, pattern)
    }

    fn read_from_disk(
        &self,
        entry: &PageEntry,
        was_warm: bool,
        keeping: ReadKeeping,
        pattern: ReadPattern,
    ) -> Result<(Arc<[u8]>, ReadFrom), PageReadError> {
        let start = Instant::now();
        let payload = self.read_payload(entry, pattern)?;
        let duration = start.elapsed();
        if keeping == ReadKeeping::Keep {
            self.cache.insert(entry.offset, &payload);
        }
        Ok((payload, ReadFrom::Disk { duration, was_warm }))
    }

    fn read_in_passing<R>(
        &self,
        version: &PinnedVersion,
        page: PageId,
        buffer: &mut Vec<u8>,
        visit: impl FnOnce(&[u8]) -> R,
    ) -> Result<(R, ReadFrom), PageReadError> {
        let entry = self.entry(version, page)?;
        let payload_bytes = entry.payload_bytes as usize;
        let was_warm = match self.cache.get(entry.offset) {
            PageCacheLookup::Payload(payload) => return Ok((visit(&payload), ReadFrom::Cache)),
            PageCacheLookup::Ghost { is_recent } => Some(is_recent),
            PageCacheLookup::Nothing if self.cache.pass_by(entry.offset, payload_bytes) => None,
            PageCacheLookup::Nothing => Some(false),
        };
        if let Some(was_warm) = was_warm {
            let (payload, from) =
                self.read_from_disk(&entry, was_warm, ReadKeeping::Keep, ReadPattern::Sequential)?;
            return Ok((visit(&payload), from));
        }
        let start = Instant::now();
        // What it has from before is overwritten: only what is new must be filled.
        buffer.resize(payload_bytes.max(buffer.len()), 0);
        let payload = buffer.get_mut(..payload_bytes).unwrap_or_default();
        self.read_into(&entry, payload, ReadPattern::Sequential)?;
        let from = ReadFrom::Disk {
            duration: start.elapsed(),
            was_warm: false,
        };
        Ok((visit(payload), from))
    }

    fn entry(&self, version: &PinnedVersion, page: PageId) -> Result<PageEntry, PageReadError> {
        version
            .pages
            .get(page)
            .ok_or_else(|| PageReadError::NotFound {
                file: Arc::clone(&self.file),
                page,
            })
    }

    /// Reads the kind from the header of the image, which must be that of the entry.
    fn read_kind(&self, version: &PinnedVersion, page: PageId) -> Result<PageKind, PageReadError> {
        let entry = self.entry(version, page)?;
        let mut head = [0; IMAGE_HEADER_BYTES];
        self.disk
            .read_at(&mut head, entry.offset)
            .map_err(|source| self.read_failed(&entry, source))?;
        self.kind_in(&entry, &head)
    }

    /// Reads a payload from disk.
    pub(super) fn read_payload(
        &self,
        entry: &PageEntry,
        pattern: ReadPattern,
    ) -> Result<Arc<[u8]>, PageReadError> {
        let mut payload: Arc<[u8]> = std::iter::repeat_n(0, entry.payload_bytes as usize).collect();
        match Arc::get_mut(&mut payload) {
            Some(buffer) => self.read_into(entry, buffer, pattern)?,
            None => {
                let source = io::Error::other("a new buffer is shared");
                return Err(self.read_failed(entry, source));
            }
        }
        Ok(payload)
    }

    /// Fills `payload` from disk and compares its checksum with the one in the map, which also finds writes that were lost
    /// or went elsewhere.
    pub(super) fn read_into(
        &self,
        entry: &PageEntry,
        payload: &mut [u8],
        pattern: ReadPattern,
    ) -> Result<(), PageReadError> {
        let offset = entry.offset + IMAGE_HEADER_BYTES as u64;
        let read = match pattern {
            ReadPattern::Sequential => self.disk.read_at(payload, offset),
            ReadPattern::Scattered => self.disk.read_scattered_at(payload, offset),
        };
        read.map_err(|source| self.read_failed(entry, source))?;
        if checksum(payload) == entry.payload_checksum {
            return Ok(());
        }
        let what = "the checksum of the payload does not match";
        Err(self.corrupt(entry, what.to_owned()))
    }

    pub(super) fn read_failed(&self, entry: &PageEntry, source: io::Error) -> PageReadError {
        if source.kind() == io::ErrorKind::UnexpectedEof {
            return self.corrupt(entry, "the file ends before the image does".to_owned());
        }
        PageReadError::Io {
            file: Arc::clone(&self.file),
            page: entry.page,
            offset: entry.offset,
            source,
        }
    }

    pub(super) fn corrupt(&self, entry: &PageEntry, detail: String) -> PageReadError {
        PageReadError::Corrupt {
            file: Arc::clone(&self.file),
            page: entry.page,
            offset: entry.offset,
            detail,
        }
    }
}
