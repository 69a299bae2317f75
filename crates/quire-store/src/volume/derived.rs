//! What others have made of pages, kept in the warm cache instead of the pages.
//!
//! Scans of `quire_tables` keep columns that they have decoded there, as the left side of figure 6.1 of paper 2 does: a buffer manager whose pages are
//! uncompressed. The volume does not know what it keeps: a value of any type, and how many bytes its maker says that it takes. It is in the
//! volume's cache and not in one of its maker's because both would compete for the same memory without knowing of each other: here there is one
//! budget, which moves between the cache and the frames of row pages, and one order in which entries go.
//!
//! What is kept belongs to *images*, not to pages: it is found by where the images of the pages start in the snapshot that asks. A page that was
//! written again has another image, so nothing stale is found; and a pin keeps the space of its images from being used again. When their
//! space is given back, what was made of them goes. No lock is held while something is made.

use std::any::Any;
use std::sync::Arc;

use quire_format::volume::PageId;

use super::cache_entry::DerivedEntry;
use super::pin::Pin;

impl Pin {
    /// What was made under this number of pages of the snapshot, if the cache still has it: that counts as a use. `None` if one of
    /// them does not exist.
    #[must_use]
    pub fn derived(&self, pages: &[PageId], number: u32) -> Option<Arc<dyn Any + Send + Sync>> {
        self.inner.cache.derived(&self.images(pages)?, number)
    }

    /// Whether [`derived`](Self::derived) would find something. Does not count as a use.
    #[must_use]
    pub fn has_derived(&self, pages: &[PageId], number: u32) -> bool {
        let images = self.images(pages);
        images.is_some_and(|images| self.inner.cache.has_derived(&images, number))
    }

    /// Keeps what was made of pages of the snapshot, which takes so many bytes, as long as the budget of the cache permits: what is larger
    /// than a shard of it is not kept. Drops the payloads of the pages from the cache. Numbers tell apart what is made of the same pages.
    pub fn keep_derived(
        &self,
        (pages, number): (&[PageId], u32),
        value: Arc<dyn Any + Send + Sync>,
        bytes: usize,
    ) {
        if let Some(images) = self.images(pages) {
            let derived = DerivedEntry {
                images: images.clone().into(),
                value,
                bytes,
            };
            self.inner.cache.insert_derived(&images, number, derived);
        }
    }

    /// Where the images of pages start; `None` if one of them does not exist.
    fn images(&self, pages: &[PageId]) -> Option<Vec<u64>> {
        let entries = pages.iter().map(|page| self.version.pages.get(*page));
        entries.map(|entry| Some(entry?.offset)).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use quire_format::volume::PageKind;

    use super::*;
    use crate::disk::MemDisk;
    use crate::volume::{Volume, VolumeOptions};

    const NUMBER: u32 = 3;

    fn volume() -> Volume {
        Volume::create(Arc::new(MemDisk::new()), VolumeOptions::default()).unwrap()
    }

    /// Writes a page, a new one or another image of it.
    fn write(volume: &Volume, page: Option<PageId>, byte: u8) -> PageId {
        let batch = volume.begin().unwrap();
        let (kind, payload) = (PageKind::Segment, [byte; 100]);
        let written = match page {
            Some(page) => batch.replace(page, kind, &payload).map(|()| page),
            None => batch.write(kind, &payload),
        };
        let page = written.unwrap();
        batch.commit().unwrap();
        page
    }

    fn keep(pin: &Pin, pages: &[PageId], text: &'static str) {
        pin.keep_derived((pages, NUMBER), Arc::new(text), 1_000);
    }

    fn found(pin: &Pin, pages: &[PageId]) -> Option<&'static str> {
        let value = pin.derived(pages, NUMBER)?;
        value.downcast_ref::<&'static str>().copied()
    }

    #[test]
    fn what_is_made_of_pages_is_that_of_a_snapshot() {
        let volume = volume();
        let pages = [write(&volume, None, 1), write(&volume, None, 2)];
        let old = volume.pin();
        keep(&old, &pages, "old");
        write(&volume, None, 4);
        assert_eq!(found(&volume.pin(), &pages), Some("old"), "the same images");
        write(&volume, Some(pages[1]), 3);
        let new = volume.pin();
        assert_eq!(found(&old, &pages), Some("old"));
        assert_eq!(found(&new, &pages), None);
        keep(&new, &pages, "new");
        assert_eq!(found(&new, &pages), Some("new"));
        assert!(volume.stats().cache_bytes < 2_000, "one of both is here");
    }

    #[test]
    fn space_that_is_used_again_takes_along_what_was_made_of_it() {
        let volume = volume();
        let page = write(&volume, None, 1);
        keep(&volume.pin(), &[page], "first");
        for byte in 2..200 {
            write(&volume, Some(page), byte);
            volume.checkpoint().unwrap();
            assert_eq!(found(&volume.pin(), &[page]), None, "{byte}");
        }
        assert_eq!(volume.stats().cache_bytes, 0);
    }

    #[test]
    fn pages_that_do_not_exist_have_nothing() {
        let volume = volume();
        let (pin, missing) = (volume.pin(), PageId::new(1 << 20).unwrap());
        for pages in [&[missing][..], &[]] {
            keep(&pin, pages, "nothing");
            assert!(!pin.has_derived(pages, NUMBER));
            assert_eq!(found(&pin, pages), None);
        }
    }

    #[test]
    fn a_volume_that_is_dropped_lets_go_of_all() {
        let volume = volume();
        let page = write(&volume, None, 1);
        let value = Arc::new(5_u64);
        let shared = Arc::clone(&value);
        volume.pin().keep_derived((&[page], NUMBER), shared, 1_000);
        assert_eq!(Arc::strong_count(&value), 2);
        drop(volume);
        assert_eq!(Arc::strong_count(&value), 1);
    }
}
