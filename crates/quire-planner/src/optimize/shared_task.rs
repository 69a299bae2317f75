//! A task whose result several consumers wait for: the partitions of a join, the places of a shared subplan.
//!
//! The work runs as a task of its own and not in the consumer that asks first. That consumer would go on with its own rows when the work is
//! done, and tokio would keep the next consumer, which it has just woken, in the slot that other threads do not take tasks from: it would wait
//! until the first one is done. Nor does a consumer that reads one place to its end before another one wait for itself.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{DataFusionError, Result, internal_datafusion_err};
use futures::FutureExt;
use futures::future::{BoxFuture, Shared};

type TaskResult<T> = std::result::Result<T, Arc<DataFusionError>>;

/// The result of a task, as soon as it has ended.
pub(in crate::optimize) struct SharedTask<T>(
    Mutex<Option<Shared<BoxFuture<'static, TaskResult<T>>>>>,
);

impl<T> Default for SharedTask<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T: Clone + Send + Sync + 'static> SharedTask<T> {
    /// The result of what the first caller gives as `work`. The work starts when one of the results is awaited.
    pub(in crate::optimize) fn result<F>(
        &self,
        work: impl FnOnce() -> F,
    ) -> BoxFuture<'static, Result<T>>
    where
        F: Future<Output = Result<T>> + Send + 'static,
    {
        let mut task = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let shared = task.get_or_insert_with(|| spawned(work()).boxed().shared());
        let shared = shared.clone();
        shared
            .map(|done| done.map_err(DataFusionError::Shared))
            .boxed()
    }

    /// The result, if the task has ended without an error.
    pub(in crate::optimize) fn peek(&self) -> Option<T> {
        let task = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        task.as_ref()?.peek()?.as_ref().ok().cloned()
    }
}

async fn spawned<T: Send + 'static>(
    work: impl Future<Output = Result<T>> + Send + 'static,
) -> TaskResult<T> {
    let ended = SpawnedTask::spawn(work).join().await;
    let result = ended.unwrap_or_else(|error| {
        Err(internal_datafusion_err!(
            "work that several consumers wait for did not end: {error}"
        ))
    });
    result.map_err(Arc::new)
}
