//! The threads of a volume that read ahead: they start when work comes and end when there has been none for a while.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Requests that are read at the same time.
pub(super) const READ_THREADS_MAX: usize = 4;

/// A thread without work ends after this time.
const IDLE_TIME_MAX: Duration = Duration::from_secs(5);

/// One piece of work. It must not hold the volume: the last handle of a volume waits for its threads.
pub(super) type ReadJob = Box<dyn FnOnce() + Send>;

/// Runs jobs in the order in which they come. Dropping it forgets the jobs that have not begun, and waits for the others.
pub(super) struct ReadThreads {
    shared: Arc<ReadThreadsShared>,
}

struct ReadThreadsShared {
    state: Mutex<ReadThreadsState>,
    /// A job has come, or the threads are to end.
    job_came: Condvar,
    idle_time_max: Duration,
}

#[derive(Default)]
struct ReadThreadsState {
    jobs: VecDeque<ReadJob>,
    /// Threads that run or are about to be started.
    thread_count: usize,
    /// Those that wait for a job.
    idle_count: usize,
    /// Of all threads that have not been waited for.
    handles: Vec<JoinHandle<()>>,
    is_ended: bool,
}

impl Default for ReadThreads {
    fn default() -> Self {
        Self::with_idle_time(IDLE_TIME_MAX)
    }
}

impl ReadThreads {
    fn with_idle_time(idle_time_max: Duration) -> Self {
        Self {
            shared: Arc::new(ReadThreadsShared {
                state: Mutex::default(),
                job_came: Condvar::new(),
                idle_time_max,
            }),
        }
    }

    /// Has a thread do `job` soon. When the system gives no thread at all, the job is dropped: whoever needs what it reads
    /// reads that itself.
    pub(super) fn submit(&self, job: ReadJob) {
        let mut state = self.shared.lock();
        if state.is_ended {
            return;
        }
        state.jobs.push_back(job);
        if state.jobs.len() <= state.idle_count || state.thread_count >= READ_THREADS_MAX {
            drop(state);
            self.shared.job_came.notify_one();
            return;
        }
        state.thread_count += 1;
        state.handles.retain(|handle| !handle.is_finished());
        drop(state);
        self.start_thread();
    }

    /// Starts a thread that has been counted already.
    fn start_thread(&self) {
        let shared = Arc::clone(&self.shared);
        let thread = std::thread::Builder::new().name("quire-read".to_owned());
        let started = thread.spawn(move || shared.run_jobs());
        let mut state = self.shared.lock();
        match started {
            Ok(handle) => state.handles.push(handle),
            Err(_) => {
                state.thread_count -= 1;
                if state.thread_count == 0 {
                    let dropped = std::mem::take(&mut state.jobs);
                    drop(state);
                    drop(dropped);
                }
            }
        }
    }

    /// Forgets the jobs that have not begun, and waits until all threads have ended. No job is taken any more.
    pub(super) fn end(&self) {
        let (handles, dropped) = {
            let mut state = self.shared.lock();
            state.is_ended = true;
            (
                std::mem::take(&mut state.handles),
                std::mem::take(&mut state.jobs),
            )
        };
        drop(dropped);
        self.shared.job_came.notify_all();
        for handle in handles {
            // A job that panics does not end its thread.
            let _ = handle.join();
        }
    }

    #[cfg(test)]
    fn thread_count(&self) -> usize {
        self.shared.lock().thread_count
    }
}

impl Drop for ReadThreads {
    fn drop(&mut self) {
        self.end();
    }
}

