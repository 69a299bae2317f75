//! The warm cache: payloads as they are stored, up to a budget in bytes.
//!
//! Replacement is CLOCK (Corbató, A paging experiment with the Multics system, 1968): a hit sets
//! a mark, the hand clears marks and evicts what it finds unmarked. Several shards, so that
//! readers on different threads seldom meet; no lock is held during I/O.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const SHARDS_MAX: usize = 16;
const SHARD_BYTES_MIN: usize = 8 << 20;

/// What an entry costs besides its payload, so that empty payloads are not free of charge.
const ENTRY_BYTES: usize = 96;

/// Payloads by the byte at which their image starts. That is a name for as long as the image's
/// run is in use; `forget` must be called before the space is used again.
pub(super) struct Cache {
    shards: Vec<Mutex<Shard>>,
    shard_bytes_max: usize,
    hits: AtomicU64,
    misses: AtomicU64,
}

#[derive(Default)]
struct Shard {
    places: HashMap<u64, usize>,
    entries: Vec<Entry>,
    hand: usize,
    bytes: usize,
}

struct Entry {
    offset: u64,
    payload: Arc<[u8]>,
    marked: bool,
}

impl Cache {
    pub(super) fn new(budget_bytes: usize) -> Self {
        let shard_count = (budget_bytes / SHARD_BYTES_MIN).clamp(1, SHARDS_MAX);
        Self {
            shards: (0..shard_count).map(|_| Mutex::default()).collect(),
            shard_bytes_max: budget_bytes / shard_count,
            hits: AtomicU64::new(0),
            misses: AtomicU64::new(0),
        }
    }

    /// The payload of the image at `offset`, when it is here.
    pub(super) fn get(&self, offset: u64) -> Option<Arc<[u8]>> {
        let mut shard = self.shard(offset);
        let found = shard
            .places
            .get(&offset)
            .copied()
            .and_then(|at| shard.entries.get_mut(at));
        let payload = found.map(|entry| {
            entry.marked = true;
            Arc::clone(&entry.payload)
        });
        drop(shard);
        let counter = if payload.is_some() {
            &self.hits
        } else {
            &self.misses
        };
        counter.fetch_add(1, Ordering::Relaxed);
        payload
    }

    /// Keeps a payload, and lets others go when the budget is exceeded.
    pub(super) fn insert(&self, offset: u64, payload: &Arc<[u8]>) {
        let cost_bytes = payload.len() + ENTRY_BYTES;
        if cost_bytes > self.shard_bytes_max {
            return;
        }
        let mut shard = self.shard(offset);
        if shard.places.contains_key(&offset) {
            return;
        }
        while shard.bytes + cost_bytes > self.shard_bytes_max {
            shard.evict_one();
        }
        let at = shard.entries.len();
        shard.entries.push(Entry {
            offset,
            payload: Arc::clone(payload),
            marked: false,
        });
        shard.places.insert(offset, at);
        shard.bytes += cost_bytes;
    }

    /// Drops what lies at the offsets for which `gone` is true.
    pub(super) fn forget(&self, gone: &dyn Fn(u64) -> bool) {
        for shard in &self.shards {
            let mut shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            let mut at = 0;
            while at < shard.entries.len() {
                if gone(shard.entries[at].offset) {
                    shard.remove(at);
                } else {
                    at += 1;
                }
            }
        }
    }

    /// Bytes held now.
    pub(super) fn bytes(&self) -> u64 {
        let shard_bytes = |shard: &Mutex<Shard>| {
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

    fn shard(&self, offset: u64) -> MutexGuard<'_, Shard> {
        let mixed = offset.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        let shard = &self.shards[mixed as usize % self.shards.len()];
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shard {
    /// Precondition: there is an entry.
    fn evict_one(&mut self) {
        loop {
            self.hand %= self.entries.len();
            let entry = &mut self.entries[self.hand];
            if !entry.marked {
                return self.remove(self.hand);
            }
            entry.marked = false;
            self.hand += 1;
        }
    }

    fn remove(&mut self, at: usize) {
        let entry = self.entries.swap_remove(at);
        self.bytes -= entry.payload.len() + ENTRY_BYTES;
        self.places.remove(&entry.offset);
        if let Some(moved) = self.entries.get(at) {
            self.places.insert(moved.offset, at);
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
        assert!(cache.get(0).is_some(), "read after every insertion");
        assert!(cache.get(1).is_none(), "read never");
        cache.insert(200, &vec![0; 1_001].into());
        assert!(cache.get(200).is_none(), "larger than the budget");
        cache.forget(&|offset| offset == 0);
        assert!(cache.get(0).is_none());
        assert!(cache.get(99).is_some());
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
