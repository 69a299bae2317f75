//! Threads that compress the pages of trees that are built, and stage them.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use quire_codec::Corrupt;
use quire_store::pool::{PageCodec, Pool};
use quire_store::{PageId, PageKind};

use crate::error::EngineError;
use crate::pages::TransactionPages;

/// Pages that may wait for each thread.
const QUEUED_PAGES: usize = 8;

/// Threads that write pages of a transaction. Dropping this waits for them.
pub(super) struct PageWriters {
    shared: Arc<SharedPageWriters>,
    threads: Vec<JoinHandle<()>>,
}

struct SharedPageWriters {
    pool: Pool,
    pages: Arc<TransactionPages>,
    queue: Mutex<PageWriteQueue>,
    /// Signalled at every change of the queue.
    changed: Condvar,
}

#[derive(Default)]
struct PageWriteQueue {
    pages: VecDeque<FillPage>,
    /// Pages that threads have taken and not written.
    in_work: usize,
    /// A page could not be written.
    failure: Option<EngineError>,
    has_failed: bool,
    is_closed: bool,
}

struct FillPage {
    page: PageId,
    bytes: Vec<u8>,
    codec: PageCodec,
}

impl PageWriters {
    /// Starts so many threads; whoever writes does it himself when none can be had.
    pub(super) fn start(pool: &Pool, pages: &Arc<TransactionPages>, threads: usize) -> Self {
        let shared = Arc::new(SharedPageWriters {
            pool: pool.clone(),
            pages: Arc::clone(pages),
            queue: Mutex::default(),
            changed: Condvar::new(),
        });
        let start = |_| {
            let shared = Arc::clone(&shared);
            let thread = std::thread::Builder::new().name("quire-build".to_owned());
            thread.spawn(move || shared.work()).ok()
        };
        let threads = (0..threads).filter_map(start).collect();
        Self { shared, threads }
    }

    pub(super) fn pool(&self) -> &Pool {
        &self.shared.pool
    }

    /// Names a page that is to be written.
    pub(super) fn name_page(&self) -> Result<PageId, EngineError> {
        self.shared.pages.name_page()
    }

    /// Has a page written. Waits while many are waiting.
    pub(super) fn write(
        &self,
        page: PageId,
        bytes: Vec<u8>,
        codec: PageCodec,
    ) -> Result<(), EngineError> {
        let page = FillPage { page, bytes, codec };
        if self.threads.is_empty() {
            return self.shared.write(&page);
        }
        let limit = QUEUED_PAGES * self.threads.len();
        let mut queue = self
            .shared
            .wait_while(|queue| queue.pages.len() >= limit && !queue.has_failed);
        queue.check()?;
        queue.pages.push_back(page);
        drop(queue);
        self.shared.changed.notify_all();
        Ok(())
    }

    /// Waits until all pages are in the volume.
    pub(super) fn drain(&self) -> Result<(), EngineError> {
        let mut queue = self.shared.wait_while(|queue| {
            (!queue.pages.is_empty() || queue.in_work > 0) && !queue.has_failed
        });
        queue.check()?;
        drop(queue);
        self.shared.pages.write_buffer()
    }

    /// Frees pages that have been written.
    pub(super) fn free(&self, pages: &[PageId]) -> Result<(), EngineError> {
        self.shared.pages.free(pages)
    }
}

impl Drop for PageWriters {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            // One that has panicked has failed before.
            let _ = thread.join();
        }
    }
}

impl PageWriteQueue {
    fn check(&mut self) -> Result<(), EngineError> {
        if self.has_failed {
            Err(self.failure.take().unwrap_or(EngineError::TransactionEnded))
        } else {
            Ok(())
        }
    }
}

impl SharedPageWriters {
    fn work(&self) {
        loop {
            let mut queue = self.wait_while(|queue| queue.pages.is_empty() && !queue.is_closed);
            if queue.is_closed {
                return;
            }
            let Some(page) = queue.pages.pop_front() else {
                continue;
            };
            queue.in_work += 1;
            drop(queue);
            let mut working = Working {
                shared: self,
                result: Err(None),
            };
            self.changed.notify_all();
            working.result = self.write(&page).map_err(Some);
        }
    }

    fn write(&self, page: &FillPage) -> Result<(), EngineError> {
        let image = self.pool.image(page.page, &page.bytes, page.codec);
        let image = image.map_err(|error| EngineError::Corrupt {
            what: "a page that was built".to_owned(),
            source: Corrupt::new(error.to_string(), 0),
        })?;
        self.pages.write_at(page.page, PageKind::Row, image)
    }

    fn wait_while(
        &self,
        condition: impl Fn(&PageWriteQueue) -> bool,
    ) -> MutexGuard<'_, PageWriteQueue> {
        let waited = self
            .changed
            .wait_while(self.lock(), |queue| condition(queue));
        waited.unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, PageWriteQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A page that a thread has taken.
struct Working<'s> {
    shared: &'s SharedPageWriters,
    /// An error without a reason is a panic.
    result: Result<(), Option<EngineError>>,
}

impl Drop for Working<'_> {
    fn drop(&mut self) {
        let mut queue = self.shared.lock();
        queue.in_work -= 1;
        if let Err(failure) = std::mem::replace(&mut self.result, Ok(())) {
            queue.has_failed = true;
            queue.failure = queue.failure.take().or(failure);
        }
        drop(queue);
        self.shared.changed.notify_all();
    }
}
