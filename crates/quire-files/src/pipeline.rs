//! Ordered work on several threads with bounded memory.
//!
//! Workers claim tasks in order from a [`Stage`], turn each into a stream of items, and the
//! consumer gets the items in task order. The bound: a worker neither claims a task nor adds an
//! item while more than `budget_bytes` of finished items wait, except that the task the consumer
//! is waiting for may always add one item, so that the whole never stalls. Hence at most
//! `budget_bytes` + (threads + 1) items are held, plus one task being worked on per thread.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::control::CopyControl;
use super::error::CopyError;

/// A source of tasks and what to do with each.
pub(super) trait Stage: Send + Sync + 'static {
    type Task: Send;
    type Item: Send + 'static;

    /// The next task; calls are serialized, and their order is the order of the output.
    fn next_task(&self) -> Result<Option<Self::Task>, CopyError>;

    /// Works on a task, handing each item and its size in bytes to `emit`; stops when that says false.
    fn run(
        &self,
        task: Self::Task,
        emit: &mut dyn FnMut(Self::Item, usize) -> bool,
    ) -> Result<(), CopyError>;

    /// What a panic of a worker is reported as.
    fn panicked(&self, detail: String) -> CopyError;
}

struct TaskQueue<I> {
    items: VecDeque<(I, usize)>,
    outcome: Option<Result<(), CopyError>>,
}

struct PipelineState<I> {
    queues: VecDeque<TaskQueue<I>>,
    /// Sequence number of `queues[0]`.
    head: u64,
    queued_bytes: usize,
    exhausted: bool,
    stopped: bool,
}

impl<I> PipelineState<I> {
    /// Whether finished items fill the budget; never without any task, which would stall.
    fn is_full(&self, budget_bytes: usize) -> bool {
        self.queued_bytes >= budget_bytes && !self.queues.is_empty()
    }
}

struct SharedPipeline<I> {
    state: Mutex<PipelineState<I>>,
    /// Signalled when an item or an outcome was added.
    filled: Condvar,
    /// Signalled when an item was taken or the pipeline stopped.
    drained: Condvar,
    claim: Mutex<()>,
    budget_bytes: usize,
}

impl<I> SharedPipeline<I> {
    fn lock(&self) -> MutexGuard<'_, PipelineState<I>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The consumer's end; dropping it stops and joins the workers.
pub(super) struct ParallelPipeline<I> {
    shared: Arc<SharedPipeline<I>>,
    workers: Vec<JoinHandle<()>>,
    control: CopyControl,
}

impl<I: Send + 'static> ParallelPipeline<I> {
    pub(super) fn start<S: Stage<Item = I>>(
        stage: S,
        thread_count: usize,
        budget_bytes: usize,
        control: CopyControl,
    ) -> Self {
        let shared = Arc::new(SharedPipeline {
            state: Mutex::new(PipelineState {
                queues: VecDeque::new(),
                head: 0,
                queued_bytes: 0,
                exhausted: false,
                stopped: false,
            }),
            filled: Condvar::new(),
            drained: Condvar::new(),
            claim: Mutex::new(()),
            budget_bytes,
        });
        let stage = Arc::new(stage);
        let workers = (0..thread_count.max(1))
            .map(|_| {
                let (shared, stage) = (Arc::clone(&shared), Arc::clone(&stage));
                std::thread::spawn(move || while work_once(&shared, stage.as_ref()) {})
            })
            .collect();
        Self {
            shared,
            workers,
            control,
        }
    }

    /// The next item in order; `None` at the end. After an error nothing more comes.
    pub(super) fn next(&mut self) -> Result<Option<I>, CopyError> {
        self.control.check()?;
        let mut state = self.shared.lock();
        loop {
            if state.stopped {
                return Ok(None);
            }
            if let Some(queue) = state.queues.front_mut() {
                if let Some((item, bytes)) = queue.items.pop_front() {
                    state.queued_bytes -= bytes;
                    self.shared.drained.notify_all();
                    return Ok(Some(item));
                }
                if let Some(outcome) = queue.outcome.take() {
                    state.queues.pop_front();
                    state.head += 1;
                    self.shared.drained.notify_all();
                    if let Err(error) = outcome {
                        state.stopped = true;
                        return Err(error);
                    }
                    continue;
                }
            } else if state.exhausted {
                return Ok(None);
            }
            // The timeout lets a cancel flag, which nobody signals, be seen.
            let wait = std::time::Duration::from_millis(50);
            let waited = self.shared.filled.wait_timeout(state, wait);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            self.control.check()?;
        }
    }
}

