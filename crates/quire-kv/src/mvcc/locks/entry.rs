//! One lock: who has it, and who waits for it.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use super::mode::LockModes;
use super::object::PackedObject;
use super::owner::Owner;

/// Mostly one transaction has a lock and nobody waits; for that case this is small.
pub(super) struct LockEntry {
    pub(super) object: PackedObject,
    first: Holder,
    crowd: Option<Box<LockQueue>>,
}

#[derive(Clone, Copy)]
pub(super) struct Holder {
    pub(super) owner: Owner,
    pub(super) modes: LockModes,
}

#[derive(Default)]
struct LockQueue {
    holders: Vec<Holder>,
    queue: VecDeque<Arc<Waiter>>,
}

/// Someone who waits for a lock.
pub(super) struct Waiter {
    pub(super) owner: Owner,
    pub(super) wanted: LockModes,
    pub(super) since: SystemTime,
    is_granted: Mutex<bool>,
    granted: Condvar,
}

impl Waiter {
    pub(super) fn new(owner: Owner, wanted: LockModes) -> Self {
        Self {
            owner,
            wanted,
            since: SystemTime::now(),
            is_granted: Mutex::new(false),
            granted: Condvar::new(),
        }
    }

    fn grant(&self) {
        *self
            .is_granted
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = true;
        self.granted.notify_one();
    }

