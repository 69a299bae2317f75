//! A copy of a snapshot in another volume, while this one is in use.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use quire_format::volume::{
    FIRST_FREE_PAGE, IMAGE_HEADER_BYTES, ImageHeader, ImageKind, PageEntry, PageKind,
};

use super::inner::{Volume, VolumeInner};
use super::options::VolumeOptions;
use super::page_map::image_bytes;
use super::pin::{Pin, ReadPattern};
use crate::disk::Disk;
use crate::error::{DuplicateError, PageReadError};

impl Pin {
    /// Writes the pages of this snapshot to a disk that holds nothing: a closed volume with the same pages by the same numbers and no
    /// dead space, whose commits go on where those of this one are. The log of row transactions is pages like all others, so the copy
    /// is what a crash would have left at that commit. Others read and write meanwhile. `go_on` hears how many bytes of how many
    /// are copied, and may say no.
    ///
    /// # Errors
    /// See [`DuplicateError`]. What is on the disk then is of no use.
    pub fn duplicate(
        &self,
        disk: Arc<dyn Disk>,
        mut go_on: impl FnMut(u64, u64) -> bool,
    ) -> Result<(), DuplicateError> {
        let options = VolumeOptions {
            cache_bytes: 0,
            ..VolumeOptions::default()
        };
        let copy = Volume::create(disk, options)?;
        self.name_next_in(&copy);
        let total_bytes = self.version.pages.live_bytes();
        let mut done_bytes = 0;
        let batch = copy.begin()?;
        for entry in self.entries_by_place() {
            let (kind, payload) = self.inner.read_image(&entry)?;
            if entry.page.get() < FIRST_FREE_PAGE {
                batch.replace(entry.page, kind, &payload)?
            } else {
                batch.put(entry.page, kind, &payload)?
            }
            done_bytes += image_bytes(&entry);
            if !go_on(done_bytes, total_bytes) {
                return Err(DuplicateError::Stopped);
            }
        }
        batch.commit()?;
        Ok(copy.close()?)
    }

    /// Pages and commits of the copy go on where those of this volume are: names are not used again.
    fn name_next_in(&self, copy: &Volume) {
        let next_page = self.inner.next_page();
        copy.inner.next_page.store(next_page, Ordering::Relaxed);
        copy.inner.lock_writer().contents.next_sequence = self.version.sequence.max(1);
    }

    /// All pages, in the order in which they lie in the file.
    fn entries_by_place(&self) -> Vec<PageEntry> {
        let mut entries = Vec::with_capacity(self.version.pages.page_count() as usize);
        self.version
            .pages
            .for_each(&mut |entry| entries.push(entry));
        entries.sort_unstable_by_key(|entry| entry.offset);
        entries
    }
}

impl VolumeInner {
    /// Kind and payload of a page, past the cache.
    fn read_image(&self, entry: &PageEntry) -> Result<(PageKind, Vec<u8>), PageReadError> {
        let mut head = [0; IMAGE_HEADER_BYTES];
        self.disk
            .read_at(&mut head, entry.offset)
            .map_err(|source| self.read_failed(entry, source))?;
        let kind = self.kind_in(entry, &head)?;
        let mut payload = vec![0; entry.payload_bytes as usize];
        self.read_into(entry, &mut payload, ReadPattern::Sequential)?;
        Ok((kind, payload))
    }

    /// What the header of an image says, which must be that of the entry.
    pub(super) fn kind_in(
        &self,
        entry: &PageEntry,
        head: &[u8; IMAGE_HEADER_BYTES],
    ) -> Result<PageKind, PageReadError> {
        let header = ImageHeader::decode(head);
        let header = header.map_err(|error| self.corrupt(entry, error.to_string()))?;
        match header.kind {
            ImageKind::Page(found, kind)
                if found == entry.page && header.payload_checksum == entry.payload_checksum =>
            {
                Ok(kind)
            }
            _ => Err(self.corrupt(entry, "there is another image".to_owned())),
        }
    }
}
