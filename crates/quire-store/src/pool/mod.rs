//! The pages of row tables in memory, within one budget of bytes.
//!
//! *Hot* pages are frames: plain bytes behind a latch. *Warm* pages are compressed images: the volume's cache of
//! payloads. How the budget is divided follows from what is measured (`tuner`). Frames change by
//! page operations, which are also noted beside the newest image (`content`), so that a flush can append them to it instead of
//! compressing the page (`flush`); a page whose log of operations is almost full is compressed by threads beforehand
//! (`upkeep`).
//!
//! ```
//! use std::sync::Arc;
//! use quire_codec::block::BlockCodecId;
//! use quire_format::row_page::{PAGE_BYTES_DEFAULT, PageOp, PageSetup, RowPageMut};
//! use quire_store::pool::{PageCodec, Pool, PoolOptions};
//! use quire_store::{Durability, MemDisk, Volume, VolumeOptions};
//!
//! let volume = Volume::create(Arc::new(MemDisk::new()), VolumeOptions::default())?;
//! let pool = Pool::new(&volume, PoolOptions::default());
//! let codec = PageCodec::new(BlockCodecId::Lz4, None)?;
//!
//! let mut bytes = vec![0; PAGE_BYTES_DEFAULT];
//! RowPageMut::create(&mut bytes, &PageSetup::default())?;
//! let frame = pool.add(bytes.into(), codec)?;
//! frame.apply(&PageOp::Put { key: b"k", value: b"v", overflow: false }, 1)?;
//!
//! let (flush, ()) = pool.prepare_flush(|| ())?;
//! let batch = volume.begin()?; // A log would be truncated in it.
//! flush.commit(batch, Durability::Synced)?;
//!
//! let again = pool.get(frame.page(), codec)?;
//! let value = again.read(|page| page.get(b"k").map(|found| found.map(|entry| entry.value.to_vec())))?;
//! assert_eq!(value?, Some(b"v".to_vec()));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod access_time;
mod budget;
mod changes;
mod codec;
mod columns;
mod compression_threads;
mod content;
mod costs;
mod dictionaries;
mod error;
mod flush;
mod frame;
mod glance;
mod largest_ops;
mod policy;
mod replacement;
mod residence;
mod residents;
mod splits;
mod statistics;
mod targets;
mod training;
mod tuner;
mod twin;
mod upkeep;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use quire_codec::block::BlockCodecId;
use quire_format::row_page::{PageTransform, RowPage, RowPageShape};
use quire_format::volume::PageId;

pub use access_time::expected_access_time;
pub use codec::PageCodec;
pub use error::{AddError, ChangeError, FlushError, FrameError, GetError};
pub use flush::Flush;
pub use frame::{FrameMut, PageFrame};
pub use glance::Glance;
pub use policy::{PoolPolicy, PoolPolicyError};
pub use residence::Residence;
pub use statistics::PoolStats;
pub use targets::PageTarget;

use crate::volume::Volume;
use compression_threads::CompressionThreads;
use content::Content;
use policy::BudgetSplit;
use replacement::Replacement;
use residents::{ResidentLookup, Residents};
use twin::TwinBytes;
use upkeep::{Upkeep, Watch};

/// Options of a pool.
#[derive(Clone, Debug)]
pub struct PoolOptions {
    /// Bytes that frames and the volume's cached images may take together.
    pub budget_bytes: usize,
    /// How they share it.
    pub policy: PoolPolicy,
    /// Percent of the budget that may be changed before a flush is wanted.
    pub dirty_percent: u8,
    /// Threads that compress pages before their logs are full. With 0, the thread that fills a log compresses the page. Can be
    /// [changed](Pool::set_compression_threads).
    pub compression_threads: usize,
}

impl Default for PoolOptions {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            budget_bytes: 64 << 20,
            policy: PoolPolicy::default(),
            dirty_percent: 25,
            compression_threads: (cores / 2).clamp(1, 16),
        }
    }
}

/// The pool of one volume, whose cache it takes charge of. A cheap handle: clones are the same pool. There is one pool for
/// a volume. When the last handle goes, the compression threads end, and changes that no flush has written are gone:
/// the log has them.
#[derive(Clone)]
pub struct Pool {
    inner: Arc<PoolInner>,
}

struct PoolInner {
    upkeep: Arc<Upkeep>,
    residents: Residents,
    hot: Mutex<Hot>,
    /// Shared by those who change several frames that must be flushed together.
    change_groups: RwLock<()>,
    budget_bytes: usize,
    policy: PoolPolicy,
    twin_bytes: Arc<TwinBytes>,
    /// Of the volume's cache, as it was set last.
    warm_budget_bytes: AtomicU64,
    threads: CompressionThreads,
}

