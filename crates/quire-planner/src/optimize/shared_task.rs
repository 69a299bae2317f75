//! A task whose result several consumers await: the partitions of a join, the readers of a shared subplan.
//!
//! The work runs in a task of its own, not in the consumer that asks first. That consumer would continue with its own rows as soon as the work is
//! done, without yielding. The consumer that it has woken would sit in the LIFO slot of the same tokio worker, from which other workers do not steal: the
//! partitions would run one after the other. A join that reads one place of a shared subplan to its end before the other would even wait for itself.

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
    /// The result of the first caller's `work`, which starts when a result is first awaited.
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
