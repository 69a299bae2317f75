//! The warm cache: payloads as they are stored, and what others have [made of them](super::derived), up to a budget in bytes.
//!
//! Replacement is CLOCK (Corbató, A paging experiment with the Multics system, 1968), as a queue: a hit sets
//! a mark, and the oldest entry goes, unless it has a mark, which it pays for starting anew. Several shards, so that
//! readers on different threads seldom meet; no lock is held during I/O.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::cache_entry::{CacheEntry, CacheName, DerivedEntry, DerivedValue};
use crate::ghosts::Ghosts;

const SHARDS_MAX: usize = 16;
const SHARD_BYTES_MIN: usize = 8 << 20;

/// Payloads by the byte at which their image starts, and what was made of images by where the first of them starts. That is a name for as
/// long as the image's run is in use; `forget` must be called before the space is used again.
pub(super) struct Cache {
    shards: Vec<Mutex<PageCacheShard>>,
    shard_bytes_max: AtomicUsize,
    /// Names of payloads are remembered until this much has left after them; 0: nobody asks.
    shard_ghost_bytes: AtomicUsize,
    hits: AtomicU64,
    misses: AtomicU64,
}

#[derive(Default)]
struct PageCacheShard {
    entries: HashMap<CacheName, CacheEntry>,
    /// The names of all entries.
    queue: VecDeque<CacheName>,
    bytes: usize,
    ghosts: Ghosts,
}

/// What a look-up finds.
pub(super) enum PageCacheLookup {
    /// The payload.
    Payload(Arc<[u8]>),
    /// Nothing, but it was here not long ago, or went by.
    Ghost {
        /// A slightly larger cache would have it.
        is_recent: bool,
    },
    /// Nothing.
    Nothing,
}