/// The order of eviction, and the memory that frames may take.
struct Hot {
    replacement: Replacement,
    split: BudgetSplit,
}

/// Keeps flushes out: the changes made under one guard are flushed together or not at all.
pub struct ChangeGuard<'a> {
    _watch: Watch<'a>,
    _held: RwLockReadGuard<'a, ()>,
}

impl Pool {
    /// A pool without pages.
    #[must_use]
    pub fn new(volume: &Volume, options: PoolOptions) -> Self {
        let dirty_limit_bytes =
            options.budget_bytes / 100 * usize::from(options.dirty_percent.min(100));
        let upkeep = Arc::new(Upkeep::new(volume.clone(), dirty_limit_bytes.max(1)));
        let threads = CompressionThreads::default();
        threads.set_count(options.compression_threads, &upkeep);
        let inner = PoolInner {
            residents: Residents::new(),
            hot: Mutex::new(Hot {
                replacement: Replacement::default(),
                split: BudgetSplit::new(options.policy, options.budget_bytes),
            }),
            change_groups: RwLock::default(),
            budget_bytes: options.budget_bytes,
            policy: options.policy,
            twin_bytes: Arc::default(),
            warm_budget_bytes: AtomicU64::new(u64::MAX),
            threads,
            upkeep,
        };
        inner.keep_to_budget();
        Self {
            inner: Arc::new(inner),
        }
    }

    /// `codec` for trees whose leaves have values of `shape`: their images are stored by columns, with that transform, or, if it is
    /// absent, with the one that makes the first leaves the smallest. Inner pages, and leaves with other values, are stored by
    /// rows. Whatever it was stored with, an image is read by itself.
    #[must_use]
    pub fn by_columns(
        &self,
        codec: PageCodec,
        shape: RowPageShape,
        transform: Option<PageTransform>,
    ) -> PageCodec {
        let formats = &self.inner.upkeep.formats;
        formats.add(codec, shape, transform, None)
    }

    /// As [`by_columns`](Self::by_columns), for pages without a codec on a device that compresses each block by itself, by something like
    /// `device`: of the transforms of Y. Qiao et al. the one by which it needs the fewest bytes for the first leaves, and of equals the one
    /// that suits such a device (§III).
    #[must_use]
    pub fn by_columns_for_device(
        &self,
        codec: PageCodec,
        shape: RowPageShape,
        device: BlockCodecId,
    ) -> PageCodec {
        let formats = &self.inner.upkeep.formats;
        formats.add(codec, shape, None, Some(device))
    }

    /// `codec` for the tree with that number: with zstd, its leaves are compressed with a dictionary as soon as enough of them
    /// have been seen to learn one that pays. Other codecs stay as they are. Numbers of trees are never used again.
    #[must_use]
    pub fn with_dictionaries(&self, codec: PageCodec, tree: u64) -> PageCodec {
        self.inner.upkeep.dictionaries.add(codec, tree)
    }

    /// `codec` for the tree with that number: images of its leaves have a fixed size. One that does not fit takes several slots, and
    /// its leaf [should be split](PageFrame::wants_split). Without compression a slot should have the length of a page: on a device that
    /// compresses each block by itself, the zeros behind an image take next to nothing.
    #[must_use]
    pub fn with_target(&self, codec: PageCodec, tree: u64, target: PageTarget) -> PageCodec {
        self.inner.upkeep.targets.add(codec, tree, target)
    }

    /// Bytes that a leaf of `codec` should have at most that is built, so that its image probably fits into its slot; nothing where
    /// images have any size.
    #[must_use]
    pub fn built_bytes(&self, codec: PageCodec) -> Option<usize> {
        let target = self.inner.upkeep.targets.get(codec)?;
        Some(target.built_bytes())
    }

    /// The tree of that codec has no pages any more, as of the guard, under which the caller has freed them: its target and its largest
    /// operation are forgotten, and the next flush frees its dictionaries too.
    pub fn forget_tree(&self, codec: PageCodec, _guard: &ChangeGuard<'_>) {
        self.inner.upkeep.dictionaries.forget(codec);
        self.inner.upkeep.targets.forget(codec);
        self.inner.upkeep.largest_ops.forget(codec);
    }

