//! Writing the changed pages as they were at one instant.

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use quire_format::row_page::{PageImage, PageOp, append_op};
use quire_format::volume::{PageId, PageKind};

use super::Pool;
use super::content::{FrameCopy, LogUse};
use super::error::FlushError;
use super::frame::PageFrame;
use super::upkeep::Upkeep;
use crate::error::{BatchWriteError, CommitError};
use crate::volume::{Durability, WriteBatch};

/// The changed pages of one instant, to be written. Dropping it leaves changed what has not been written.
pub struct Flush {
    pub(super) pool: Pool,
    /// Those without an image yet.
    pub(super) unmade: VecDeque<Arc<PageFrame>>,
    /// Those that are written together at the end.
    frames: Vec<FlushedFrame>,
    /// Those of the part that is written next.
    pub(super) part: Vec<FlushedFrame>,
    /// Trees that have no pages as of the instant.
    forgotten_trees: Vec<u64>,
    /// Frames, when it began, and their bytes.
    pub(super) whole_count: usize,
    pub(super) whole_bytes: usize,
    lengths: FlushedLengths,
    is_committed: bool,
}

/// A frame, and what is written of its page.
pub(super) struct FlushedFrame {
    pub(super) frame: Arc<PageFrame>,
    /// Absent for a page that is free.
    pub(super) image: Option<Arc<[u8]>>,
    /// The operations that were appended.
    ops: Vec<u8>,
}

/// How long the pages of a flush are, and their images.
#[derive(Default)]
struct FlushedLengths {
    page_count: usize,
    page_bytes: u64,
    image_bytes: u64,
}

impl Pool {
    /// Takes all frames that have changed, as they are at one instant at which nobody holds a
    /// [`ChangeGuard`](super::ChangeGuard), and makes their images while others go on. `at_instant` runs at that instant: what
    /// it returns, such as the newest commit whose changes are in the pages, holds for all of them. Waits while another
    /// flush is in progress, so a thread must not hold one.
    ///
    /// Meant to be called before a batch is begun: nobody can commit while a batch exists, and making images takes long.
    ///
    /// # Errors
    /// See [`FlushError`]; the pages stay changed.
    pub fn prepare_flush<T>(
        &self,
        at_instant: impl FnOnce() -> T,
    ) -> Result<(Flush, T), FlushError> {
        let (mut flush, answer) = self.begin_flush(at_instant)?;
        flush.make_images()?;
        Ok((flush, answer))
    }

    /// The same, but the images are still to be made: by [`Flush::prepare_part`], or [`Flush::make_images`].
    ///
    /// # Errors
    /// [`FlushError::Interrupted`]; the pages stay changed.
    pub fn begin_flush<T>(&self, at_instant: impl FnOnce() -> T) -> Result<(Flush, T), FlushError> {
        let upkeep = &self.inner.upkeep;
        upkeep.changes.begin_flush();
        let mut flush = Flush {
            pool: self.clone(),
            unmade: VecDeque::new(),
            frames: Vec::new(),
            part: Vec::new(),
            forgotten_trees: Vec::new(),
            whole_count: 0,
            whole_bytes: 0,
            lengths: FlushedLengths::default(),
            is_committed: false,
        };
        let answer = {
            let groups = &self.inner.change_groups;
            let _nobody_changes = groups.write().unwrap_or_else(PoisonError::into_inner);
            if upkeep.is_interrupted() {
                return Err(FlushError::Interrupted);
            }
            flush.unmade = upkeep.changes.end_epoch().into();
            flush.whole_count = flush.unmade.len();
            flush.whole_bytes = flush.unmade.iter().map(|frame| frame.page_bytes()).sum();
            flush.forgotten_trees = upkeep.dictionaries.take_forgotten();
            at_instant()
        };
        if upkeep.volume.is_full() {
            upkeep.dictionaries.use_stored_only();
        }
        Ok((flush, answer))
    }
}

impl Flush {
    /// Pages that will be written or freed.
    #[must_use]
    pub fn page_count(&self) -> usize {
        self.unmade.len() + self.part.len() + self.frames.len()
    }

