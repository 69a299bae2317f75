//! Point lookups in pages without a frame: the key is searched in the compressed image.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use quire_format::row_page::{PageImage, StoredPageRows};
use quire_format::volume::PageId;

use super::error::GetError;
use super::frame::PageFrame;
use super::{PageCodec, Pool, PoolInner};

/// The result of [`Pool::glance`].
pub enum Glance<R> {
    /// The page has a frame, in which the caller searches the key.
    Frame(Arc<PageFrame>),
    /// The page has no frame; this is what the closure returned for its image.
    Seen(R),
}

/// Scratch buffers of one thread, for images and decompressed pages. A lookup takes them out of their cell, so that a lookup nested
/// in it gets empty buffers instead of overwriting these.
#[derive(Default)]
struct LookupBuffers {
    image: Vec<u8>,
    raw: Vec<u8>,
}

thread_local! {
    static BUFFERS: Cell<LookupBuffers> = Cell::default();
}

impl Pool {
    /// Looks up one key of a page. Returns the frame of the page if it has one, and otherwise what `search` finds in the newest image,
    /// which is the state of the page at some time during the call.
    ///
    /// The page is loaded into a frame first if there is free memory for frames, if it was looked up recently, or if its image is stored
    /// by columns and would have to be decoded as a whole; in a [pool of twins](super::PoolPolicy::Twins) always.
    ///
    /// # Errors
    /// See [`GetError`].
    pub fn glance<R>(
        &self,
        page: PageId,
        codec: PageCodec,
        search: impl FnOnce(&StoredPageRows<'_>) -> R,
    ) -> Result<Glance<R>, GetError> {
        if let Some(frame) = self.inner.residents.peek(page) {
            return Ok(Glance::Frame(frame));
        }
        if codec.columns().is_none() && !self.inner.should_load(page) {
            // The buffers are put back before the error is returned.
            let mut buffers = BUFFERS.take();
            let seen = self.inner.search_image(page, &mut buffers, search);
            BUFFERS.set(buffers);
            if let Some(seen) = seen? {
                return Ok(Glance::Seen(seen));
            }
        }
        self.get(page, codec).map(Glance::Frame)
    }
}

impl PoolInner {
    /// Whether the page should be loaded into a frame: InnoDB's pool knows nothing else. The lock is released before anything is read.
    fn should_load(&self, page: PageId) -> bool {
        if self.policy.has_twins() {
            return true;
        }
        let hot = self.lock();
        let limit_bytes = self.frame_bytes_wanted(&hot);
        hot.replacement.should_load(page, limit_bytes)
    }

    /// Applies `search` to the newest image of a page without a frame; `None` if the image would have to be decoded for that.
    ///
    /// A changed page keeps its frame until it is flushed, so the image of a page without a frame is current. If another thread has loaded
    /// the page since and changes it, the image is still the state before that change, which falls into this call.
    fn search_image<R>(
        &self,
        page: PageId,
        buffers: &mut LookupBuffers,
        search: impl FnOnce(&StoredPageRows<'_>) -> R,
    ) -> Result<Option<R>, GetError> {
        let LookupBuffers { image, raw } = buffers;
        let upkeep = &self.upkeep;
        let (seen, from) = upkeep.volume.read_in_passing(page, image, |image| {
            let opened = PageImage::open(image).map_err(upkeep.not_a_page(page))?;
            let seen = upkeep.search_image(page, &opened, raw, search)?;
            Ok::<_, GetError>((seen, opened.page_bytes()))
        })?;
        let (seen, page_bytes) = seen?;
        if seen.is_some() {
            // Its name is unknown to the ghosts, or `should_load` would have asked for a frame.
            let miss = self.count(from, None);
            self.upkeep.counters.glances.fetch_add(1, Ordering::Relaxed);
            let costs = &self.upkeep.costs;
            let mut hot = self.lock();
            hot.split.note(miss, costs.read.ns(), costs.decode.ns());
            let limit_bytes = self.frame_bytes_wanted(&hot);
            // From now on it is known: the next lookup loads the page.
            hot.replacement.add_ghost(page, page_bytes, limit_bytes);
        }
        Ok(seen)
    }
}
