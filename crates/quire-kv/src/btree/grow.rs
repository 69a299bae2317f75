//! More pages: a page that is full becomes two, and the root becomes the parent of what it was.
//!
//! The parent and the page are latched while the new page is filled, the separator goes into the parent, and the page is
//! replaced by its left half. Who has read the parent before finds other fences, and begins again.

use std::sync::Arc;

use quire_format::row_page::{
    Applied, ApplyError, ChildPointer, PageOp, PageSetup, RowPage, RowPageMut,
};
use quire_store::PageId;
use quire_store::pool::{ChangeGuard, FrameMut, PageFrame};

use super::error::{ELSEWHERE, TreeError};
use super::pages::{free, overwrite, write_in_tree};
use super::tree::{AtLeaf, BTree, OperationOrigin, StructureGuard, at_leaf};

/// How the division of a page ended.
enum Division {
    /// With the new page on the right.
    Done(Arc<PageFrame>),
    /// The parent has no room for this separator.
    ParentIsFull(Vec<u8>),
}

impl BTree {
    /// Carries out an operation under the lock of the structure, and splits until there is room. Leaves that were split are added to
    /// `halves`.
    pub(super) fn change_with_room(
        &self,
        op: &PageOp<'_>,
        lsn: u64,
        origin: OperationOrigin,
        before: &mut dyn FnMut(Option<&[u8]>),
        halves: &mut Vec<Arc<PageFrame>>,
        guard: &ChangeGuard<'_>,
    ) -> Result<Option<Applied>, TreeError> {
        let structure = self.lock_structure();
        let mut has_padding = true;
        loop {
            let path = self.path_to(op.key(), &structure)?;
            let Some(leaf) = path.last() else {
                return Err(TreeError::freed(self.root));
            };
            let page = leaf.page();
            let padding_bytes = if has_padding { leaf.padding_bytes() } else { 0 };
            match at_leaf(leaf, op, lsn, origin, padding_bytes, before)?
                .ok_or(TreeError::freed(page))?
            {
                AtLeaf::Applied(applied) => return Ok(Some(applied)),
                AtLeaf::AppliedShrink => return Ok(Some(Applied::Removed)),
                AtLeaf::Known => return Ok(None),
                AtLeaf::Refused(ApplyError::Full { .. }) => {
                    halves.extend(self.split(&path, op.key(), &structure, guard)?);
                }
                AtLeaf::FullWithPadding => {
                    // Whether it could be split or not, what there is is used now.
                    has_padding = false;
                    let split = self.split(&path, op.key(), &structure, guard);
                    halves.extend(split.unwrap_or_default());
                }
                AtLeaf::Refused(ApplyError::OutsideFences) => {
                    let what = ELSEWHERE;
                    return Err(TreeError::Astray { page, what });
                }
                AtLeaf::Refused(error) => return Err(TreeError::entry(page)(error)),
            }
        }
    }

    /// Splits the last page of a path, and returns its halves; or that above it, when it has no room for the separator.
    pub(super) fn split(
        &self,
        path: &[Arc<PageFrame>],
        key: &[u8],
        structure: &StructureGuard<'_>,
        guard: &ChangeGuard<'_>,
    ) -> Result<Vec<Arc<PageFrame>>, TreeError> {
        let leaf = path.last().map(|leaf| leaf.page());
        let mut path = path;
        let mut pending = key.to_vec();
        loop {
            match path {
                [.., parent, page] => {
                    match self.divide(parent, page, &pending, structure, guard)? {
                        Division::Done(new) if leaf == Some(page.page()) => {
                            return Ok(vec![Arc::clone(page), new]);
                        }
                        Division::Done(_) => return Ok(Vec::new()),
                        Division::ParentIsFull(separator) => pending = separator,
                    }
                }
                [root] => {
                    self.split_root(root, &pending, structure, guard)?;
                    return Ok(Vec::new());
                }
                [] => return Ok(Vec::new()),
            }
            path = &path[..path.len() - 1];
        }
    }

    fn divide(
        &self,
        parent: &Arc<PageFrame>,
        page: &Arc<PageFrame>,
        pending: &[u8],
        _structure: &StructureGuard<'_>,
        guard: &ChangeGuard<'_>,
    ) -> Result<Division, TreeError> {
        let new = self.new_page(guard)?;
        let divided = write_in_tree(parent, |parent_page| {
            write_in_tree(page, |left| {
                let halves = Halves::of(left, page.page(), pending)?;
                write_in_tree(&new, |right| overwrite(right, new.page(), &halves.right))?;
                let at = parent.page();
                if !put_child(parent_page, at, &halves.separator, new.page())? {
                    return Ok(Division::ParentIsFull(halves.separator));
                }
                overwrite(left, page.page(), &halves.left)?;
                Ok(Division::Done(Arc::clone(&new)))
            })
        });
        if matches!(divided, Ok(Division::Done(_))) {
            self.counters.splits.add_one();
        } else {
            free(&new, guard)?;
        }
        divided
    }