    /// The transform with which the leaves of `codec` are stored; `None` while it has not been chosen.
    #[must_use]
    pub fn transform(&self, codec: PageCodec) -> Option<PageTransform> {
        self.inner.upkeep.formats.transform(codec)
    }

    /// The frame of a page. A page that is not in memory is read; threads that ask for it meanwhile wait for that. A
    /// page whose frame is here keeps the codec it came with.
    ///
    /// # Errors
    /// See [`GetError`].
    pub fn get(&self, page: PageId, codec: PageCodec) -> Result<Arc<PageFrame>, GetError> {
        let ticket = match self.inner.residents.find(page) {
            ResidentLookup::Ready(frame) => return Ok(frame),
            ResidentLookup::Load(ticket) => ticket,
        };
        let start = Instant::now();
        let upkeep = &self.inner.upkeep;
        let (image, from) = self.inner.image_of(page, codec)?;
        let target = upkeep.targets.get(codec);
        let (bytes, log) = upkeep.decode(page, &image, target.as_deref())?;
        let content = Content::stored(bytes, log, self.inner.twin_of(codec, &image));
        let frame = Arc::new(PageFrame::new(page, codec, upkeep, content));
        frame.note_overlong(&image);
        ticket.finish(&frame);
        self.inner.admit(&frame, Some(from));
        if frame.is_leaf() {
            upkeep.counters.leaf_loads.note(from, start.elapsed());
        }
        Ok(frame)
    }

    /// A new page with these bytes. It will be in the volume with the next flush.
    ///
    /// # Errors
    /// See [`AddError`].
    pub fn add(&self, bytes: Box<[u8]>, codec: PageCodec) -> Result<Arc<PageFrame>, AddError> {
        RowPage::open(&bytes)?;
        let page = self.inner.upkeep.volume.allocate_page();
        self.inner
            .add(page.ok_or(AddError::OutOfPages)?, bytes, codec)
    }

    /// As [`add`](Self::add), for a page that [`Volume::allocate_page`] has named before, perhaps in an earlier
    /// session, and that nobody has made since.
    ///
    /// # Errors
    /// See [`AddError`].
    pub fn add_at(
        &self,
        page: PageId,
        bytes: Box<[u8]>,
        codec: PageCodec,
    ) -> Result<Arc<PageFrame>, AddError> {
        RowPage::open(&bytes)?;
        self.inner.add(page, bytes, codec)
    }

    /// The image of a page that is not in the pool, and that the caller writes into the volume: it can be had from there by
    /// [`get`](Self::get) when it is. For trees that are built, whose pages would only drive out others. It needs no dictionary: those
    /// come into the volume with flushes, which the caller does not wait for.
    ///
    /// # Errors
    /// [`FlushError::Image`]: bytes that are no page, or a codec that fails.
    pub fn image(
        &self,
        page: PageId,
        bytes: &[u8],
        codec: PageCodec,
    ) -> Result<Arc<[u8]>, FlushError> {
        let codec = codec.without_dictionaries();
        let image = self.inner.upkeep.encode(bytes, codec);
        image.map_err(|detail| FlushError::Image { page, detail })
    }

