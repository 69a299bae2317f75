//! Writing the changed pages as they were at one instant.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use quire_format::row_page::{PageImage, PageOp, append_op};
use quire_format::volume::{PageId, PageKind};

use super::Pool;
use super::content::{FrameCopy, LogUse};
use super::error::FlushError;
use super::frame::PageFrame;
use super::upkeep::Upkeep;
use crate::error::CommitError;
use crate::volume::{Durability, WriteBatch};

/// The changed pages of one instant, ready to be written. Dropping it leaves them changed.
pub struct Flush {
    pool: Pool,
    frames: Vec<Arc<PageFrame>>,
    /// In the order of `frames`.
    images: Vec<FlushImage>,
    /// Trees that have no pages as of the instant.
    forgotten_trees: Vec<u64>,
    is_committed: bool,
}

/// What is written of a page.
struct FlushImage {
    /// Absent for a page that is free.
    bytes: Option<Arc<[u8]>>,
    /// The operations that were appended.
    ops: Vec<u8>,
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
        let upkeep = &self.inner.upkeep;
        upkeep.changes.begin_flush();
        let mut flush = Flush {
            pool: self.clone(),
            frames: Vec::new(),
            images: Vec::new(),
            forgotten_trees: Vec::new(),
            is_committed: false,
        };
        let answer = {
            let groups = &self.inner.change_groups;
            let _nobody_changes = groups.write().unwrap_or_else(PoisonError::into_inner);
            if upkeep.is_interrupted() {
                return Err(FlushError::Interrupted);
            }
            flush.frames = upkeep.changes.end_epoch();
            flush.forgotten_trees = upkeep.dictionaries.take_forgotten();
            at_instant()
        };
        if upkeep.volume.is_full() {
            upkeep.dictionaries.use_stored_only();
        }
        for frame in &flush.frames {
            let copy = frame.latch()?.take_copy(frame);
            flush.images.push(upkeep.make_image(frame, copy)?);
        }
        flush.note_images();
        Ok((flush, answer))
    }
}

impl Flush {
    /// Pages that will be written or freed.
    #[must_use]
    pub fn page_count(&self) -> usize {
        self.frames.len()
    }

    /// Bytes of their images.
    #[must_use]
    pub fn image_bytes(&self) -> u64 {
        let bytes = self.images.iter().filter_map(|image| image.bytes.as_ref());
        bytes.map(|bytes| bytes.len() as u64).sum()
    }

    /// What many images took of their pages is what the next are expected to take.
    fn note_images(&self) {
        const PAGES_MIN: usize = 64;
        let written = self.frames.iter().zip(&self.images);
        let written = written.filter(|(_, image)| image.bytes.is_some());
        let page_bytes: usize = written.map(|(frame, _)| frame.page_bytes()).sum();
        if self.frames.len() >= PAGES_MIN {
            let upkeep = &self.pool.inner.upkeep;
            let image_bytes = self.image_bytes();
            upkeep.volume.note_images(image_bytes, page_bytes as u64);
            upkeep.changes.end_samples();
        }
    }

    /// The dictionaries that its images name.
    fn dictionaries(&self) -> HashSet<u64> {
        let named = |image: &Arc<[u8]>| Some(PageImage::open(image).ok()?.dictionary());
        let images = self.images.iter().filter_map(|image| image.bytes.as_ref());
        let named = images.filter_map(named);
        named.filter(|id| *id > 0).collect()
    }

    /// Adds the pages to a batch, and commits it with what else the caller has put there. The frames are unchanged
    /// then, except for what came after the instant.
    ///
    /// # Errors
    /// As [`WriteBatch::commit_with`]. The pages stay changed.
    pub fn commit(mut self, batch: WriteBatch, durability: Durability) -> Result<u64, CommitError> {
        for (frame, image) in self.frames.iter().zip(&self.images) {
            match &image.bytes {
                Some(image) => batch.put(frame.page(), PageKind::Row, image)?,
                // A page that came and went since the last flush was never in the volume.
                None if batch.existed(frame.page()) => batch.free(frame.page())?,
                None => {}
            }
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

    /// The volume has the images.
    fn finish(&mut self) {
        let inner = &self.pool.inner;
        for (frame, made) in self.frames.iter().zip(self.images.drain(..)) {
            let Ok(mut content) = frame.latch() else {
                continue;
            };
            match made.bytes {
                Some(image) => {
                    match inner.twin_of(frame.codec(), &image) {
                        Some(twin) => drop(content.set_twin(Some(twin))),
                        None => inner.upkeep.volume.keep_cached(frame.page(), &image),
                    }
                    let log = PageImage::open(&image)
                        .map_or_else(|_| LogUse::default(), |it| LogUse::of(&it, frame.target()));
                    let is_base = content.flushed(log, made.ops);
                    drop(content);
                    if is_base {
                        inner.upkeep.judge(frame, &image);
                    }
                }
                None => {
                    content.release();
                    inner.residents.remove(frame);
                }
            }
        }
    }

    /// The volume has nothing.
    fn give_back(&mut self) {
        let forgotten = std::mem::take(&mut self.forgotten_trees);
        self.pool.inner.upkeep.dictionaries.give_back(forgotten);
        for frame in &self.frames {
            if let Ok(mut content) = frame.latch() {
                content.take_back(frame);
            }
        }
    }
}

impl Drop for Flush {
    fn drop(&mut self) {
        if self.is_committed {
            self.finish();
        } else {
            self.give_back();
        }
        let frames = std::mem::take(&mut self.frames);
        let flushed_bytes = frames.iter().map(|frame| frame.page_bytes()).sum();
        // Now they can be evicted.
        drop(frames);
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
    fn make_image(&self, frame: &PageFrame, copy: FrameCopy) -> Result<FlushImage, FlushError> {
        let page = frame.page();
        let (bytes, ops) = match copy {
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
        Ok(FlushImage { bytes, ops })
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
