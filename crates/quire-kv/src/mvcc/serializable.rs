//! Transactions whose outcome is as if they had run one after the other.
//!
//! Optimistic, as in H. Kung, J. Robinson, *On Optimistic Methods for Concurrency Control* (1981, §4, with parallel
//! validation): a transaction reads its snapshot and remembers what it has read, keys and ranges. When it commits, nothing of
//! that may have changed since. So it could have run as a whole at the moment of its commit, and the order of commits is the order in which
//! transactions seem to run. A transaction that changes nothing seems to run at its snapshot, which is a
//! beginning of that order, and is not validated.
//!
//! Between its validation and the end of its commit a transaction is *pending*: the versions do not tell yet what it
//! changes. One that has read what a pending one writes gives up. One that writes what a pending one has read
//! must come after it, and waits until it has ended. Nothing else matters: rows that both write are locked.
//!
//! As in PostgreSQL, this holds among transactions that are all serializable.

use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::TreeId;
use super::changes::TreeChanges;
use super::trees::OpenTree;

/// Keys of one tree that are remembered one by one. More become a range.
const KEYS_MAX: usize = 4096;

/// What a transaction has read.
#[derive(Default)]
pub(super) struct ReadSet {
    trees: Mutex<Vec<TreeReads>>,
}

struct TreeReads {
    tree: Arc<OpenTree>,
    keys: BTreeSet<Box<[u8]>>,
    ranges: Ranges,
}

/// Ranges of keys that do not touch: upper bounds by lower bounds. No bytes: no bound.
#[derive(Default)]
struct Ranges(BTreeMap<Box<[u8]>, Box<[u8]>>);

impl Ranges {
    fn insert(&mut self, low: &[u8], high: &[u8]) {
        let (mut low, mut high): (Box<[u8]>, Box<[u8]>) = (low.into(), high.into());
        // The one that begins before, and all that begin within.
        let before = self.0.range(..=low.clone()).next_back();
        if let Some((start, end)) = before
            && (end.is_empty() || *end >= low)
        {
            high = later(end, &high).into();
            low = start.clone();
        }
        while let Some((start, end)) = self.0.range(low.clone()..).next()
            && (high.is_empty() || *start <= high)
        {
            high = later(end, &high).into();
            let start = start.clone();
            self.0.remove(&start);
        }
        self.0.insert(low, high);
    }

    fn contains(&self, key: &[u8]) -> bool {
        let range = (std::ops::Bound::Unbounded, std::ops::Bound::Included(key));
        let before = self.0.range::<[u8], _>(range).next_back();
        before.is_some_and(|(_, high)| high.is_empty() || key < &**high)
    }
}

fn later<'a>(one: &'a [u8], other: &'a [u8]) -> &'a [u8] {
    if one.is_empty() || other.is_empty() {
        return &[];
    }
    one.max(other)
}

impl TreeReads {
    fn contain(&self, key: &[u8]) -> bool {
        self.keys.contains(key) || self.ranges.contains(key)
    }

    fn are_changed_since(&self, at: u64) -> bool {
        let Some(versions) = self.tree.versions.open() else {
            return false;
        };
        let mut keys = self.keys.iter();
        let mut ranges = self.ranges.0.iter();
        keys.any(|key| versions.is_changed_since(key, at))
            || ranges.any(|(low, high)| versions.is_any_changed_since(low, high, at))
    }

    /// One range for all keys.
    fn coarsen(&mut self) {
        if let (Some(first), Some(last)) = (self.keys.first(), self.keys.last()) {
            let behind_last = [last, [0].as_slice()].concat();
            self.ranges.insert(first, &behind_last);
        }
        self.keys.clear();
    }
}

impl ReadSet {
    pub(super) fn note_key(&self, tree: &Arc<OpenTree>, key: &[u8]) {
        self.of(tree, |reads| {
            if !reads.contain(key) {
                reads.keys.insert(key.into());
            }
            if reads.keys.len() > KEYS_MAX {
                reads.coarsen();
            }
        });
    }

    /// Bounds of no bytes are none.
    pub(super) fn note_range(&self, tree: &Arc<OpenTree>, low: &[u8], high: &[u8]) {
        self.of(tree, |reads| reads.ranges.insert(low, high));
    }

    fn of<R>(&self, tree: &Arc<OpenTree>, change: impl FnOnce(&mut TreeReads) -> R) -> R {
        let mut trees = self.lock();
        let place = trees.iter().position(|reads| reads.tree.id() == tree.id());
        let place = place.unwrap_or_else(|| {
            trees.push(TreeReads {
                tree: Arc::clone(tree),
                keys: BTreeSet::new(),
                ranges: Ranges::default(),
            });
            trees.len() - 1
        });
        change(&mut trees[place])
    }

    fn are_changed_since(&self, at: u64) -> bool {
        let trees = self.lock();
        trees.iter().any(|reads| reads.are_changed_since(at))
    }

    fn meets(&self, writes: &[TreeChanges]) -> bool {
        let trees = self.lock();
        let of = |id: TreeId| trees.iter().find(|reads| reads.tree.id() == id);
        writes.iter().any(|changes| {
            // What is in a file is not looked through: anything could be there.
            let has_file = !changes.spilled.is_empty();
            of(changes.tree.id()).is_some_and(|reads| {
                has_file || changes.changes.iter().any(|(key, _)| reads.contain(key))
            })
        })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<TreeReads>> {
        self.trees.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The serializable transactions that are about to be committed.
#[derive(Default)]
pub(super) struct Validation {
    pending: Mutex<Vec<Arc<Pending>>>,
    ended: Condvar,
}

struct Pending {
    reads: Arc<ReadSet>,
    writes: Arc<Vec<TreeChanges>>,
}

/// Right to commit. Dropped when the commit is visible, or has failed.
pub(super) struct Validated<'a> {
    validation: &'a Validation,
    pending: Arc<Pending>,
}

impl Validation {
    /// May a transaction be committed that has read and written this, at snapshot `at`? `None`: it must not.
    pub(super) fn validate(
        &self,
        at: u64,
        reads: &Arc<ReadSet>,
        writes: &Arc<Vec<TreeChanges>>,
    ) -> Option<Validated<'_>> {
        let mut pending = self.lock();
        loop {
            if pending.iter().any(|other| reads.meets(&other.writes)) {
                return None;
            }
            if !pending.iter().any(|other| other.reads.meets(writes)) {
                break;
            }
            pending = self
                .ended
                .wait(pending)
                .unwrap_or_else(PoisonError::into_inner);
        }
        if reads.are_changed_since(at) {
            return None;
        }
        let own = Arc::new(Pending {
            reads: Arc::clone(reads),
            writes: Arc::clone(writes),
        });
        pending.push(Arc::clone(&own));
        Some(Validated {
            validation: self,
            pending: own,
        })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<Pending>>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Validated<'_> {
    fn drop(&mut self) {
        let mut pending = self.validation.lock();
        pending.retain(|other| !Arc::ptr_eq(other, &self.pending));
        drop(pending);
        self.validation.ended.notify_all();
    }
}
