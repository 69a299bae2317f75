//! A tree: one entry, or one change of one entry, at a time.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use quire_format::row_page::{
    Applied, ApplyError, ChildPointer, PAGE_BYTES_DEFAULT, PageOp, PageSetup, RowPage, RowPageMut,
    space,
};
use quire_store::PageId;
use quire_store::pool::{ChangeGuard, PageCodec, PageFrame, Pool};

use super::counters::{BTreeCounters, TreeStatistics};
use super::descent::{Descent, FREE_DESCENTS, LeafTarget};
use super::error::TreeError;
use super::pages::{Pages, read, write};
use super::underfull::is_worth_a_look;

/// What the pages of a tree have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeOptions {
    /// Length of each page.
    pub page_bytes: usize,
    /// Number of the layout of the tuples, for pages that are made from nothing.
    pub layout: u32,
}

impl Default for TreeOptions {
    fn default() -> Self {
        Self {
            page_bytes: PAGE_BYTES_DEFAULT,
            layout: 0,
        }
    }
}

/// A B+tree. Any number of threads may read and change it at the same time; there is one value of this type for a tree.
///
/// A change is made under a [`ChangeGuard`] of the tree's pool. What a caller changes under one guard is flushed
/// together. No closure that is given to a tree may use a tree: it runs under the latch of a page.
pub struct BTree {
    pub(super) pages: Pages,
    pub(super) root: PageId,
    /// The root of a large tree, where every way begins.
    pub(super) pinned_root: OnceLock<Arc<PageFrame>>,
    pub(super) page_bytes: usize,
    structure: Mutex<()>,
    pub(super) counters: BTreeCounters,
}

/// The right to change the structure of a tree, which does not change otherwise while this is held.
pub(super) struct StructureGuard<'a> {
    _held: MutexGuard<'a, ()>,
}

/// Where an operation comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperationOrigin {
    /// It is new.
    Now,
    /// The log has it; perhaps the page too.
    Log,
}

/// A leaf that may have the next key as well: if it does, nothing has to be looked up. It is a frame of one tree.
#[derive(Default)]
pub(crate) struct NearLeaf(pub(super) Option<Arc<PageFrame>>);

/// What became of an operation at a leaf.
pub(super) enum AtLeaf {
    Applied(Applied),
    /// An entry was removed, and the leaf might be merged.
    AppliedShrink,
    /// The leaf had it already.
    Known,
    /// There is room, and it is to stay free.
    FullWithPadding,
    Refused(ApplyError),
}

impl BTree {
    /// Makes a tree without entries: a root, and one leaf.
    ///
    /// # Errors
    /// A length no page has; no numbers of pages left.
    pub fn create(
        pool: &Pool,
        codec: PageCodec,
        options: TreeOptions,
        guard: &ChangeGuard<'_>,
    ) -> Result<Self, TreeError> {
        Self::create_with(pool, codec, options, |pages, root| pages.add(root), guard)
    }

    /// As [`create`](Self::create), with a root whose number [`quire_store::Volume::allocate_page`] has given out
    /// before, perhaps in an earlier session, and that is not in the volume.
    ///
    /// # Errors
    /// As [`create`](Self::create); a page that is there.
    pub(crate) fn create_at(
        pool: &Pool,
        codec: PageCodec,
        options: TreeOptions,
        root: PageId,
        guard: &ChangeGuard<'_>,
    ) -> Result<Self, TreeError> {
        let add_root = |pages: &Pages, bytes: &[u8]| pages.add_at(root, bytes);
        Self::create_with(pool, codec, options, add_root, guard)
    }

    fn create_with(
        pool: &Pool,
        codec: PageCodec,
        options: TreeOptions,
        add_root: impl FnOnce(&Pages, &[u8]) -> Result<Arc<PageFrame>, TreeError>,
        _guard: &ChangeGuard<'_>,
    ) -> Result<Self, TreeError> {
        let pages = Pages::new(pool.clone(), codec);
        let mut bytes = vec![0; options.page_bytes];
        let mut setup = PageSetup {
            layout: options.layout,
            ..PageSetup::default()
        };
        RowPageMut::create(&mut bytes, &setup)?;
        let leaf = pages.add(&bytes)?;
        setup.level = 1;
        let mut root = RowPageMut::create(&mut bytes, &setup)?;
        let inserted = root.insert(&[], ChildPointer::new(leaf.page()).as_bytes(), false);
        inserted.map_err(TreeError::Entry)?;
        let root = add_root(&pages, &bytes)?.page();
        Ok(Self::with_root(pages, root, options.page_bytes))
    }