impl Cache {
    pub(super) fn new(budget_bytes: usize) -> Self {
        let shard_count = (budget_bytes / SHARD_BYTES_MIN).clamp(1, SHARDS_MAX);
        Self {
            shards: (0..shard_count).map(|_| Mutex::default()).collect(),
            shard_bytes_max: AtomicUsize::new(budget_bytes / shard_count),
            shard_ghost_bytes: AtomicUsize::new(0),
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    /// Another budget; what exceeds it is let go.
    pub(super) fn set_budget(&self, budget_bytes: usize, ghost_bytes: usize) {
        let shard_count = self.shards.len();
        let limit_bytes = budget_bytes / shard_count;
        let ghost_bytes = ghost_bytes / shard_count;
        self.shard_ghost_bytes.store(ghost_bytes, Ordering::Relaxed);
        let before = self.shard_bytes_max.swap(limit_bytes, Ordering::Relaxed);
        if limit_bytes >= before {
            return;
        }
        for shard in &self.shards {
            let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            shard.evict_until(limit_bytes, ghost_bytes);
        }
    }

    /// Looks for the payload of the image at `offset`.
    pub(super) fn get(&self, offset: u64) -> PageCacheLookup {
        let mut shard = self.shard(CacheName::payload(offset));
        let recent_bytes = self.shard_ghost_bytes.load(Ordering::Relaxed) as u64;
        let found = match shard.get(offset) {
            Some(payload) => PageCacheLookup::Payload(payload),
            None => match shard.ghosts.take(offset) {
                Some(gone_bytes) => PageCacheLookup::Ghost {
                    is_recent: gone_bytes <= recent_bytes,
                },
                None => PageCacheLookup::Nothing,
            },
        };
        drop(shard);
        let counter = match found {
            PageCacheLookup::Payload(_) => &self.hits,
            PageCacheLookup::Ghost { .. } | PageCacheLookup::Nothing => &self.misses,
        };
        counter.fetch_add(1, Ordering::Relaxed);
        found
    }

    /// The same without counting: whether it would be cheap to have it.
    pub(super) fn peek(&self, offset: u64) -> Option<Arc<[u8]>> {
        self.shard(CacheName::payload(offset)).get(offset)
    }

    /// Whether the payload is here, without counting that as a use.
    pub(super) fn has(&self, offset: u64) -> bool {
        let name = CacheName::payload(offset);
        self.shard(name).entries.contains_key(&name)
    }

    /// Keeps a payload, and lets others go when the budget is exceeded.
    pub(super) fn insert(&self, offset: u64, payload: &Arc<[u8]>) {
        let entry = CacheEntry::payload(Arc::clone(payload));
        self.insert_entry(CacheName::payload(offset), entry);
    }

    /// What was made of the images at these offsets under a number, which counts as a use.
    pub(super) fn derived(&self, images: &[u64], number: u32) -> Option<DerivedValue> {
        let name = CacheName::derived(images, number)?;
        let found = {
            let mut shard = self.shard(name);
            let entry = shard.entries.get_mut(&name);
            entry.and_then(|entry| entry.use_derived(images))
        };
        if found.is_some() {
            self.hits.fetch_add(1, Ordering::Relaxed);
        }
        found
    }

    /// Whether it is here, without counting that as a use.
    pub(super) fn has_derived(&self, images: &[u64], number: u32) -> bool {
        let name = CacheName::derived(images, number);
        name.is_some_and(|name| {
            let shard = self.shard(name);
            let entry = shard.entries.get(&name);
            entry.is_some_and(|entry| entry.is_derived_from(images))
        })
    }

    /// Keeps what was made of the images at these offsets, instead of their payloads. What is larger than a shard is not kept; the payloads are.
    pub(super) fn insert_derived(&self, images: &[u64], number: u32, derived: DerivedEntry) {
        let entry = CacheEntry::derived(derived);
        let is_kept = entry.cost_bytes() <= self.shard_bytes_max.load(Ordering::Relaxed);
        if let Some(name) = CacheName::derived(images, number).filter(|_| is_kept) {
            images
                .iter()
                .for_each(|offset| self.remove_payload(*offset));
            self.insert_entry(name, entry);
        }
    }

    /// Lets others go when the budget is exceeded. What is larger than a shard is not kept.
    fn insert_entry(&self, name: CacheName, entry: CacheEntry) {
        let cost_bytes = entry.cost_bytes();
        let limit_bytes = self.shard_bytes_max.load(Ordering::Relaxed);
        if cost_bytes > limit_bytes {
            return;
        }
        let mut shard = self.shard(name);
        match shard.entries.get(&name) {
            Some(known) if known.is_same(&entry) => return,
            // Of the images one has moved.
            Some(_) => shard.remove(name),
            None => {}
        }
        let ghost_bytes = self.shard_ghost_bytes.load(Ordering::Relaxed);
        shard.evict_until(limit_bytes - cost_bytes, ghost_bytes);
        shard.entries.insert(name, entry);
        shard.queue.push_back(name);
        shard.bytes += cost_bytes;
    }

    pub(super) fn remove_payload(&self, offset: u64) {
        let name = CacheName::payload(offset);
        self.shard(name).remove(name);
    }

    /// Notes that a payload was read which nobody keeps; false when there is room to keep it.
    pub(super) fn pass_by(&self, offset: u64, payload_bytes: usize) -> bool {
        let cost_bytes = CacheEntry::payload_cost_bytes(payload_bytes);
        let limit_bytes = self.shard_bytes_max.load(Ordering::Relaxed);
        let mut shard = self.shard(CacheName::payload(offset));
        if shard.bytes + cost_bytes <= limit_bytes {
            return false;
        }
        let ghost_bytes = self.shard_ghost_bytes.load(Ordering::Relaxed);
        shard.remember(offset, cost_bytes, limit_bytes, ghost_bytes);
        true
    }

    /// Drops what lies at the offsets for which `gone` is true, and what was made of it.
    pub(super) fn forget(&self, gone: &dyn Fn(u64) -> bool) {
        for shard in &self.shards {
            let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            let gone_bytes: usize = shard
                .entries
                .extract_if(|name, entry| entry.lies_at(*name, gone))
                .map(|(_, entry)| entry.cost_bytes())
                .sum();
            if gone_bytes > 0 {
                shard.bytes -= gone_bytes;
                let PageCacheShard { entries, queue, .. } = &mut *shard;
                queue.retain(|name| entries.contains_key(name));
            }
        }
    }

    /// Bytes that it may hold.
    pub(super) fn budget_bytes(&self) -> u64 {
        let shard_bytes = self.shard_bytes_max.load(Ordering::Relaxed) as u64;
        shard_bytes.saturating_mul(self.shards.len() as u64)
    }

    /// Notes that so many payloads were not here when they were needed, for those that were not looked for.
    pub(super) fn count_misses(&self, count: usize) {
        self.misses.fetch_add(count as u64, Ordering::Relaxed);
    }

    /// Bytes held now.
    pub(super) fn bytes(&self) -> u64 {
        let shard_bytes = |shard: &Mutex<PageCacheShard>| {
            shard.lock().unwrap_or_else(PoisonError::into_inner).bytes as u64
        };
        self.shards.iter().map(shard_bytes).sum()
    }

    /// Look-ups that found something, and those that did not.
    pub(super) fn hits_and_misses(&self) -> (u64, u64) {
        (
            self.hits.load(Ordering::Relaxed),
            self.misses.load(Ordering::Relaxed),
        )
    }

    fn shard(&self, name: CacheName) -> MutexGuard<'_, PageCacheShard> {
        let mixed = name.mixed() >> 32;
        let shard = &self.shards[mixed as usize % self.shards.len()];
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PageCacheShard {
    fn get(&mut self, offset: u64) -> Option<Arc<[u8]>> {
        let entry = self.entries.get_mut(&CacheName::payload(offset))?;
        entry.use_payload()
    }

    fn remove(&mut self, name: CacheName) {
        if let Some(entry) = self.entries.remove(&name) {
            self.bytes -= entry.cost_bytes();
            self.queue.retain(|one| *one != name);
        }
    }

    fn evict_until(&mut self, limit_bytes: usize, ghost_bytes: usize) {
        while self.bytes > limit_bytes
            && let Some(name) = self.queue.pop_front()
        {
            if let Some(entry) = self.entries.get_mut(&name)
                && entry.take_mark()
            {
                self.queue.push_back(name);
            } else if let Some(entry) = self.entries.remove(&name) {
                self.bytes -= entry.cost_bytes();
                // Nobody asks for the names of what was made of images.
                if let Some(offset) = name.payload_offset() {
                    self.remember(offset, entry.cost_bytes(), limit_bytes, ghost_bytes);
                }
            }
        }
    }

    /// What comes again before as much has gone by as fits is worth keeping; what would be here if there were a little more
    /// room is in the same list.
    fn remember(&mut self, offset: u64, cost_bytes: usize, limit_bytes: usize, ghost_bytes: usize) {
        if ghost_bytes > 0 {
            let window_bytes = limit_bytes.max(ghost_bytes);
            self.ghosts.push(offset, cost_bytes, window_bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budget_holds_and_what_is_used_stays() {
        let cache = Cache::new(1_000);
        let payload: Arc<[u8]> = vec![0; 100].into();
        for offset in 0..100 {
            cache.insert(offset, &payload);
            cache.get(0);
            assert!(cache.bytes() <= 1_000);
        }
        assert!(cache.peek(0).is_some(), "read after every insertion");
        assert!(cache.peek(1).is_none(), "read never");
        cache.insert(200, &vec![0; 1_001].into());
        assert!(cache.peek(200).is_none(), "larger than the budget");
        cache.forget(&|offset| offset == 0);
        assert!(cache.peek(0).is_none());
        assert!(cache.peek(99).is_some());
    }

    #[test]
    fn of_what_is_read_once_the_newest_stays() {
        let cache = Cache::new(2_000);
        let payload: Arc<[u8]> = vec![0; 100].into();
        (0..100).for_each(|offset| cache.insert(offset, &payload));
        assert!(cache.peek(99).is_some());
        assert!((95..99).all(|offset| cache.peek(offset).is_some()));
        assert!((0..50).all(|offset| cache.peek(offset).is_none()));
    }

    #[test]
    fn a_smaller_budget_lets_go_and_remembers_the_names() {
        let cache = Cache::new(1_000);
        cache.set_budget(1_000, 500);
        let payload: Arc<[u8]> = vec![0; 100].into();
        (0..5).for_each(|offset| cache.insert(offset, &payload));
        cache.set_budget(400, 500);
        assert!(cache.bytes() <= 400);
        let found = |offset| match cache.get(offset) {
            PageCacheLookup::Payload(_) => "payload",
            PageCacheLookup::Ghost { .. } => "ghost",
            PageCacheLookup::Nothing => "nothing",
        };
        let all: Vec<_> = (0..6).map(found).collect();
        assert_eq!(all.iter().filter(|found| **found == "payload").count(), 2);
        assert_eq!(all.iter().filter(|found| **found == "ghost").count(), 3);
        assert_eq!(all[5], "nothing", "it was never there");
    }

    #[test]
    fn what_goes_by_is_known_when_it_comes_back() {
        let cache = Cache::new(1_000);
        cache.set_budget(1_000, 200);
        let payload: Arc<[u8]> = vec![0; 400].into();
        assert!(!cache.pass_by(7, 400), "there is room");
        (0..2).for_each(|offset| cache.insert(offset, &payload));
        assert!(cache.pass_by(7, 100) && cache.pass_by(8, 100));
        assert!(matches!(
            cache.get(8),
            PageCacheLookup::Ghost { is_recent: true }
        ));
        assert!(cache.pass_by(8, 100) && cache.pass_by(9, 100));
        assert!(matches!(
            cache.get(7),
            PageCacheLookup::Ghost { is_recent: false }
        ));
        (10..20).for_each(|offset| assert!(cache.pass_by(offset, 100)));
        assert!(matches!(cache.get(9), PageCacheLookup::Nothing));
        assert!(cache.peek(0).is_some() && cache.peek(1).is_some());
    }

    #[test]
    fn empty_payloads_cost_something_too() {
        let cache = Cache::new(1_000);
        let empty: Arc<[u8]> = Vec::new().into();
        for offset in 0..1_000 {
            cache.insert(offset, &empty);
            assert!(cache.bytes() <= 1_000);
        }
    }

    fn derived(images: &[u64], bytes: usize) -> DerivedEntry {
        DerivedEntry {
            images: images.into(),
            value: Arc::new(bytes),
            bytes,
        }
    }

    fn found(cache: &Cache, images: &[u64], number: u32) -> Option<usize> {
        let value = cache.derived(images, number)?;
        value.downcast_ref::<usize>().copied()
    }

    #[test]
    fn what_is_made_of_images_is_found_by_all_of_them_and_its_number() {
        let cache = Cache::new(10_000);
        cache.insert_derived(&[100, 200], 7, derived(&[100, 200], 500));
        assert_eq!(found(&cache, &[100, 200], 7), Some(500));
        assert!(cache.has_derived(&[100, 200], 7));
        for (images, number) in [
            (&[100, 200][..], 8),
            (&[100], 7),
            (&[100, 300], 7),
            (&[200], 7),
            (&[], 7),
        ] {
            assert_eq!(found(&cache, images, number), None, "{images:?}, {number}");
            assert!(!cache.has_derived(images, number));
        }
        let one_hit = cache.hits_and_misses();
        assert_eq!(one_hit, (1, 0));
        // The second image has moved; what was made of the old one is useless.
        cache.insert_derived(&[100, 300], 7, derived(&[100, 300], 600));
        assert_eq!(found(&cache, &[100, 200], 7), None);
        assert_eq!(found(&cache, &[100, 300], 7), Some(600));
        assert!(
            (600..600 + 500).contains(&cache.bytes()),
            "one of both is here"
        );
    }

    #[test]
    fn what_is_made_of_images_takes_the_place_of_their_payloads() {
        let cache = Cache::new(10_000);
        let payload: Arc<[u8]> = vec![0; 100].into();
        (0..3).for_each(|offset| cache.insert(offset, &payload));
        cache.insert_derived(&[0, 1], 0, derived(&[0, 1], 300));
        assert!(!cache.has(0) && !cache.has(1) && cache.has(2));
        // A payload of the same name as before is another entry.
        cache.insert(0, &payload);
        assert!(cache.has(0) && cache.has_derived(&[0, 1], 0));
    }

    #[test]
    fn space_that_is_given_back_takes_along_what_was_made_of_it() {
        let cache = Cache::new(10_000);
        cache.insert_derived(&[1, 2], 0, derived(&[1, 2], 100));
        cache.insert_derived(&[3, 4], 0, derived(&[3, 4], 100));
        cache.forget(&|offset| offset == 4);
        assert_eq!(found(&cache, &[3, 4], 0), None);
        assert_eq!(found(&cache, &[1, 2], 0), Some(100));
        cache.forget(&|offset| offset == 1);
        assert_eq!(cache.bytes(), 0);
    }

    #[test]
    fn the_budget_holds_for_payloads_and_what_is_made_together() {
        let cache = Cache::new(2_000);
        let payload: Arc<[u8]> = vec![0; 150].into();
        for offset in 0..200 {
            let images = [offset];
            if offset % 3 == 0 {
                cache.insert(offset, &payload);
            } else {
                cache.insert_derived(&images, 1, derived(&images, 250));
            }
            assert!(cache.bytes() <= 2_000);
            assert_eq!(
                found(&cache, &[1], 1),
                (offset >= 1).then_some(250),
                "used all the time"
            );
        }
        assert!(!cache.has_derived(&[2], 1), "used never");
        cache.insert_derived(&[500], 1, derived(&[500], 2_001));
        assert!(!cache.has_derived(&[500], 1), "larger than the budget");
        cache.set_budget(400, 0);
        assert!(cache.bytes() <= 400);
    }
}