    /// Sleeps until the lock is granted, at most so long; tells whether it is.
    pub(super) fn wait(&self, timeout: Duration) -> bool {
        let is_granted = self
            .is_granted
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let waited = self
            .granted
            .wait_timeout_while(is_granted, timeout, |is_granted| !*is_granted);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

impl LockEntry {
    pub(super) fn new(object: PackedObject, owner: Owner, modes: LockModes) -> Self {
        Self {
            object,
            first: Holder { owner, modes },
            crowd: None,
        }
    }

    /// What `owner` has of it.
    pub(super) fn modes_of(&self, owner: Owner) -> LockModes {
        let mine = self.holders().find(|holder| holder.owner == owner);
        mine.map_or(LockModes::NONE, |holder| holder.modes)
    }

    /// Gives it to `owner` at once, if nobody who has it or waits for it is in the way. One who has some of it already
    /// passes by those that wait.
    pub(super) fn try_take(&mut self, owner: Owner, wanted: LockModes) -> bool {
        let is_upgrade = !self.modes_of(owner).is_empty();
        if self.is_held_against(owner, wanted)
            || !is_upgrade && self.is_queued_against(owner, wanted)
        {
            return false;
        }
        self.give(owner, wanted);
        true
    }

    /// Lets `owner` wait.
    pub(super) fn enqueue(&mut self, waiter: &Arc<Waiter>) {
        let is_upgrade = !self.modes_of(waiter.owner).is_empty();
        let waiting_upgrades = self
            .queue()
            .take_while(|other| !self.modes_of(other.owner).is_empty())
            .count();
        let queue = &mut self.crowd.get_or_insert_default().queue;
        if is_upgrade {
            queue.insert(waiting_upgrades, Arc::clone(waiter));
        } else {
            queue.push_back(Arc::clone(waiter));
        }
    }

    /// Takes one out who does not want to wait any longer. False when it was given the lock already.
    pub(super) fn leave(&mut self, waiter: &Arc<Waiter>) -> bool {
        let Some(crowd) = &mut self.crowd else {
            return false;
        };
        let before = crowd.queue.len();
        crowd.queue.retain(|other| !Arc::ptr_eq(other, waiter));
        let has_left = crowd.queue.len() < before;
        self.grant_next();
        has_left
    }

    /// Leaves `owner` only `modes` of it. True when nobody has it nor waits for it.
    pub(super) fn reduce(&mut self, owner: Owner, modes: LockModes) -> bool {
        if self.first.owner == owner {
            self.first.modes = modes;
        } else if let Some(crowd) = &mut self.crowd {
            for holder in &mut crowd.holders {
                if holder.owner == owner {
                    holder.modes = modes;
                }
            }
        }
        if self.crowd.is_some() {
            self.close_ranks();
            self.grant_next();
        }
        self.is_free()
    }

    /// Those that `waiter` waits for: nobody when it has been given the lock and does not know yet.
    pub(super) fn obstacles(&self, waiter: &Arc<Waiter>) -> Vec<Owner> {
        if !self.queue().any(|other| Arc::ptr_eq(other, waiter)) {
            return Vec::new();
        }
        let excluded = waiter.wanted.excluded();
        let is_other = |owner: Owner| owner != waiter.owner;
        let holders = self
            .holders()
            .filter(|holder| is_other(holder.owner) && excluded.meets(holder.modes))
            .map(|holder| holder.owner);
        let ahead = self
            .queue()
            .take_while(|other| !Arc::ptr_eq(other, waiter))
            .filter(|other| is_other(other.owner) && excluded.meets(other.wanted))
            .map(|other| other.owner);
        holders.chain(ahead).collect()
    }

    /// Does anybody else than `owner` have it or wait for it?
    pub(super) fn has_others(&self, owner: Owner) -> bool {
        self.holders().any(|holder| holder.owner != owner)
            || self.queue().any(|waiter| waiter.owner != owner)
    }

    pub(super) fn is_waited_for(&self) -> bool {
        self.queue().next().is_some()
    }

    fn is_free(&self) -> bool {
        self.first.modes.is_empty() && self.crowd.is_none()
    }

    pub(super) fn holders(&self) -> impl Iterator<Item = &Holder> {
        let more = self.crowd.iter().flat_map(|crowd| &crowd.holders);
        let all = std::iter::once(&self.first).chain(more);
        all.filter(|holder| !holder.modes.is_empty())
    }

    pub(super) fn queue(&self) -> impl Iterator<Item = &Arc<Waiter>> {
        self.crowd.iter().flat_map(|crowd| &crowd.queue)
    }

    fn waiter(&self, index: usize) -> Option<Arc<Waiter>> {
        self.queue().nth(index).cloned()
    }

    fn is_held_against(&self, owner: Owner, wanted: LockModes) -> bool {
        let excluded = wanted.excluded();
        self.holders()
            .any(|holder| holder.owner != owner && excluded.meets(holder.modes))
    }

    fn is_queued_against(&self, owner: Owner, wanted: LockModes) -> bool {
        let excluded = wanted.excluded();
        self.queue()
            .any(|waiter| waiter.owner != owner && excluded.meets(waiter.wanted))
    }

    fn give(&mut self, owner: Owner, wanted: LockModes) {
        let crowd = self.crowd.iter_mut().flat_map(|crowd| &mut crowd.holders);
        let mut holders = std::iter::once(&mut self.first).chain(crowd);
        if let Some(holder) = holders.find(|holder| holder.owner == owner) {
            holder.modes = holder.modes.with(wanted);
            return;
        }
        let modes = wanted;
        if self.first.modes.is_empty() {
            self.first = Holder { owner, modes };
        } else {
            let crowd = self.crowd.get_or_insert_default();
            crowd.holders.push(Holder { owner, modes });
        }
    }

    /// Gives the lock to those in the queue whom nobody is in the way of: neither who has it, nor who waits longer.
    fn grant_next(&mut self) {
        let mut waits_longer = LockModes::NONE;
        let mut index = 0;
        while let Some(next) = self.waiter(index) {
            let excluded = next.wanted.excluded();
            if excluded.meets(waits_longer) || self.is_held_against(next.owner, next.wanted) {
                waits_longer = waits_longer.with(next.wanted);
                index += 1;
                continue;
            }
            if let Some(crowd) = &mut self.crowd {
                crowd.queue.remove(index);
            }
            self.give(next.owner, next.wanted);
            next.grant();
        }
        let is_empty =
            |crowd: &mut Box<LockQueue>| crowd.holders.is_empty() && crowd.queue.is_empty();
        self.crowd.take_if(is_empty);
    }

    /// Forgets holders that have nothing any more.
    fn close_ranks(&mut self) {
        let Some(crowd) = &mut self.crowd else {
            return;
        };
        crowd.holders.retain(|holder| !holder.modes.is_empty());
        if self.first.modes.is_empty()
            && let Some(holder) = crowd.holders.pop()
        {
            self.first = holder;
        }
    }
}
