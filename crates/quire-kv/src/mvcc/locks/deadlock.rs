//! Circles of transactions that wait for each other.
//!
//! A transaction waits for one lock at a time. Whoever is about to sleep is in the queue of its lock already; then it enters the list
//! of those that wait, and, while it has that list, follows from lock to lock who is in its way. Of the transactions of a
//! circle the last to enter the list sees all others waiting, and nobody in a circle gets on by itself: so every circle
//! is found, by exactly that one. What is read of the locks on the way is not of one moment, so a circle may be seen that
//! was just being resolved; then one gives up that need not have.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::entry::Waiter;
use super::object::LockName;
use super::owner::Owner;

/// Who waits for which lock.
#[derive(Default)]
pub(super) struct Waits {
    waiting: Mutex<Waiting>,
}

type Waiting = HashMap<Owner, (LockName, Arc<Waiter>)>;

impl Waits {
    pub(super) fn end(&self, owner: Owner) {
        self.lock().remove(&owner);
    }

    /// Notes that `waiter`, which is in the queue of a lock, waits for it. Does anybody it waits for wait for it? `obstacles` says who is in
    /// the way of somebody who waits for a lock.
    pub(super) fn closes_a_circle(
        &self,
        name: LockName,
        waiter: &Arc<Waiter>,
        obstacles: impl Fn(LockName, &Arc<Waiter>) -> Vec<Owner>,
    ) -> bool {
        let mut waiting = self.lock();
        waiting.insert(waiter.owner, (name, Arc::clone(waiter)));
        let mut seen = HashSet::new();
        let mut open = vec![waiter.owner];
        while let Some(owner) = open.pop() {
            let Some((name, waits)) = waiting.get(&owner) else {
                continue;
            };
            for obstacle in obstacles(*name, waits) {
                if obstacle == waiter.owner {
                    return true;
                }
                if seen.insert(obstacle) {
                    open.push(obstacle);
                }
            }
        }
        false
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
