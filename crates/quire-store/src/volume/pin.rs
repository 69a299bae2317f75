//! Reading: versions of the page map, and pins that keep one readable.

use std::io;
use std::sync::Arc;

use quire_format::volume::{IMAGE_HEADER_BYTES, PageEntry, PageId, checksum};

use super::contents::Contents;
use super::{Inner, PageMap};
use crate::error::ReadError;

/// The page map as of one commit. As long as anybody holds it, no byte it refers to is reused.
pub(super) struct Version {
    pub(super) sequence: u64,
    pub(super) pages: PageMap,
}

impl Version {
    pub(super) fn of(contents: &Contents) -> Arc<Self> {
        Arc::new(Self {
            sequence: contents.commit_sequence,
            pages: contents.pages.clone(),
        })
    }
}

/// A snapshot of a volume: its pages stay readable, and their space unused, until it is dropped.
#[derive(Clone)]
pub struct Pin {
    pub(super) version: Arc<Version>,
    pub(super) inner: Arc<Inner>,
}

impl Pin {
    /// The payload of a page as of this snapshot.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn read(&self, page: PageId) -> Result<Arc<[u8]>, ReadError> {
        self.inner.read(&self.version, page)
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

    /// Sequence of the commit that this is a snapshot of.
    #[must_use]
    pub fn commit_sequence(&self) -> u64 {
        self.version.sequence
    }
}

impl Inner {
    /// Reads through the cache. The caller holds the version, so the space cannot be reused
    /// before this returns.
    pub(super) fn read(&self, version: &Version, page: PageId) -> Result<Arc<[u8]>, ReadError> {
        let not_found = || ReadError::NotFound {
            file: Arc::clone(&self.file),
            page,
        };
        let entry = version.pages.get(page).ok_or_else(not_found)?;
        if let Some(payload) = self.cache.get(entry.offset) {
            return Ok(payload);
        }
        let payload = self.read_payload(&entry)?;
        self.cache.insert(entry.offset, &payload);
        Ok(payload)
    }

    /// Reads a payload from disk and compares its checksum with the one in the map, which also
    /// finds writes that were lost or went elsewhere.
    pub(super) fn read_payload(&self, entry: &PageEntry) -> Result<Arc<[u8]>, ReadError> {
        let mut payload: Arc<[u8]> = std::iter::repeat_n(0, entry.payload_bytes as usize).collect();
        let read = match Arc::get_mut(&mut payload) {
            Some(buffer) => self
                .disk
                .read_at(buffer, entry.offset + IMAGE_HEADER_BYTES as u64),
            None => Err(io::Error::other("a new buffer is shared")),
        };
        match read {
            Ok(()) if checksum(&payload) == entry.payload_checksum => Ok(payload),
            Ok(()) => Err(self.corrupt(
                entry,
                "the checksum of the payload does not match".to_owned(),
            )),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(self.corrupt(entry, "the file ends before the image does".to_owned()))
            }
            Err(source) => Err(ReadError::Io {
                file: Arc::clone(&self.file),
                page: entry.page,
                offset: entry.offset,
                source,
            }),
        }
    }

    fn corrupt(&self, entry: &PageEntry, detail: String) -> ReadError {
        ReadError::Corrupt {
            file: Arc::clone(&self.file),
            page: entry.page,
            offset: entry.offset,
            detail,
        }
    }
}
