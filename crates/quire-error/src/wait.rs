//! Waiting for a future on a thread that is no executor's.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Instant;

use crate::cancel::CancelToken;
use crate::chore::{LOOK_INTERVAL, has_chore, look};

/// Wakes the thread that waits.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs `future` on this thread until it is ready.
///
/// The executors of `futures` and tokio refuse to be nested; this may be called from a task of either, which an
/// embedding program cannot always avoid. It then blocks that task's thread. The future is not held to tokio's budget
/// of the surrounding task, which would not be renewed while this waits.
pub fn wait<F: Future>(future: F) -> F::Output {
    wait_looking(future, || None)
}

/// The same for a statement, which is stopped when its time is up.
pub fn wait_in_time<F: Future>(token: &CancelToken, future: F) -> F::Output {
    wait_looking(future, || token.stop_if_late())
}

/// Waits; `look_at` is called before each pause, and says when it is to be called again.
fn wait_looking<F: Future>(future: F, look_at: impl Fn() -> Option<Instant>) -> F::Output {
    let mut future = pin!(tokio::task::unconstrained(future));
    // Most futures are ready at once, and need nobody to be woken. One that is not is asked again, and then knows whom to wake.
    if let Poll::Ready(output) = future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        return output;
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
        let next_look = look_at().map(|time| time.saturating_duration_since(Instant::now()));
        match (has_chore(), next_look) {
            (false, None) => thread::park(),
            (false, Some(pause)) => thread::park_timeout(pause),
            (true, pause) => {
                thread::park_timeout(pause.map_or(LOOK_INTERVAL, |it| it.min(LOOK_INTERVAL)));
                look();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::wait;
    use std::time::Duration;

    /// A future that another thread completes.
    async fn from_another_thread() -> i32 {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(1));
            sender.send(42)
        });
        receiver.await.unwrap_or(0)
    }

    #[test]
    fn waits_on_a_plain_thread() {
        assert_eq!(wait(from_another_thread()), 42);
    }

    #[test]
    fn waits_inside_other_executors() {
        assert_eq!(
            futures::executor::block_on(async { wait(from_another_thread()) }),
            42
        );
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        assert_eq!(runtime.block_on(async { wait(from_another_thread()) }), 42);
    }

    #[test]
    fn waits_more_often_than_a_task_may_poll() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let sum =
            runtime.block_on(async { (0..1000).map(|_| wait(from_another_thread())).sum::<i32>() });
        assert_eq!(sum, 42_000);
    }
}