    /// [`open`](Self::open); or, when there is no such page, [`create_at`](Self::create_at).
    ///
    /// # Errors
    /// Those of either.
    pub fn open_or_create(
        pool: &Pool,
        codec: PageCodec,
        options: TreeOptions,
        root: PageId,
        guard: &ChangeGuard<'_>,
    ) -> Result<Self, TreeError> {
        match Pages::new(pool.clone(), codec).get(root)? {
            Some(_) => Self::open(pool, codec, root),
            None => Self::create_at(pool, codec, options, root, guard),
        }
    }

    /// The tree with that root.
    ///
    /// # Errors
    /// No such page, or one that is no root.
    pub fn open(pool: &Pool, codec: PageCodec, root: PageId) -> Result<Self, TreeError> {
        let pages = Pages::new(pool.clone(), codec);
        let frame = pages.get(root)?.ok_or(TreeError::freed(root))?;
        let found = frame.read(|page| (page.page_bytes(), page.level()))?;
        match found {
            (page_bytes, 1..) => Ok(Self::with_root(pages, root, page_bytes)),
            _ => Err(TreeError::Astray {
                page: root,
                what: "is to be a root, and a leaf",
            }),
        }
    }

    pub(super) fn with_root(pages: Pages, root: PageId, page_bytes: usize) -> Self {
        Self {
            pages,
            root,
            pinned_root: OnceLock::new(),
            page_bytes,
            structure: Mutex::new(()),
            counters: BTreeCounters::default(),
        }
    }

    /// The page by which the tree is opened again. It stays the same.
    #[must_use]
    pub const fn root(&self) -> PageId {
        self.root
    }

    /// Length of each page.
    #[must_use]
    pub const fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    /// What has happened since the tree was opened.
    #[must_use]
    pub fn statistics(&self) -> TreeStatistics {
        self.counters.statistics()
    }

    /// Shows the value of `key` to `visit`, if there is one.
    ///
    /// # Errors
    /// Pages that cannot be read or are damaged.
    pub fn get<R>(
        &self,
        key: &[u8],
        visit: impl FnOnce(&[u8]) -> R,
    ) -> Result<Option<R>, TreeError> {
        self.glance(key, |value| value.map(visit))
    }

    /// Shows the value of `key`, or that there is none, to `visit`; the leaf does not come into memory just for that.
    pub(crate) fn glance<R>(
        &self,
        key: &[u8],
        visit: impl FnOnce(Option<&[u8]>) -> R,
    ) -> Result<R, TreeError> {
        let mut visit = Some(visit);
        let seen = self.glance_at(key, |value| visit.take().map(|visit| visit(value)))?;
        seen.ok_or(TreeError::freed(self.root))
    }

    /// For whoever is about to change the entry. Shows the value of `key`, or that there is none, to `visit`, under the latch of the leaf;
    /// and gives that leaf, where the change will most likely be carried out.
    pub(crate) fn look<R>(
        &self,
        key: &[u8],
        visit: impl FnOnce(Option<&[u8]>) -> R,
    ) -> Result<(R, NearLeaf), TreeError> {
        let mut visit = Some(visit);
        let (seen, leaf) = self.at_leaf_kept(LeafTarget::Key(key), |page| {
            let value = page.get(key)?.map(|entry| entry.value);
            Ok(visit.take().map(|visit| visit(value)))
        })?;
        let seen = seen.ok_or(TreeError::freed(self.root))?;
        Ok((seen, leaf))
    }

