//! Leaves whose images do not fit into the slots that their table gives them.
//!
//! The pool says of a leaf that it should be split (paper 4, §III: a compression failure; §V-D: advance split). Who has changed it does so
//! when the change is done, or a thread in the background. The images of the halves are made when the lock of the structure has been released.

use std::sync::Arc;

use quire_codec::Corrupt;
use quire_format::row_page::RowPage;
use quire_store::pool::{ChangeGuard, PageFrame};

use super::error::TreeError;
use super::pages::read;
use super::tree::BTree;

/// Times that a path is split for one leaf: its parents may have to be split before it.
const ATTEMPTS: usize = 16;

impl BTree {
    /// Has images made of those of the leaves that have none, and splits those that want it, and their halves, until none does. A leaf
    /// that cannot be split is right as it is.
    pub(super) fn relieve(&self, leaves: Vec<Arc<PageFrame>>, guard: &ChangeGuard<'_>) {
        let mut pending = leaves;
        while let Some(leaf) = pending.pop() {
            leaf.settle();
            if leaf.wants_split() {
                pending.extend(self.split_leaf(&leaf, guard));
            }
        }
    }

    /// Splits a leaf that should be split, as of now or soon. For a thread in the background.
    pub(crate) fn relieve_in_background(&self, leaf: &Arc<PageFrame>, guard: &ChangeGuard<'_>) {
        if leaf.may_be_split() {
            let halves = self.split_leaf(leaf, guard);
            self.relieve(halves, guard);
        }
    }

    /// The halves of the leaf, if it could be split.
    fn split_leaf(&self, leaf: &Arc<PageFrame>, guard: &ChangeGuard<'_>) -> Vec<Arc<PageFrame>> {
        let halves = self.try_split_leaf(leaf, guard).unwrap_or_default();
        if halves.is_empty() {
            leaf.give_up_split();
        }
        halves
    }

    fn try_split_leaf(
        &self,
        leaf: &Arc<PageFrame>,
        guard: &ChangeGuard<'_>,
    ) -> Result<Vec<Arc<PageFrame>>, TreeError> {
        let structure = self.lock_structure();
        for _ in 0..ATTEMPTS {
            let cut = read(leaf, |page| LeafSplit::of(page, leaf.full_bytes()))?;
            let Some(cut) = cut.transpose().map_err(TreeError::corrupt(leaf.page()))? else {
                break;
            };
            let Some(cut) = cut.filter(|_| leaf.may_be_split()) else {
                break;
            };
            let path = self.path_to(&cut.lower, &structure)?;
            if path.last().is_none_or(|last| last.page() != leaf.page()) {
                break;
            }
            let halves = self.split(&path, &cut.pending, &structure, guard)?;
            if !halves.is_empty() {
                return Ok(halves);
            }
        }
        Ok(Vec::new())
    }
}

/// Where a leaf is, and for which key it is split.
struct LeafSplit {
    lower: Vec<u8>,
    pending: Vec<u8>,
}

impl LeafSplit {
    /// None for a leaf with fewer than two entries. One that is appended to is split near its end, if what stays will fit.
    fn of(page: &RowPage<'_>, full_bytes: usize) -> Result<Option<Self>, Corrupt> {
        let Some(last) = page.len().checked_sub(1).filter(|last| *last > 0) else {
            return Ok(None);
        };
        let fits_without_its_end = page.used_bytes() / 16 * 15 <= full_bytes;
        let pending = if fits_without_its_end {
            [page.entry(last)?.key(), vec![0]].concat()
        } else {
            page.entry(0)?.key()
        };
        Ok(Some(Self {
            lower: page.lower_fence().to_vec(),
            pending,
        }))
    }
}
