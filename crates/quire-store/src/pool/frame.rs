//! One page in memory: its bytes, and the operations since its newest image.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

use quire_codec::Corrupt;
use quire_format::row_page::{Applied, ApplyError, PageOp, RowPage, RowPageMut, apply};
use quire_format::volume::PageId;

use super::codec::PageCodec;
use super::content::Content;
use super::error::{ChangeError, FrameError};
use super::largest_ops::LargestOp;
use super::targets::{SplitWant, TransformTarget};
use super::upkeep::Upkeep;

/// Uses that are remembered of a frame.
const USES_MAX: u8 = 3;

/// A page in memory. Whoever holds the frame keeps it in the pool.
///
/// Reading and changing go through closures, so that no latch outlives its purpose. A closure may latch other
/// frames; the caller's order of latching (down the tree, left to right) keeps threads from waiting in a circle.
pub struct PageFrame {
    page: PageId,
    page_bytes: usize,
    codec: PageCodec,
    is_leaf: bool,
    uses: AtomicU8,
    /// A [`SplitWant`].
    split_want: AtomicU8,
    target: Option<Arc<TransformTarget>>,
    /// Of the tree.
    largest_op: Arc<LargestOp>,
    upkeep: Arc<Upkeep>,
    content: RwLock<Content>,
}

impl PageFrame {
    pub(super) fn new(
        page: PageId,
        codec: PageCodec,
        upkeep: &Arc<Upkeep>,
        content: Content,
    ) -> Self {
        let is_leaf = RowPage::trusted(&content.bytes).is_ok_and(|page| page.level() == 0);
        Self {
            page,
            page_bytes: content.bytes.len(),
            codec,
            is_leaf,
            uses: AtomicU8::new(0),
            split_want: AtomicU8::new(SplitWant::None as u8),
            target: upkeep.targets.get(codec),
            largest_op: upkeep.largest_ops.get(codec, is_leaf),
            upkeep: Arc::clone(upkeep),
            content: RwLock::new(content),
        }
    }

    /// Number of the page.
    #[must_use]
    pub fn page(&self) -> PageId {
        self.page
    }

    /// Length of the page.
    #[must_use]
    pub fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    /// How the page is compressed when an image is made of it.
    #[must_use]
    pub fn codec(&self) -> PageCodec {
        self.codec
    }

    /// Whether the page was a leaf when the frame was made. No latch is needed to know: only a root changes its level, and in a tree a root
    /// is never a leaf.
    pub(super) fn is_leaf(&self) -> bool {
        self.is_leaf
    }

