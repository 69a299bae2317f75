//! Which commits are visible: all up to one of them.
//!
//! The log numbers commits; threads apply them to the pages side by side. A commit becomes visible when it and all before it
//! are applied, so that no snapshot has one without those before.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use quire_store::patience::is_soon;

/// The newest visible commit, and those that are applied ahead of it.
pub(super) struct CommitClock {
    visible: AtomicU64,
    ahead: Mutex<Ahead>,
    moved: Condvar,
}

#[derive(Default)]
struct Ahead {
    applied: BTreeSet<u64>,
    waiting: usize,
    /// A commit could not be applied: those after it never become visible.
    is_stopped: bool,
}

/// A commit before could not be applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stopped;

impl CommitClock {
    pub(super) fn new(visible: u64) -> Self {
        Self {
            visible: AtomicU64::new(visible),
            ahead: Mutex::default(),
            moved: Condvar::new(),
        }
    }

    pub(super) fn visible(&self) -> u64 {
        self.visible.load(Ordering::Acquire)
    }

    /// Makes a commit that was applied visible; returns when it is.
    pub(super) fn publish(&self, sequence: u64) -> Result<(), Stopped> {
        let mut ahead = self.lock();
        ahead.applied.insert(sequence);
        let mut visible = self.visible();
        while ahead.applied.first() == Some(&(visible + 1)) {
            ahead.applied.pop_first();
            visible += 1;
        }
        self.visible.store(visible, Ordering::Release);
        if ahead.waiting > 0 {
            self.moved.notify_all();
        }
        if visible < sequence {
            drop(ahead);
            is_soon(|| self.visible() >= sequence);
            ahead = self.lock();
        }
        while self.visible() < sequence {
            if ahead.is_stopped {
                return Err(Stopped);
            }
            ahead.waiting += 1;
            ahead = self
                .moved
                .wait(ahead)
                .unwrap_or_else(PoisonError::into_inner);
            ahead.waiting -= 1;
        }
        Ok(())
    }

    /// Nothing more becomes visible.
    pub(super) fn stop(&self) {
        self.lock().is_stopped = true;
        self.moved.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Ahead> {
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_commit_waits_for_those_before_it() {
        let clock = CommitClock::new(4);
        std::thread::scope(|scope| {
            let later = scope.spawn(|| {
                let published = clock.publish(7);
                (published, clock.visible())
            });
            clock.publish(5).unwrap();
            assert_eq!(clock.visible(), 5);
            clock.publish(6).unwrap();
            assert_eq!(later.join().unwrap(), (Ok(()), 7));
        });
    }

    #[test]
    fn nobody_waits_for_what_never_comes() {
        let clock = CommitClock::new(0);
        std::thread::scope(|scope| {
            let later = scope.spawn(|| clock.publish(2));
            clock.stop();
            assert_eq!(later.join().unwrap(), Err(Stopped));
        });
        assert_eq!(clock.visible(), 0);
    }
}
