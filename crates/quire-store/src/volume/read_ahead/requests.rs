//! The requests of one scan, from when they are made until their pages are taken or released.
//!
//! A page is *queued* with its request, *read* by whoever begins the request first (a thread of the volume, or the reader that
//! needs the page), and then *held*, or *failed*. The lock covers these states only: no disk is read and no checksum is computed under it.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use quire_format::volume::{PageEntry, PageId};

use super::super::cache::Cache;
use super::super::page_map::image_bytes;
use super::super::pin::ReadKeeping;
use super::super::read_ahead_bound::{ReadAheadBound, held_bytes_max};
use super::super::version::PinnedVersion;
use super::neighbours::{NeighboursRead, neighbours, read_neighbours};
use super::report::{ReadAheadSource, ReadAheadStatistics, RequestedBytes};
use crate::disk::Disk;

/// What the handle of a scan shares with the threads that read for it.
pub(super) struct ScanReads {
    pub(super) disk: Arc<dyn Disk>,
    pub(super) cache: Arc<Cache>,
    pub(super) bound: Arc<ReadAheadBound>,
    state: Mutex<ScanReadsState>,
    /// Pages that were being read are no longer.
    read_ended: Condvar,
}

struct ScanReadsState {
    /// Nothing when the scan has ended. Reads in progress hold it, too: it keeps the space they read from being used again.
    version: Option<Arc<PinnedVersion>>,
    pages: HashMap<PageId, RequestedPage>,
    /// The requests that nobody has begun.
    queue: HashMap<u64, QueuedRequest>,
    next_request: u64,
    reads_in_progress: usize,
    held_bytes: u64,
    statistics: ReadAheadStatistics,
}

/// Pages that are read together.
struct QueuedRequest {
    /// By offset.
    entries: Vec<PageEntry>,
    keeping: ReadKeeping,
}

/// Where a page is that was asked for, and neither taken nor released.
enum RequestedPage {
    Queued {
        request: u64,
    },
    Reading {
        request: u64,
    },
    Held {
        payload: Arc<[u8]>,
        image_bytes: u64,
    },
    /// Its reader reads it again, and reports the error.
    Failed,
}

/// What a reader gets from its scan.
pub(super) struct TakenPage {
    /// Nothing when the reader has to read the page itself.
    pub(super) payload: Option<Arc<[u8]>>,
    pub(super) source: ReadAheadSource,
    pub(super) wait: Duration,
}

impl ScanReads {
    pub(super) fn new(
        disk: &Arc<dyn Disk>,
        cache: &Arc<Cache>,
        bound: &Arc<ReadAheadBound>,
        version: &Arc<PinnedVersion>,
    ) -> Self {
        Self {
            disk: Arc::clone(disk),
            cache: Arc::clone(cache),
            bound: Arc::clone(bound),
            state: Mutex::new(ScanReadsState {
                version: Some(Arc::clone(version)),
                pages: HashMap::new(),
                queue: HashMap::new(),
                next_request: 0,
                reads_in_progress: 0,
                held_bytes: 0,
                statistics: ReadAheadStatistics::default(),
            }),
            read_ended: Condvar::new(),
        }
    }

    /// Queues what is to be read of `pages`, as far as the bound permits, and returns the numbers of the requests.
    pub(super) fn queue(
        &self,
        pages: &[PageId],
        keeping: ReadKeeping,
    ) -> (RequestedBytes, Vec<u64>) {
        let mut state = self.lock();
        let (mut requested, mut entries) = (RequestedBytes::default(), Vec::new());
        let limit_bytes = held_bytes_max(&self.cache);
        for page in pages {
            if let Some(entry) = state.to_read(*page, &self.cache) {
                let bytes = image_bytes(&entry);
                if bytes > limit_bytes {
                    // It would never fit: its reader reads it.
                    requested.pages += 1;
                    continue;
                }
                if !self.bound.try_take(bytes, limit_bytes) {
                    break;
                }
                let queued = RequestedPage::Queued { request: u64::MAX };
                state.pages.insert(*page, queued);
                entries.push(entry);
                requested.bytes += bytes;
            }
            requested.pages += 1;
        }
        state.held_bytes += requested.bytes;
        let peak_bytes = state.held_bytes.max(state.statistics.held_bytes_peak);
        state.statistics.held_bytes_peak = peak_bytes;
        entries.sort_unstable_by_key(|entry| entry.offset);
        let requests = neighbours(&entries).into_iter();
        let numbers = requests.map(|request| {
            let entries = request.to_vec();
            state.queue_request(QueuedRequest { entries, keeping })
        });
        (requested, numbers.collect())
    }

