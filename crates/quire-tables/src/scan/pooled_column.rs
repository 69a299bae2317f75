//! The decoded values of a column of a row group, in the cache of the volume.

use std::sync::Arc;

use quire_format::row_group::RowGroup;
use quire_format::segment::MaterializedSegment;
use quire_store::{PageId, Pin};

use super::row_group_requests::RequestedRowGroup;
use crate::pages::PageSource;

/// A column of a row group, by the name that its values have in the cache.
pub(super) struct PooledColumn<'s> {
    pin: &'s Pin,
    /// Those of the column, and of the columns that it follows.
    pages: Vec<PageId>,
    /// Where its segment begins in its pages: what tells the columns of a block apart, whichever number they have in the table.
    start: u32,
}

impl<'s> PooledColumn<'s> {
    /// `None` if no version of the volume that stays has its pages.
    pub(super) fn of(source: &'s PageSource, row_group: &RowGroup, column: usize) -> Option<Self> {
        // Its own come first: the first page names the buffer, and those that it follows have buffers of their own.
        let mut pages = row_group.column_pages(column).to_vec();
        for page in RequestedRowGroup::of(0, row_group, [column]).pages {
            if !pages.contains(&page) {
                pages.push(page);
            }
        }
        let start = row_group.column_range(column)?.start;
        Some(Self {
            pin: source.pin_of(&pages)?,
            start: u32::try_from(start).ok()?,
            pages,
        })
    }

    /// Whether its values are in the cache.
    pub(super) fn is_there(&self) -> bool {
        self.pin.has_derived(&self.pages, self.start)
    }

    pub(super) fn find(&self) -> Option<Arc<MaterializedSegment>> {
        let found = self.pin.derived(&self.pages, self.start)?;
        found.downcast().ok()
    }

    pub(super) fn keep(&self, values: Arc<MaterializedSegment>) {
        let bytes = values.memory_bytes();
        let place = (self.pages.as_slice(), self.start);
        self.pin.keep_derived(place, values, bytes);
    }
}
