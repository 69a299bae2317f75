//! Stopping a running statement: from another thread, or because its time is up.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use quire_kv::{progress::Progress, progress::StatementWork};
use tokio::sync::Notify;

use crate::activity::{Activity, micros_of};
use crate::chore;
use crate::error::Error;
use crate::time_limit::TimeLimit;

/// Cancels whatever statement its connection runs at the moment.
#[derive(Debug, Clone, Default)]
pub struct CancelHandle {
    running: Arc<Mutex<RunningStatement>>,
}

/// The statement of a connection that runs, or ran last.
#[derive(Debug, Default)]
struct RunningStatement {
    token: Option<CancelToken>,
    activity: Activity,
}

impl CancelHandle {
    /// Asks the running statement to stop; it fails with SQLSTATE `57014`. Does nothing when no
    /// statement runs.
    pub fn cancel(&self) {
        if let Some(token) = &self.running().token {
            token.cancel();
        }
    }

    /// The same because the connection is about to be ended by an administrator: SQLSTATE `57P01`.
    pub fn terminate(&self) {
        if let Some(token) = &self.running().token {
            token.inner.is_terminated.store(true, Ordering::Relaxed);
            token.cancel();
        }
    }

    /// A handle for one statement, whatever its connection runs next.
    pub fn of(token: CancelToken) -> Self {
        let token = Some(token);
        Self {
            running: Arc::new(Mutex::new(RunningStatement {
                token,
                activity: Activity::default(),
            })),
        }
    }

    /// How far the statement has come that runs, or ran last.
    pub fn progress(&self) -> Option<Progress> {
        let work = self
            .running()
            .token
            .as_ref()
            .map(|token| Arc::clone(token.work()));
        work?.progress()
    }

    /// The token of a statement that begins now and may take so long; handles cancel it from here on.
    pub fn begin(&self, sql: &str, limit: Option<Duration>) -> CancelToken {
        let mut running = self.running();
        running.activity.begin(sql);
        let token = match running.token.as_ref() {
            // That of the statement before, if nobody has it any more.
            Some(token) if token.is_fresh() => token.clone(),
            _ => {
                let token = CancelToken::default();
                running.token = Some(token.clone());
                token
            }
        };
        token.inner.limit.start(limit);
        token.inner.ended.store(0, Ordering::Relaxed);
        token
    }

    /// What the connection does, and since when it does nothing, in microseconds of Unix.
    pub fn activity(&self) -> (Activity, Option<u64>) {
        let running = self.running();
        let ended = |token: &CancelToken| token.inner.ended.load(Ordering::Relaxed);
        let ended = running.token.as_ref().map(ended).filter(|ended| *ended > 0);
        (running.activity.clone(), ended)
    }

    fn running(&self) -> MutexGuard<'_, RunningStatement> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One statement's view of its being cancelled.
#[derive(Debug, Clone, Default)]
pub struct CancelToken {
    inner: Arc<TokenState>,
}

struct TokenState {
    /// Shared with loops that cannot wait, such as a load's reader threads.
    is_cancelled: Arc<AtomicBool>,
    limit: Arc<TimeLimit>,
    /// Whether it is to stop.
    question: Question,
    /// The connection is being ended.
    is_terminated: AtomicBool,
    /// When the statement ended, in microseconds of Unix; 0 while it runs.
    ended: AtomicU64,
    notify: Notify,
    work: Arc<StatementWork>,
}

type Question = Arc<dyn Fn() -> bool + Send + Sync>;

impl Default for TokenState {
    fn default() -> Self {
        let is_cancelled = Arc::<AtomicBool>::default();
        let limit = Arc::<TimeLimit>::default();
        let (flag, asked) = (Arc::clone(&is_cancelled), Arc::clone(&limit));
        Self {
            question: Arc::new(move || {
                chore::look();
                flag.load(Ordering::Relaxed) || asked.is_over()
            }),
            work: Arc::new(StatementWork::stopped_by(Arc::clone(&is_cancelled))),
            is_cancelled,
            limit,
            is_terminated: AtomicBool::new(false),
            ended: AtomicU64::new(0),
            notify: Notify::new(),
        }
    }
}

impl fmt::Debug for TokenState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("TokenState");
        shown.field("is_cancelled", &self.is_cancelled);
        shown.finish_non_exhaustive()
    }
}

impl CancelToken {
    /// Whether nobody else has it, or has had to do with its cancellation or its work.
    fn is_fresh(&self) -> bool {
        let TokenState {
            is_cancelled,
            limit,
            question,
            work,
            ..
        } = &*self.inner;
        // The question and the work have the flag as well, and the question the limit.
        Arc::strong_count(&self.inner) == 1
            && Arc::strong_count(is_cancelled) == 3
            && Arc::strong_count(limit) == 2
            && Arc::strong_count(question) == 1
            && Arc::strong_count(work) == 1
            && !is_cancelled.load(Ordering::Relaxed)
            && !work.has_begun()
    }

    fn cancel(&self) {
        self.inner.is_cancelled.store(true, Ordering::Relaxed);
        self.inner.notify.notify_waiters();
    }

    /// A flag that becomes true with the cancellation.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.inner.is_cancelled)
    }

    /// The question whether it has been cancelled, as waits of the engine ask it.
    pub fn question(&self) -> Question {
        Arc::clone(&self.inner.question)
    }

    /// Where what the statement has done is counted.
    pub fn work(&self) -> &Arc<StatementWork> {
        &self.inner.work
    }

    pub fn is_cancelled(&self) -> bool {
        self.inner.is_cancelled.load(Ordering::Relaxed) || self.inner.limit.is_over()
    }

    /// How long the statement may take.
    pub fn limit(&self) -> &TimeLimit {
        &self.inner.limit
    }

    /// Stops the statement if its time is up; otherwise says when it will be.
    pub fn stop_if_late(&self) -> Option<Instant> {
        let deadline = self.inner.limit.deadline()?;
        if !self.inner.limit.is_over() {
            return Some(deadline);
        }
        self.cancel();
        None
    }

    /// The statement has ended.
    pub fn finish(&self) {
        self.inner.limit.pause();
        let now = micros_of(SystemTime::now());
        self.inner.ended.store(now, Ordering::Relaxed);
    }

    /// What the failure of a statement that was cancelled says.
    pub fn explained(&self, error: Error) -> Error {
        if error.sqlstate() != "57014" {
            return error;
        }
        if self.inner.is_terminated.load(Ordering::Relaxed) {
            let text = "terminating connection due to administrator command";
            return Error::new("57P01", text);
        }
        if self.inner.limit.was_exceeded() {
            Error::new("57014", "canceling statement due to statement timeout")
        } else {
            error
        }
    }

    /// Ends when the statement is cancelled.
    pub async fn cancelled(&self) {
        let notified = self.inner.notify.notified();
        tokio::pin!(notified);
        // Registered before the flag is read, so that no cancellation falls between the two.
        notified.as_mut().enable();
        if !self.is_cancelled() {
            notified.await;
        }
    }
}
