//! Threads that serve connections.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Stack of a thread: parsing nested statements needs it.
const STACK_BYTES: usize = 8 << 20;
/// How long a thread without work stays.
const IDLE_TIME: Duration = Duration::from_secs(10);

/// A piece of work.
type Job = Box<dyn FnOnce() + Send>;

/// Threads that come when there is work and go when there is none for a while.
pub(super) struct Workers {
    shared: Arc<WorkerPoolState>,
}

struct WorkerPoolState {
    queue: Mutex<JobQueue>,
    has_work: Condvar,
}

#[derive(Default)]
struct JobQueue {
    jobs: VecDeque<Job>,
    /// Threads that wait for work.
    idle: usize,
}

impl Workers {
    pub(super) fn new() -> Self {
        Self {
            shared: Arc::new(WorkerPoolState {
                queue: Mutex::default(),
                has_work: Condvar::new(),
            }),
        }
    }

    /// Runs the job on a thread that has nothing else to do; `false` when there can be none, and the job is lost.
    pub(super) fn run(&self, job: Job) -> bool {
        let mut queue = self
            .shared
            .queue
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        queue.jobs.push_back(job);
        if queue.idle >= queue.jobs.len() {
            self.shared.has_work.notify_one();
            return true;
        }
        let shared = Arc::clone(&self.shared);
        let thread = thread::Builder::new()
            .name("quire-worker".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || shared.work());
        if thread.is_err() {
            queue.jobs.pop_back();
        }
        thread.is_ok()
    }
}

impl WorkerPoolState {
    fn work(&self) {
        while let Some(job) = self.next() {
            job();
        }
    }

    fn next(&self) -> Option<Job> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(job) = queue.jobs.pop_front() {
            return Some(job);
        }
        queue.idle += 1;
        let (mut queue, _) = self
            .has_work
            .wait_timeout_while(queue, IDLE_TIME, |queue| queue.jobs.is_empty())
            .unwrap_or_else(PoisonError::into_inner);
        queue.idle -= 1;
        queue.jobs.pop_front()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn jobs_that_wait_for_one_another_all_run() {
        let workers = Workers::new();
        let (sender, receiver) = mpsc::channel();
        let barrier = Arc::new(std::sync::Barrier::new(20));
        for number in 0..20 {
            let (sender, barrier) = (sender.clone(), Arc::clone(&barrier));
            assert!(workers.run(Box::new(move || {
                barrier.wait();
                sender.send(number).unwrap();
            })));
        }
        let mut seen: Vec<i32> = receiver.iter().take(20).collect();
        seen.sort_unstable();
        assert_eq!(seen, (0..20).collect::<Vec<_>>());
    }
}
