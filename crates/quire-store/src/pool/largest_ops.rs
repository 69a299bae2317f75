//! How long is the largest operation that a tree has seen?
//!
//! A page is given to a compression thread when what is left of its log is less than that (J. Ma et al., *Leveraging Page-Level Compression in
//! MySQL*, §V-D: "the system records the largest record size"). The log of the page alone does not tell: right after a
//! compression it is empty. Known as long as the pool is open. Operations on inner pages, which are short, are apart from those on leaves.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use quire_format::row_page::space;

use super::codec::PageCodec;

/// The largest operation of each tree, on leaves and on inner pages.
#[derive(Default)]
pub(super) struct LargestOps {
    levels: RwLock<HashMap<TreeLevel, Arc<LargestOp>>>,
}

/// Leaves of a tree, or its inner pages. Trees whose codecs have no number count as one.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct TreeLevel {
    tree: Option<u64>,
    is_leaf: bool,
}

/// The largest operation so far, as it is encoded in a log.
#[derive(Default)]
pub(super) struct LargestOp(AtomicUsize);

impl LargestOp {
    /// Notes an operation. Only a larger one than all before writes to what all frames of the tree share.
    pub(super) fn note(&self, op_bytes: usize) {
        if op_bytes > self.0.load(Ordering::Relaxed) {
            self.0.fetch_max(op_bytes, Ordering::Relaxed);
        }
    }

    /// Bytes that the log of a page of that length should have room for. At most half of the longest log: otherwise a single long row would
    /// have every page of the tree compressed after every change.
    pub(super) fn bytes_wanted(&self, page_bytes: usize) -> usize {
        let most = space::log_bytes_max(page_bytes) / 2;
        self.0.load(Ordering::Relaxed).min(most)
    }
}

impl LargestOps {
    /// That of the pages of `codec` which are leaves, or inner pages.
    pub(super) fn get(&self, codec: PageCodec, is_leaf: bool) -> Arc<LargestOp> {
        let level = TreeLevel {
            tree: codec.tree_number(),
            is_leaf,
        };
        let levels = self.levels.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = levels.get(&level) {
            return Arc::clone(known);
        }
        drop(levels);
        let mut levels = self.levels.write().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(levels.entry(level).or_default())
    }

    /// The tree is gone.
    pub(super) fn forget(&self, codec: PageCodec) {
        let tree = codec.tree_number();
        if tree.is_some() {
            let mut levels = self.levels.write().unwrap_or_else(PoisonError::into_inner);
            levels.retain(|level, _| level.tree != tree);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tree_has_its_own_and_leaves_are_apart_from_inner_pages() {
        let largest = LargestOps::default();
        let (one, other) = (PageCodec::NONE.of_tree(1), PageCodec::NONE.of_tree(2));
        largest.get(one, true).note(300);
        largest.get(one, true).note(200);
        largest.get(one, false).note(40);
        let wanted = |codec, is_leaf| largest.get(codec, is_leaf).bytes_wanted(16 << 10);
        assert_eq!((wanted(one, true), wanted(one, false)), (300, 40));
        assert_eq!((wanted(other, true), wanted(PageCodec::NONE, true)), (0, 0));
        // A target names the tree as well.
        assert_eq!(wanted(PageCodec::NONE.with_target(1), true), 300);
        largest.forget(one);
        assert_eq!((wanted(one, true), wanted(one, false)), (0, 0));
    }

    #[test]
    fn a_very_long_row_does_not_fill_every_log() {
        let largest = LargestOp::default();
        largest.note(3_000);
        assert_eq!(largest.bytes_wanted(16 << 10), 1 << 10);
        assert_eq!(largest.bytes_wanted(4 << 10), 256);
    }
}