impl<I> Drop for ParallelPipeline<I> {
    fn drop(&mut self) {
        self.shared.lock().stopped = true;
        self.shared.drained.notify_all();
        for worker in self.workers.drain(..) {
            // A worker's panic was already turned into an error.
            let _ = worker.join();
        }
    }
}

/// Claims and works one task; false when there is nothing more to do.
fn work_once<S: Stage>(shared: &SharedPipeline<S::Item>, stage: &S) -> bool {
    let Some((task, sequence)) = claim(shared, stage) else {
        return false;
    };
    let mut emit = |item, bytes| push(shared, sequence, item, bytes);
    let ran = catch_unwind(AssertUnwindSafe(|| stage.run(task, &mut emit)));
    let outcome = ran.unwrap_or_else(|payload| Err(stage.panicked(panic_text(&payload))));
    let mut state = shared.lock();
    let failed = outcome.is_err();
    finish(&mut state, sequence, outcome);
    state.exhausted |= failed;
    shared.filled.notify_all();
    !failed
}

fn claim<S: Stage>(shared: &SharedPipeline<S::Item>, stage: &S) -> Option<(S::Task, u64)> {
    let _claiming = shared.claim.lock().unwrap_or_else(PoisonError::into_inner);
    let mut state = shared.lock();
    while state.is_full(shared.budget_bytes) && !state.stopped && !state.exhausted {
        state = shared
            .drained
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner);
    }
    if state.stopped || state.exhausted {
        return None;
    }
    drop(state);
    let claimed = catch_unwind(AssertUnwindSafe(|| stage.next_task()))
        .unwrap_or_else(|payload| Err(stage.panicked(panic_text(&payload))));
    let mut state = shared.lock();
    let sequence = state.head + state.queues.len() as u64;
    let claimed = match claimed {
        Ok(Some(task)) => {
            state.queues.push_back(TaskQueue {
                items: VecDeque::new(),
                outcome: None,
            });
            Some((task, sequence))
        }
        Ok(None) => {
            state.exhausted = true;
            None
        }
        Err(error) => {
            state.exhausted = true;
            let outcome = Some(Err(error));
            state.queues.push_back(TaskQueue {
                items: VecDeque::new(),
                outcome,
            });
            None
        }
    };
    shared.filled.notify_all();
    // Workers that wait for room must learn that nothing is left to claim.
    shared.drained.notify_all();
    claimed
}

/// Adds an item to its task's queue once there is room; false when the consumer is gone.
fn push<I>(shared: &SharedPipeline<I>, sequence: u64, item: I, bytes: usize) -> bool {
    let mut state = shared.lock();
    loop {
        if state.stopped {
            return false;
        }
        let position = (sequence - state.head) as usize;
        let awaited = position == 0 && state.queues.front().is_some_and(|q| q.items.is_empty());
        if awaited || state.queued_bytes < shared.budget_bytes {
            let Some(queue) = state.queues.get_mut(position) else {
                return false;
            };
            queue.items.push_back((item, bytes));
            state.queued_bytes += bytes;
            shared.filled.notify_all();
            return true;
        }
        state = shared
            .drained
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner);
    }
}

fn finish<I>(state: &mut PipelineState<I>, sequence: u64, outcome: Result<(), CopyError>) {
    let position = (sequence - state.head) as usize;
    if let Some(queue) = state.queues.get_mut(position) {
        queue.outcome = Some(outcome);
    }
}

