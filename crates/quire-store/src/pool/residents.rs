//! The page table of the pool: a sharded hash table of frames. One thread loads a page; others that want it wait for that thread.

use std::collections::HashMap;
use std::collections::hash_map;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use quire_format::volume::PageId;

use super::frame::PageFrame;

const SHARDS: usize = 64;

/// Pages by number. Reading one takes a shared lock of its shard.
pub(super) struct Residents {
    shards: Vec<ResidentShard>,
}

#[derive(Default)]
struct ResidentShard {
    slots: RwLock<HashMap<PageId, ResidentSlot, BuildHasherDefault<PageHasher>>>,
    /// Lookups that found a frame: of inner pages, and of leaves. A lookup adds to one of them, so it costs no more than one count did.
    hits: [AtomicU64; 2],
}

/// Lookups that found a frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ResidentHits {
    /// Of pages above the leaves.
    pub(super) inner: u64,
    /// Of leaves.
    pub(super) leaves: u64,
}

enum ResidentSlot {
    Ready(Arc<PageFrame>),
    Loading(Arc<Loading>),
}

/// A page that a thread is loading.
#[derive(Default)]
struct Loading {
    is_over: Mutex<bool>,
    over: Condvar,
}

/// What a look-up finds.
pub(super) enum ResidentLookup<'a> {
    /// The frame.
    Ready(Arc<PageFrame>),
    /// No frame: the caller must load the page.
    Load(LoadTicket<'a>),
}

/// Held by the thread that loads a page. If it is dropped before [`finish`](Self::finish), another thread may try.
pub(super) struct LoadTicket<'a> {
    residents: &'a Residents,
    page: PageId,
    loading: Arc<Loading>,
    is_finished: bool,
}

/// The result of removing a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Removal {
    /// The frame was removed.
    Removed,
    /// The frame is in use or dirty, and stays.
    InUse,
    /// The frame had been removed before.
    Gone,
}

impl Residents {
    pub(super) fn new() -> Self {
        Self {
            shards: (0..SHARDS).map(|_| ResidentShard::default()).collect(),
        }
    }

    /// Returns the frame of a page, or the ticket for loading it. Waits while another thread loads it.
    pub(super) fn find(&self, page: PageId) -> ResidentLookup<'_> {
        loop {
            if let Some(frame) = self.peek(page) {
                return ResidentLookup::Ready(frame);
            }
            if let hash_map::Entry::Vacant(vacant) = self.shard(page).write().entry(page) {
                let loading = Arc::new(Loading::default());
                vacant.insert(ResidentSlot::Loading(Arc::clone(&loading)));
                return ResidentLookup::Load(LoadTicket {
                    residents: self,
                    page,
                    loading,
                    is_finished: false,
                });
            }
        }
    }

    /// Whether a page has a frame. Does not count as a use.
    pub(super) fn has(&self, page: PageId) -> bool {
        matches!(
            self.shard(page).read().get(&page),
            Some(ResidentSlot::Ready(_))
        )
    }

    /// Returns the frame of a page if there is one. Waits while another thread loads it.
    pub(super) fn peek(&self, page: PageId) -> Option<Arc<PageFrame>> {
        loop {
            let shard = self.shard(page);
            let loading = match shard.read().get(&page)? {
                ResidentSlot::Ready(frame) => {
                    let hits = &shard.hits[usize::from(frame.is_leaf())];
                    hits.fetch_add(1, Ordering::Relaxed);
                    frame.note_use();
                    return Some(Arc::clone(frame));
                }
                ResidentSlot::Loading(loading) => Arc::clone(loading),
            };
            loading.wait();
        }
    }

    /// Adds the frame of a new page; false if the page already has one.
    pub(super) fn add(&self, frame: &Arc<PageFrame>) -> bool {
        let mut slots = self.shard(frame.page()).write();
        match slots.entry(frame.page()) {
            hash_map::Entry::Vacant(vacant) => {
                vacant.insert(ResidentSlot::Ready(Arc::clone(frame)));
                true
            }
            hash_map::Entry::Occupied(_) => false,
        }
    }

    /// Removes a frame to which only the caller and this table have a reference. No thread can acquire another one under the exclusive
    /// lock of the shard.
    pub(super) fn remove_unused(&self, frame: &Arc<PageFrame>) -> Removal {
        let mut slots = self.shard(frame.page()).write();
        if !is_frame(slots.get(&frame.page()), frame) {
            return Removal::Gone;
        }
        // The set of changed frames holds a reference, too: a dirty frame is never removed.
        if Arc::strong_count(frame) > 2 {
            return Removal::InUse;
        }
        slots.remove(&frame.page());
        Removal::Removed
    }

    /// Removes the frame of a freed page.
    pub(super) fn remove(&self, frame: &Arc<PageFrame>) {
        let mut slots = self.shard(frame.page()).write();
        if is_frame(slots.get(&frame.page()), frame) {
            slots.remove(&frame.page());
        }
    }

    /// Number of lookups that found a frame.
    pub(super) fn hits(&self) -> ResidentHits {
        let mut hits = ResidentHits::default();
        for shard in &self.shards {
            let [inner, leaves] = &shard.hits;
            hits.inner += inner.load(Ordering::Relaxed);
            hits.leaves += leaves.load(Ordering::Relaxed);
        }
        hits
    }

    fn shard(&self, page: PageId) -> &ResidentShard {
        let mixed = page.get().wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58;
        &self.shards[mixed as usize % SHARDS]
    }
}

fn is_frame(slot: Option<&ResidentSlot>, frame: &Arc<PageFrame>) -> bool {
    matches!(slot, Some(ResidentSlot::Ready(found)) if Arc::ptr_eq(found, frame))
}

type Slots = HashMap<PageId, ResidentSlot, BuildHasherDefault<PageHasher>>;

impl ResidentShard {
    fn read(&self) -> RwLockReadGuard<'_, Slots> {
        self.slots.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Slots> {
        self.slots.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Loading {
    fn wait(&self) {
        let is_over = self.is_over.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.over.wait_while(is_over, |is_over| !*is_over);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    fn end(&self) {
        *self.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.over.notify_all();
    }
}

impl LoadTicket<'_> {
    /// Enters the loaded frame and wakes the waiting threads.
    pub(super) fn finish(mut self, frame: &Arc<PageFrame>) {
        self.is_finished = true;
        let slot = ResidentSlot::Ready(Arc::clone(frame));
        let mut slots = self.residents.shard(self.page).write();
        slots.insert(self.page, slot);
    }
}

impl Drop for LoadTicket<'_> {
    fn drop(&mut self) {
        if !self.is_finished {
            let mut slots = self.residents.shard(self.page).write();
            slots.remove(&self.page);
        }
        self.loading.end();
    }
}

/// Page numbers are assigned sequentially, so a multiplicative hash distributes them well.
#[derive(Default)]
struct PageHasher(u64);

impl Hasher for PageHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        let product = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ product >> 29;
    }
}
