//! Syncs, together: a sync of a data set writes all that has changed, so all who wait for one are served by the same.
//!
//! The thread that gets a request to sync does so, and then for all who came meanwhile, until nobody waits. So at most one of those threads
//! that answer the kernel waits for a sync, and no other thread has to be woken for one. A thread of its own writes what has changed in the
//! background, which a sync need not wait for if it can be logged.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fuser::{Errno, ReplyEmpty, ReplyWrite};
use quire_device::{DataSet, DeviceStorageError};

use crate::errno::storage_errno;

/// The log of a data set has a page for each sync, and when it has twice as many, a sync waits for a batch.
const SYNCS_PER_WRITE_BACK: u64 = 512;

/// An answer that waits for a sync.
pub(crate) enum WaitingReply {
    /// To fsync(2).
    Synced(ReplyEmpty),
    /// To a write into a file that was opened with `O_SYNC` or `O_DSYNC`, of so many bytes.
    Written(ReplyWrite, u32),
}

impl WaitingReply {
    fn send(self, error: Option<Errno>) {
        match (self, error) {
            (Self::Synced(reply), None) => reply.ok(),
            (Self::Synced(reply), Some(error)) => reply.error(error),
            (Self::Written(reply, bytes), None) => reply.written(bytes),
            (Self::Written(reply, _), Some(error)) => reply.error(error),
        }
    }
}

#[derive(Default)]
struct SyncRequests {
    /// As many as there are threads in system calls, at most.
    waiting: Vec<WaitingReply>,
    /// A thread answers those who wait.
    is_syncing: bool,
    wants_write_back: bool,
    is_closed: bool,
}

/// Who waits for a sync, and what is to be done in the background.
pub(crate) struct SyncQueue {
    requests: Mutex<SyncRequests>,
    /// There is something to do in the background, or this is the end.
    background_wanted: Condvar,
    /// Bytes written since they were last written back.
    written_bytes: AtomicU64,
    sync_count: AtomicU64,
    write_back_bytes: u64,
    interval: Duration,
}

/// What there is to do in the background.
#[derive(Debug, PartialEq, Eq)]
enum BackgroundTask {
    WriteBack,
    Interval,
    End,
}

impl SyncQueue {
    pub(crate) fn new(write_back_bytes: u64, interval: Duration) -> Self {
        Self {
            requests: Mutex::default(),
            background_wanted: Condvar::new(),
            written_bytes: AtomicU64::new(0),
            sync_count: AtomicU64::new(0),
            write_back_bytes: write_back_bytes.max(1),
            interval: interval.max(Duration::from_millis(10)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, SyncRequests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers after a sync that begins later, by this thread or by one that syncs already.
    pub(crate) fn answer_when_synced(&self, set: &DataSet, reply: WaitingReply) {
        let mut requests = self.lock();
        requests.waiting.push(reply);
        if std::mem::replace(&mut requests.is_syncing, true) {
            return;
        }
        drop(requests);
        while let Some(waiting) = self.next_syncs() {
            // What it logs has yet to be compressed, so it counts as written still.
            let error = set.sync().err().as_ref().map(storage_errno);
            for reply in waiting {
                reply.send(error);
            }
            let count = self.sync_count.fetch_add(1, Ordering::Relaxed) + 1;
            if count.is_multiple_of(SYNCS_PER_WRITE_BACK) {
                self.want_write_back();
            }
        }
    }

    /// So many bytes have been written.
    pub(crate) fn note_written(&self, bytes: u64) {
        let before = self.written_bytes.fetch_add(bytes, Ordering::Relaxed);
        if before < self.write_back_bytes && before + bytes >= self.write_back_bytes {
            self.want_write_back();
        }
    }

    fn want_write_back(&self) {
        self.lock().wants_write_back = true;
        self.background_wanted.notify_one();
    }

    /// Ends the thread in the background.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.background_wanted.notify_one();
    }

    /// Writes in the background until the queue is closed. What cannot be written stays in memory, and whoever writes or syncs next is told.
    pub(crate) fn run_background(&self, set: &DataSet) {
        let mut last_sync = Instant::now();
        loop {
            match self.next_background(last_sync + self.interval) {
                BackgroundTask::WriteBack => {
                    self.written_bytes.store(0, Ordering::Relaxed);
                    let _ = set.write_back();
                }
                BackgroundTask::Interval => {
                    let _ = self.write_back_and_sync(set);
                    last_sync = Instant::now();
                }
                BackgroundTask::End => return,
            }
        }
    }

    /// What was logged is compressed, too.
    fn write_back_and_sync(&self, set: &DataSet) -> Result<(), DeviceStorageError> {
        self.written_bytes.store(0, Ordering::Relaxed);
        set.write_back()?;
        set.sync()
    }

    /// All who wait for a sync; `None`, and the thread that syncs has done so, when nobody does.
    fn next_syncs(&self) -> Option<Vec<WaitingReply>> {
        let mut requests = self.lock();
        requests.is_syncing = !requests.waiting.is_empty();
        requests
            .is_syncing
            .then(|| std::mem::take(&mut requests.waiting))
    }

    /// What is to be done now; a sync at `end` at the latest. Writing back does not put that off, or nothing would become durable while
    /// somebody writes without a pause.
    fn next_background(&self, end: Instant) -> BackgroundTask {
        let mut requests = self.lock();
        loop {
            if requests.is_closed {
                return BackgroundTask::End;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                requests.wants_write_back = false;
                return BackgroundTask::Interval;
            }
            if std::mem::take(&mut requests.wants_write_back) {
                return BackgroundTask::WriteBack;
            }
            let woken = self.background_wanted.wait_timeout(requests, left);
            requests = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writing_back_does_not_put_off_a_sync_that_is_due() {
        let queue = SyncQueue::new(100, Duration::from_secs(3600));
        queue.note_written(100);
        let later = Instant::now() + Duration::from_secs(3600);
        assert_eq!(queue.next_background(later), BackgroundTask::WriteBack);
        queue.written_bytes.store(0, Ordering::Relaxed);
        queue.note_written(100);
        let now = Instant::now();
        assert_eq!(queue.next_background(now), BackgroundTask::Interval);
        queue.close();
        assert_eq!(queue.next_background(later), BackgroundTask::End);
    }
}
