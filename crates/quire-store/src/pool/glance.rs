//! Looking up one key of a page that is not worth a frame.

use std::cell::Cell;
use std::sync::Arc;

use quire_format::row_page::{PageImage, StoredPageRows};
use quire_format::volume::PageId;

use super::error::GetError;
use super::frame::PageFrame;
use super::{PageCodec, Pool, PoolInner};

/// What a look at a page gives.
pub enum Glance<R> {
    /// The page is in memory, to be read there.
    Frame(Arc<PageFrame>),
    /// The page is not, and what was looked for in its image is this.
    Seen(R),
}

/// Where images are read and decompressed. They are taken out as long as they are used, so that nobody finds them twice.
#[derive(Default)]
struct Buffers {
    image: Vec<u8>,
    raw: Vec<u8>,
}

thread_local! {
    static BUFFERS: Cell<Buffers> = Cell::default();
}

impl Pool {
    /// For one key of a page: its frame, or, when it has none and has not been asked for lately, what `look` finds in the newest image.
    /// That is what the page was like at some time during the call. When frames are plentiful, when the page has been asked for
    /// lately, or when its image is stored by columns, it gets a frame.
    ///
    /// # Errors
    /// See [`GetError`].
    pub fn glance<R>(
        &self,
        page: PageId,
        codec: PageCodec,
        look: impl FnOnce(&StoredPageRows<'_>) -> R,
    ) -> Result<Glance<R>, GetError> {
        if let Some(frame) = self.inner.residents.peek(page) {
            return Ok(Glance::Frame(frame));
        }
        if codec.columns().is_none() && !self.inner.wants_frame(page) {
            let mut buffers = BUFFERS.take();
            let seen = self.inner.look_into(page, &mut buffers, look);
            BUFFERS.set(buffers);
            if let Some(seen) = seen? {
                return Ok(Glance::Seen(seen));
            }
        }
        self.get(page, codec).map(Glance::Frame)
    }
}

impl PoolInner {
    fn wants_frame(&self, page: PageId) -> bool {
        let hot = self.lock();
        let limit_bytes = hot.tuner.frame_bytes();
        hot.replacement.wants(page, limit_bytes)
    }

    /// No frame was there, so nothing in memory is newer than the image; should one have come meanwhile, what the image says was
    /// true before its first change.
    fn look_into<R>(
        &self,
        page: PageId,
        buffers: &mut Buffers,
        look: impl FnOnce(&StoredPageRows<'_>) -> R,
    ) -> Result<Option<R>, GetError> {
        let Buffers { image, raw } = buffers;
        let upkeep = &self.upkeep;
        let (seen, from) = upkeep.volume.read_in_passing(page, image, |image| {
            let opened = PageImage::open(image).map_err(upkeep.not_a_page(page))?;
            let seen = upkeep.look_into(page, &opened, raw, look)?;
            Ok::<_, GetError>((seen, opened.page_bytes()))
        })?;
        let (seen, page_bytes) = seen?;
        if seen.is_some() {
            let miss = self.count(from, None);
            let costs = &self.upkeep.costs;
            let mut hot = self.lock();
            hot.tuner.note(miss, costs.read.ns(), costs.decode.ns());
            let limit_bytes = hot.tuner.frame_bytes();
            hot.replacement.pass_by(page, page_bytes, limit_bytes);
        }
        Ok(seen)
    }
}