impl ReadThreadsShared {
    fn lock(&self) -> MutexGuard<'_, ReadThreadsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run_jobs(&self) {
        while let Some(job) = self.next_job() {
            // The panic is reported by its hook. What the job had begun is marked as failed by a guard of its own.
            let _ = catch_unwind(AssertUnwindSafe(job));
        }
    }

    /// The next job, or nothing when the thread, which is counted off then, is to end.
    fn next_job(&self) -> Option<ReadJob> {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            if state.is_ended {
                state.thread_count -= 1;
                return None;
            }
            state.idle_count += 1;
            let (woken, timeout) = self
                .job_came
                .wait_timeout(state, self.idle_time_max)
                .unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.idle_count -= 1;
            if timeout.timed_out() && state.jobs.is_empty() {
                state.thread_count -= 1;
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn jobs_run_on_at_most_so_many_threads_at_once() {
        let threads = ReadThreads::default();
        let (running, most, done) = (
            Arc::new(AtomicUsize::new(0)),
            Arc::new(AtomicUsize::new(0)),
            Arc::new(AtomicUsize::new(0)),
        );
        // As many as there are threads meet here: none of them ends before all have started.
        let meeting = Arc::new(Barrier::new(READ_THREADS_MAX));
        let (sender, receiver) = mpsc::channel();
        for number in 0..READ_THREADS_MAX * 25 {
            let (running, most, done) = (running.clone(), most.clone(), done.clone());
            let (meeting, sender) = (meeting.clone(), sender.clone());
            threads.submit(Box::new(move || {
                let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(now, Ordering::SeqCst);
                if number < READ_THREADS_MAX {
                    meeting.wait();
                }
                running.fetch_sub(1, Ordering::SeqCst);
                done.fetch_add(1, Ordering::SeqCst);
                sender.send(number).unwrap();
            }));
            assert!(threads.thread_count() <= READ_THREADS_MAX);
        }
        drop(sender);
        assert_eq!(receiver.iter().count(), READ_THREADS_MAX * 25);
        assert_eq!(most.load(Ordering::SeqCst), READ_THREADS_MAX);
        assert_eq!(done.load(Ordering::SeqCst), READ_THREADS_MAX * 25);
    }

    #[test]
    fn idle_threads_end_and_others_start_when_work_comes() {
        let threads = ReadThreads::with_idle_time(Duration::from_millis(1));
        for _ in 0..3 {
            let (sender, receiver) = mpsc::channel();
            threads.submit(Box::new(move || sender.send(()).unwrap()));
            receiver.recv().unwrap();
            while threads.thread_count() > 0 {
                std::thread::yield_now();
            }
        }
    }

    #[test]
    fn a_job_that_panics_leaves_the_threads_alive() {
        let threads = ReadThreads::default();
        let (sender, receiver) = mpsc::channel();
        for number in 0..READ_THREADS_MAX * 2 {
            let sender = sender.clone();
            threads.submit(Box::new(move || {
                let _sender = sender;
                assert!(number == usize::MAX, "a job of this test panics");
            }));
        }
        threads.submit(Box::new(move || sender.send(7).unwrap()));
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [7]);
    }

    #[test]
    fn ending_forgets_what_has_not_begun_and_waits_for_what_has() {
        let threads = ReadThreads::default();
        let gate = Arc::new(Barrier::new(READ_THREADS_MAX + 1));
        let done = Arc::new(AtomicUsize::new(0));
        for _ in 0..READ_THREADS_MAX {
            let (gate, done) = (gate.clone(), done.clone());
            threads.submit(Box::new(move || {
                gate.wait();
                gate.wait();
                done.fetch_add(1, Ordering::SeqCst);
            }));
        }
        gate.wait();
        let begun = Arc::new(AtomicUsize::new(0));
        let (late, opener) = (begun.clone(), gate.clone());
        threads.submit(Box::new(move || {
            late.fetch_add(1, Ordering::SeqCst);
        }));
        let shared = threads.shared.clone();
        // Opens the gate only when the end has been asked for.
        let opening = std::thread::spawn(move || {
            while !shared.lock().is_ended {
                std::thread::yield_now();
            }
            opener.wait();
        });
        drop(threads);
        opening.join().unwrap();
        assert_eq!(done.load(Ordering::SeqCst), READ_THREADS_MAX);
        assert_eq!(begun.load(Ordering::SeqCst), 0);
    }
}
