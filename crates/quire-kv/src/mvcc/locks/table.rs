//! The locks of all transactions.

use std::collections::HashMap;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::deadlock::Waits;
use super::entry::{LockEntry, Waiter};
use super::mode::LockModes;
use super::object::{LockName, PackedObject};
use super::owner::{Owner, owner_of};
use super::{CANCEL_POLL, LockWait};
use crate::mvcc::Cancel;
use crate::mvcc::error::LockError;

const SHARDS: usize = 64;

/// How long a request waits for its lock.
pub(in crate::mvcc) struct LockRequest<'a> {
    pub(in crate::mvcc) wait: LockWait,
    pub(in crate::mvcc) timeout: Option<Duration>,
    pub(in crate::mvcc) cancel: Option<&'a Cancel>,
}

/// All locks.
pub(in crate::mvcc) struct LockTable {
    shards: Vec<Mutex<Locks>>,
    pub(super) waits: Waits,
    secret: RandomState,
    /// Names of the definitions whose locks are held or waited for, with reference counts.
    names: Mutex<HashMap<LockName, (usize, Arc<str>)>>,
    next_owner: AtomicU64,
}

pub(super) type Locks = HashMap<LockName, LockEntry, BuildHasherDefault<NameHasher>>;

/// Names are hashes already.
#[derive(Default)]
pub(super) struct NameHasher(u64);

impl Hasher for NameHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

/// The result of a lock request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockAcquisition {
    /// Granted; `before` are the modes that the owner held before.
    Now { before: LockModes },
    /// The owner held the lock already.
    Already,
    /// Another owner has locked the whole tree.
    AllRowsAreLocked,
    /// Not available, and the request does not wait.
    Skipped,
}

impl LockTable {
    fn obstacles(&self, name: LockName, waiter: &Arc<Waiter>) -> Vec<Owner> {
        let locks = self.shard(name);
        locks
            .get(&name)
            .map_or_else(Vec::new, |entry| entry.obstacles(waiter))
    }

    pub(in crate::mvcc) fn new() -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            waits: Waits::default(),
            secret: RandomState::new(),
            names: Mutex::default(),
            next_owner: AtomicU64::new(1),
        }
    }

    pub(super) fn new_owner(&self, session: u32) -> Owner {
        owner_of(self.next_owner.fetch_add(1, Ordering::Relaxed), session)
    }

    /// The hash that identifies an object; for a row it includes the key.
    pub(super) fn name(&self, object: PackedObject, key: &[u8]) -> LockName {
        let mut hasher = self.secret.build_hasher();
        hasher.write_u64(object.bits());
        hasher.write(key);
        LockName(hasher.finish())
    }

    /// Registers the name of a definition whose lock is requested.
    pub(super) fn note_name(&self, name: LockName, called: &str) {
        let mut names = self.names();
        let (count, _) = names.entry(name).or_insert_with(|| (0, called.into()));
        *count += 1;
    }

    /// Unregisters it when the request fails or the lock is released.
    pub(super) fn forget_name(&self, name: LockName) {
        let mut names = self.names();
        if let Some((count, _)) = names.get_mut(&name) {
            *count -= 1;
            if *count == 0 {
                names.remove(&name);
            }
        }
    }

    /// The name of the definition that a lock is for.
    pub(super) fn called(&self, name: LockName) -> Option<Arc<str>> {
        self.names()
            .get(&name)
            .map(|(_, called)| Arc::clone(called))
    }

    fn names(&self) -> MutexGuard<'_, HashMap<LockName, (usize, Arc<str>)>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a lock for `owner`, and waits for it as the request says. `tree_owner` tells who has the whole tree of a row.
    pub(super) fn take(
        &self,
        name: LockName,
        object: PackedObject,
        owner: Owner,
        wanted: LockModes,
        tree_owner: Option<&AtomicU64>,
        request: &LockRequest<'_>,
    ) -> Result<LockAcquisition, LockError> {
        let waiter = {
            let mut locks = self.shard(name);
            if tree_owner.is_some_and(|by| by.load(Ordering::SeqCst) != 0) {
                return Ok(LockAcquisition::AllRowsAreLocked);
            }
            let entry = match locks.entry(name) {
                std::collections::hash_map::Entry::Vacant(vacant) => {
                    vacant.insert(LockEntry::new(object, owner, wanted));
                    return Ok(LockAcquisition::Now {
                        before: LockModes::NONE,
                    });
                }
                std::collections::hash_map::Entry::Occupied(occupied) => occupied.into_mut(),
            };
            let before = entry.modes_of(owner);
            if before.cover(wanted) {
                return Ok(LockAcquisition::Already);
            }
            if entry.try_take(owner, wanted) {
                return Ok(LockAcquisition::Now { before });
            }
            match request.wait {
                LockWait::Fail => return Err(LockError::NotAvailable),
                LockWait::Skip => return Ok(LockAcquisition::Skipped),
                LockWait::Wait => {}
            }
            let waiter = Arc::new(Waiter::new(owner, wanted));
            entry.enqueue(&waiter);
            (waiter, before)
        };
        let (waiter, before) = waiter;
        self.sleep(name, &waiter, request)?;
        Ok(LockAcquisition::Now { before })
    }

    /// Leaves `owner` only `modes` of a lock.
    pub(super) fn reduce(&self, name: LockName, owner: Owner, modes: LockModes) {
        let mut locks = self.shard(name);
        if let Some(entry) = locks.get_mut(&name)
            && entry.reduce(owner, modes)
        {
            locks.remove(&name);
        }
    }

    fn sleep(
        &self,
        name: LockName,
        waiter: &Arc<Waiter>,
        request: &LockRequest<'_>,
    ) -> Result<(), LockError> {
        let start = Instant::now();
        let obstacles = |name, waiter: &Arc<Waiter>| self.obstacles(name, waiter);
        let result = if self.waits.closes_a_circle(name, waiter, obstacles) {
            Err(LockError::Deadlock)
        } else {
            wait_for_grant(waiter, start, request)
        };
        self.waits.end(waiter.owner);
        match result {
            Err(error) if self.leave(name, waiter) => Err(error),
            _ => Ok(()),
        }
    }

    /// True when the lock was not granted in the meantime.
    fn leave(&self, name: LockName, waiter: &Arc<Waiter>) -> bool {
        let mut locks = self.shard(name);
        locks
            .get_mut(&name)
            .is_some_and(|entry| entry.leave(waiter))
    }

    pub(super) fn shard(&self, name: LockName) -> MutexGuard<'_, Locks> {
        let shard = &self.shards[(name.0 >> 32) as usize % SHARDS];
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn shards(&self) -> impl Iterator<Item = MutexGuard<'_, Locks>> {
        self.shards
            .iter()
            .map(|shard| shard.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Locks that somebody has.
    pub(in crate::mvcc) fn count(&self) -> usize {
        self.shards().map(|locks| locks.len()).sum()
    }
}

fn wait_for_grant(
    waiter: &Waiter,
    start: Instant,
    request: &LockRequest<'_>,
) -> Result<(), LockError> {
    loop {
        let mut pause = Duration::from_secs(3600);
        if request.cancel.is_some() {
            pause = CANCEL_POLL;
        }
        if let Some(timeout) = request.timeout {
            let left = timeout.saturating_sub(start.elapsed());
            if left.is_zero() {
                return Err(LockError::Timeout);
            }
            pause = pause.min(left);
        }
        if waiter.wait(pause) {
            return Ok(());
        }
        if request.cancel.is_some_and(|is_cancelled| is_cancelled()) {
            return Err(LockError::Cancelled);
        }
    }
}
