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
