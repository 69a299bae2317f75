//! The descent from the root to a leaf.
//!
//! A descent holds one latch at a time: it reads a page, releases the latch, and looks up the child. In between, a structure modification
//! may move the key, so each page is checked against its fence keys; if they do not include the key, the descent restarts. A key moves
//! only when pages are split, merged or rebalanced, and the changed page shows it by its fence keys or by being free. Page numbers are
//! not reused, and the level of a page never changes, except for the root, which is never a leaf: a page found as a leaf remains that
//! leaf. After too many restarts the descent is made under the structure lock, where the tree cannot change; a page that does not
//! fit then is damaged.

use std::sync::Arc;

use quire_codec::Corrupt;
use quire_format::row_page::RowPage;
use quire_store::PageId;
use quire_store::pool::{Glance, PageFrame};

use super::descent::{Descent, FREE_DESCENTS, LeafTarget};
use super::error::{ELSEWHERE, FREED, TreeError};
use super::pages::read;
use super::tree::{BTree, NearLeaf, StructureGuard};

/// What one page of a descent leads to.
enum Sign<R> {
    Child { page: PageId, level: u8 },
    Leaf(R),
    Lost(&'static str),
}

const WRONG_LEVEL: &str = "is not one level below the page above it";

impl BTree {
    /// Calls `visit` once, with the leaf, under its latch.
    pub(super) fn at_leaf<R>(
        &self,
        target: LeafTarget<'_>,
        visit: impl FnMut(&RowPage<'_>) -> Result<R, Corrupt>,
    ) -> Result<R, TreeError> {
        self.at_leaf_kept(target, visit).map(|(result, _)| result)
    }

    /// As [`at_leaf`](Self::at_leaf); also returns the leaf.
    pub(super) fn at_leaf_kept<R>(
        &self,
        target: LeafTarget<'_>,
        visit: impl FnMut(&RowPage<'_>) -> Result<R, Corrupt>,
    ) -> Result<(R, NearLeaf), TreeError> {
        self.at_leaf_arriving(target, |_| (), visit)
    }

    /// As [`at_leaf_kept`](Self::at_leaf_kept); calls `arrive` with each leaf that is about to be read, without a latch.
    pub(super) fn at_leaf_arriving<R>(
        &self,
        target: LeafTarget<'_>,
        mut arrive: impl FnMut(PageId),
        mut visit: impl FnMut(&RowPage<'_>) -> Result<R, Corrupt>,
    ) -> Result<(R, NearLeaf), TreeError> {
        for _ in 0..FREE_DESCENTS {
            match self.visit_leaf(target, &mut arrive, &mut visit)? {
                Descent::Arrived(result) => return Ok(result),
                Descent::Lost { .. } => self.counters.restarts.add_one(),
            }
        }
        let _structure = self.lock_structure();
        match self.visit_leaf(target, &mut arrive, &mut visit)? {
            Descent::Arrived(result) => Ok(result),
            Descent::Lost { page, what } => Err(TreeError::Astray { page, what }),
        }
    }

    /// Calls `visit` once, with the value of a key. A leaf without a frame need not be loaded for that: the state of its image at some time
    /// since the descent began is as valid as that of a frame.
    pub(super) fn glance_at<R>(
        &self,
        key: &[u8],
        mut visit: impl FnMut(Option<&[u8]>) -> R,
    ) -> Result<R, TreeError> {
        for _ in 0..FREE_DESCENTS {
            match self.visit_value(key, &mut visit)? {
                Descent::Arrived(result) => return Ok(result),
                Descent::Lost { .. } => self.counters.restarts.add_one(),
            }
        }
        self.at_leaf(LeafTarget::Key(key), |page| {
            let entry = page.get(key)?;
            Ok(visit(entry.map(|entry| entry.value)))
        })
    }

    fn visit_value<R>(
        &self,
        key: &[u8],
        visit: &mut impl FnMut(Option<&[u8]>) -> R,
    ) -> Result<Descent<R>, TreeError> {
        match self.way_to(key)? {
            Descent::Arrived(leaf) => self.value_in(leaf, key, visit),
            Descent::Lost { page, what } => Ok(Descent::Lost { page, what }),
        }
    }

    /// The value of a key in a leaf.
    fn value_in<R>(
        &self,
        leaf: PageId,
        key: &[u8],
        visit: &mut impl FnMut(Option<&[u8]>) -> R,
    ) -> Result<Descent<R>, TreeError> {
        let glance = self.pages.glance(leaf, |rows| match rows.level() {
            0 if rows.covers(key) => {
                let value = rows.value(key).map_err(TreeError::corrupt(leaf))?;
                Ok(Descent::Arrived(visit(value.as_deref())))
            }
            0 => Ok(lost(leaf, ELSEWHERE)),
            _ => Err(astray(leaf)),
        })?;
        let frame = match glance {
            None => return Ok(lost(leaf, FREED)),
            Some(Glance::Seen(seen)) => return seen,
            Some(Glance::Frame(frame)) => frame,
        };
        let sign = read_sign(&frame, Some(0), LeafTarget::Key(key), &mut |page| {
            let entry = page.get(key)?;
            Ok(visit(entry.map(|entry| entry.value)))
        })?;
        match sign {
            Sign::Leaf(result) => Ok(Descent::Arrived(result)),
            Sign::Lost(what) => Ok(lost(leaf, what)),
            Sign::Child { .. } => Err(astray(leaf)),
        }
    }

    /// The leaf that had `key` when its parent was read. The leaf itself is not read, so the caller has to check its fence keys.
    pub(super) fn leaf_of(&self, key: &[u8]) -> Result<Descent<Arc<PageFrame>>, TreeError> {
        let leaf = match self.way_to(key)? {
            Descent::Arrived(leaf) => leaf,
            Descent::Lost { page, what } => return Ok(Descent::Lost { page, what }),
        };
        let frame = self.pages.get(leaf)?;
        Ok(frame.map_or(lost(leaf, FREED), Descent::Arrived))
    }

    /// The page number of that leaf, which need not be in memory.
    fn way_to(&self, key: &[u8]) -> Result<Descent<PageId>, TreeError> {
        let mut below = self.start()?;
        let mut level = None;
        loop {
            let frame = self.here(&below)?;
            let (child, child_level) = match look(frame, level, key)? {
                Descent::Arrived(child) => child,
                Descent::Lost { page, what } => return Ok(Descent::Lost { page, what }),
            };
            if child_level == 0 {
                return Ok(Descent::Arrived(child));
            }
            let Some(frame) = self.pages.get(child)? else {
                return Ok(lost(child, FREED));
            };
            if level.is_none() {
                self.pin_root(&below, child_level);
            }
            level = Some(child_level);
            below = Some(frame);
        }
    }

    /// All pages from the root to the leaf of `key`. The structure lock makes restarts unnecessary.
    pub(super) fn path_to(
        &self,
        key: &[u8],
        structure: &StructureGuard<'_>,
    ) -> Result<Vec<Arc<PageFrame>>, TreeError> {
        let mut path = Vec::new();
        let mut frame = self.root_frame()?;
        let mut level = None;
        while level != Some(0) {
            let (child, child_level) = match look(&frame, level, key)? {
                Descent::Arrived(child) => child,
                Descent::Lost { page, what } => return Err(TreeError::Astray { page, what }),
            };
            path.push(frame);
            frame = self.page_in_tree(child, structure)?;
            level = Some(child_level);
        }
        path.push(frame);
        Ok(path)
    }

    /// The frame of a page that is known to be in the tree.
    pub(super) fn page_in_tree(
        &self,
        page: PageId,
        _structure: &StructureGuard<'_>,
    ) -> Result<Arc<PageFrame>, TreeError> {
        self.pages.get(page)?.ok_or(TreeError::freed(page))
    }

    fn root_frame(&self) -> Result<Arc<PageFrame>, TreeError> {
        if let Some(frame) = self.pinned_root.get() {
            return Ok(Arc::clone(frame));
        }
        let frame = self.pages.get(self.root)?;
        frame.ok_or(TreeError::freed(self.root))
    }

    /// Where a descent begins; `None` stands for the pinned root, which needs neither a lookup nor a change of its reference count.
    pub(super) fn start(&self) -> Result<Option<Arc<PageFrame>>, TreeError> {
        match self.pinned_root.get() {
            Some(_) => Ok(None),
            None => self.root_frame().map(Some),
        }
    }

    /// The current page of a descent that began with [`Self::start`].
    pub(super) fn here<'f>(
        &'f self,
        below: &'f Option<Arc<PageFrame>>,
    ) -> Result<&'f Arc<PageFrame>, TreeError> {
        let frame = below.as_ref().or_else(|| self.pinned_root.get());
        frame.ok_or(TreeError::freed(self.root))
    }

    /// Pins the root in memory if there are at least two levels above the leaves: it is small compared to such a tree.
    fn pin_root(&self, root: &Option<Arc<PageFrame>>, child_level: u8) {
        if let Some(frame) = root
            && child_level > 0
        {
            self.pinned_root.get_or_init(|| Arc::clone(frame));
        }
    }

    fn visit_leaf<R>(
        &self,
        target: LeafTarget<'_>,
        arrive: &mut impl FnMut(PageId),
        visit: &mut impl FnMut(&RowPage<'_>) -> Result<R, Corrupt>,
    ) -> Result<Descent<(R, NearLeaf)>, TreeError> {
        let mut below = self.start()?;
        let mut level = None;
        loop {
            let frame = self.here(&below)?;
            let (child, child_level) = match read_sign(frame, level, target, visit)? {
                Sign::Leaf(result) => return Ok(Descent::Arrived((result, NearLeaf(below)))),
                Sign::Child { page, level } => (page, level),
                Sign::Lost(what) => return Ok(lost(frame.page(), what)),
            };
            if child_level == 0 {
                arrive(child);
            }
            let Some(frame) = self.pages.get(child)? else {
                return Ok(lost(child, FREED));
            };
            if level.is_none() {
                self.pin_root(&below, child_level);
            }
            level = Some(child_level);
            below = Some(frame);
        }
    }
}

const fn lost<R>(page: PageId, what: &'static str) -> Descent<R> {
    Descent::Lost { page, what }
}

pub(super) const fn astray(page: PageId) -> TreeError {
    let what = WRONG_LEVEL;
    TreeError::Astray { page, what }
}

/// Reads one page of a descent. `level` is the level that its parent implies; the root may have any but 0.
fn read_sign<R>(
    frame: &PageFrame,
    level: Option<u8>,
    target: LeafTarget<'_>,
    visit: &mut impl FnMut(&RowPage<'_>) -> Result<R, Corrupt>,
) -> Result<Sign<R>, TreeError> {
    let page = frame.page();
    let sign = read(frame, |found| {
        if level.map_or(found.level() == 0, |level| found.level() != level) {
            return Err(astray(page));
        }
        if !target.is_in(found) {
            return Ok(Sign::Lost(ELSEWHERE));
        }
        let sign = match found.level().checked_sub(1) {
            Some(level) => target.child(found).map(|page| Sign::Child { page, level }),
            None => visit(found).map(Sign::Leaf),
        };
        sign.map_err(TreeError::corrupt(page))
    })?;
    sign.unwrap_or(Ok(Sign::Lost(FREED)))
}

/// The child of an inner page that covers `key`, and its level.
fn look(
    frame: &PageFrame,
    level: Option<u8>,
    key: &[u8],
) -> Result<Descent<(PageId, u8)>, TreeError> {
    let page = frame.page();
    match read_sign(frame, level, LeafTarget::Key(key), &mut |_| Ok(()))? {
        Sign::Child { page, level } => Ok(Descent::Arrived((page, level))),
        Sign::Lost(what) => Ok(Descent::Lost { page, what }),
        Sign::Leaf(()) => Err(astray(page)),
    }
}
