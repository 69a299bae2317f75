//! What is under the latch of a frame, and how it gets into an image.
//!
//! A change belongs to an *epoch*. A flush ends the epoch and takes the frames that were changed in it; each of
//! them has a *copy* made as it was at that instant: by the flush, or, when a thread wants to change the frame
//! before the flush has come to it, by that thread.

use std::sync::Arc;

use quire_format::row_page::{PageImage, PageOp, RowPage, space};

use super::codec::PageCodec;
use super::frame::PageFrame;
use super::targets::{SplitWant, TransformTarget};
use super::twin::Twin;

/// Memory for operations that a frame keeps, at most: twice as much.
const KEPT_OPS_BYTES_MAX: usize = 512;

/// The page, and what its next image will be made of.
pub(super) struct Content {
    pub(super) bytes: Box<[u8]>,
    pub(super) is_freed: bool,
    base: Base,
    /// The newest image in the volume, if the frame holds it.
    twin: Option<Twin>,
    /// Operations since the base, encoded one after the other.
    ops: Vec<u8>,
    /// Memory of operations that have become part of a base.
    spare_ops: Vec<u8>,
    op_count: usize,
    op_bytes_max: usize,
    /// Epoch of the changes that no flush has taken.
    changed_in: Option<u64>,
    /// For the flush in progress.
    copy: Option<FrameCopy>,
    /// Changes whenever `ops` stop being what has happened since the base, except at its end.
    generation: u64,
    is_compressing: bool,
}

/// What operations can be appended to.
enum Base {
    /// Nothing: the page will be encoded.
    Missing,
    /// The newest image in the volume.
    Stored(LogUse),
    /// An image that was made since then.
    Prepared(Arc<[u8]>, LogUse),
    /// The image that is being made.
    Compressing,
    /// The image that the flush in progress will write.
    Pending,
}

/// How much of the modification log of an image is used.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LogUse {
    log_bytes: usize,
    log_bytes_max: usize,
    op_count: usize,
    op_bytes_max: usize,
}

impl LogUse {
    pub(super) fn of(image: &PageImage<'_>, target: Option<&TransformTarget>) -> Self {
        let log_bytes = image.log_bytes();
        let log_bytes_max = match target.filter(|_| image.is_padded()) {
            None => image.log_bytes_max(),
            Some(target) => {
                let base_bytes = image.used_bytes() - log_bytes;
                let slot_bytes = target.image_bytes_max().saturating_sub(base_bytes);
                // The image may have been padded for a smaller slot than the table has now.
                slot_bytes.min(image.log_bytes_max())
            }
        };
        Self {
            log_bytes,
            log_bytes_max,
            op_count: image.op_count(),
            op_bytes_max: image.op_bytes_max(),
        }
    }

    /// Whether another operation as long as the longest would not fit: of this log, or of the tree as far as that is to be waited for.
    fn is_almost_full(&self, frame: &PageFrame) -> bool {
        let op_bytes_max = self.op_bytes_max.max(frame.log_bytes_wanted());
        space::should_recompress(self.log_bytes, op_bytes_max, self.log_bytes_max)
    }

    /// Whether the page has changed no more than once since it was compressed.
    fn is_just_compressed(&self) -> bool {
        self.op_count <= 1
    }
}

/// A frame as it was at the instant of a flush.
pub(super) enum FrameCopy {
    /// The page was free.
    Freed,
    /// An image, or the newest one of the volume where absent, and operations to append.
    Append {
        base: Option<Arc<[u8]>>,
        ops: Vec<u8>,
        lsn: u64,
    },
    /// The page.
    Encode(Box<[u8]>),
}

/// A page that is being compressed outside of its latch.
pub(super) struct CompressionJob {
    pub(super) bytes: Box<[u8]>,
    /// Bytes of the operations that will be in the image.
    op_bytes: usize,
    op_count: usize,
    generation: u64,
}

impl Content {
    /// A page that has an image in the volume, which the frame may hold.
    pub(super) fn stored(bytes: Box<[u8]>, log: LogUse, twin: Option<Twin>) -> Self {
        Self {
            twin,
            ..Self::with_base(bytes, Base::Stored(log))
        }
    }

    /// A page that has none.
    pub(super) fn fresh(bytes: Box<[u8]>) -> Self {
        Self::with_base(bytes, Base::Missing)
    }

