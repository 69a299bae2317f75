//! What stays within the budget of a pool: which frames are evicted, and what is left for images.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};

use quire_format::volume::PageId;

use super::codec::PageCodec;
use super::frame::PageFrame;
use super::tuner::Miss;
use super::twin::Twin;
use super::{Hot, PoolInner};
use crate::error::PageReadError;
use crate::volume::ReadFrom;

impl PoolInner {
    /// The image of a page that gets a frame: if that is to hold it, out of the cache.
    pub(super) fn image_of(
        &self,
        page: PageId,
        codec: PageCodec,
    ) -> Result<(Arc<[u8]>, ReadFrom), PageReadError> {
        let volume = &self.upkeep.volume;
        if self.holds_twins(codec) {
            volume.take_from(page)
        } else {
            volume.read_from(page)
        }
    }

    fn holds_twins(&self, codec: PageCodec) -> bool {
        self.policy.has_twins() && codec.compresses()
    }

    /// What a frame holds of its image.
    pub(super) fn twin_of(&self, codec: PageCodec, image: &Arc<[u8]>) -> Option<Twin> {
        let is_held = self.holds_twins(codec);
        is_held.then(|| Twin::new(image, &self.twin_bytes))
    }

    pub(super) fn frame_bytes_wanted(&self, hot: &Hot) -> usize {
        hot.split.frame_bytes(self.twin_bytes.get())
    }

    /// Adds a frame to the replacement queues and evicts others. Counts where its image came from, if it had one.
    pub(super) fn admit(&self, frame: &Arc<PageFrame>, from: Option<ReadFrom>) {
        let mut hot = self.lock();
        let gone_bytes = hot.replacement.insert(Arc::clone(frame));
        if let Some(from) = from {
            let miss = self.count(from, gone_bytes);
            let costs = &self.upkeep.costs;
            hot.split.note(miss, costs.read.ns(), costs.decode.ns());
        }
        let target_bytes = self.frame_bytes_wanted(&hot);
        let evicted = hot.replacement.shrink(&self.residents, target_bytes);
        self.balance(hot, evicted);
    }

    pub(super) fn count(&self, from: ReadFrom, gone_bytes: Option<u64>) -> Miss {
        let counters = &self.upkeep.counters;
        let (counter, was_read, image_was_there) = match from {
            ReadFrom::Cache => (&counters.warm_hits, false, true),
            ReadFrom::Disk { duration, was_warm } => {
                self.upkeep.costs.read.note(duration);
                (&counters.misses, true, was_warm)
            }
        };
        counter.fetch_add(1, Ordering::Relaxed);
        Miss {
            gone_bytes,
            was_read,
            image_was_there,
        }
    }

    /// Evicts frames that exceed the budget.
    pub(super) fn keep_to_budget(&self) {
        let mut hot = self.lock();
        let target_bytes = self.frame_bytes_wanted(&hot);
        let evicted = hot.replacement.shrink_fully(&self.residents, target_bytes);
        self.balance(hot, evicted);
    }

    /// Gives the image cache what the frames and their twins leave of the budget, which is less than its share while frames cannot be evicted,
    /// and the twins of those that were.
    fn balance(&self, hot: MutexGuard<'_, Hot>, evicted: Vec<Arc<PageFrame>>) {
        let wanted_bytes = self.frame_bytes_wanted(&hot);
        let frame_bytes = hot.replacement.bytes().max(wanted_bytes);
        let window_bytes = hot.split.window_bytes();
        // Frames are freed when nobody waits for the lock.
        drop(hot);
        let counter = &self.upkeep.counters.evictions;
        counter.fetch_add(evicted.len() as u64, Ordering::Relaxed);
        let images: Vec<_> = evicted
            .iter()
            .filter_map(|frame| frame.take_twin())
            .collect();
        let taken_bytes = frame_bytes + self.twin_bytes.get();
        self.set_warm_bytes(self.budget_bytes.saturating_sub(taken_bytes), window_bytes);
        for (page, image) in images {
            self.upkeep.volume.keep_cached(page, &image);
        }
    }

    fn set_warm_bytes(&self, warm_bytes: usize, window_bytes: usize) {
        let warm_budget = &self.warm_budget_bytes;
        let before = warm_budget.swap(warm_bytes as u64, Ordering::Relaxed);
        if before != warm_bytes as u64 {
            let volume = &self.upkeep.volume;
            volume.set_cache_budget(warm_bytes, window_bytes);
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Hot> {
        self.hot.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
