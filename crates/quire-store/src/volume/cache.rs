//! The warm cache: payloads as they are stored, up to a budget in bytes.
//!
//! Replacement is CLOCK (Corbató, A paging experiment with the Multics system, 1968), as a queue: a hit sets
//! a mark, and the oldest entry goes, unless it has a mark, which it pays for starting anew. Several shards, so that
//! readers on different threads seldom meet; no lock is held during I/O.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::ghosts::Ghosts;

const SHARDS_MAX: usize = 16;
const SHARD_BYTES_MIN: usize = 8 << 20;

/// What an entry costs besides its payload, so that empty payloads are not free of charge.
const ENTRY_BYTES: usize = 96;

/// Payloads by the byte at which their image starts. That is a name for as long as the image's
/// run is in use; `forget` must be called before the space is used again.
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
    entries: HashMap<u64, PageCacheEntry>,
    /// The offsets of all entries.
    queue: VecDeque<u64>,
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

struct PageCacheEntry {
    payload: Arc<[u8]>,
    marked: bool,
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
        let mut shard = self.shard(offset);
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
        self.shard(offset).get(offset)
    }

    /// Whether the payload is here, without counting that as a use.
    pub(super) fn has(&self, offset: u64) -> bool {
        self.shard(offset).entries.contains_key(&offset)
    }

    /// Keeps a payload, and lets others go when the budget is exceeded.
    pub(super) fn insert(&self, offset: u64, payload: &Arc<[u8]>) {
        let cost_bytes = payload.len() + ENTRY_BYTES;
        let limit_bytes = self.shard_bytes_max.load(Ordering::Relaxed);
        if cost_bytes > limit_bytes {
            return;
        }
        let mut shard = self.shard(offset);
        if shard.entries.contains_key(&offset) {
            return;
        }
        let ghost_bytes = self.shard_ghost_bytes.load(Ordering::Relaxed);
        shard.evict_until(limit_bytes - cost_bytes, ghost_bytes);
        let entry = PageCacheEntry {
            payload: Arc::clone(payload),
            marked: false,
        };
        shard.entries.insert(offset, entry);
        shard.queue.push_back(offset);
        shard.bytes += cost_bytes;
    }

    /// Notes that a payload was read which nobody keeps; false when there is room to keep it.
    pub(super) fn pass_by(&self, offset: u64, payload_bytes: usize) -> bool {
        let cost_bytes = payload_bytes + ENTRY_BYTES;
        let limit_bytes = self.shard_bytes_max.load(Ordering::Relaxed);
        let mut shard = self.shard(offset);
        if shard.bytes + cost_bytes <= limit_bytes {
            return false;
        }
        let ghost_bytes = self.shard_ghost_bytes.load(Ordering::Relaxed);
        shard.remember(offset, cost_bytes, limit_bytes, ghost_bytes);
        true
    }

    /// Drops what lies at the offsets for which `gone` is true.
    pub(super) fn forget(&self, gone: &dyn Fn(u64) -> bool) {
        for shard in &self.shards {
            let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            let gone_bytes: usize = shard
                .entries
                .extract_if(|offset, _| gone(*offset))
                .map(|(_, entry)| entry.cost_bytes())
                .sum();
            if gone_bytes > 0 {
                shard.bytes -= gone_bytes;
                shard.queue.retain(|offset| !gone(*offset));
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

    fn shard(&self, offset: u64) -> MutexGuard<'_, PageCacheShard> {
        let mixed = offset.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let shard = &self.shards[mixed as usize % self.shards.len()];
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PageCacheShard {
    fn get(&mut self, offset: u64) -> Option<Arc<[u8]>> {
        let entry = self.entries.get_mut(&offset)?;
        entry.marked = true;
        Some(Arc::clone(&entry.payload))
    }

    fn evict_until(&mut self, limit_bytes: usize, ghost_bytes: usize) {
        while self.bytes > limit_bytes
            && let Some(offset) = self.queue.pop_front()
        {
            if let Some(entry) = self.entries.get_mut(&offset)
                && std::mem::take(&mut entry.marked)
            {
                self.queue.push_back(offset);
            } else if let Some(entry) = self.entries.remove(&offset) {
                self.bytes -= entry.cost_bytes();
                self.remember(offset, entry.cost_bytes(), limit_bytes, ghost_bytes);
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

impl PageCacheEntry {
    fn cost_bytes(&self) -> usize {
        self.payload.len() + ENTRY_BYTES
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
}