    fn with_base(bytes: Box<[u8]>, base: Base) -> Self {
        Self {
            bytes,
            is_freed: false,
            base,
            twin: None,
            ops: Vec::new(),
            spare_ops: Vec::new(),
            op_count: 0,
            op_bytes_max: 0,
            changed_in: None,
            copy: None,
            generation: 0,
            is_compressing: false,
        }
    }

    /// If a flush waits for the page as it is, it gets it now.
    pub(super) fn before_change(&mut self, frame: &PageFrame) {
        if let Some(epoch) = self.changed_in
            && epoch < frame.upkeep().changes.epoch()
        {
            self.hand_over(frame);
        }
    }

    /// The frame has changed: the flush after this epoch must take it.
    pub(super) fn after_change(&mut self, frame: &Arc<PageFrame>) {
        if self.changed_in.is_none() {
            self.changed_in = Some(frame.upkeep().changes.add(frame));
        }
    }

    /// Whether operations are noted: there is an image that they can be appended to.
    pub(super) fn is_logging(&self, codec: PageCodec) -> bool {
        codec.compresses() && !matches!(self.base, Base::Missing)
    }

    /// Notes an operation that was applied.
    pub(super) fn log(&mut self, op: &PageOp<'_>) {
        if self.ops.capacity() == 0 {
            self.ops = std::mem::take(&mut self.spare_ops);
        }
        op.encode(&mut self.ops);
        self.op_count += 1;
        self.op_bytes_max = self.op_bytes_max.max(op.encoded_bytes());
        // Nobody compresses the page in time.
        if self.ops.len() > 4 * space::log_bytes_max(self.bytes.len()) {
            self.forget_base();
        }
    }

    /// The next image will be made from the whole page.
    pub(super) fn forget_base(&mut self) {
        self.begin_base(Base::Missing);
    }

    fn begin_base(&mut self, base: Base) {
        self.base = base;
        let ops = std::mem::take(&mut self.ops);
        self.keep_memory(ops);
        self.op_count = 0;
        self.op_bytes_max = 0;
        self.generation += 1;
    }

    /// Makes the copy for the flush in progress; the frame starts anew.
    fn hand_over(&mut self, frame: &PageFrame) {
        assert!(
            self.copy.is_none(),
            "a flush has begun before the last one was over"
        );
        self.copy = Some(self.make_copy(frame));
        self.changed_in = None;
        self.begin_base(if self.is_freed {
            Base::Missing
        } else {
            Base::Pending
        });
    }

    fn make_copy(&mut self, frame: &PageFrame) -> FrameCopy {
        if self.is_freed {
            return FrameCopy::Freed;
        }
        // On a full disk pages become as small as they can.
        let may_append = frame.codec().compresses() && !frame.upkeep().volume.is_full();
        let log = self
            .log_use()
            .filter(|log| may_append && log.log_bytes <= log.log_bytes_max);
        let lsn = RowPage::trusted(&self.bytes).map(|page| page.lsn());
        let (Some(_), Ok(lsn)) = (log, lsn) else {
            return FrameCopy::Encode(self.bytes.clone());
        };
        let base = match &self.base {
            Base::Prepared(image, _) => Some(Arc::clone(image)),
            _ => match &self.twin {
                Some(twin) => Some(Arc::clone(twin.image())),
                None => frame.upkeep().volume.read_cached(frame.page()),
            },
        };
        if base.is_none() && frame.upkeep().costs.is_compressing_cheaper() {
            return FrameCopy::Encode(self.bytes.clone());
        }
        FrameCopy::Append {
            base,
            ops: std::mem::take(&mut self.ops),
            lsn,
        }
    }

    /// The log of the next image, if operations can be appended to the base.
    fn log_use(&self) -> Option<LogUse> {
        let base = match &self.base {
            Base::Missing | Base::Pending | Base::Compressing => return None,
            Base::Prepared(_, log) | Base::Stored(log) => *log,
        };
        Some(LogUse {
            log_bytes: base.log_bytes + self.ops.len(),
            log_bytes_max: base.log_bytes_max,
            op_count: base.op_count + self.op_count,
            op_bytes_max: base.op_bytes_max.max(self.op_bytes_max),
        })
    }

