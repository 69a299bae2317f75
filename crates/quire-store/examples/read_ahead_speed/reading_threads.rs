//! Reads by threads: as many as may be in flight, handed over by a queue as the threads of a volume get their work.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::request_queue::{RequestBuffer, RequestQueue};

/// A thread for each slot.
pub struct ReadingThreads {
    shared: Arc<SharedRequests>,
    /// Buffers of the slots without a read in flight.
    buffers: Vec<Option<RequestBuffer>>,
    ended: Receiver<EndedRequest>,
    threads: Vec<JoinHandle<()>>,
}

struct SharedRequests {
    file: Arc<File>,
    waiting: Mutex<WaitingRequests>,
    came: Condvar,
}

#[derive(Default)]
struct WaitingRequests {
    requests: VecDeque<WaitingRequest>,
    is_over: bool,
}

struct WaitingRequest {
    slot: usize,
    offset: u64,
    buffer: RequestBuffer,
}

struct EndedRequest {
    slot: usize,
    buffer: RequestBuffer,
    read: io::Result<usize>,
}

impl ReadingThreads {
    pub fn new(file: Arc<File>, slots: usize, request_bytes: usize) -> io::Result<Self> {
        let shared = Arc::new(SharedRequests {
            file,
            waiting: Mutex::default(),
            came: Condvar::new(),
        });
        let (sender, ended) = channel();
        let mut queue = Self {
            shared: Arc::clone(&shared),
            buffers: (0..slots)
                .map(|_| Some(RequestBuffer::new(request_bytes)))
                .collect(),
            ended,
            threads: Vec::with_capacity(slots),
        };
        for _ in 0..slots {
            let (shared, sender) = (Arc::clone(&shared), sender.clone());
            let thread = std::thread::Builder::new().spawn(move || shared.serve(&sender))?;
            queue.threads.push(thread);
        }
        Ok(queue)
    }
}

impl RequestQueue for ReadingThreads {
    fn begin(&mut self, slot: usize, offset: u64) -> io::Result<()> {
        let buffer = self.buffers.get_mut(slot).and_then(Option::take);
        let buffer = buffer.ok_or_else(|| io::Error::other("the slot is in use"))?;
        let request = WaitingRequest {
            slot,
            offset,
            buffer,
        };
        self.shared.lock().requests.push_back(request);
        self.shared.came.notify_one();
        Ok(())
    }

    fn next_ended(&mut self) -> io::Result<(usize, usize)> {
        let ended = self.ended.recv().map_err(io::Error::other)?;
        self.buffers[ended.slot] = Some(ended.buffer);
        Ok((ended.slot, ended.read?))
    }
}

impl Drop for ReadingThreads {
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.came.notify_all();
        for thread in self.threads.drain(..) {
            // Only a panic makes this an error, and that has been reported.
            let _ = thread.join();
        }
    }
}

impl SharedRequests {
    fn serve(&self, ended: &Sender<EndedRequest>) {
        while let Some(mut request) = self.next_request() {
            let read = self
                .file
                .read_at(request.buffer.bytes_mut(), request.offset);
            let WaitingRequest { slot, buffer, .. } = request;
            if ended.send(EndedRequest { slot, buffer, read }).is_err() {
                return;
            }
        }
    }

    fn next_request(&self) -> Option<WaitingRequest> {
        let mut waiting = self.lock();
        loop {
            if let Some(request) = waiting.requests.pop_front() {
                return Some(request);
            }
            if waiting.is_over {
                return None;
            }
            let woken = self.came.wait(waiting);
            waiting = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> MutexGuard<'_, WaitingRequests> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