    /// Moves what is in the root into two new pages, and makes it their parent.
    fn split_root(
        &self,
        root: &Arc<PageFrame>,
        pending: &[u8],
        _structure: &StructureGuard<'_>,
        guard: &ChangeGuard<'_>,
    ) -> Result<(), TreeError> {
        let new = [self.new_page(guard)?, self.new_page(guard)?];
        let divided = write_in_tree(root, |root_page| {
            let at = root.page();
            let halves = Halves::of(root_page, at, pending)?;
            let page = root_page.page().map_err(TreeError::corrupt(at))?;
            let children = [new[0].page(), new[1].page()];
            let above = parent_of(at, &page, &halves.separator, children)?;
            for (frame, half) in new.iter().zip([&halves.left, &halves.right]) {
                write_in_tree(frame, |child| overwrite(child, frame.page(), half))?;
            }
            overwrite(root_page, at, &above)
        });
        match divided {
            Ok(()) => self.counters.splits.add_one(),
            Err(_) => new.iter().try_for_each(|frame| free(frame, guard))?,
        }
        divided
    }

    /// A page that no other refers to. As the caller holds a guard, no flush sees it like that.
    fn new_page(&self, _guard: &ChangeGuard<'_>) -> Result<Arc<PageFrame>, TreeError> {
        let mut bytes = vec![0; self.page_bytes];
        RowPageMut::create(&mut bytes, &PageSetup::default())?;
        self.pages.add(&bytes)
    }
}

/// What a page is divided into.
struct Halves {
    left: Vec<u8>,
    right: Vec<u8>,
    separator: Vec<u8>,
}

impl Halves {
    fn of(frame: &FrameMut<'_>, at: PageId, pending: &[u8]) -> Result<Self, TreeError> {
        let page = frame.page().map_err(TreeError::corrupt(at))?;
        let mut left = page.bytes().to_vec();
        let mut right = vec![0; left.len()];
        let mut divided = RowPageMut::trusted(&mut left).map_err(TreeError::corrupt(at))?;
        let separator = divided.split(&mut right, pending);
        Ok(Self {
            separator: separator.map_err(TreeError::divide(at))?,
            left,
            right,
        })
    }
}

/// The page above the two that take what is in `page`.
fn parent_of(
    at: PageId,
    page: &RowPage<'_>,
    separator: &[u8],
    children: [PageId; 2],
) -> Result<Vec<u8>, TreeError> {
    let level = page.level().checked_add(1).ok_or(TreeError::Astray {
        page: at,
        what: "has 255 levels below it",
    })?;
    let setup = PageSetup {
        level,
        layout: page.layout(),
        lsn: page.lsn(),
        ..PageSetup::default()
    };
    let mut bytes = vec![0; page.page_bytes()];
    let mut above = RowPageMut::create(&mut bytes, &setup)?;
    for (key, child) in [&[], separator].into_iter().zip(children) {
        let inserted = above.insert(key, ChildPointer::new(child).as_bytes(), false);
        inserted.map_err(TreeError::entry(at))?;
    }
    Ok(bytes)
}

/// Adds a child to an inner page; whether there was room.
pub(super) fn put_child(
    parent: &mut FrameMut<'_>,
    at: PageId,
    separator: &[u8],
    child: PageId,
) -> Result<bool, TreeError> {
    let pointer = ChildPointer::new(child);
    let op = PageOp::Put {
        key: separator,
        value: pointer.as_bytes(),
        overflow: false,
    };
    match change_parent(parent, at, &op) {
        Ok(()) => Ok(true),
        Err(TreeError::Entry(ApplyError::Full { .. })) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Changes an entry of an inner page. Its LSN stays: the log knows nothing of the structure.
pub(super) fn change_parent(
    parent: &mut FrameMut<'_>,
    at: PageId,
    op: &PageOp<'_>,
) -> Result<(), TreeError> {
    let lsn = parent.page().map_err(TreeError::corrupt(at))?.lsn();
    let applied = parent.apply(op, lsn);
    applied.map(|_| ()).map_err(TreeError::entry(at))
}