pub(super) fn panic_text(payload: &Box<dyn std::any::Any + Send>) -> String {
    let text = payload.downcast_ref::<&str>().map(|s| (*s).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a worker stopped unexpectedly".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

    struct Counting {
        next: AtomicU64,
        tasks: u64,
        fail_at: Option<u64>,
        panic_at: Option<u64>,
        emitted: Arc<AtomicUsize>,
    }

    impl Stage for Counting {
        type Task = u64;
        type Item = (u64, u64);

        fn next_task(&self) -> Result<Option<u64>, CopyError> {
            let task = self.next.fetch_add(1, Ordering::SeqCst);
            Ok((task < self.tasks).then_some(task))
        }

        fn run(
            &self,
            task: u64,
            emit: &mut dyn FnMut((u64, u64), usize) -> bool,
        ) -> Result<(), CopyError> {
            if self.panic_at == Some(task) {
                panic!("task {task}");
            }
            for item in 0..(task * 7) % 5 {
                if !emit((task, item), 10) {
                    break;
                }
                self.emitted.fetch_add(1, Ordering::SeqCst);
            }
            if self.fail_at == Some(task) {
                return Err(CopyError::Option {
                    message: format!("task {task}"),
                });
            }
            Ok(())
        }

        fn panicked(&self, detail: String) -> CopyError {
            CopyError::Option {
                message: format!("panic: {detail}"),
            }
        }
    }

    fn counting(tasks: u64) -> Counting {
        let emitted = Arc::new(AtomicUsize::new(0));
        Counting {
            next: AtomicU64::new(0),
            tasks,
            fail_at: None,
            panic_at: None,
            emitted,
        }
    }

    fn expected(tasks: u64) -> Vec<(u64, u64)> {
        (0..tasks)
            .flat_map(|t| (0..(t * 7) % 5).map(move |i| (t, i)))
            .collect()
    }

    fn drain(pipeline: &mut ParallelPipeline<(u64, u64)>) -> (Vec<(u64, u64)>, Option<CopyError>) {
        let mut items = Vec::new();
        loop {
            match pipeline.next() {
                Ok(Some(item)) => items.push(item),
                Ok(None) => return (items, None),
                Err(error) => return (items, Some(error)),
            }
        }
    }

    #[test]
    fn items_come_in_task_order_for_every_budget_and_thread_count() {
        for threads in [1, 2, 5] {
            for budget in [0, 1, 25, 10_000] {
                let mut pipeline =
                    ParallelPipeline::start(counting(200), threads, budget, CopyControl::default());
                assert_eq!(drain(&mut pipeline).0, expected(200), "{threads} {budget}");
            }
        }
    }

    #[test]
    fn an_error_comes_after_everything_before_it_and_ends_the_stream() {
        let stage = Counting {
            fail_at: Some(33),
            ..counting(200)
        };
        let mut pipeline = ParallelPipeline::start(stage, 3, 30, CopyControl::default());
        let (items, error) = drain(&mut pipeline);
        assert_eq!(items, expected(34));
        assert_eq!(error.map(|e| e.to_string()), Some("task 33".to_owned()));
    }

    #[test]
    fn a_panic_becomes_an_error() {
        let stage = Counting {
            panic_at: Some(8),
            ..counting(20)
        };
        let mut pipeline = ParallelPipeline::start(stage, 2, 30, CopyControl::default());
        let (items, error) = drain(&mut pipeline);
        assert_eq!(items, expected(8));
        assert_eq!(
            error.map(|e| e.to_string()),
            Some("panic: task 8".to_owned())
        );
    }

    #[test]
    fn a_slow_consumer_bounds_what_waits() {
        let stage = counting(1_000);
        let emitted = Arc::clone(&stage.emitted);
        let mut pipeline = ParallelPipeline::start(stage, 2, 50, CopyControl::default());
        for taken in 1..200 {
            assert!(pipeline.next().is_ok());
            std::thread::yield_now();
            // 50 bytes of items of 10 bytes, one more per worker, one for the awaited task.
            assert!(emitted.load(Ordering::SeqCst) <= taken + 5 + 3);
        }
    }

    #[test]
    fn dropping_early_stops_the_workers() {
        let mut pipeline =
            ParallelPipeline::start(counting(u64::MAX), 2, 50, CopyControl::default());
        assert!(pipeline.next().is_ok());
        drop(pipeline);
    }
}