    /// Bytes of the images that have been made and not written.
    #[must_use]
    pub fn image_bytes(&self) -> u64 {
        let frames = self.frames.iter().chain(&self.part);
        frames.map(|it| it.image_bytes() as u64).sum()
    }

    /// Makes the images that are missing, so that all that is left can be written together.
    ///
    /// # Errors
    /// See [`FlushError`]; the pages stay changed.
    pub fn make_images(&mut self) -> Result<(), FlushError> {
        while let Some((made, _)) = self.make_next()? {
            self.frames.push(made);
        }
        self.frames.append(&mut self.part);
        Ok(())
    }

    /// Makes the image of the next frame. Whether other pages are right only together with it.
    pub(super) fn make_next(&mut self) -> Result<Option<(FlushedFrame, bool)>, FlushError> {
        // It stays in the list until there is an image: what is in none would be lost if this failed.
        let Some(frame) = self.unmade.front() else {
            return Ok(None);
        };
        let taken = frame.latch()?.take_copy(frame);
        let made = self.pool.inner.upkeep.make_image(frame, taken.copy)?;
        self.unmade.pop_front();
        self.lengths.add(&made);
        if self.unmade.is_empty() {
            self.note_images();
        }
        Ok(Some((made, taken.is_reshaped)))
    }

    /// The image has to wait for all others after all.
    pub(super) fn keep_for_the_end(&mut self, made: FlushedFrame) {
        self.frames.push(made);
    }

    /// What many images took of their pages is what the next are expected to take.
    fn note_images(&self) {
        const PAGES_MIN: usize = 64;
        let lengths = &self.lengths;
        if lengths.page_count >= PAGES_MIN {
            let upkeep = &self.pool.inner.upkeep;
            let volume = &upkeep.volume;
            volume.note_images(lengths.image_bytes, lengths.page_bytes);
            upkeep.changes.end_samples();
        }
    }

    /// The dictionaries that its images name.
    fn dictionaries(&self) -> HashSet<u64> {
        self.frames
            .iter()
            .filter_map(FlushedFrame::dictionary)
            .collect()
    }

    /// Adds the pages to a batch, and commits it with what else the caller has put there. The frames are unchanged
    /// then, except for what came after the instant.
    ///
    /// # Panics
    /// When images are missing: see [`Flush::make_images`].
    ///
    /// # Errors
    /// As [`WriteBatch::commit_with`]. The pages stay changed.
    pub fn commit(mut self, batch: WriteBatch, durability: Durability) -> Result<u64, CommitError> {
        assert!(
            self.unmade.is_empty() && self.part.is_empty(),
            "a flush is committed without images of its pages"
        );
        for made in &self.frames {
            made.put(&batch)?;
        }
        let dictionaries = &self.pool.inner.upkeep.dictionaries;
        let change = dictionaries.write(&batch, &self.forgotten_trees, &self.dictionaries())?;
        let sequence = batch.commit_with(durability)?;
        if let Some(change) = change {
            dictionaries.written(change);
        }
        self.is_committed = true;
        Ok(sequence)
    }

    /// The volume has nothing of these.
    fn give_back(&mut self) {
        let forgotten = std::mem::take(&mut self.forgotten_trees);
        self.pool.inner.upkeep.dictionaries.give_back(forgotten);
        let made = self.frames.iter().chain(&self.part).map(|it| &it.frame);
        for frame in made.chain(&self.unmade) {
            if let Ok(mut content) = frame.latch() {
                content.take_back(frame);
            }
        }
    }
}

impl FlushedFrame {
    pub(super) fn image_bytes(&self) -> usize {
        self.image.as_ref().map_or(0, |image| image.len())
    }

    /// The dictionary that the image names.
    pub(super) fn dictionary(&self) -> Option<u64> {
        let image = PageImage::open(self.image.as_ref()?).ok()?;
        Some(image.dictionary()).filter(|id| *id > 0)
    }

    pub(super) fn put(&self, batch: &WriteBatch) -> Result<(), BatchWriteError> {
        let page = self.frame.page();
        match &self.image {
            Some(image) => batch.put(page, PageKind::Row, image),
            // A page that came and went since the last flush was never in the volume.
            None if batch.existed(page) => batch.free(page),
            None => Ok(()),
        }
    }

