//! The pages of one tree in the pool.

use std::sync::Arc;

use quire_format::row_page::{RowPage, RowPageMut, StoredPageRows};
use quire_store::pool::{
    ChangeGuard, FrameError, FrameMut, GetError, Glance, PageCodec, PageFrame, Pool, Residence,
};
use quire_store::{PageId, PageReadError, ReadAhead};

use super::error::TreeError;

/// Where a tree's pages are, and how they are compressed.
pub(super) struct Pages {
    pool: Pool,
    codec: PageCodec,
}

impl Pages {
    pub(super) const fn new(pool: Pool, codec: PageCodec) -> Self {
        Self { pool, codec }
    }

    /// The pages are gone, as of the guard.
    pub(super) fn forget_tree(&self, guard: &ChangeGuard<'_>) {
        self.pool.forget_tree(self.codec, guard);
    }

    /// The frame of a page; `None` when the page has been freed, or never was.
    pub(super) fn get(&self, page: PageId) -> Result<Option<Arc<PageFrame>>, TreeError> {
        match self.pool.get(page, self.codec) {
            Ok(frame) => Ok(Some(frame)),
            Err(GetError::Read(PageReadError::NotFound { .. })) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Where a page is, without bringing it into memory.
    pub(super) fn residence(&self, page: PageId) -> Residence {
        self.pool.residence(page)
    }

    /// For who will soon need pages of which the images are only on the disk.
    pub(super) fn read_ahead(&self) -> ReadAhead {
        self.pool.read_ahead()
    }

    /// Bytes that the pool may take, for the pages of all trees.
    pub(super) fn pool_bytes(&self) -> usize {
        self.pool.budget_bytes()
    }

    /// How pages are compressed.
    pub(super) const fn codec(&self) -> PageCodec {
        self.codec
    }

    /// Looks into a page that may not be needed again; `None` when the page has been freed, or never was.
    pub(super) fn glance<R>(
        &self,
        page: PageId,
        look: impl FnOnce(&StoredPageRows<'_>) -> R,
    ) -> Result<Option<Glance<R>>, TreeError> {
        match self.pool.glance(page, self.codec, look) {
            Ok(glance) => Ok(Some(glance)),
            Err(GetError::Read(PageReadError::NotFound { .. })) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// A new page.
    pub(super) fn add(&self, bytes: &[u8]) -> Result<Arc<PageFrame>, TreeError> {
        Ok(self.pool.add(bytes.into(), self.codec)?)
    }

    /// A new page with that number.
    pub(super) fn add_at(&self, page: PageId, bytes: &[u8]) -> Result<Arc<PageFrame>, TreeError> {
        Ok(self.pool.add_at(page, bytes.into(), self.codec)?)
    }
}

/// Shows a page; `None` when it has been freed.
pub(super) fn read<R>(
    frame: &PageFrame,
    visit: impl FnOnce(&RowPage<'_>) -> R,
) -> Result<Option<R>, TreeError> {
    match frame.read(|page| visit(&page)) {
        Ok(result) => Ok(Some(result)),
        Err(FrameError::Freed { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Lets a page be changed; `None` when it has been freed.
pub(super) fn write<R>(
    frame: &Arc<PageFrame>,
    change: impl FnOnce(&mut FrameMut<'_>) -> Result<R, TreeError>,
) -> Result<Option<R>, TreeError> {
    match frame.write(change) {
        Ok(result) => result.map(Some),
        Err(FrameError::Freed { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Lets a page be changed that is in the tree, and stays there while the structure is locked.
pub(super) fn write_in_tree<R>(
    frame: &Arc<PageFrame>,
    change: impl FnOnce(&mut FrameMut<'_>) -> Result<R, TreeError>,
) -> Result<R, TreeError> {
    write(frame, change)?.ok_or(TreeError::freed(frame.page()))
}

/// Makes a page a copy of another.
pub(super) fn overwrite(
    frame: &mut FrameMut<'_>,
    page: PageId,
    content: &[u8],
) -> Result<(), TreeError> {
    let content = RowPage::trusted(content).map_err(TreeError::corrupt(page))?;
    let copied = frame.rewrite(|page: &mut RowPageMut<'_>| page.overwrite(&content));
    Ok(copied.map_err(TreeError::corrupt(page))??)
}

/// Frees a page that may be free already.
pub(super) fn free(frame: &Arc<PageFrame>, _guard: &ChangeGuard<'_>) -> Result<(), TreeError> {
    let freed = write(frame, |frame| {
        frame.free();
        Ok(())
    });
    freed.map(|_| ())
}
