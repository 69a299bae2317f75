//! What keeps the frames of a pool going: compression and its threads, what is changed, what was measured.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use quire_codec::Corrupt;
use quire_codec::block::{BlockCodec, ZstdDictionary};
use quire_format::row_page::{PageImage, RowPage, StoredPageRows, pad_image};

use super::access_time::LeafLoads;
use super::changes::DirtyFrames;
use super::codec::{CodecShelf, PageCodec};
use super::columns::ColumnFormats;
use super::content::LogUse;
use super::costs::PoolCosts;
use super::dictionaries::{Dictionaries, TrainingJob};
use super::error::GetError;
use super::frame::PageFrame;
use super::largest_ops::LargestOps;
use super::splits::Splits;
use super::targets::{SplitWant, Targets, TransformTarget};
use super::training::Recorder;
use crate::volume::Volume;
use quire_format::volume::{IMAGE_HEADER_BYTES, PageId};

/// Pages that may wait for each compression thread. When more would, whoever changes a page compresses it himself:
/// that slows the writers down to what the threads can do.
const QUEUE_PAGES_PER_THREAD: usize = 4;

pub(super) struct Upkeep {
    pub(super) volume: Volume,
    pub(super) changes: DirtyFrames,
    pub(super) costs: PoolCosts,
    pub(super) counters: PoolCounters,
    pub(super) formats: ColumnFormats,
    pub(super) dictionaries: Dictionaries,
    pub(super) targets: Targets,
    pub(super) largest_ops: LargestOps,
    pub(super) splits: Splits,
    codecs: CodecShelf,
    /// A thread has panicked in the middle of a change: what it has changed may not reach the disk.
    is_interrupted: AtomicBool,
    queue: Mutex<UpkeepQueue>,
    queued: Condvar,
}

/// Events since the pool was made.
#[derive(Debug, Default)]
pub(super) struct PoolCounters {
    pub(super) warm_hits: AtomicU64,
    pub(super) misses: AtomicU64,
    pub(super) glances: AtomicU64,
    pub(super) leaf_loads: LeafLoads,
    pub(super) evictions: AtomicU64,
    pub(super) foreground_compressions: AtomicU64,
    pub(super) background_compressions: AtomicU64,
    pub(super) flush_compressions: AtomicU64,
    pub(super) appended_images: AtomicU64,
}

/// Pages whose modification log is almost full, and dictionaries to be trained.
#[derive(Default)]
struct UpkeepQueue {
    frames: VecDeque<Arc<PageFrame>>,
    trainings: VecDeque<TrainingJob>,
    /// Threads that take from the queue: those with lower numbers.
    thread_count: usize,
    is_closed: bool,
}

impl UpkeepQueue {
    fn takes_pages(&self) -> bool {
        let pages_max = self.thread_count * QUEUE_PAGES_PER_THREAD;
        !self.is_closed && self.frames.len() < pages_max
    }

    /// Whether the thread with that number goes on. When there are to be no threads, nothing comes any more, and they end after the last.
    fn is_served_by(&self, number: usize) -> bool {
        let is_empty = self.frames.is_empty() && self.trainings.is_empty();
        !self.is_closed && (number < self.thread_count || self.thread_count == 0 && !is_empty)
    }
}

/// Notes when a thread panics.
pub(super) struct Watch<'a>(&'a AtomicBool);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

impl Upkeep {
    pub(super) fn new(volume: Volume, dirty_limit_bytes: usize) -> Self {
        Self {
            dictionaries: Dictionaries::new(volume.clone()),
            volume,
            changes: DirtyFrames::new(dirty_limit_bytes),
            costs: PoolCosts::default(),
            counters: PoolCounters::default(),
            formats: ColumnFormats::default(),
            targets: Targets::default(),
            largest_ops: LargestOps::default(),
            splits: Splits::default(),
            codecs: CodecShelf::default(),
            is_interrupted: AtomicBool::new(false),
            queue: Mutex::default(),
            queued: Condvar::new(),
        }
    }