    /// Keeps flushes out until the guard is dropped. For changes of several frames that belong together: a split, a
    /// merge, what a transaction did. A thread must not hold two.
    #[must_use]
    pub fn begin_change(&self) -> ChangeGuard<'_> {
        let held = self.inner.change_groups.read();
        ChangeGuard {
            _watch: self.inner.upkeep.watch(),
            _held: held.unwrap_or_else(PoisonError::into_inner),
        }
    }

    /// Whether the dirty frames exceed the limit from which on a flush should follow.
    #[must_use]
    pub fn needs_flush(&self) -> bool {
        self.inner.upkeep.changes.is_over_limit()
    }

    /// About as many bytes as the images of what is changed may take: by what the newest flush, or a sample, made of its pages, and
    /// a quarter more; on a full disk those of the pages, and a quarter more.
    #[must_use]
    pub fn flush_bytes(&self) -> u64 {
        let upkeep = &self.inner.upkeep;
        let page_bytes = upkeep.changes.dirty_bytes() as u64;
        if upkeep.volume.is_full() {
            return page_bytes + page_bytes / 4;
        }
        upkeep.measure_sample();
        upkeep.volume.image_bytes_of(page_bytes)
    }

    /// Waits while more than twice as much has changed as [`needs_flush`](Self::needs_flush) permits, at most so long; tells
    /// whether there is room. For writers, between two transactions. Nothing else waits for a flush: without this, the
    /// pool exceeds its budget by what is changed.
    pub fn wait_for_room(&self, timeout: Duration) -> bool {
        self.inner.upkeep.changes.wait_for_room(timeout)
    }

    /// Threads that compress pages in the background.
    #[must_use]
    pub fn compression_threads(&self) -> usize {
        self.inner.threads.count()
    }

    /// Has so many threads compress pages from now on, and returns how many do: fewer where the system gives no more. With 0, whoever fills the
    /// log of a page compresses it. Pages that wait are compressed all the same. Returns when the threads that are too many have ended; each
    /// finishes its page before, so the caller must hold no page.
    pub fn set_compression_threads(&self, count: usize) -> usize {
        self.inner.threads.set_count(count, &self.inner.upkeep)
    }

    /// From now on leaves that should be split wait for [`next_split`](Self::next_split).
    pub fn begin_splits(&self) {
        self.inner.upkeep.splits.set_served(true);
    }

    /// Ends the service of [`next_split`](Self::next_split); a thread that waits in it gets `None`.
    pub fn end_splits(&self) {
        self.inner.upkeep.splits.set_served(false);
    }

    /// Waits for a leaf that should be split; `None` after [`end_splits`](Self::end_splits).
    #[must_use]
    pub fn next_split(&self) -> Option<Arc<PageFrame>> {
        self.inner.upkeep.splits.next()
    }

    /// Bytes that frames and cached images may take together.
    #[must_use]
    pub fn budget_bytes(&self) -> usize {
        self.inner.budget_bytes
    }

    /// What the pool has done, and how large it is.
    #[must_use]
    pub fn stats(&self) -> PoolStats {
        let upkeep = &self.inner.upkeep;
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let (hot_bytes, hot_target_bytes) = {
            let hot = self.inner.lock();
            let target_bytes = self.inner.frame_bytes_wanted(&hot);
            (hot.replacement.bytes(), target_bytes)
        };
        let hits = self.inner.residents.hits();
        let counters = &upkeep.counters;
        let loads = &counters.leaf_loads;
        let targets = &upkeep.targets.counters;
        PoolStats {
            policy: self.inner.policy,
            hot_hits: hits.inner + hits.leaves,
            warm_hits: count(&counters.warm_hits),
            misses: count(&counters.misses),
            leaf_hot_hits: hits.leaves,
            leaf_warm_hits: count(&loads.warm_hits),
            leaf_misses: count(&loads.misses),
            leaf_load_ns: count(&loads.ns),
            glances: count(&counters.glances),
            evictions: count(&counters.evictions),
            foreground_compressions: count(&counters.foreground_compressions),
            background_compressions: count(&counters.background_compressions),
            flush_compressions: count(&counters.flush_compressions),
            appended_images: count(&counters.appended_images),
            target_compressions: count(&targets.compressions),
            target_failures: count(&targets.failures),
            failure_splits: count(&targets.failure_splits),
            advance_splits: count(&targets.advance_splits),
            padding_bytes: upkeep.targets.padding_bytes(),
            budget_bytes: self.inner.budget_bytes as u64,
            hot_target_bytes: hot_target_bytes as u64,
            hot_bytes: hot_bytes as u64,
            twin_bytes: self.inner.twin_bytes.get() as u64,
            warm_bytes: upkeep.volume.cached_bytes(),
            dirty_bytes: upkeep.changes.dirty_bytes() as u64,
            read_ns: upkeep.costs.read.ns(),
            decode_ns: upkeep.costs.decode.ns(),
            encode_ns: upkeep.costs.encode.ns(),
            read_ns_mean: upkeep.costs.read.mean_ns(),
            decode_ns_mean: upkeep.costs.decode.mean_ns(),
        }
    }
}

impl PoolInner {
    fn add(
        &self,
        page: PageId,
        bytes: Box<[u8]>,
        codec: PageCodec,
    ) -> Result<Arc<PageFrame>, AddError> {
        let frame = Arc::new(PageFrame::new(
            page,
            codec,
            &self.upkeep,
            Content::fresh(bytes),
        ));
        if !self.residents.add(&frame) {
            return Err(AddError::Exists { page });
        }
        // No other thread has a reference to the new frame yet, so its latch is free.
        if let Ok(mut content) = frame.latch() {
            content.after_change(&frame);
        }
        self.admit(&frame, None);
        Ok(frame)
    }
}

impl Drop for PoolInner {
    fn drop(&mut self) {
        self.upkeep.close();
        self.threads.join();
    }
}
