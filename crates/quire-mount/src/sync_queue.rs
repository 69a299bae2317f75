//! Syncs, together: a sync of a data set writes all that has changed, so all who wait for one are served by the same.
//!
//! One thread syncs. Who comes while it does waits for the next turn, with all others who came. Those threads that answer the kernel never wait
//! for a sync, so readers go on. The same thread writes what has changed in the background.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fuser::{Errno, ReplyEmpty, ReplyWrite};
use quire_device::{DataSet, DeviceStorageError};

use crate::errno::storage_errno;

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
    wants_write_back: bool,
    is_closed: bool,
}

/// What the thread that syncs is to do.
pub(crate) struct SyncQueue {
    requests: Mutex<SyncRequests>,
    changed: Condvar,
    /// Bytes written since they were last written back.
    written_bytes: AtomicU64,
    write_back_bytes: u64,
    interval: Duration,
}

/// A turn of the thread.
enum SyncTask {
    Sync(Vec<WaitingReply>),
    WriteBack,
    Interval,
    End,
}

impl SyncQueue {
    pub(crate) fn new(write_back_bytes: u64, interval: Duration) -> Self {
        Self {
            requests: Mutex::default(),
            changed: Condvar::new(),
            written_bytes: AtomicU64::new(0),
            write_back_bytes: write_back_bytes.max(1),
            interval: interval.max(Duration::from_millis(10)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, SyncRequests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers after a sync that begins later.
    pub(crate) fn answer_when_synced(&self, reply: WaitingReply) {
        self.lock().waiting.push(reply);
        self.changed.notify_one();
    }

    /// So many bytes have been written.
    pub(crate) fn note_written(&self, bytes: u64) {
        let before = self.written_bytes.fetch_add(bytes, Ordering::Relaxed);
        if before < self.write_back_bytes && before + bytes >= self.write_back_bytes {
            self.lock().wants_write_back = true;
            self.changed.notify_one();
        }
    }

    /// Ends the thread after what is waiting.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_one();
    }

    /// Syncs until the queue is closed.
    pub(crate) fn run(&self, set: &DataSet) {
        let mut last_sync = Instant::now();
        loop {
            match self.next_turn(last_sync + self.interval) {
                SyncTask::Sync(waiting) => {
                    let error = self.sync(set).err().as_ref().map(storage_errno);
                    last_sync = Instant::now();
                    for reply in waiting {
                        reply.send(error);
                    }
                }
                // What cannot be written stays in memory, and whoever writes or syncs next is told.
                SyncTask::WriteBack => {
                    self.written_bytes.store(0, Ordering::Relaxed);
                    let _ = set.write_back();
                }
                SyncTask::Interval => {
                    let _ = self.write_back_and_sync(set);
                    last_sync = Instant::now();
                }
                SyncTask::End => return,
            }
        }
    }

    fn sync(&self, set: &DataSet) -> Result<(), DeviceStorageError> {
        self.written_bytes.store(0, Ordering::Relaxed);
        set.sync()
    }

    /// What was logged is compressed, too.
    fn write_back_and_sync(&self, set: &DataSet) -> Result<(), DeviceStorageError> {
        self.written_bytes.store(0, Ordering::Relaxed);
        set.write_back()?;
        set.sync()
    }

    /// What is to be done now; a sync at `end` at the latest. Writing back does not put that off, or nothing would become durable while
    /// somebody writes without a pause.
    fn next_turn(&self, end: Instant) -> SyncTask {
        let mut requests = self.lock();
        loop {
            if !requests.waiting.is_empty() {
                return SyncTask::Sync(std::mem::take(&mut requests.waiting));
            }
            if requests.is_closed {
                return SyncTask::End;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                requests.wants_write_back = false;
                return SyncTask::Interval;
            }
            if std::mem::take(&mut requests.wants_write_back) {
                return SyncTask::WriteBack;
            }
            let woken = self.changed.wait_timeout(requests, left);
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
        assert!(matches!(queue.next_turn(later), SyncTask::WriteBack));
        queue.written_bytes.store(0, Ordering::Relaxed);
        queue.note_written(100);
        assert!(matches!(
            queue.next_turn(Instant::now()),
            SyncTask::Interval
        ));
        queue.close();
        assert!(matches!(queue.next_turn(later), SyncTask::End));
    }
}
