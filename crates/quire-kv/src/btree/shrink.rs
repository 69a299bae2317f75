//! Fewer pages: neighbours become one or share their entries, and a root with one child takes its place.
//!
//! The parent and both neighbours are latched. Who has read the parent before finds, when the latches are released, a
//! page that is free or has other fences.

use std::sync::Arc;

use quire_codec::Corrupt;
use quire_format::row_page::space::{self, Advice};
use quire_format::row_page::{DivideError, PageOp, RowPageMut};
use quire_store::PageId;
use quire_store::pool::{ChangeGuard, FrameMut, PageFrame};

use super::error::TreeError;
use super::grow::{change_parent, put_child};
use super::pages::{overwrite, read, write_in_tree};
use super::tree::{BTree, StructureGuard};

/// Two children of a page, side by side.
struct Neighbours {
    left: Arc<PageFrame>,
    right: Arc<PageFrame>,
    separator: Vec<u8>,
}

/// What was done about two neighbours.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SiblingMerge {
    Nothing,
    Merged,
    Rebalanced,
}

impl BTree {
    /// Merges the leaf of `key` with a neighbour, and what has to follow above it.
    pub(super) fn shrink(&self, key: &[u8], _guard: &ChangeGuard<'_>) -> Result<(), TreeError> {
        let structure = self.lock_structure();
        let path = self.path_to(key, &structure)?;
        for parent in path.iter().rev().skip(1) {
            // An only child waits until its parent is merged.
            if let Some(neighbours) = self.neighbours(parent, key, &structure)?
                && self.combine(parent, &neighbours)? != SiblingMerge::Merged
            {
                break;
            }
        }
        self.shrink_root(&structure)
    }

    /// The child of `parent` where `key` is, and the one to its right, or else to its left.
    fn neighbours(
        &self,
        parent: &PageFrame,
        key: &[u8],
        structure: &StructureGuard<'_>,
    ) -> Result<Option<Neighbours>, TreeError> {
        let found = read(parent, |page| -> Result<_, Corrupt> {
            if page.len() < 2 {
                return Ok(None);
            }
            let (index, _) = page.child(key)?;
            let right = (index + 1).min(page.len() - 1);
            let separator = page.entry(right)?.key();
            let pages = [page.child_at(right - 1)?, page.child_at(right)?];
            Ok(Some((separator, pages)))
        })?;
        let found = found.ok_or(TreeError::freed(parent.page()))?;
        let Some((separator, [left, right])) = found.map_err(TreeError::corrupt(parent.page()))?
        else {
            return Ok(None);
        };
        Ok(Some(Neighbours {
            left: self.page_in_tree(left, structure)?,
            right: self.page_in_tree(right, structure)?,
            separator,
        }))
    }

    fn combine(
        &self,
        parent: &Arc<PageFrame>,
        neighbours: &Neighbours,
    ) -> Result<SiblingMerge, TreeError> {
        let Neighbours { left, right, .. } = neighbours;
        let done = write_in_tree(parent, |parent_page| {
            write_in_tree(left, |left_page| {
                write_in_tree(right, |right_page| {
                    let parent = (parent.page(), parent_page);
                    combine(parent, neighbours, left_page, right_page)
                })
            })
        })?;
        match done {
            SiblingMerge::Nothing => {}
            SiblingMerge::Merged => self.counters.merges.add_one(),
            SiblingMerge::Rebalanced => self.counters.rebalances.add_one(),
        }
        Ok(done)
    }

    /// While the root has one child that is no leaf, it takes what is in it.
    fn shrink_root(&self, structure: &StructureGuard<'_>) -> Result<(), TreeError> {
        let at = self.root;
        let root = self.page_in_tree(at, structure)?;
        loop {
            let only_child = read(&root, |page| match (page.level(), page.len()) {
                (2.., 1) => page.child_at(0).map(Some),
                _ => Ok(None),
            })?;
            let only_child = only_child.transpose().map_err(TreeError::corrupt(at))?;
            let Some(child) = only_child.flatten() else {
                return Ok(());
            };
            let child = self.page_in_tree(child, structure)?;
            write_in_tree(&root, |root_page| {
                write_in_tree(&child, |child_page| {
                    let page = child_page.page().map_err(TreeError::corrupt(at))?;
                    overwrite(root_page, at, page.bytes())?;
                    child_page.free();
                    Ok(())
                })
            })?;
            self.counters.merges.add_one();
        }
    }
}

/// Makes of two pages one or two better ones. After an error they are as they were.
fn combine(
    (at, parent): (PageId, &mut FrameMut<'_>),
    neighbours: &Neighbours,
    left: &mut FrameMut<'_>,
    right: &mut FrameMut<'_>,
) -> Result<SiblingMerge, TreeError> {
    let (at_left, at_right) = (neighbours.left.page(), neighbours.right.page());
    let left_page = left.page().map_err(TreeError::corrupt(at_left))?;
    let right_page = right.page().map_err(TreeError::corrupt(at_right))?;
    let full_bytes = match left_page.level() {
        0 => neighbours.left.full_bytes(),
        _ => left_page.page_bytes(),
    };
    let advice = space::advise(&left_page, &right_page, full_bytes);
    let advice = advice.map_err(TreeError::corrupt(at_left))?;
    let key = neighbours.separator.as_slice();
    let remove = PageOp::Remove { key };
    let mut left_copy = left_page.bytes().to_vec();
    let mut merged = RowPageMut::trusted(&mut left_copy).map_err(TreeError::corrupt(at_left))?;
    match advice {
        Advice::Leave => Ok(SiblingMerge::Nothing),
        Advice::Merge => {
            let done = merged.merge(&right_page);
            done.map_err(TreeError::divide(at_left))?;
            change_parent(parent, at, &remove)?;
            overwrite(left, at_left, &left_copy)?;
            right.free();
            Ok(SiblingMerge::Merged)
        }
        Advice::Rebalance => {
            let mut right_copy = right_page.bytes().to_vec();
            let mut shared =
                RowPageMut::trusted(&mut right_copy).map_err(TreeError::corrupt(at_right))?;
            let separator = match merged.rebalance(&mut shared) {
                Err(DivideError::NoSeparator { .. }) => return Ok(SiblingMerge::Nothing),
                separator => separator.map_err(TreeError::divide(at_left))?,
            };
            let parent_page = parent.page().map_err(TreeError::corrupt(at))?;
            // The place of the old separator is free too by then, so this is more than enough.
            if separator.len() > parent_page.gap_bytes() + parent_page.dead_bytes() {
                return Ok(SiblingMerge::Nothing);
            }
            change_parent(parent, at, &remove)?;
            // It cannot fail any more: there is room, and the separator lies where the old one did.
            put_child(parent, at, &separator, at_right)?;
            overwrite(left, at_left, &left_copy)?;
            overwrite(right, at_right, &right_copy)?;
            Ok(SiblingMerge::Rebalanced)
        }
    }
}