    /// Reads the page, beside other readers.
    ///
    /// # Errors
    /// See [`FrameError`].
    pub fn read<R>(&self, read: impl FnOnce(RowPage<'_>) -> R) -> Result<R, FrameError> {
        let content = self.latch_shared()?;
        if content.is_freed {
            return Err(FrameError::Freed { page: self.page });
        }
        let page = RowPage::trusted(&content.bytes).map_err(|source| self.corrupt(source))?;
        Ok(read(page))
    }

    /// Changes the page, alone.
    ///
    /// # Errors
    /// See [`FrameError`]; nothing was changed.
    pub fn write<R>(
        self: &Arc<Self>,
        change: impl FnOnce(&mut FrameMut<'_>) -> R,
    ) -> Result<R, FrameError> {
        let mut content = self.latch()?;
        if content.is_freed {
            return Err(FrameError::Freed { page: self.page });
        }
        let watch = self.upkeep.watch();
        let mut frame = FrameMut {
            frame: self,
            content: &mut content,
            has_applied: false,
        };
        let result = change(&mut frame);
        let has_applied = frame.has_applied;
        drop(watch);
        let is_log_full = content.begin_compression(self, has_applied);
        drop(content);
        if is_log_full {
            self.upkeep.compress(self);
        }
        Ok(result)
    }

    /// Applies one operation, the change with that LSN.
    ///
    /// # Errors
    /// See [`ChangeError`]; the page is as it was.
    pub fn apply(self: &Arc<Self>, op: &PageOp<'_>, lsn: u64) -> Result<Applied, ChangeError> {
        Ok(self.write(|frame| frame.apply(op, lsn))??)
    }

    /// Whether the page, a leaf, should be split, though there is room: its image does not fit into its slot, or nothing more would.
    /// Until then nothing is lost.
    #[must_use]
    pub fn wants_split(&self) -> bool {
        self.split_want() >= SplitWant::InAdvanceNow
    }

    /// Whether a thread in the background should split the page, if nobody has done it before.
    #[must_use]
    pub fn may_be_split(&self) -> bool {
        self.split_want() > SplitWant::None
    }

    /// The page cannot be split: it stays as it is.
    pub fn give_up_split(&self) {
        let none = SplitWant::None as u8;
        self.split_want.store(none, Ordering::Relaxed);
    }

    /// Number of the tree, if its leaves have images of a fixed size.
    #[must_use]
    pub fn tree(&self) -> Option<u64> {
        self.target.as_ref().map(|target| target.tree())
    }

    /// Bytes that an insertion should leave free in the page: the adaptive padding.
    #[must_use]
    pub fn padding_bytes(&self) -> usize {
        (self.target.as_ref()).map_or(0, |target| target.padding_bytes())
    }

    /// Bytes in use with which the page, a leaf, is full, because more do not fit into the slot of its image; the length of the page, if
    /// that is not so or not known.
    #[must_use]
    pub fn full_bytes(&self) -> usize {
        let full_bytes = (self.target.as_ref()).map_or(usize::MAX, |target| target.full_bytes());
        full_bytes.min(self.page_bytes)
    }

    /// Has the image made of a leaf that was rewritten, if it is to fit into a slot. The caller holds no latch.
    pub fn settle(self: &Arc<Self>) {
        if self.target.is_none() {
            return;
        }
        let is_wanted = self
            .latch()
            .is_ok_and(|mut content| !content.is_freed && content.begin_compression(self, true));
        if is_wanted {
            self.upkeep.compress(self);
        }
    }

    /// The page was read from that image: if it is too long, the next change splits the page.
    pub(super) fn note_overlong(self: &Arc<Self>, image: &[u8]) {
        if let Some(target) = &self.target
            && image.len() > target.image_bytes_max()
            && self.read(|page| page.level() == 0 && page.len() > 1) == Ok(true)
        {
            self.want_split(SplitWant::Failure);
        }
    }

    /// The target, if the page is a leaf.
    pub(super) fn target_of(&self, bytes: &[u8]) -> Option<&TransformTarget> {
        let target = self.target.as_deref()?;
        RowPage::trusted(bytes)
            .is_ok_and(|page| page.level() == 0)
            .then_some(target)
    }

    pub(super) fn target(&self) -> Option<&TransformTarget> {
        self.target.as_deref()
    }

    /// Bytes that should be left in the log of the page.
    pub(super) fn log_bytes_wanted(&self) -> usize {
        self.largest_op.bytes_wanted(self.page_bytes)
    }

    fn split_want(&self) -> SplitWant {
        SplitWant::from_number(self.split_want.load(Ordering::Relaxed))
    }

    /// The page should be split; whether that is new.
    pub(super) fn want_split(&self, want: SplitWant) -> bool {
        let before = self.split_want.fetch_max(want as u8, Ordering::Relaxed);
        before < want as u8
    }

    /// The page has become another: two, as a rule.
    fn note_rewrite(&self) {
        let before = self.split_want();
        if let Some(target) = &self.target {
            self.give_up_split();
            target.count_split(before);
        }
    }

    /// Somebody asked for the page while it was here.
    pub(super) fn note_use(&self) {
        let uses = self.uses.load(Ordering::Relaxed);
        if uses < USES_MAX {
            self.uses.store(uses + 1, Ordering::Relaxed);
        }
    }

    pub(super) fn uses(&self) -> u8 {
        self.uses.load(Ordering::Relaxed)
    }

    pub(super) fn set_uses(&self, uses: u8) {
        self.uses.store(uses, Ordering::Relaxed);
    }

    /// The page and its image, of a frame that is evicted and holds one. Nobody else has the frame any more.
    pub(super) fn take_twin(&self) -> Option<(PageId, Arc<[u8]>)> {
        let twin = self.latch().ok()?.set_twin(None)?;
        Some((self.page, Arc::clone(twin.image())))
    }

    pub(super) fn upkeep(&self) -> &Arc<Upkeep> {
        &self.upkeep
    }

    pub(super) fn latch(&self) -> Result<RwLockWriteGuard<'_, Content>, FrameError> {
        let interrupted = |_| FrameError::Interrupted { page: self.page };
        self.content.write().map_err(interrupted)
    }

    pub(super) fn latch_shared(&self) -> Result<RwLockReadGuard<'_, Content>, FrameError> {
        let interrupted = |_| FrameError::Interrupted { page: self.page };
        self.content.read().map_err(interrupted)
    }

