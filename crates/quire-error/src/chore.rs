//! What a thread does besides while it waits for a statement, such as looking at the signals of an interpreter.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// How often a thread that waits looks at what else it has to do.
pub(crate) const LOOK_INTERVAL: Duration = Duration::from_millis(50);

thread_local! {
    /// What this thread does besides while it waits.
    static CHORE: RefCell<Option<Rc<dyn Fn()>>> = const { RefCell::new(None) };
    /// When it last did.
    static LAST_LOOK: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Runs `work`, and `chore` about twenty times a second whenever this thread has to wait for a statement meanwhile: for a
/// program whose threads must look at something while they wait, such as an interpreter at its signals. The chore may cancel the
/// statement by a [`CancelHandle`](crate::CancelHandle).
pub fn while_waiting<T>(chore: Rc<dyn Fn()>, work: impl FnOnce() -> T) -> T {
    /// Puts back what there was, also when the work panics.
    struct ChoreGuard(Option<Rc<dyn Fn()>>);
    impl Drop for ChoreGuard {
        fn drop(&mut self) {
            let before = self.0.take();
            CHORE.with(|chore| *chore.borrow_mut() = before);
        }
    }
    LAST_LOOK.set(Some(Instant::now()));
    let _restore = ChoreGuard(CHORE.with(|known| known.borrow_mut().replace(chore)));
    work()
}

/// Does the thread's chore if it is time. Cheap for a thread without one.
pub(crate) fn look() {
    let Some(chore) = CHORE.with(|chore| chore.borrow().clone()) else {
        return;
    };
    let is_time = LAST_LOOK
        .get()
        .is_none_or(|last| last.elapsed() >= LOOK_INTERVAL);
    if is_time {
        chore();
        LAST_LOOK.set(Some(Instant::now()));
    }
}

pub(crate) fn has_chore() -> bool {
    CHORE.with(|chore| chore.borrow().is_some())
}
