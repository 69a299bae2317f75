//! The threads that compress pages, and how many there are.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::upkeep::Upkeep;

/// The threads that run. They are numbered from 0 on; which numbers may work is known to the queue (`upkeep`).
#[derive(Default)]
pub(super) struct CompressionThreads {
    running: Mutex<Vec<JoinHandle<()>>>,
}

impl CompressionThreads {
    /// Ends threads, or starts some. Returns how many there are.
    pub(super) fn set_count(&self, count: usize, upkeep: &Arc<Upkeep>) -> usize {
        // Held to the end: of two callers the second finds what the first has left.
        let mut running = self.lock();
        upkeep.set_thread_count(count);
        while running.len() > count
            && let Some(thread) = running.pop()
        {
            // An error means that the thread panicked; its result is not needed.
            let _ = thread.join();
        }
        while running.len() < count {
            match spawn(running.len(), upkeep) {
                Ok(thread) => running.push(thread),
                // Not an error: the queue is shorter, and writers compress more pages themselves.
                Err(_) => break,
            }
        }
        upkeep.set_thread_count(running.len());
        if running.is_empty() {
            // What came into the queue before it was known that there would be no thread.
            upkeep.compress_in_background(0);
        }
        running.len()
    }

    /// Waits for all threads, which the closed queue has told to end.
    pub(super) fn join(&self) {
        for thread in self.lock().drain(..) {
            let _ = thread.join();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }
}

fn spawn(number: usize, upkeep: &Arc<Upkeep>) -> std::io::Result<JoinHandle<()>> {
    let upkeep = Arc::clone(upkeep);
    let thread = std::thread::Builder::new().name(format!("quire-compress-{number}"));
    thread.spawn(move || upkeep.compress_in_background(number))
}