    fn corrupt(&self, source: Corrupt) -> FrameError {
        FrameError::Corrupt {
            page: self.page,
            source,
        }
    }
}

/// A page that its holder may change.
pub struct FrameMut<'a> {
    frame: &'a Arc<PageFrame>,
    content: &'a mut Content,
    has_applied: bool,
}

impl FrameMut<'_> {
    /// The page as it is now.
    ///
    /// # Errors
    /// A page that contradicts itself.
    pub fn page(&self) -> Result<RowPage<'_>, Corrupt> {
        RowPage::trusted(&self.content.bytes)
    }

    /// Applies one operation, the change with that LSN.
    ///
    /// # Errors
    /// See [`ApplyError`]; the page is as it was.
    pub fn apply(&mut self, op: &PageOp<'_>, lsn: u64) -> Result<Applied, ApplyError> {
        self.content.before_change(self.frame);
        let logged = if self.content.is_logging(self.frame.codec) {
            Some(self.in_short(op)?)
        } else {
            None
        };
        let mut page = RowPageMut::trusted(&mut self.content.bytes)?;
        let applied = apply(&mut page, op)?;
        page.set_lsn(lsn)?;
        self.content.after_change(self.frame);
        if let Some(op) = logged {
            self.content.log(&op);
            self.frame.largest_op.note(op.encoded_bytes());
        }
        self.has_applied = true;
        Ok(applied)
    }

    /// The operation, or one that changes the page in the same way and says only what is new: the log is full the later.
    fn in_short<'a>(&self, op: &PageOp<'a>) -> Result<PageOp<'a>, Corrupt> {
        let PageOp::Put {
            key,
            value,
            overflow: false,
        } = *op
        else {
            return Ok(*op);
        };
        let found = self.page()?.get(key)?;
        let old = found.filter(|entry| !entry.overflow);
        Ok(old.map_or(*op, |old| PageOp::update(key, old.value, value)))
    }

    /// Changes the page in a way that no operation tells: splits it, merges it, copies another into it. The next image
    /// is made from the whole page.
    ///
    /// # Errors
    /// A page that contradicts itself.
    pub fn rewrite<R>(
        &mut self,
        change: impl FnOnce(&mut RowPageMut<'_>) -> R,
    ) -> Result<R, Corrupt> {
        self.content.before_change(self.frame);
        let result = change(&mut RowPageMut::trusted(&mut self.content.bytes)?);
        self.content.after_change(self.frame);
        self.content.forget_base();
        self.frame.note_rewrite();
        Ok(result)
    }

    /// Frees the page: from now on nobody reads or changes it, and the next flush frees it in the volume. The caller has
    /// removed everything that refers to it.
    pub fn free(&mut self) {
        self.content.before_change(self.frame);
        self.content.is_freed = true;
        self.content.after_change(self.frame);
        self.content.forget_base();
    }
}