    /// Adds an entry or replaces its value.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    pub fn put(
        &self,
        key: &[u8],
        value: &[u8],
        lsn: u64,
        guard: &ChangeGuard<'_>,
    ) -> Result<Applied, TreeError> {
        let overflow = false;
        let op = PageOp::Put {
            key,
            value,
            overflow,
        };
        self.apply(&op, lsn, guard)
    }

    /// Removes an entry, which must be there.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    pub fn remove(
        &self,
        key: &[u8],
        lsn: u64,
        guard: &ChangeGuard<'_>,
    ) -> Result<Applied, TreeError> {
        self.apply(&PageOp::Remove { key }, lsn, guard)
    }

    /// Carries out an operation on the entry it names. Readers see it as a whole or not at all.
    ///
    /// # Errors
    /// [`TreeError::Entry`] with [`ApplyError::NoSuchKey`], or with [`ApplyError::PatchTooLong`];
    /// [`TreeError::KeyTooLong`], [`TreeError::EntryTooLong`], [`TreeError::Overflow`]; or pages that cannot be read or made.
    pub fn apply(
        &self,
        op: &PageOp<'_>,
        lsn: u64,
        guard: &ChangeGuard<'_>,
    ) -> Result<Applied, TreeError> {
        self.apply_seeing(op, lsn, &mut |_| {}, &mut NearLeaf::default(), guard)
    }

    /// As [`apply`](Self::apply); under the latch of the leaf, before the leaf is changed, `before` is shown the value that is there.
    /// It may be shown it more than once, when the leaf has to be split. `near` is where the operation before was carried out, as of
    /// ascending keys most are in the same leaf; or where this key was looked for.
    pub(crate) fn apply_seeing(
        &self,
        op: &PageOp<'_>,
        lsn: u64,
        before: &mut dyn FnMut(Option<&[u8]>),
        near: &mut NearLeaf,
        guard: &ChangeGuard<'_>,
    ) -> Result<Applied, TreeError> {
        let applied = self.change(op, lsn, OperationOrigin::Now, before, near, guard)?;
        applied.ok_or(TreeError::Entry(ApplyError::NoSuchKey))
    }

    /// Carries out an operation from the log; `None` when its leaf had it already: it has a later change, or not the
    /// entry that was to be removed. Of operations with the same LSN each has another key.
    ///
    /// Right only if the pages, when replaying begins, have all operations up to some LSN and none above it. That is
    /// so when each commit holds one guard from before its record gets an LSN until its operations are applied.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    pub fn redo(
        &self,
        op: &PageOp<'_>,
        lsn: u64,
        guard: &ChangeGuard<'_>,
    ) -> Result<Option<Applied>, TreeError> {
        let mut near = NearLeaf::default();
        self.change(op, lsn, OperationOrigin::Log, &mut |_| {}, &mut near, guard)
    }

    fn change(
        &self,
        op: &PageOp<'_>,
        lsn: u64,
        origin: OperationOrigin,
        before: &mut dyn FnMut(Option<&[u8]>),
        near: &mut NearLeaf,
        guard: &ChangeGuard<'_>,
    ) -> Result<Option<Applied>, TreeError> {
        self.check_size(op)?;
        for _ in 0..FREE_DESCENTS {
            let near_leaf = near.take_for(op.key())?;
            let leaf = match near_leaf {
                Some(leaf) => Descent::Arrived(leaf),
                None => self.leaf_of(op.key())?,
            };
            let Descent::Arrived(leaf) = leaf else {
                self.counters.restarts.add_one();
                continue;
            };
            match at_leaf(&leaf, op, lsn, origin, leaf.padding_bytes(), before)? {
                Some(AtLeaf::Applied(applied)) => {
                    if leaf.wants_split() {
                        self.relieve(vec![leaf], guard);
                    } else {
                        near.0 = Some(leaf);
                    }
                    return Ok(Some(applied));
                }
                Some(AtLeaf::AppliedShrink) => {
                    // Pages that could not be merged are right as they are, and the entry is gone.
                    let _ = self.shrink(op.key(), guard);
                    return Ok(Some(Applied::Removed));
                }
                Some(AtLeaf::Known) => return Ok(None),
                Some(AtLeaf::Refused(ApplyError::Full { .. }) | AtLeaf::FullWithPadding) => break,
                None | Some(AtLeaf::Refused(ApplyError::OutsideFences)) => {
                    self.counters.restarts.add_one();
                }
                Some(AtLeaf::Refused(error)) => return Err(TreeError::entry(leaf.page())(error)),
            }
        }
        let mut halves = Vec::new();
        let changed = self.change_with_room(op, lsn, origin, before, &mut halves, guard);
        self.relieve(halves, guard);
        changed
    }

    pub(super) fn lock_structure(&self) -> StructureGuard<'_> {
        let held = self.structure.lock();
        StructureGuard {
            _held: held.unwrap_or_else(PoisonError::into_inner),
        }
    }

    pub(crate) fn check_size(&self, op: &PageOp<'_>) -> Result<(), TreeError> {
        check_size(op, self.page_bytes)
    }
}

