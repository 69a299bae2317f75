//! Deadlock detection: cycles in the waits-for graph.
//!
//! A transaction waits for one lock at a time. Before it sleeps it is already in the wait queue of that lock. It then enters the list of
//! waiting transactions and, holding that list, follows the waits-for edges from lock to lock. Of the transactions of a cycle, the last
//! to enter the list sees all others waiting, and none of them can proceed meanwhile: every cycle is found, by exactly that
//! transaction. The locks on the way are not read at one instant, so a cycle may be seen that is just being resolved; a transaction
//! is then aborted without need.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::entry::Waiter;
use super::object::LockName;
use super::owner::Owner;

/// The waiting transactions, each with the lock it waits for.
#[derive(Default)]
pub(super) struct Waits {
    waiting: Mutex<Waiting>,
}

type Waiting = HashMap<Owner, (LockName, Arc<Waiter>)>;

impl Waits {
    pub(super) fn end(&self, owner: Owner) {
        self.lock().remove(&owner);
    }

    /// Enters `waiter`, which is in the wait queue of the lock `name`, into the list. Returns whether that closes a cycle. `obstacles`
    /// returns the owners that block a waiter of a lock.
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