    /// Reads a request and hands its pages over. False when it is not in the queue any more.
    pub(super) fn perform(&self, request: u64) -> bool {
        let Some(mut read) = ReadInProgress::begin(self, request) else {
            return false;
        };
        let entries = read.entries.clone();
        // More than one part only if pages in the middle were released.
        for part in neighbours(&entries) {
            let outcome = read_neighbours(&*self.disk, part);
            for (entry, payload) in part.iter().zip(&outcome.payloads) {
                if let Some(payload) = payload {
                    self.cache.count_misses(1);
                    if read.keeping == ReadKeeping::Keep {
                        self.cache.insert(entry.offset, payload);
                    }
                }
            }
            read.hand_over(part.len(), outcome);
        }
        true
    }

    /// Takes a page out of the scan, and waits for it when it is being read. Who comes before the threads performs the request.
    pub(super) fn take(&self, page: PageId) -> TakenPage {
        let mut taken = TakenPage {
            payload: None,
            source: ReadAheadSource::ReadAhead,
            wait: Duration::ZERO,
        };
        let mut state = self.lock();
        loop {
            match state.pages.get(&page) {
                Some(RequestedPage::Queued { request }) => {
                    let (request, start) = (*request, Instant::now());
                    drop(state);
                    if self.perform(request) {
                        taken.source = ReadAheadSource::Disk;
                    }
                    taken.wait += start.elapsed();
                    state = self.lock();
                }
                Some(RequestedPage::Reading { .. }) => {
                    let start = Instant::now();
                    let woken = self.read_ended.wait(state);
                    state = woken.unwrap_or_else(PoisonError::into_inner);
                    taken.wait += start.elapsed();
                }
                Some(RequestedPage::Held { .. } | RequestedPage::Failed) | None => {
                    taken.payload = self.remove(&mut state, page);
                    return taken;
                }
            }
        }
    }

    /// Drops pages. Those of a request that is being read are dropped when it ends.
    pub(super) fn release(&self, pages: &[PageId]) {
        let mut state = self.lock();
        for page in pages {
            let _ = self.remove(&mut state, *page);
        }
    }

    /// Takes a page out, and returns its payload if it is held.
    fn remove(&self, state: &mut ScanReadsState, page: PageId) -> Option<Arc<[u8]>> {
        match state.pages.remove(&page)? {
            RequestedPage::Held {
                payload,
                image_bytes,
            } => {
                self.give_back(state, image_bytes);
                Some(payload)
            }
            RequestedPage::Queued { request } => {
                let bytes = state.cancel(request, page);
                self.give_back(state, bytes);
                None
            }
            RequestedPage::Reading { .. } | RequestedPage::Failed => None,
        }
    }

    fn give_back(&self, state: &mut ScanReadsState, bytes: u64) {
        state.held_bytes = state.held_bytes.saturating_sub(bytes);
        self.bound.give_back(bytes);
    }

    /// Drops all pages, as [`ScanReads::release`] does.
    pub(super) fn release_all(&self) {
        self.release_all_of(&mut self.lock());
    }

    fn release_all_of(&self, state: &mut ScanReadsState) {
        let pages: Vec<_> = state.pages.keys().copied().collect();
        for page in pages {
            let _ = self.remove(state, page);
        }
    }

    /// Whether a page can be read without waiting for the disk, or has failed.
    pub(super) fn is_ready(&self, page: PageId) -> bool {
        let state = self.lock();
        match state.pages.get(&page) {
            Some(RequestedPage::Held { .. } | RequestedPage::Failed) => true,
            Some(RequestedPage::Queued { .. } | RequestedPage::Reading { .. }) => false,
            None => state.to_read(page, &self.cache).is_none(),
        }
    }

    /// Ends the scan: nothing is held, and nothing is begun any more. Does not wait for reads in progress.
    pub(super) fn abandon(&self) {
        let mut state = self.lock();
        self.release_all_of(&mut state);
        // Before the version is let go: whoever finds that nobody holds it must find the reads, too.
        self.bound.abandon(state.reads_in_progress);
        state.version = None;
    }

    pub(super) fn held_bytes(&self) -> u64 {
        self.lock().held_bytes
    }

    pub(super) fn statistics(&self) -> ReadAheadStatistics {
        self.lock().statistics
    }

    /// Notes what a reader got.
    pub(super) fn note_page(&self, source: ReadAheadSource, wait: Duration) {
        let statistics = &mut self.lock().statistics;
        statistics.wait += wait;
        let counter = match source {
            ReadAheadSource::Cache => &mut statistics.pages_from_cache,
            ReadAheadSource::ReadAhead => &mut statistics.pages_read_ahead,
            ReadAheadSource::Disk => &mut statistics.pages_read_by_readers,
        };
        *counter += 1;
    }