    /// The volume has the image.
    pub(super) fn finish(self, pool: &Pool) {
        let inner = &pool.inner;
        let Self { frame, image, ops } = self;
        let Ok(mut content) = frame.latch() else {
            return;
        };
        match image {
            Some(image) => {
                match inner.twin_of(frame.codec(), &image) {
                    Some(twin) => drop(content.set_twin(Some(twin))),
                    None => inner.upkeep.volume.keep_cached(frame.page(), &image),
                }
                let log = PageImage::open(&image)
                    .map_or_else(|_| LogUse::default(), |it| LogUse::of(&it, frame.target()));
                let is_base = content.flushed(log, ops);
                drop(content);
                if is_base {
                    inner.upkeep.judge(&frame, &image);
                }
            }
            None => {
                content.release();
                inner.residents.remove(&frame);
            }
        }
    }
}

impl FlushedLengths {
    fn add(&mut self, made: &FlushedFrame) {
        if made.image.is_some() {
            self.page_bytes += made.frame.page_bytes() as u64;
            self.image_bytes += made.image_bytes() as u64;
        }
        self.page_count += 1;
    }
}

impl Drop for Flush {
    fn drop(&mut self) {
        if !self.is_committed {
            self.give_back();
        }
        let made = self.frames.drain(..).chain(self.part.drain(..));
        let mut flushed_bytes = 0;
        for made in made {
            flushed_bytes += made.frame.page_bytes();
            if self.is_committed {
                made.finish(&self.pool);
            }
        }
        for frame in self.unmade.drain(..) {
            flushed_bytes += frame.page_bytes();
        }
        // Now they can be evicted.
        self.pool.inner.upkeep.changes.end_flush(flushed_bytes);
        self.pool.inner.keep_to_budget();
    }
}

impl Upkeep {
    /// Before there was a flush: what the images of some changed pages take is what all are expected to take.
    pub(super) fn measure_sample(&self) {
        let (mut image_bytes, mut page_bytes) = (0, 0);
        for frame in self.changes.sample() {
            let Ok(content) = frame.latch_shared() else {
                continue;
            };
            let bytes = content.bytes.clone();
            drop(content);
            // A page that is free is none.
            if let Ok(image) = self.measure(&bytes, frame.codec()) {
                image_bytes += image as u64;
                page_bytes += bytes.len() as u64;
            }
        }
        self.volume.note_images(image_bytes, page_bytes);
    }

    /// The image of a page.
    fn make_image(
        &self,
        frame: &Arc<PageFrame>,
        copy: FrameCopy,
    ) -> Result<FlushedFrame, FlushError> {
        let page = frame.page();
        let (image, ops) = match copy {
            FrameCopy::Freed => (None, Vec::new()),
            FrameCopy::Encode(bytes) => {
                if frame.codec().compresses() {
                    let counter = &self.counters.flush_compressions;
                    counter.fetch_add(1, Ordering::Relaxed);
                }
                let image = self.encode(&bytes, frame.codec());
                let image = image.map_err(|detail| FlushError::Image { page, detail })?;
                (Some(image), Vec::new())
            }
            FrameCopy::Append { base, ops, lsn } => {
                let base = match base {
                    Some(base) => base,
                    None => self.volume.read(page)?,
                };
                self.counters
                    .appended_images
                    .fetch_add(1, Ordering::Relaxed);
                let image = if ops.is_empty() {
                    base
                } else {
                    append(page, &base, &ops, lsn)?.into()
                };
                (Some(image), ops)
            }
        };
        Ok(FlushedFrame {
            frame: Arc::clone(frame),
            image,
            ops,
        })
    }
}

/// An image and more operations.
fn append(page: PageId, base: &[u8], ops: &[u8], lsn: u64) -> Result<Vec<u8>, FlushError> {
    let failed = |detail: String| FlushError::Image { page, detail };
    let mut image = Vec::with_capacity(base.len() + ops.len());
    image.extend_from_slice(base);
    let mut rest = ops;
    while !rest.is_empty() {
        let (op, op_bytes) = PageOp::decode(rest).map_err(|error| failed(error.to_string()))?;
        append_op(&mut image, &op, lsn).map_err(|error| failed(error.to_string()))?;
        rest = &rest[op_bytes..];
    }
    Ok(image)
}