    /// Must live as long as a change lasts.
    pub(super) fn watch(&self) -> Watch<'_> {
        Watch(&self.is_interrupted)
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.is_interrupted.load(Ordering::Relaxed)
    }

    /// The page that an image stands for.
    pub(super) fn decode(
        &self,
        page: PageId,
        image: &[u8],
        target: Option<&TransformTarget>,
    ) -> Result<(Box<[u8]>, LogUse), GetError> {
        let start = Instant::now();
        let opened = PageImage::open(image).map_err(self.not_a_page(page))?;
        let mut bytes = vec![0; opened.page_bytes()].into_boxed_slice();
        self.with_codec_of(page, &opened, |codec| opened.decode(codec, &mut bytes))?;
        self.costs.decode.note(start.elapsed());
        Ok((bytes, LogUse::of(&opened, target)))
    }

    /// Applies `search` to the rows of an image; `None` if the image is stored by columns and would have to be decoded first.
    pub(super) fn search_image<R>(
        &self,
        page: PageId,
        image: &PageImage<'_>,
        scratch: &mut Vec<u8>,
        search: impl FnOnce(&StoredPageRows<'_>) -> R,
    ) -> Result<Option<R>, GetError> {
        self.with_codec_of(page, image, |codec| {
            let rows = image.rows(codec, scratch)?;
            Ok(rows.map(|rows| search(&rows)))
        })
    }

    fn with_codec_of<R>(
        &self,
        page: PageId,
        image: &PageImage<'_>,
        work: impl FnOnce(&mut dyn BlockCodec) -> Result<R, Corrupt>,
    ) -> Result<R, GetError> {
        let dictionary = match image.dictionary() {
            0 => None,
            id => Some(self.dictionaries.named(page, id)?),
        };
        let result = self.codecs.with_any_level(image.codec(), dictionary, work);
        result
            .map_err(|source| GetError::Codec { page, source })?
            .map_err(self.not_a_page(page))
    }

    pub(super) fn not_a_page(&self, page: PageId) -> impl Fn(Corrupt) -> GetError {
        move |source| GetError::Image {
            file: self.volume.file(),
            page,
            source,
        }
    }

    /// The image of a page.
    pub(super) fn encode(&self, bytes: &[u8], codec: PageCodec) -> Result<Arc<[u8]>, String> {
        let start = Instant::now();
        let page = RowPage::trusted(bytes).map_err(|error| error.to_string())?;
        let mut image = match page.level() {
            0 if !page.is_empty() => self.encode_leaf(&page, codec)?,
            _ => self.encode_with(&page, codec, None)?,
        };
        self.costs.encode.note(start.elapsed());
        if let (0, Some(target)) = (page.level(), self.targets.get(codec)) {
            target.note(&page, image.len());
            pad_image(&mut image, target.slot_bytes(), IMAGE_HEADER_BYTES)
                .map_err(|error| error.to_string())?;
        }
        Ok(image.into())
    }

    fn encode_with(
        &self,
        page: &RowPage<'_>,
        codec: PageCodec,
        dictionary: Option<ZstdDictionary>,
    ) -> Result<Vec<u8>, String> {
        let image = self.codecs.with(codec, dictionary, |shelved| {
            self.formats.encode(codec, page, shelved)
        });
        image
            .map_err(|error| error.to_string())?
            .map_err(|error: Corrupt| error.to_string())
    }

    /// About how many bytes the image of a page takes: with a dictionary they may be fewer.
    pub(super) fn measure(&self, bytes: &[u8], codec: PageCodec) -> Result<usize, String> {
        let page = RowPage::trusted(bytes).map_err(|error| error.to_string())?;
        let image_bytes = self.encode_with(&page, codec, None)?.len();
        let target = self.targets.get(codec).filter(|_| page.level() == 0);
        Ok(target.map_or(image_bytes, |target| image_bytes.max(target.slot_bytes())))
    }

    /// With the newest dictionary of the tree, if it has one.
    fn encode_leaf(&self, page: &RowPage<'_>, codec: PageCodec) -> Result<Vec<u8>, String> {
        let Some(leaf) = self.dictionaries.for_leaf(codec) else {
            return self.encode_with(page, codec, None);
        };
        // What is compressed changes once the transform has been chosen.
        if !leaf.is_sampled || self.formats.transform(codec).is_none() {
            return self.encode_with(page, codec, leaf.dictionary);
        }
        let encoded = self.codecs.with(codec, leaf.dictionary, |shelved| {
            let mut recorder = Recorder::new(shelved);
            let image = self.formats.encode(codec, page, &mut recorder)?;
            Ok((image, recorder.raw, recorder.compressed_bytes))
        });
        let (image, raw, compressed_bytes) = encoded
            .map_err(|error| error.to_string())?
            .map_err(|error: Corrupt| error.to_string())?;
        let other_bytes = image.len().saturating_sub(compressed_bytes);
        let first_key = page.entry(0).map(|entry| entry.key());
        let first_key = first_key.map_err(|error| error.to_string())?;
        let job = leaf.tree.add_sample(&first_key, raw, other_bytes);
        if let Some(job) = job {
            self.train(job);
        }
        Ok(image)
    }

    /// Has a dictionary trained by a thread, or, where there is none, at once.
    fn train(&self, job: TrainingJob) {
        let mut queue = self.lock();
        if queue.thread_count == 0 {
            drop(queue);
            return self.dictionaries.train(job);
        }
        queue.trainings.push_back(job);
        drop(queue);
        self.queued.notify_one();
    }

    /// Has a page compressed whose modification log is almost full: by a thread, or, when there is none or all are busy,
    /// at once.
    pub(super) fn compress(&self, frame: &Arc<PageFrame>) {
        let mut queue = self.lock();
        if queue.takes_pages() {
            queue.frames.push_back(Arc::clone(frame));
            drop(queue);
            self.queued.notify_one();
            return;
        }
        drop(queue);
        self.compress_now(frame, &self.counters.foreground_compressions);
    }

    /// From now on the threads with lower numbers take from the queue, and the others end.
    pub(super) fn set_thread_count(&self, count: usize) {
        self.lock().thread_count = count;
        self.queued.notify_all();
    }

    /// Compresses pages, as the thread with that number.
    pub(super) fn compress_in_background(&self, number: usize) {
        let mut queue = self.lock();
        while queue.is_served_by(number) {
            match queue.frames.pop_front() {
                Some(frame) => {
                    drop(queue);
                    self.compress_now(&frame, &self.counters.background_compressions);
                    drop(frame);
                    queue = self.lock();
                }
                None if !queue.trainings.is_empty() => {
                    let job = queue.trainings.pop_front();
                    drop(queue);
                    job.into_iter().for_each(|job| self.dictionaries.train(job));
                    queue = self.lock();
                }
                None => {
                    queue = self
                        .queued
                        .wait(queue)
                        .unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    /// A page that cannot be compressed is left as it is: the flush says why.
    fn compress_now(&self, frame: &Arc<PageFrame>, counter: &AtomicU64) {
        let job = frame
            .latch()
            .ok()
            .and_then(|mut content| content.compression_job(frame));
        let Some(job) = job else {
            return;
        };
        let image = self.encode(&job.bytes, frame.codec()).ok();
        counter.fetch_add(1, Ordering::Relaxed);
        let log = image.as_ref().and_then(|image| {
            let opened = PageImage::open(image).ok()?;
            Some((Arc::clone(image), LogUse::of(&opened, frame.target())))
        });
        let is_base = frame
            .latch()
            .is_ok_and(|mut content| content.end_compression(&job, log));
        if let (true, Some(image)) = (is_base, &image) {
            self.judge(frame, image);
        }
    }

    /// A page has a new image: if that is larger than it should be, or has no room for another change, the page should be split. The
    /// caller holds no latch.
    pub(super) fn judge(&self, frame: &Arc<PageFrame>, image: &[u8]) {
        let Some(target) = frame.target() else {
            return;
        };
        let Ok(content) = frame.latch_shared() else {
            return;
        };
        let is_leaf = frame.target_of(&content.bytes).is_some();
        let is_divisible = RowPage::trusted(&content.bytes).is_ok_and(|page| page.len() > 1);
        let is_almost_full = content.is_log_almost_full(frame);
        drop(content);
        if !is_leaf || !is_divisible {
            return;
        }
        if image.len() > target.image_bytes_max() {
            if frame.want_split(SplitWant::Failure) {
                self.splits.add(frame);
            }
        } else if target.splits_in_advance()
            // Images that are not compressed have no log that could be full.
            && frame.codec().compresses()
            && is_almost_full
            && frame.want_split(SplitWant::InAdvance)
            && !self.splits.add(frame)
        {
            frame.want_split(SplitWant::InAdvanceNow);
        }
    }

    /// Ends the threads and lets all frames go.
    pub(super) fn close(&self) {
        self.changes.close();
        self.splits.close();
        let mut queue = self.lock();
        queue.is_closed = true;
        let frames = std::mem::take(&mut queue.frames);
        drop(queue);
        drop(frames);
        self.queued.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, UpkeepQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
