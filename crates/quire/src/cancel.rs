//! Stopping a running statement from another thread.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use quire_engine::{Progress, Work};
use tokio::sync::Notify;

/// Cancels whatever statement its connection runs at the moment.
#[derive(Debug, Clone, Default)]
pub struct CancelHandle {
    running: Arc<Mutex<Option<CancelToken>>>,
}

impl CancelHandle {
    /// Asks the running statement to stop; it fails with SQLSTATE `57014`. Does nothing when no
    /// statement runs.
    pub fn cancel(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(token) = running.as_ref() {
            token.inner.is_cancelled.store(true, Ordering::Relaxed);
            token.inner.notify.notify_waiters();
        }
    }

    /// A handle for one statement, whatever its connection runs next.
    pub(crate) fn of(token: CancelToken) -> Self {
        Self {
            running: Arc::new(Mutex::new(Some(token))),
        }
    }

    /// How far the statement has come that runs, or ran last.
    pub(crate) fn progress(&self) -> Option<Progress> {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let work = running.as_ref().map(|token| Arc::clone(token.work()));
        drop(running);
        work?.progress()
    }

    /// The token of a statement that begins now; handles cancel it from here on.
    pub(crate) fn begin(&self) -> CancelToken {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        match running.as_ref() {
            // That of the statement before, if nobody has it any more.
            Some(token) if token.is_fresh() => token.clone(),
            _ => {
                let token = CancelToken::default();
                *running = Some(token.clone());
                token
            }
        }
    }
}

/// One statement's view of its being cancelled.
#[derive(Debug, Clone, Default)]
pub(crate) struct CancelToken {
    inner: Arc<TokenState>,
}

struct TokenState {
    /// Shared with loops that cannot wait, such as a load's reader threads.
    is_cancelled: Arc<AtomicBool>,
    /// Whether it is set.
    question: Question,
    notify: Notify,
    work: Arc<Work>,
}

type Question = Arc<dyn Fn() -> bool + Send + Sync>;

impl Default for TokenState {
    fn default() -> Self {
        let is_cancelled = Arc::<AtomicBool>::default();
        let flag = Arc::clone(&is_cancelled);
        Self {
            is_cancelled,
            question: Arc::new(move || {
                crate::wait::look();
                flag.load(Ordering::Relaxed)
            }),
            notify: Notify::new(),
            work: Arc::default(),
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
            question,
            work,
            ..
        } = &*self.inner;
        // The question has the flag as well.
        Arc::strong_count(&self.inner) == 1
            && Arc::strong_count(is_cancelled) == 2
            && Arc::strong_count(question) == 1
            && Arc::strong_count(work) == 1
            && !is_cancelled.load(Ordering::Relaxed)
            && !work.has_begun()
    }

    /// A flag that becomes true with the cancellation.
    pub(crate) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.inner.is_cancelled)
    }

    /// The question whether it has been cancelled, as waits of the engine ask it.
    pub(crate) fn question(&self) -> Question {
        Arc::clone(&self.inner.question)
    }

    /// Where what the statement has done is counted.
    pub(crate) fn work(&self) -> &Arc<Work> {
        &self.inner.work
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.inner.is_cancelled.load(Ordering::Relaxed)
    }

    /// Ends when the statement is cancelled.
    pub(crate) async fn cancelled(&self) {
        let notified = self.inner.notify.notified();
        tokio::pin!(notified);
        // Registered before the flag is read, so that no cancellation falls between the two.
        notified.as_mut().enable();
        if !self.is_cancelled() {
            notified.await;
        }
    }
}