    /// Notes that a reader read one page by itself.
    pub(super) fn note_own_read(&self, bytes: u64) {
        let statistics = &mut self.lock().statistics;
        statistics.requests += 1;
        statistics.bytes += bytes;
    }

    fn lock(&self) -> MutexGuard<'_, ScanReadsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ScanReadsState {
    /// Where a page is on the disk, if it is to be read.
    fn to_read(&self, page: PageId, cache: &Cache) -> Option<PageEntry> {
        let entry = self.version.as_ref()?.pages.get(page)?;
        let is_known = self.pages.contains_key(&page) || cache.peek(entry.offset).is_some();
        (!is_known).then_some(entry)
    }

    fn queue_request(&mut self, queued: QueuedRequest) -> u64 {
        let request = self.next_request;
        self.next_request += 1;
        for entry in &queued.entries {
            let queued = RequestedPage::Queued { request };
            self.pages.insert(entry.page, queued);
        }
        self.queue.insert(request, queued);
        request
    }

    /// Takes a page out of a request in the queue, and returns the bytes of its image.
    fn cancel(&mut self, request: u64, page: PageId) -> u64 {
        let Some(QueuedRequest { entries, .. }) = self.queue.get_mut(&request) else {
            return 0;
        };
        let position = entries.iter().position(|entry| entry.page == page);
        let bytes = position.map_or(0, |position| image_bytes(&entries.remove(position)));
        if entries.is_empty() {
            self.queue.remove(&request);
        }
        bytes
    }
}

/// A request that is being read. When it is dropped before all its pages have been handed over, by a panic, the others have failed:
/// nobody waits for them for ever.
struct ReadInProgress<'a> {
    reads: &'a ScanReads,
    request: u64,
    /// The pages that have not been handed over.
    entries: Vec<PageEntry>,
    keeping: ReadKeeping,
    version: Option<Arc<PinnedVersion>>,
}

impl<'a> ReadInProgress<'a> {
    fn begin(reads: &'a ScanReads, request: u64) -> Option<Self> {
        let mut state = reads.lock();
        let QueuedRequest { entries, keeping } = state.queue.remove(&request)?;
        for entry in &entries {
            let reading = RequestedPage::Reading { request };
            state.pages.insert(entry.page, reading);
        }
        state.reads_in_progress += 1;
        let version = state.version.clone();
        drop(state);
        Some(Self {
            reads,
            request,
            entries,
            keeping,
            version,
        })
    }

    /// Hands over what one request to the disk brought for the next `count` pages.
    fn hand_over(&mut self, count: usize, outcome: NeighboursRead) {
        let mut state = self.reads.lock();
        state.statistics.requests += 1;
        state.statistics.bytes += outcome.bytes;
        let pages = self.entries.drain(..count.min(self.entries.len()));
        for (entry, payload) in pages.zip(outcome.payloads) {
            self.reads.settle(&mut state, self.request, &entry, payload);
        }
        drop(state);
        self.reads.read_ended.notify_all();
    }
}

impl ScanReads {
    /// The end of the read of one page, whose payload is absent when it failed.
    fn settle(
        &self,
        state: &mut ScanReadsState,
        request: u64,
        entry: &PageEntry,
        payload: Option<Arc<[u8]>>,
    ) {
        let image_bytes = image_bytes(entry);
        // A page that was released, and perhaps asked for again, is not that of this request.
        let slot = state.pages.get_mut(&entry.page);
        let slot = slot.filter(
            |slot| matches!(slot, RequestedPage::Reading { request: by } if *by == request),
        );
        match (slot, payload) {
            (Some(slot), Some(payload)) => {
                *slot = RequestedPage::Held {
                    payload,
                    image_bytes,
                };
                return;
            }
            (Some(slot), None) => {
                *slot = RequestedPage::Failed;
                state.statistics.pages_failed += 1;
            }
            (None, _) => {}
        }
        self.give_back(state, image_bytes);
    }
}

impl Drop for ReadInProgress<'_> {
    fn drop(&mut self) {
        self.version = None;
        let mut state = self.reads.lock();
        for entry in std::mem::take(&mut self.entries) {
            self.reads.settle(&mut state, self.request, &entry, None);
        }
        state.reads_in_progress -= 1;
        let is_abandoned = state.version.is_none();
        drop(state);
        self.reads.read_ended.notify_all();
        if is_abandoned {
            self.reads.bound.end_abandoned();
        }
    }
}