impl NearLeaf {
    /// The leaf, if it has the key, or had it a moment ago.
    fn take_for(&mut self, key: &[u8]) -> Result<Option<Arc<PageFrame>>, TreeError> {
        let Some(leaf) = self.0.take() else {
            return Ok(None);
        };
        let is_there = read(&leaf, |page| page.covers(key))?;
        Ok(Some(leaf).filter(|_| is_there == Some(true)))
    }
}

/// Refuses what no leaf of that length can hold, before leaves are split in vain.
pub fn check_size(op: &PageOp<'_>, page_bytes: usize) -> Result<(), TreeError> {
    let key_bytes = op.key().len();
    if key_bytes > space::key_bytes_max(page_bytes) {
        let bytes = key_bytes;
        return Err(TreeError::KeyTooLong { bytes, page_bytes });
    }
    let PageOp::Put {
        value, overflow, ..
    } = op
    else {
        return Ok(());
    };
    let bytes = key_bytes + value.len();
    if bytes > space::entry_bytes_max(page_bytes) {
        return Err(TreeError::EntryTooLong { bytes, page_bytes });
    }
    if *overflow {
        return Err(TreeError::Overflow);
    }
    Ok(())
}

/// Carries out an operation on a page that was found as a leaf; `None` when it has been freed. An insertion that does not leave
/// `padding_bytes` free finds the page full.
pub(super) fn at_leaf(
    leaf: &Arc<PageFrame>,
    op: &PageOp<'_>,
    lsn: u64,
    origin: OperationOrigin,
    padding_bytes: usize,
    before: &mut dyn FnMut(Option<&[u8]>),
) -> Result<Option<AtLeaf>, TreeError> {
    let corrupt = TreeError::corrupt;
    let at = leaf.page();
    write(leaf, |frame| {
        let page = frame.page().map_err(corrupt(at))?;
        let lsn_before = page.lsn();
        if origin == OperationOrigin::Log && lsn_before > lsn {
            return Ok(AtLeaf::Known);
        }
        if origin == OperationOrigin::Now && page.covers(op.key()) {
            let entry = page.get(op.key()).map_err(corrupt(at))?;
            if entry.is_none() && is_full_with_padding(&page, op, padding_bytes) {
                return Ok(AtLeaf::FullWithPadding);
            }
            before(entry.map(|entry| entry.value));
        }
        Ok(match frame.apply(op, lsn.max(lsn_before)) {
            Ok(Applied::Removed) => {
                let page = frame.page().map_err(corrupt(at))?;
                if is_worth_a_look(&page, leaf.full_bytes()) {
                    AtLeaf::AppliedShrink
                } else {
                    AtLeaf::Applied(Applied::Removed)
                }
            }
            Ok(applied) => AtLeaf::Applied(applied),
            Err(ApplyError::NoSuchKey)
                if origin == OperationOrigin::Log && matches!(op, PageOp::Remove { .. }) =>
            {
                AtLeaf::Known
            }
            Err(error) => AtLeaf::Refused(error),
        })
    })
}

/// Whether an insertion would leave less free than it should; not in a page with one entry, which cannot be split.
fn is_full_with_padding(page: &RowPage<'_>, op: &PageOp<'_>, padding_bytes: usize) -> bool {
    let PageOp::Put { key, value, .. } = op else {
        return false;
    };
    let needed_bytes = key.len() + value.len() + padding_bytes;
    padding_bytes > 0 && page.len() > 1 && page.used_bytes() + needed_bytes > page.page_bytes()
}
