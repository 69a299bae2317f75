//! What a way from the root is to, and how it ends.

use quire_codec::Corrupt;
use quire_format::row_page::RowPage;
use quire_store::PageId;

/// Descents without the lock of the structure before one with it.
pub(super) const FREE_DESCENTS: usize = 16;

/// Which leaf is looked for.
#[derive(Clone, Copy, Debug)]
pub(super) enum LeafTarget<'a> {
    /// That where this key is or would be.
    Key(&'a [u8]),
    /// That with the keys next below this one; no bytes: the last leaf.
    Below(&'a [u8]),
}

impl LeafTarget<'_> {
    pub(super) fn is_in(self, page: &RowPage<'_>) -> bool {
        match self {
            Self::Key(key) => page.covers(key),
            Self::Below([]) => page.upper_fence().is_empty(),
            Self::Below(bound) => {
                let upper = page.upper_fence();
                page.lower_fence() < bound && (upper.is_empty() || bound <= upper)
            }
        }
    }

    pub(super) fn child(self, page: &RowPage<'_>) -> Result<PageId, Corrupt> {
        let end = match self {
            Self::Key(key) => return page.child(key).map(|(_, child)| child),
            Self::Below([]) => page.len(),
            Self::Below(bound) => page.lower_bound(bound)?,
        };
        page.child_at(end.saturating_sub(1))
    }
}

/// How a descent ended.
pub(super) enum Descent<R> {
    /// Where it should.
    Arrived(R),
    /// At a page that has changed meanwhile, or is damaged.
    Lost { page: PageId, what: &'static str },
}