    /// For a flush: the frame as it was at its instant.
    ///
    /// Precondition: the flush has taken the frame from the set of changed ones.
    pub(super) fn take_copy(&mut self, frame: &PageFrame) -> FrameCopy {
        if self.copy.is_none() {
            assert!(
                self.changed_in.is_some(),
                "a frame without changes is to be flushed"
            );
            self.hand_over(frame);
        }
        match self.copy.take() {
            Some(copy) => copy,
            None => FrameCopy::Encode(self.bytes.clone()),
        }
    }

    /// Operations will be noted there where these were, of which nobody needs any.
    fn keep_memory(&mut self, mut ops: Vec<u8>) {
        if (1..=KEPT_OPS_BYTES_MAX).contains(&ops.capacity()) {
            ops.clear();
            self.spare_ops = ops;
        }
    }

    /// A flush has written the image, and with it `ops`. Whether the page follows from it and the operations since.
    pub(super) fn flushed(&mut self, log: LogUse, ops: Vec<u8>) -> bool {
        self.keep_memory(ops);
        let is_base = matches!(self.base, Base::Pending);
        if is_base {
            self.base = Base::Stored(log);
        }
        is_base
    }

    /// Holds another image, or none. Returns the one before.
    pub(super) fn set_twin(&mut self, twin: Option<Twin>) -> Option<Twin> {
        std::mem::replace(&mut self.twin, twin)
    }

    /// A flush has freed the page; nobody reads it any more.
    pub(super) fn release(&mut self) {
        self.bytes = Box::default();
        self.twin = None;
    }

    /// A flush has come to nothing: what it took is changed still.
    pub(super) fn take_back(&mut self, frame: &Arc<PageFrame>) {
        self.copy = None;
        self.forget_base();
        self.after_change(frame);
    }

    /// Whether the page should be compressed now, before its log is full. The caller does it. `has_applied` tells that an
    /// operation was just applied, so that no latch of another page is held.
    pub(super) fn begin_compression(&mut self, frame: &Arc<PageFrame>, has_applied: bool) -> bool {
        if self.is_compressing || !frame.codec().compresses() {
            return false;
        }
        let target = frame.target_of(&self.bytes);
        let wanted = match (&self.base, target) {
            (Base::Missing, Some(_)) => has_applied,
            _ => self.is_log_almost_full(frame),
        };
        let is_to_be_split = |target| frame.may_be_split() || self.is_to_be_split(target);
        if wanted && target.is_some_and(is_to_be_split) {
            frame.want_split(SplitWant::InAdvanceNow);
            return false;
        }
        self.is_compressing |= wanted;
        wanted
    }

    /// Advance split (paper 4, §V-D): a page that was just compressed and needs it again is split instead.
    fn is_to_be_split(&self, target: &TransformTarget) -> bool {
        target.splits_in_advance()
            && self.log_use().is_some_and(|log| log.is_just_compressed())
            && RowPage::trusted(&self.bytes).is_ok_and(|page| page.len() > 1)
    }

    /// What is to be compressed. Nothing when the page has lost its base meanwhile, or its operations are in a flush. The first
    /// image of a page is made of it beforehand only if it is to have a fixed size.
    pub(super) fn compression_job(&mut self, frame: &PageFrame) -> Option<CompressionJob> {
        let is_first = matches!(self.base, Base::Missing)
            && !self.is_freed
            && frame.target_of(&self.bytes).is_some();
        if is_first {
            self.begin_base(Base::Compressing);
        } else if self.log_use().is_none() || self.ops.is_empty() {
            self.is_compressing = false;
            return None;
        }
        Some(CompressionJob {
            bytes: self.bytes.clone(),
            op_bytes: self.ops.len(),
            op_count: self.op_count,
            generation: self.generation,
        })
    }

    /// The page was compressed; operations that came meanwhile follow the new base. Whether they do.
    pub(super) fn end_compression(
        &mut self,
        job: &CompressionJob,
        image: Option<(Arc<[u8]>, LogUse)>,
    ) -> bool {
        self.is_compressing = false;
        if job.generation != self.generation {
            return false;
        }
        let Some((image, log)) = image else {
            if matches!(self.base, Base::Compressing) {
                self.forget_base();
            }
            return false;
        };
        self.base = Base::Prepared(image, log);
        self.ops.drain(..job.op_bytes);
        self.op_count -= job.op_count;
        self.generation += 1;
        true
    }

    /// Whether there is no room for another operation as long as the longest.
    pub(super) fn is_log_almost_full(&self, frame: &PageFrame) -> bool {
        self.log_use().is_some_and(|log| log.is_almost_full(frame))
    }
}
